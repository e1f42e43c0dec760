"""Where engineer and reviewer stand against each other: openly, by silence, by changing nothing, by deflection.

One job: a grave issue and what the next output does about it → a conflict with both positions, or none. The person
rules; nothing here takes sides. It must not know how outputs are written.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

import msgspec

from reconvene.kits.gaps.markdown import at_lines, clip
from reconvene.kits.gaps.outputs import Answer, Proposals
from reconvene.kits.gaps.records import Book, Choice, Conflict, Gap, Issue, Kind, Said, is_open
from reconvene.kits.gaps.vocabulary import GRAVE

ANSWER, WAIVE, FALSE_ALARM = "have it answered", "waive", "false alarm"
ENGINEERS, REVIEWERS = "A: the engineer's way", "B: the reviewer's way"


def find_conflicts(book: Book, output: Proposals | None, round: int) -> None:
    """Issues and conflicts after the engineer's output; without one, what is left of those there were.

    Asked before the review is taken in (it may raise the same issue again) and after it (it may close the gap).
    """
    kept: dict[str, Conflict] = {}
    said = _Said.of(output) if output is not None else None
    for issue in list(book.issues.values()):
        gap = book.gaps.get(issue.gap)
        if issue.state not in ("open", "disputed", "answered"):
            continue
        if gap is None:
            _answered_or_not(book, issue, said, round)
            continue
        if not is_open(gap):
            book.issues[issue.id] = msgspec.structs.replace(issue, state="closed")
            continue
        before = book.conflicts.get(issue.id)
        if issue.state == "answered" or issue.severity not in GRAVE:
            _answered_or_not(book, issue, said, round)
        elif issue.round >= round or said is None:
            if before is not None:
                kept[issue.id] = before
        elif conflict := _standing(book, issue, gap, before, said, round):
            kept[issue.id] = conflict
    book.conflicts = kept


class _Said(NamedTuple):
    """An engineer's output, its answers by issue: the first one to each counts."""

    output: Proposals
    answers: dict[str, Answer]
    counts: Counter[str]

    @classmethod
    def of(cls, output: Proposals) -> _Said:
        first = {answer.issue: answer for answer in reversed(output.answers)}
        return cls(output, first, Counter(answer.issue for answer in output.answers))


def _standing(
    book: Book, issue: Issue, gap: Gap, before: Conflict | None, engineer: _Said, round: int
) -> Conflict | None:
    output, answer = engineer.output, engineer.answers.get(issue.id)
    kind = _kind(issue, gap, answer, output, round)
    if kind is None:
        said = f"{answer.position}: {answer.rationale}" if answer else f"cited in {output.file}"
        book.issues[issue.id] = msgspec.structs.replace(issue, state="answered", answer=clip(said, 300))
        return None
    if answer is not None:
        said = f"{answer.position}: {answer.rationale}"
        book.issues[issue.id] = msgspec.structs.replace(issue, state="disputed", answer=clip(said, 300))
    elif before is not None and before.kind == "explicit":
        return before  # saying nothing more does not take a disagreement back
    return _conflict(issue, gap, kind, answer, engineer, round)


def _answered_or_not(book: Book, issue: Issue, engineer: _Said | None, round: int) -> None:
    if engineer is None or issue.round >= round:
        return
    answer = engineer.answers.get(issue.id)
    if answer is not None:
        said = clip(f"{answer.position}: {answer.rationale}", 300)
        book.issues[issue.id] = msgspec.structs.replace(issue, state="answered", answer=said)
    elif issue.state == "open" and issue.id in engineer.output.issues:
        said = f"cited in {engineer.output.file}"
        book.issues[issue.id] = msgspec.structs.replace(issue, state="answered", answer=said)


