"""What a person wants to see of the gaps a run follows: a choice of them, one gap's life, open gaps per round."""

from __future__ import annotations

from typing import NamedTuple

from msgspec import Struct

from reconvene.kits.gaps.records import Book, Conflict, Decision, Gap, Issue, Merge, Row, Similar, by_severity, is_open
from reconvene.kits.gaps.vocabulary import ORDER


class Choice(NamedTuple):
    """Which gaps are wanted; what is empty leaves nothing out."""

    states: frozenset[str] = frozenset()
    severities: frozenset[str] = frozenset()
    blocking: bool = False
    raised_in: int | None = None
    still_open: bool = False


def chosen(book: Book, choice: Choice) -> list[Gap]:
    """Open ones first, the gravest first among them; then the others. Blocking ones lead within a severity."""

    def wanted(gap: Gap) -> bool:
        return (
            (not choice.states or gap.state in choice.states)
            and (not choice.severities or gap.severity in choice.severities)
            and (not choice.blocking or gap.blocking)
            and choice.raised_in in (None, gap.raised_in)
            and (not choice.still_open or is_open(gap))
        )

    found = [gap for gap in book.gaps.values() if wanted(gap)]
    return sorted(found, key=lambda gap: (not is_open(gap), ORDER.index(gap.severity), not gap.blocking))


# --- open gaps per round ---


class Bar(Struct, frozen=True):
    """How many gaps were open, by severity. `round` None: before the first one, or now."""

    label: str
    round: int | None
    counts: dict[str, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())


def bars(book: Book) -> list[Bar]:
    """Before the first round, after each, and now where that differs: a round under way, or what a person decided."""
    if not book.gaps:
        return []
    found: list[Bar] = []
    if book.rounds:
        found.append(Bar("start", None, _count(_met_by(book, book.rounds[0]))))
    for row in book.rounds:
        counts: dict[str, int] = {name: row.by_severity.get(name, 0) for name in ORDER}
        found.append(Bar(f"round {row.round}", row.round, counts))
    now = Bar("now", None, _count(book.open()))
    if not found or now.counts != found[-1].counts:
        found.append(now)
    return found


def _count(gaps: list[Gap]) -> dict[str, int]:
    return {str(name): count for name, count in by_severity(gaps).items()}


def _met_by(book: Book, first: Row) -> list[Gap]:
    """The gaps as the first round met them: lists are taken in at its beginning, what its outputs raised is later."""
    later = {*first.new_ids, *first.set_aside_ids}
    before = [gap for gap in book.gaps.values() if gap.raised_in <= first.round and gap.id not in later]
    return [gap for gap in before if not _was_a_duplicate(gap)]


def _was_a_duplicate(gap: Gap) -> bool:
    """Merged in the moment it was raised."""
    return len(gap.history) > 1 and (gap.history[1].state, gap.history[1].by) == ("merged", "the tracker")


# --- one gap ---


class Moment(Struct, frozen=True):
    """One thing that happened to a gap. what: state | issue | conflict | decision | merge."""

    round: int
    what: str
    text: str
    by: str = ""
    where: str = ""


class Life(Struct, frozen=True):
    gap: Gap
    moments: tuple[Moment, ...]
    issues: tuple[Issue, ...]
    conflicts: tuple[Conflict, ...]  # still open
    decisions: tuple[Decision, ...]
    parts: tuple[Gap, ...]  # what it was split into
    merged: tuple[Merge, ...]  # gaps that live on in it, or it in another
    similar: tuple[Similar, ...]  # near-duplicates a person has not ruled on
    waits_for: tuple[Gap, ...]
    holds_up: tuple[Gap, ...]  # open gaps that wait for it


def find(book: Book, name: str) -> Gap | None:
    """By its id, whatever the case."""
    return next((gap for gap in book.gaps.values() if gap.id.casefold() == name.strip().casefold()), None)


def life_of(book: Book, gap: Gap) -> Life:
    issues = tuple(issue for issue in book.issues.values() if issue.gap == gap.id)
    conflicts = tuple(conflict for conflict in book.conflicts.values() if conflict.gap == gap.id)
    decisions = tuple(decision for decision in book.decisions if decision.gap == gap.id)
    return Life(
        gap,
        _moments(gap, issues, conflicts, decisions),
        issues,
        conflicts,
        decisions,
        parts=tuple(book.gaps[name] for name in gap.children if name in book.gaps),
        merged=tuple(merge for merge in book.merges if gap.id in (merge.id, merge.into)),
        similar=tuple(pair for pair in book.similar if gap.id in (pair.id, pair.of)),
        waits_for=tuple(book.gaps[name] for name in gap.blocked_by if name in book.gaps),
        holds_up=tuple(other for other in book.open() if gap.id in other.blocked_by),
    )


def _moments(
    gap: Gap, issues: tuple[Issue, ...], conflicts: tuple[Conflict, ...], decisions: tuple[Decision, ...]
) -> tuple[Moment, ...]:
    """Round by round; within one, first what was proposed and judged, then what followed from it."""
    found = [Moment(moved.round, "state", f"{moved.state}{_tail(moved.why)}", moved.by) for moved in gap.history]
    for issue in issues:
        text = f"{issue.id} ({issue.severity}, {issue.state}): {issue.text}"
        found.append(Moment(issue.round, "issue", text, where=issue.where))
    for conflict in conflicts:
        text = f"{conflict.kind}, reads as {conflict.reading}: {conflict.text}"
        found.append(Moment(conflict.round, "conflict", text, where=conflict.engineer.where))
    for decision in decisions:
        heard = {True: "; taken up", False: "; not taken up", None: "; due" if decision.due else ""}[decision.obeyed]
        text = f"{decision.id} {decision.decision}{_tail(decision.rationale)}{heard}"
        found.append(Moment(decision.round, "decision", text, decision.by))
    return tuple(sorted(found, key=lambda moment: moment.round))


def _tail(text: str) -> str:
    return f": {text}" if text else ""


# --- what a round did ---


class Facts(Struct, frozen=True):
    """What a round did to the gaps, by their ids."""

    addressed: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    raised: tuple[str, ...] = ()
    verdict: str = ""


def facts_of(book: Book, n: int) -> Facts:
    """Which gaps round n addressed, closed and raised, as the tracker saw it. A round cut off early has no row yet."""
    gaps = book.gaps.values()
    row = next((row for row in reversed(book.rounds) if row.round == n), None)
    addressed = tuple(gap.id for gap in gaps if _moved(gap, n, "proposed"))
    if row is not None:
        return Facts(addressed, row.closed_ids, (*row.new_ids, *row.reopened_ids), book.verdict)
    raised = tuple(gap.id for gap in gaps if gap.raised_in == n and gap.raised_by != "person")
    return Facts(addressed, tuple(gap.id for gap in gaps if _moved(gap, n, "resolved")), raised, book.verdict)


def _moved(gap: Gap, n: int, state: str) -> bool:
    return any(moved.round == n and moved.state == state for moved in gap.history)
