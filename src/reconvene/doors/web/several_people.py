"""Where an option needs several people: what the choice of whoever looks would come to."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.app.views.read_model import Checkpoint


def what_yours_would_be(point: Checkpoint, person: str, *, may: bool) -> str:
    """Only choices that count are counted: not those of before something changed, nor of who may not decide any more.
    "" where one person is enough, or whoever looks cannot decide."""
    if max((one.needs for one in point.options), default=1) < 2:
        return ""
    counting = [one for one in point.approvals if one.counts and not one.barred]
    if len({one.choice for one in counting}) > 1:
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
