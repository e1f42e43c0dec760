"""Where engineer and reviewer stand against each other: openly, by silence, by changing nothing, by deflection.

The person rules; nothing here takes sides. It must not know how outputs are written.
"""

from __future__ import annotations

from collections import Counter
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.kits.gaps.markdown import at_lines, clip
from reconvene.kits.gaps.outputs import Answer, Proposals
from reconvene.kits.gaps.records import Book, Choice, Conflict, Decision, Gap, Issue, IssueState, Kind, Said, is_open
from reconvene.kits.gaps.vocabulary import GRAVE

ANSWER, WAIVE, FALSE_ALARM = "have it answered", "waive", "false alarm"
ENGINEERS, REVIEWERS = "A: the engineer's way", "B: the reviewer's way"
HOLD, LET = "hold to the decision", "let the proposal stand"
_ASKED: dict[Kind, str] = {
    "explicit": "The engineer disagrees. Which way?",
    "silence": "The engineer neither answered nor cited it. What now?",
    "unchanged": "The criticised section came back unchanged. What now?",
    "deflection": "The answer takes no position and offers no alternative. What now?",
    "disobeyed": "The reviewer says that the proposal follows another way than you decided. What now?",
}


def find_conflicts(book: Book, output: Proposals | None, round: int, patience: int = 1) -> None:
    """Issues and conflicts after the engineer's output; without one, what is left of those there were.

    `patience`: rounds that a gap may be left untouched, while others are worked on, before silence about it counts.
    Asked before the review is taken in (it may raise the same issue again) and after it (it may close the gap).
    """
    kept = {name: one for name, one in book.conflicts.items() if one.kind == "disobeyed" and _is_still_open(book, one)}
    said = _Said.of(output) if output is not None else None
    for issue in list(book.issues.values()):
        gap = book.gaps.get(issue.gap)
        if issue.state not in ("open", "disputed", "answered"):
            continue
        if gap is None:
            _answered_or_not(book, issue, said, round)
            continue
        if not is_open(gap):
            book.issues[issue.id] = replace(issue, state="closed")
            continue
        before = book.conflicts.get(issue.id)
        if issue.state == "answered" or issue.severity not in GRAVE:
            _answered_or_not(book, issue, said, round)
        elif issue.round >= round or said is None:
            if before is not None:
                kept[issue.id] = before
        elif conflict := _standing(book, issue, gap, before, said, round, patience):
            kept[issue.id] = conflict
    book.conflicts = kept


def _is_still_open(book: Book, conflict: Conflict) -> bool:
    gap = book.gaps.get(conflict.gap)
    return gap is not None and is_open(gap)


class _Said(NamedTuple):
    """An engineer's output, its answers by issue: the first one to each counts."""

    output: Proposals
    answers: dict[str, Answer]
    counts: Counter[str]

    @classmethod
    def of(cls, output: Proposals) -> _Said:
        first = {answer.issue: answer for answer in reversed(output.answers)}
        return cls(output, first, Counter(answer.issue for answer in output.answers))

    def to(self, issue: Issue) -> str:
        answer = self.answers.get(issue.id)
        return clip(f"{answer.position}: {answer.rationale}", 300) if answer else f"cited in {self.output.file}"


def _standing(
    book: Book, issue: Issue, gap: Gap, before: Conflict | None, engineer: _Said, round: int, patience: int
) -> Conflict | None:
    answer = engineer.answers.get(issue.id)
    if (
        answer is None
        and issue.id not in engineer.output.issues
        and not _is_due(issue, gap, engineer.output, round, patience)
    ):
        return (
            before if before is not None and before.kind == "explicit" else None
        )  # not yet taken up: that is no answer
    kind = _kind(issue, gap, answer, engineer.output, round)
    if kind is None or answer is not None:
        state: IssueState = "disputed" if kind else "answered"
        book.issues[issue.id] = replace(issue, state=state, answer=engineer.to(issue))
    elif before is not None and before.kind == "explicit":
        return before  # saying nothing more does not take a disagreement back
    return _conflict(issue, gap, kind, answer, engineer, round) if kind else None


def _is_due(issue: Issue, gap: Gap, output: Proposals, round: int, patience: int) -> bool:
    """Whether silence counts: the gap was worked on in this round, or left for rounds in which others were."""
    worked = gap.proposal.round if gap.proposal is not None else 0
    left = round - max(issue.round, worked)
    return worked == round or (left >= patience and (bool(output.resolutions) or patience < 2))


def _answered_or_not(book: Book, issue: Issue, engineer: _Said | None, round: int) -> None:
    if engineer is None or issue.round >= round:
        return
    if issue.id in engineer.answers or (issue.state == "open" and issue.id in engineer.output.issues):
        book.issues[issue.id] = replace(issue, state="answered", answer=engineer.to(issue))


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
    about = f"{issue.id} ({issue.severity}, {gap.id}): {clip(title, 100).rstrip('.?!')}"
    reading, evidence = _evidence(issue, gap, kind, engineer, round)
    table = _table(issue, kind, answer)
    return Conflict(
        id=issue.id,
        kind=kind,
        gap=gap.id,
        issue=issue.id,
        title=title,
        text=f"{about}. {_ASKED[kind]}",
        severity=issue.severity,
        round=round,
        reviewer=Said(issue.text, issue.where),
        engineer=_position(gap, kind, answer, engineer.output, round),
        options=tuple(choice.option for choice in table),
        table=table,
        reading="disagreement" if reading else "oversight",
        evidence=evidence,
    )


def disobeyed(gap: Gap, decision: Decision, why: str, where: str, round: int) -> Conflict:
    """A decision that a proposal does not follow, as the reviewer says: a conflict again, at once."""
    name = decision.issue or decision.id
    title = decision.title.partition(" - ")[2] or decision.title
    table = (
        Choice(HOLD, "You", clip(decision.decision, 160)),
        Choice(LET, "Engineer", clip(gap.proposal.quote if gap.proposal else "as proposed", 160)),
    )
    return Conflict(
        id=name,
        kind="disobeyed",
        gap=gap.id,
        issue=decision.issue,
        title=title,
        text=f"{decision.id} ({gap.id}): you decided “{clip(decision.decision, 100)}”. {_ASKED['disobeyed']}",
        severity=gap.severity,
        round=round,
        reviewer=Said(why or "the proposal does not follow the decision", where),
        engineer=Said(clip(gap.proposal.quote, 400), gap.proposal.where) if gap.proposal else Said("", ""),
        options=tuple(choice.option for choice in table),
        table=table,
        reading="disagreement",
        evidence=f"the reviewer says of {decision.id} that the proposal does not follow it",
    )


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
        case "disobeyed":
            return True, f"{issue.id} was decided, and the proposal follows another way"


def _table(issue: Issue, kind: Kind, answer: Answer | None) -> tuple[Choice, ...]:
    if kind != "explicit":
        return (
            Choice(ANSWER, "Reviewer", "the next round must answer it"),
            Choice(WAIVE, "Engineer", "the concern stands, and is not pursued"),
            Choice(FALSE_ALARM, "Neither", "there was no conflict; it is not shown again"),
        )
    rationale, third = (answer.rationale, answer.alternative) if answer else ("", "")
    middle = Choice("C: a middle ground", "Neither", "the engineer looks for one that meets both concerns")
    return (
        Choice(ENGINEERS, "Engineer", clip(rationale or "as proposed", 160)),
        Choice(REVIEWERS, "Reviewer", clip(issue.text or issue.title, 160)),
        Choice(f"C: {clip(third, 60)}", "Engineer's alternative", clip(third, 160)) if third else middle,
    )
