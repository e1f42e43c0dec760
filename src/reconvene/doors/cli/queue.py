"""`queue` and its commands: list, move, drop, run. What a queued run may do is the engine's business.

Listing reads index rows through the bare log, as `inbox` does.
"""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import (
    BY,
    DOOR,
    OPEN,
    Call,
    answer,
    command,
    note,
    open_home,
    put,
    put_json,
    put_none,
    put_table,
    say,
)
from reconvene.doors.cli.text import clock_time
from reconvene.errors import UserError
from reconvene.home import is_there

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from reconvene.app.index import Listed
    from reconvene.doors.cli.stops import Decider
    from reconvene.doors.cli.work_off import Worked


class _Queued(NamedTuple):
    """A queued run, where it stands, and the other pieces of the run that it comes from."""

    position: int
    entry: Listed
    siblings: list[Listed]

    def to_json(self) -> Mapping[str, object]:
        entry = self.entry
        told = {"run": entry.run, "parent": entry.parent, "title": entry.title, "workflow": entry.workflow}
        others = [{"run": one.run, "status": one.status, "title": one.title} for one in self.siblings]
        return {"position": self.position, **told, "since": entry.started, "siblings": others}


def _rows(call: Call) -> tuple[list[_Queued], list[str], list[Listed]]:
    """The queue, the runs that have yet to put pieces into it, and pieces that had their turn and wait for a provider.
    No state yet is an empty queue."""
    from reconvene.app.run_queue import children_by_parent, in_order, parked, unmade
    from reconvene.wiring import open_log

    if not is_there(call.place):
        return [], [], []
    with closing(open_log(call.home)) as log:
        entries = in_order(log)
        families = children_by_parent(log) if entries else {}
        rows = [
            _Queued(position, entry, [other for other in families.get(entry.parent, []) if other.run != entry.run])
            for position, entry in enumerate(entries, start=1)
        ]
        return rows, unmade(log), parked(log)


def _put_parked(call: Call, waiting: Iterable[Listed]) -> None:
    for one in waiting:
        at_once = call.command("resume", one.run, "--now")
        say(
            f"{one.run} waits for {one.provider}; nobody tries before {clock_time(one.not_before)}; "
            f"then: {call.command('queue', 'run')}; at once: {at_once}"
        )


def _begun(row: _Queued) -> str:
    """The siblings that have had their turn, in a few words."""
    states = [one.status for one in row.siblings if one.status != "queued"]
    return ", ".join(f"{states.count(status)} {status}" for status in dict.fromkeys(states)) or "–"


@command("Examples:\n  reconvene queue move brainstorm-1.docs first\n  reconvene queue move brainstorm-1.docs 2")
@click.argument("run")
@click.argument("position", metavar="POSITION|first|last")
@BY
def move(call: Call, run: str, position: str) -> int:
    """Give RUN another place in the queue: a number from 1, first or last. Nothing else moves."""
    from reconvene.app import run_queue

    number = {"first": 1, "last": -1}.get(position.casefold(), int(position) if position.isdecimal() else 0)
    if not number:
        raise UserError(f"{position!r} is not a position", hint="write a number from 1, first or last")
    require_person("to change the queue")
    engine = open_home(call)
    found = engine.find(run)
    stands = run_queue.move(engine, found, number, by=call.by, door=DOOR)
    return answer(call, {"run": found, "position": stands}, f"{found} is number {stands} in the queue")


@command()
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
@BY
def drop(call: Call, run: str, yes: bool) -> int:
    """Take RUN out of the queue for good: it ends as aborted, with the outcome "dropped". Its log stays."""
    from reconvene.app import queries
    from reconvene.core.facts.commands import DropQueued
    from reconvene.doors.cli.work_off import agreed

    require_person("to change the queue")
    engine = open_home(call)
    found = engine.find(run)
    summary = queries.summary(engine, found)
    sure = yes or not call.interactive or summary.status != "queued"
    if not sure and not agreed(f"Drop {found} ({summary.title})?", default=False):
        note("nothing was changed")
        return 0
    engine.submit(found, DropQueued(call.by, DOOR))
    told = f"{found} is dropped; what was said about it stays in its log: {call.command('log', found)}"
    return answer(call, queries.summary(engine, found), told)


@command()
@BY
@click.option("--no-input", is_flag=True, help="Never ask: leave a run waiting at its checkpoint, and go on.")
def run_command(call: Call, no_input: bool) -> int:
    """Work the queue off in order; first what a process that died left in the middle, or what waited for a provider.

    On a terminal you are asked at each checkpoint, and the next run begins when one has ended. Elsewhere a run that
    waits for a person, or for a provider, is left waiting and the next one begins. One that fails is reported, and the
    next one begins.
    Several processes may do this at the same time: none takes a run that another has.

    Exits with 3 if any run waits, else with 1 if any failed, with 2 if any was aborted, else with 0.
    """
    from reconvene.doors.cli.drive import who_decides
    from reconvene.doors.cli.stops import was_shown
    from reconvene.doors.cli.work_off import verdict

    require_person("to drive runs")
    worked = _work_off(call, who_decides(call, None, no_input))
    if call.as_json:
        put_json([one.summary for one in worked])
        for one in worked:
            was_shown(call, one.summary)
    elif not worked:
        put_none(call, "the queue is empty")
        _put_parked(call, _rows(call)[2])
    elif len(worked) > 1:
        put("\n" + "\n".join(f"{one.summary.run}: {one.error or one.summary.status}" for one in worked))
    return verdict(worked)


def _work_off(call: Call, decider: Decider) -> list[Worked]:
    from reconvene.app import run_queue
    from reconvene.core.person.permitted import require_role
    from reconvene.doors.cli.stops import driving
    from reconvene.doors.cli.work_off import agreed, work_off

    if not is_there(call.place):
        return []
    engine = open_home(call)
    require_role(engine.actor, "decider", "to go on with runs")

    def go_on(run: str, before: Worked | None) -> bool:
        """A person who left a run open may have had enough."""
        left = before is not None and before.summary.status in OPEN and decider.shows
        return not left or agreed(f"Go on with the next one, {run}?")

    with driving(call, engine, decider) as drive:
        for parent in run_queue.unmade(engine.log):
            engine.make_children(parent)
        halfway = [*run_queue.interrupted(engine.log), *run_queue.due(engine.log, engine.now())]
        return work_off(drive, lambda: [*halfway, *(one.run for one in run_queue.in_order(engine.log))], go_on)


@command(
    "Examples:\n  reconvene queue\n  reconvene queue move brainstorm-1.docs first\n  reconvene queue run",
    commands=(move, drop, run_command),
)
def queue(call: Call) -> int:
    """Runs that wait for their turn, in order; each is a piece of a run that was split.

    The queue is one for all runs of a home. `reconvene queue run` works it off.
    """
    rows, missing, waiting = _rows(call)
    if call.as_json:
        put_json([row.to_json() for row in rows])
        return 0
    if not rows:
        put_none(call, "the queue is empty")
    else:
        lines = [(row.position, row.entry.run, row.entry.parent, _begun(row), row.entry.title) for row in rows]
        put_table(lines, ("#", "RUN", "PARENT", "ITS OTHER PIECES", "TITLE"))
        put(f"\nwork them off with: {call.command('queue', 'run')}")
    for run in missing:
        put(f"pieces of {run} are still to be put into the queue: {call.command('resume', run)}")
    _put_parked(call, waiting)
    return 0
