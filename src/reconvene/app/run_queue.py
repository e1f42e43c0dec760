"""The queue: every run that waits for its turn, in one order. Read from index rows; no log is folded to look at it.

Imports nothing heavy: `reconvene queue` answers as quickly as `reconvene inbox`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.app.index import Listed, listed
from reconvene.core.facts.ids import at_the_end, between
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.facts.actors import Actor
    from reconvene.ports import EventLog


def in_order(log: EventLog) -> list[Listed]:
    """First what comes first. Where two have the same place, their names decide, everywhere alike."""
    return sorted(listed(log, "queued"), key=lambda one: (one.place, one.run))


def children_by_parent(log: EventLog) -> dict[str, list[Listed]]:
    """Every child that has a log, under its parent."""
    found: dict[str, list[Listed]] = {}
    for one in sorted(listed(log, having="parent")):
        found.setdefault(one.parent, []).append(one)
    return found


def interrupted(log: EventLog) -> list[str]:
    """Children that were begun and are neither parked nor ended, oldest first: somebody drives them, or died at it."""
    return _oldest_first(listed(log, "running", having="parent"))


def parked(log: EventLog) -> list[Listed]:
    """Children that wait for a provider, the one that may be tried first first."""
    found = [one for one in listed(log, "waiting", having="provider") if one.parent]
    return sorted(found, key=lambda one: (one.not_before, one.run))


def due(log: EventLog, now: str) -> list[str]:
    """Of those, the ones whose provider may be asked again, oldest first."""
    return _oldest_first([one for one in parked(log) if one.not_before <= now])


def unmade(log: EventLog) -> list[str]:
    """Runs that decided on children some of which have no log yet: driving them makes the rest."""
    return _oldest_first(listed(log, having="unmade"))


def _oldest_first(found: list[Listed]) -> list[str]:
    return [one.run for one in sorted(found, key=lambda one: (one.started, one.run))]


def move(engine: Engine, run: str, position: int, *, by: str = "", door: str = "", actor: Actor | None = None) -> int:
    """Put a queued run at this position, counted from 1; -1 = the last. The position it has afterwards."""
    from reconvene.core.facts.commands import MoveInQueue

    entries = in_order(engine.log)
    others = [entry for entry in entries if entry.run != run]
    queued = len(others) < len(entries)
    if queued and not (position == -1 or 1 <= position <= len(entries)):
        raise UserError(
            f"The queue has {len(entries)} runs; {position} is not a position in it.",
            hint=f"reconvene queue move {run} {len(entries)}, or first, or last",
        )
    at = len(others) if position == -1 else min(max(position, 1) - 1, len(others))
    before = others[at - 1].place if at else ""
    place = between(before, others[at].place) if at < len(others) else _behind(before, engine.now(), run)
    if not queued or entries[at].run != run:  # who is not queued is told so by the run itself
        engine.submit(run, MoveInQueue(place, by, door), actor=actor)
    return at + 1


def _behind(last: str, now: str, run: str) -> str:
    """Now, so that what is queued later comes later; behind the last one, whatever its clock said."""
    place = at_the_end(now, 0, run)
    return place if place > last else f"{last}5"
