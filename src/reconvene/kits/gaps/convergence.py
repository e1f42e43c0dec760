"""Does it converge? The table of rounds, its state machine, and the warning with the rule that fired.

By counts, with s the configured stall and e the explosion:
  net > 0           → CONVERGING, the counter goes back to 0
  net <= 0          → STALLED (n), n counting rounds in a row; at n = s → DIVERGENCE_WARNING
  net < -e          → DIVERGENCE_WARNING at once
By identity: the same gap sent back again, or a criticised section that came back unchanged, warns whatever the counts
say. By weight: severities beside plain counts, so that the warning's first line can say when the counts cry wolf.

Deferring, accepting, reopening and merging by a person happen between rounds: they show as `between`, the difference of
a row's start to the end of the row before, and never as resolved or new. It must not know how outputs are written.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from msgspec import Struct

from reconvene.kits.gaps.records import Book, Gap, Row, by_severity, is_open
from reconvene.kits.gaps.vocabulary import WEIGHTS

CONVERGING, WARNING = "CONVERGING", "DIVERGENCE_WARNING"
RULES = {
    "stalled": "no net progress for {stall} round(s) in a row",
    "explosion": "more than {explosion} gaps net were added in one round",
    "rejected again": "the same gap was sent back again",
    "unchanged": "a criticised section came back unchanged",
    "breeding": "solutions bring up more gaps than they close",
}


class Warned(Struct, frozen=True):
    """What a person is told when it does not converge."""

    rules: list[str]
    why: list[str]
    gaps: list[str]
    line: str  # weighs; the rest names rules, gaps and rows
    rows: list[str]
    text: str  # all of it
    weight_net: int
    redo: bool


class Config(NamedTuple):
    """`stall`: rounds without net progress until the warning. `explosion`: net below its negative warns at once.
    `identity`: a gap that comes back warns, too. `patience`: rounds that a grave issue may be left untouched.
    `rulings`: the reviewer says of each ruling whether it is followed."""

    stall: int = 2
    explosion: int = 2
    identity: bool = True
    patience: int = 1
    rulings: bool = False


class Start(NamedTuple):
    """The gaps as the round met them."""

    open: frozenset[str]
    known: frozenset[str]


class Stuck(NamedTuple):
    rejected: tuple[str, ...] = ()
    unchanged: tuple[str, ...] = ()


def step(net: int, stalled: int, config: Config) -> tuple[str, int]:
    """One move of the state machine: (state, rounds in a row without net progress)."""
    if net > 0:
        return CONVERGING, 0
    count = stalled + 1
    if net < -config.explosion or count >= config.stall:
        return WARNING, count
    return f"STALLED ({count})", count


def start_of(book: Book) -> Start:
    return Start(frozenset(gap.id for gap in book.open()), frozenset(book.gaps))


def row_of(book: Book, start: Start, round: int, stuck: Stuck, config: Config) -> tuple[Row, int]:
    """The round's row as it stands, and the counter that goes with it."""
    gaps = book.gaps
    fresh = [gap for gap in gaps.values() if gap.id not in start.known and gap.state != "merged"]
    aside = [gap for gap in fresh if gap.state == "deferred"]
    raised = [gap for gap in fresh if gap.state != "deferred"]
    reopened = [gap for gap in gaps.values() if gap.id in start.known - start.open and is_open(gap)]
    closed = [gap for gap in (*(gaps[name] for name in start.open), *raised) if not is_open(gap)]
    new = raised + reopened
    net = len(closed) - len(new)
    state, count = step(net, book.stalled, config)
    return Row(
        round=round,
        start=len(start.open),
        resolved=len(closed),
        new=len(new),
        end=len(start.open) - net,
        net=net,
        state=state,
        weight_start=weight(gaps[name] for name in start.open),
        weight_resolved=weight(closed),
        weight_new=weight(new),
        weight_net=weight(closed) - weight(new),
        closed_ids=tuple(sorted(gap.id for gap in closed)),
        new_ids=tuple(gap.id for gap in raised),
        reopened_ids=tuple(gap.id for gap in reopened),
        stuck_ids=tuple(dict.fromkeys((*stuck.rejected, *stuck.unchanged))),
        bred_ids=tuple(gap.id for gap in raised if gap.source),
        set_aside_ids=tuple(gap.id for gap in aside),
        between=len(start.open) - book.rounds[-1].end if book.rounds else 0,
        by_severity=by_severity(book.open()),
    ), count


def weight(gaps: Iterable[Gap]) -> int:
    return sum(WEIGHTS[gap.severity] for gap in gaps)


def warning_of(book: Book, row: Row, count: int, stuck: Stuck, config: Config) -> Warned | None:
    fired = _rules(book, row, count, stuck, config)
    if not fired:
        return None
    recent = [*book.rounds, row][-max(count, 1) :]
    lines = [
        RULES[name].format(stall=config.stall, explosion=config.explosion) + (": " + ", ".join(ids) if ids else "")
        for name, ids in fired.items()
    ]
    told = [
        f"Round {one.round}: Resolved {one.resolved}, Introduced {one.new} (Net: {_signed(one.net)})" for one in recent
    ]
    opening = ""
    if row.state == WARNING and count >= config.stall:
        opening = f"The workflow has not made net progress for {count} round{'s' if count > 1 else ''}.\n"
    line = _weighed(recent, row)
    return Warned(
        rules=list(fired),
        why=lines,
        gaps=list(dict.fromkeys(name for ids in fired.values() for name in ids)),
        line=line,
        rows=told,
        text=f"{line}\n{opening}" + "\n".join(told) + "\nRule: " + "; ".join(lines) + ".",
        weight_net=sum(one.weight_net for one in recent),
        redo="explosion" in fired,
    )


def _rules(book: Book, row: Row, count: int, stuck: Stuck, config: Config) -> dict[str, list[str]]:
    fired: dict[str, list[str]] = {}
    if row.net < -config.explosion:
        fired["explosion"] = [*row.new_ids, *row.reopened_ids]
    if row.net <= 0 and count >= config.stall:
        recent = [*book.rounds, row][-count:]
        still = {gap.id for gap in book.open()}
        brought = dict.fromkeys(name for one in recent for name in (*one.new_ids, *one.reopened_ids))
        fired["stalled"] = [name for name in brought if name in still]
    if not fired and not config.identity:
        return {}
    if stuck.rejected:
        fired["rejected again"] = list(stuck.rejected)
    if stuck.unchanged:
        fired["unchanged"] = list(stuck.unchanged)
    if fired and len(row.bred_ids) > row.resolved:
        fired["breeding"] = list(row.bred_ids)
    return fired


def _weighed(recent: list[Row], row: Row) -> str:
    closed = sum(one.weight_resolved for one in recent)
    found = sum(one.weight_new for one in recent)
    over = f"weight {closed} closed against {found} found over {len(recent)} round{'s' if len(recent) > 1 else ''}"
    stuck = ", ".join(row.stuck_ids)
    if closed > found:
        if not stuck:
            return f"Converging by weight and by identity: {over}, and no gap came back. Only the counts stand still."
        return f"Converging by weight ({over}), not by identity: {stuck} came back."
    if not stuck:
        return f"Not converging by weight either: {over}; no single gap is stuck."
    return f"Not converging, by weight ({over}) or by identity: {stuck} came back."


def _signed(number: int) -> str:
    return f"{number:+d}" if number else "0"
