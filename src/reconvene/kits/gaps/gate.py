"""The first thing wrong with an agent's output, in words for the agent: a code, the gap ids, and what to do instead.

Whether the file is there, long enough and has its headings was asked before. It must not change anything.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from reconvene.core.extensions import Objection
from reconvene.kits.gaps.applying import about_gaps, approves_all, in_force, taken_up
from reconvene.kits.gaps.endings import waiting
from reconvene.kits.gaps.found import Found
from reconvene.kits.gaps.gap_ids import GAP, canonical, gaps_in, issues_in
from reconvene.kits.gaps.gap_states import Ledger
from reconvene.kits.gaps.likeness import normal, share_words
from reconvene.kits.gaps.lists import gaps_listed, says_none
from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.outputs import OF_ALL, Proposals, Review
from reconvene.kits.gaps.proposals import proposals_in
from reconvene.kits.gaps.records import Book, is_open
from reconvene.kits.gaps.review import review_in
from reconvene.kits.gaps.view import assign, focus_of

_NAMED = 10  # unknown ids that one message names
_A_WORD = 25  # words that are no review, whatever they say


def wrong_with_list(text: str) -> Objection | None:
    found = gaps_listed(text, strict=True)
    if found or says_none(text):
        return _twice(found)
    form = "`- GAP-<AREA>-001 (HIGH, blocking): what is missing`"
    why = f"no gap could be read. List each as {form}, or say “No gaps found.” and which checks you made."
    return Objection("NO_GAPS_FOUND", why)


def _twice(found: list[Found]) -> Objection | None:
    titles: dict[str, str] = {}
    for one in found:
        before = titles.setdefault(canonical(one.id), normal(one.title)) if one.id else normal(one.title)
        if before != normal(one.title) and one.title:
            why = f"{one.id} stands for two different gaps. Give each gap an id of its own."
            return Objection("DUPLICATE_GAP", why)
    return None


def wrong_with_proposals(book: Book, text: str, round: int) -> Objection | None:
    output = proposals_in(text, round)
    ledger = Ledger(book, round)
    named = [(one.gap, one.title) for one in output.resolutions if one.gap]
    return (
        _unknown(ledger, named, _introduced(output))
        or _doubled(ledger, output)
        or _nothing_addressed(book, ledger, output)
        or _ignored(book, output)
    )


def _introduced(output: Proposals) -> list[Found]:
    inner = [new for one in output.resolutions for new in (*one.new, *one.parts)]
    return [*inner, *output.new, *(Found(name, "") for _, name in output.named_new)]


def _unknown(
    ledger: Ledger, named: Sequence[tuple[str, str]], introduced: Iterable[Found], *, any_id: bool = True
) -> Objection | None:
    """`named`: ids, each with the title beside it. Without `any_id` only those count that look like a gap's."""
    new = {canonical(one.id) for one in introduced if one.id}
    wrong: list[str] = []
    for name, title in named:
        if len(wrong) < _NAMED and ledger.find(name) is None and canonical(name) not in new:
            near = ledger.unknown(name, title)
            if near or any_id or GAP.match(name):  # "SHA-256 - APPROVED" judges something else
                wrong.append(f"{name} (did you mean {near}?)" if near else name)
    known = any(ledger.find(name) is not None or canonical(name) in new for name, _ in named)
    if not wrong or known:  # what is said of a known gap counts; the rest is noticed
        return None
    names = ", ".join(dict.fromkeys(wrong))
    return Objection("UNKNOWN_GAP", f"{names} not known. Keep the ids exactly as they are listed in the status.")


def _doubled(ledger: Ledger, output: Proposals) -> Objection | None:
    seen: set[str] = set()
    for one in output.resolutions:
        gap = ledger.find(one.gap) if one.gap else ledger.titled(one.title)
        name = gap.id if gap else canonical(one.gap)
        if name and name in seen:
            return Objection("DUPLICATE_GAP", f"{name} has two sections. Write one `## Gap Resolution: {name}` for it.")
        seen.add(name)
    for new in _introduced(output):
        kept = ledger.book.gaps.get(new.id)
        if kept is not None and new.title and not share_words(kept.title, new.title):
            why = f"{new.id} is taken (“{clip(kept.title, 80)}”). Give the new gap “{clip(new.title, 80)}”"
            return Objection("DUPLICATE_GAP", f"{why} an id that is not in the status yet.")
    return _twice([new for new in _introduced(output) if new.title])


