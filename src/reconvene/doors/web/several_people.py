"""Where an option needs several people: what the choice of whoever looks would come to, and what the others answered.

Nobody's answer stands in somebody else's field: it is told beside it, with whose it is.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reconvene.doors.shared.asked_of import differ
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Approval, Checkpoint
    from reconvene.core.facts.commands import Answers


def what_yours_would_be(point: Checkpoint, person: str, *, may: bool) -> str:
    """Only choices that count are counted: not those of before something changed, nor of who may not decide any more.
    "" where one person is enough, or whoever looks cannot decide."""
    if max((one.needs for one in point.options), default=1) < 2:
        return ""
    counting = [one for one in point.approvals if one.counts and not one.barred]
    if differ(point):
        return "They differ: nothing is decided until they agree."
    if not may:
        return ""
    others = Counter(one.option for one in counting if one.user != person)
    needs = {one.label: one.needs for one in point.options}
    if any(one.user == person for one in counting):
        (option,) = {one.option for one in counting}
        return f"You have chosen; {_more(needs[option] - len(counting))}."
    if not others:
        return "You would be the first."
    ((option, count),) = others.items()
    left = needs[option] - count
    told = f"“{one_line(option, 40)}”"
    return f"Yours may be the last for {told}." if left <= 1 else f"After yours, {told}: {_more(left - 1)}."


def _more(count: int) -> str:
    return f"{count} more {'is' if count == 1 else 'are'} needed"


# --- what was answered ---


def own_answers(point: Checkpoint, person: str, option: str) -> Answers:
    """What this person's fields begin with. `option`: "" = whichever they chose."""
    own = [one.answers for one in _chose(point, option) if one.user == person]
    return dict(own[0]) if own else {}


def answers_of_others(point: Checkpoint, person: str, option: str, *, may: bool) -> dict[str, str]:
    """By field, in words, with what follows for whoever may decide: what they leave open is as the others have it, once
    these agree. Who has chosen already finds their own in the field."""
    chose = _chose(point, option)
    fresh = may and all(one.user != person for one in chose)
    found: dict[str, dict[str, list[str]]] = {}
    for one in chose:
        for name, value in one.answers.items() if one.user != person else ():
            found.setdefault(name, {}).setdefault(_spelled(value), []).append(one.by or one.user)
    return {name: _told(every, fresh=fresh) for name, every in found.items()}


def _told(every: Mapping[str, Sequence[str]], *, fresh: bool) -> str:
    """`every`: an answer → whose it is."""
    said = "; ".join(f"{one_line(', '.join(who), 60)}: {one_line(text, 80)}" for text, who in every.items())
    if not fresh:
        return f"{said}."
    return f"{said}. Left open, yours is the same." if len(every) == 1 else f"{said}. They differ: say yours."


def _chose(point: Checkpoint, option: str) -> list[Approval]:
    return [one for one in point.approvals if one.counts and option in ("", one.option)]


def _spelled(value: object) -> str:
    if isinstance(value, bool):
        return "Yes" if value else "No"
    return ", ".join(map(str, value)) if isinstance(value, list | tuple) else str(value)