def _kind(issue: Issue, gap: Gap, answer: Answer | None, output: Proposals, round: int) -> Kind | None:
    dealt_with = gap.proposal is not None and gap.proposal.round == round
    unchanged = dealt_with and gap.proposal is not None and gap.proposal.digest == issue.digest
    changed = dealt_with and not unchanged
    if answer is not None:
        if answer.position == "DISAGREE":
            return "explicit"
        if answer.position == "UNCLEAR" and not answer.alternative and not changed:
            return "deflection"
        return "unchanged" if unchanged and not answer.alternative else None
    if unchanged:
        return "unchanged"
    return None if issue.id in output.issues else "silence"


def _conflict(issue: Issue, gap: Gap, kind: Kind, answer: Answer | None, engineer: _Said, round: int) -> Conflict:
    title = issue.title or gap.title
    output = engineer.output
    reading, evidence = _evidence(issue, gap, kind, engineer, round)
    table = _table(issue, kind, answer)
    return Conflict(
        id=issue.id,
        kind=kind,
        gap=gap.id,
        issue=issue.id,
        title=title,
        text=_question(issue, gap, kind, title),
        severity=issue.severity,
        round=round,
        reviewer=Said(issue.text, issue.where),
        engineer=_position(gap, kind, answer, output, round),
        options=tuple(choice.option for choice in table),
        table=table,
        reading="disagreement" if reading else "oversight",
        evidence=evidence,
    )


def _question(issue: Issue, gap: Gap, kind: Kind, title: str) -> str:
    about = f"{issue.id} ({issue.severity}, {gap.id}): {clip(title, 100).rstrip('.?!')}"
    match kind:
        case "explicit":
            return f"{about}. The engineer disagrees. Which way?"
        case "silence":
            return f"{about}. The engineer neither answered nor cited it. What now?"
        case "unchanged":
            return f"{about}. The criticised section came back unchanged. What now?"
        case "deflection":
            return f"{about}. The answer takes no position and offers no alternative. What now?"


def _position(gap: Gap, kind: Kind, answer: Answer | None, output: Proposals, round: int) -> Said:
    if answer is not None and kind != "unchanged":
        return Said(answer.rationale or f"({answer.position}, no rationale)", at_lines(output.file, answer.lines))
    if gap.proposal is not None and gap.proposal.round == round:
        return Said(clip(gap.proposal.quote, 400), gap.proposal.where)
    return Said("(nothing said about it)", output.file)


def _evidence(issue: Issue, gap: Gap, kind: Kind, engineer: _Said, round: int) -> tuple[bool, str]:
    """Does it look like disagreement (True) or oversight, and by what."""
    output = engineer.output
    others = len(output.answers) - engineer.counts[issue.id]
    match kind:
        case "explicit":
            return True, f"“DISAGREE” in {output.file}"
        case "deflection":
            return True, "it was answered without a position, an alternative or a change"
        case "unchanged":
            return True, f"{gap.id} was written out again, word for word as it was criticised ({issue.where})"
        case "silence":
            if gap.proposal is not None and gap.proposal.round == round:
                return False, f"{gap.id} was rewritten, but {issue.id} is not named: it may be dealt with there"
            if others:
                return True, f"{others} other issue(s) were answered, this one was left out, {gap.id} was not touched"
            return False, f"neither {issue.id} nor a solution for {gap.id} appears in {output.file}"


def _table(issue: Issue, kind: Kind, answer: Answer | None) -> tuple[Choice, ...]:
    if kind != "explicit":
        return (
            Choice(ANSWER, "Reviewer", "the next round must answer it"),
            Choice(WAIVE, "Engineer", "the concern stands, and is not pursued"),
            Choice(FALSE_ALARM, "Neither", "there was no conflict; it is not shown again"),
        )
    rationale = answer.rationale if answer else ""
    third = answer.alternative if answer else ""
    return (
        Choice(ENGINEERS, "Engineer", clip(rationale or "as proposed", 160)),
        Choice(REVIEWERS, "Reviewer", clip(issue.text or issue.title, 160)),
        Choice(f"C: {clip(third, 60)}", "Engineer's alternative", clip(third, 160))
        if third
        else Choice("C: a middle ground", "Neither", "the engineer looks for one that meets both concerns"),
    )