def _nothing_addressed(book: Book, ledger: Ledger, output: Proposals) -> Objection | None:
    still = {gap.id for gap in book.open()}
    if not still or still == {gap.id for gap in waiting(book)}:
        return None  # nothing to do, or nothing that the engineer could do
    found = [ledger.find(one.gap) if one.gap else ledger.titled(one.title) for one in output.resolutions]
    found += [ledger.find(book.issues[one.issue].gap) for one in output.answers if one.issue in book.issues]
    if any(gap is not None and is_open(gap) for gap in found):
        return None
    asked = assign(book, focus_of(book))
    why = f"no section deals with an open gap. {asked} Begin each with `## Gap Resolution: <id>`."
    return Objection("NO_GAPS_ADDRESSED", why)


def _ignored(book: Book, output: Proposals) -> Objection | None:
    due = [one for one in book.decisions if one.due]
    is_taken_up = taken_up(output)
    missing = [one for one in due if not is_taken_up(one)]
    if not missing:
        return None
    told = "; ".join(f"{one.issue or one.gap}: {clip(one.decision, 120)}" for one in missing)
    names = ", ".join(dict.fromkeys(one.issue or one.gap for one in missing))
    why = f"a person decided, and the output does not take it up ({told}). Follow it and name {names} where you do."
    return Objection("DECISION_IGNORED", why)


def wrong_with_review(
    book: Book, text: str, proposed: str | None, round: int, rulings: bool = False
) -> Objection | None:
    """`rulings`: what the person decided must be spoken to, one by one."""
    output = review_in(text, round, about_gaps(book, round))
    engineer = proposals_in(proposed, round) if proposed else Proposals()
    names = [one.gap for one in engineer.resolutions if one.gap]
    listed = ", ".join(dict.fromkeys(names[:12])) or "each gap that was addressed"
    words = len(re.findall(r"\w+", output.said))
    own = [one for one in output.verdicts if one.quote != OF_ALL]
    empty = not (own or output.issues or output.new)
    if words == 0:
        why = f"there is no review. Give a verdict for {listed}, or list the checks you made and APPROVE."
        return Objection("EMPTY_REVIEW", why)
    if approves_all(output):
        return _unruled(book, output, round) if rulings else None
    if empty and output.overall == "APPROVE" and not output.checks:
        why = f"everything is approved without a word on what was checked. Give a verdict for {listed}"
        return Objection("ONE_WORD", f"{why}, and list the checks you made as `- [x] …`.")
    if empty and words <= _A_WORD and output.overall == "NONE":
        why = f"{words} words are no review. Give a verdict for {listed}, and list your checks."
        return Objection("EMPTY_REVIEW", why)
    judged = [(one.gap, "") for one in own]
    unjudged = _unjudged(output, listed, rulings)
    return (
        (unjudged if rulings else None)
        or _uncited(book, output, engineer, listed, round)
        or unjudged
        or _unknown(Ledger(book, 0), judged, [*_introduced(engineer), *output.new], any_id=False)
        or (_unruled(book, output, round) if rulings else None)
    )


def _unruled(book: Book, output: Review, round: int) -> Objection | None:
    """Rulings and answers of the person on gaps that were proposed now, of which the review says nothing."""
    said = {one.id for one in output.rulings}
    missing = [one for one in in_force(book, round) if not said & {one.id, one.issue}]
    if not missing:
        return None
    told = "; ".join(f"{one.id} ({one.issue or one.gap}): {clip(one.decision, 100)}" for one in missing)
    form = "`- D-001: FOLLOWED` or `- D-001: NOT FOLLOWED - which way the proposal goes instead`"
    why = f"a person decided, and the review does not say whether the proposal follows it ({told})."
    return Objection("RULING_NOT_CHECKED", f"{why} Under `### Rulings` write {form}.")


def _uncited(book: Book, output: Review, engineer: Proposals, listed: str, round: int) -> Objection | None:
    known = {canonical(one.gap) for one in engineer.resolutions if one.gap} or {canonical(name) for name in book.gaps}
    cited = engineer.issues & set(issues_in(output.said, round))
    if cited or known & {canonical(name) for name in gaps_in(output.said)}:
        return None
    said = normal(output.said)
    if any(one.title and normal(one.title) in said for one in engineer.resolutions) or not (known or engineer.said):
        return None
    why = f"the review names nothing of the engineer's output. Say which gap each remark is about: {listed}."
    return Objection("NO_CITATION", why)


def _unjudged(output: Review, listed: str, by_contract: bool) -> Objection | None:
    if output.verdicts or output.overall != "NONE":
        return None
    form = "`1. <id>: <name> - **APPROVED**` (or **APPROVED with note**, **needs revision**, **rejected**)"
    why = f"no verdict could be read. For each of {listed} write {form}, and APPROVE or REVISE overall."
    return Objection("WRONG_FORMAT" if by_contract else "NO_VERDICT", why)
