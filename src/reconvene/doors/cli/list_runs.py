"""`inbox`, `runs`: lists of runs, page by page.

They read index rows through the bare log: no engine, no event library, no asyncio is imported for them.
"""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from reconvene.core.facts.named_people import named
from reconvene.doors.cli.common import (
    COUNT,
    Call,
    command,
    note,
    open_home,
    put,
    put_json,
    put_none,
    put_table,
)
from reconvene.doors.cli.text import (
    clock_time,
    column_widths,
    fitted,
    harmless_json,
    one_line,
    screen_width,
)
from reconvene.home import is_there

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.index import Listed

_FEW = 3
_SHORTEST_QUESTION = 30  # columns


class Found(NamedTuple):
    rows: list[Listed]
    alone: list[str]  # runs that nobody drives though they are not at a stop: a crash left them so, or `--no-drive`
    next: str = ""  # the cursor of the rest


def _rows(call: Call, status: str | None, after: str, limit: int, *, beside: str | None = None) -> Found:
    """No state yet is an empty list. `beside`: of runs with this status, too, it is told which are alone."""
    from reconvene.app.index import page
    from reconvene.wiring import open_log

    if not is_there(call.place):
        return Found([], [])
    with closing(open_log(call.home)) as log:
        found = page(log, status, after, limit)
        others = [row.run for row in log.index(status=beside)] if beside else []
        running = [one.run for one in found.rows if one.status == "running"] + others
        driven = log.driven() if running else frozenset()
        return Found(found.rows, [run for run in running if run not in driven], found.next)


def _tell_more(call: Call, name: str, found: Found, limit: int, *more: str) -> None:
    if found.next:
        note(f"there are more: {call.command(name, *more, '--limit', str(limit), '--after', found.next)}")


def _put_rows(rows: Sequence[Listed], alone: Sequence[str] = ()) -> None:
    sys.stdout.write(harmless_json("[" + ",\n ".join(_doc(found, alone) for found in rows) + "]\n"))


def _doc(row: Listed, alone: Sequence[str]) -> str:
    """What the row holds is shown as it is: an encoded run."""
    if row.status != "running":
        return row.doc
    return f'{row.doc.rstrip()[:-1]},"driven":{str(row.run not in alone).lower()}}}'


def _put_alone(call: Call, runs: Sequence[str]) -> None:
    """What no process works on and no person is asked about would be forgotten."""
    if call.as_json:
        return
    if len(runs) == 1:
        put(f"\n{runs[0]} is running, but nobody is driving it; go on with: {call.command('resume', runs[0])}")
    elif runs:
        put(f"\n{len(runs)} runs are running, but nobody is driving them; go on with:")
        for run in runs[:_FEW]:
            put(f"  {call.command('resume', run)}")
        if len(runs) > _FEW:
            put(f"  … and {len(runs) - _FEW} more: {call.command('runs', '--status', 'running')}")


# The options of a list that is shown page by page.
_AFTER = click.option("--after", default="", metavar="RUN", help="Only those that are listed after this one.")
_LIMIT = click.option("--limit", type=COUNT, default=0, metavar="N", help="At most N; 0 = all.")


@command()
@_LIMIT
@_AFTER
@click.option("--mine", is_flag=True, help="Only what waits for you.")
def inbox(call: Call, after: str, limit: int, mine: bool) -> int:
    """Runs that wait for a person, or for a provider, the one that was started last first.

    With --mine only those that you may decide. Where others must choose as well, it is left out once you have chosen,
    unless they chose otherwise.
    """
    found = _rows(call, "waiting", after, 0 if mine else limit, beside="running")
    if mine:
        found = _mine(call, found, limit)
    put_inbox(call, found, limit, mine=mine)
    return 0


def put_inbox(call: Call, found: Found, limit: int, *, mine: bool) -> None:
    if call.as_json:
        _put_rows(found.rows)
    elif found.rows:
        pieces = [f"{one.title}: " if one.parent and one.title else "" for one in found.rows]
        lines = [
            (one.run, one.phase, _since(one.since or one.updated), _asked_as(one), piece + _asks(one))
            for one, piece in zip(found.rows, pieces)
        ]
        _put_inbox(lines)
    else:
        put_none(call, "nothing waits for you")
    _tell_more(call, "inbox", found, limit, *(["--mine"] if mine else []))
    if found.rows and not call.as_json:
        first = next((one.run for one in found.rows if not one.provider), "")
        parked = next((one.run for one in found.rows if one.provider), "")
        put()
        if first:
            put(f"decide with: {call.command('decide', first)}\nor look first: {call.command('show', first)}")
        if parked:
            put(f"try a provider again with: {call.command('resume', parked)}")
    _put_alone(call, found.alone)


def _mine(call: Call, found: Found, limit: int) -> Found:
    from reconvene.people_wiring import acting

    me = acting(call.home)
    rows = [one for one in found.rows if one.waits_for(me.user, me.teams)] if me.may("decider") else []
    shown = rows[: limit or None]
    return found._replace(rows=shown, next=shown[-1].run if len(shown) < len(rows) else "")


def _asked_as(one: Listed) -> str:
    return "provider" if one.provider else one.asked_as


def _asks(one: Listed) -> str:
    if one.provider:
        return f"not before {clock_time(one.not_before)}: {one.asks}"
    until = f"{'late since' if one.late else 'until'} {_since(one.deadline)}" if one.deadline else ""
    chose = f"{named(one.chose, 'and')} {'chose differently' if one.differ else 'chose'}" if one.chose else ""
    told = ", ".join(filter(None, (f"for {named(one.who)}" if one.who else "", chose, until)))
    return f"{told}: {one.asks}" if told else one.asks


def _for_whom(one: Listed) -> str:
    return " (provider)" if one.provider and one.status == "waiting" else ""


def _put_inbox(rows: Sequence[tuple[str, ...]]) -> None:
    """A line for each; where that leaves no room for the questions, these stand below. A run's id is never cut."""
    head = ("RUN", "PHASE", "SINCE", "STATUS", "QUESTION")
    cells = [[one_line(cell) for cell in row] for row in rows]
    widths, screen = column_widths([list(head), *cells]), screen_width()
    if sum(widths[:-1]) + 2 * len(widths[:-1]) + min(widths[-1], _SHORTEST_QUESTION) <= screen:
        put_table(rows, head)
        return
    for run, phase, since, status, asks in cells:
        put(run)
        put("  " + fitted(f"{since}  {phase}{f' ({status})' * bool(status)}", screen - 2))
        put("  " + fitted(asks, screen - 2))


@command()
@click.option(
    "--status",
    type=click.Choice(["queued", "running", "waiting", "paused", "completed", "failed", "aborted"]),
    help="Only these.",
)
@click.option("--deleted", is_flag=True, help="Those that were deleted: by whom, and when.")
@_LIMIT
@_AFTER
def runs(call: Call, status: str | None, deleted: bool, after: str, limit: int) -> int:
    """Every run, the one that was started last first."""
    if deleted:
        return _put_deleted(call)
    found = _rows(call, status, after, limit)
    rows, alone = found.rows, found.alone
    if call.as_json:
        _put_rows(rows, alone)
    elif rows:
        stands = [one.status + " (not driven)" * (one.run in alone) + _for_whom(one) for one in rows]
        lines = [(one.run, how, one.phase, _since(one.updated), one.workflow) for one, how in zip(rows, stands)]
        head, family = ("RUN", "STATUS", "PHASE", "UPDATED", "WORKFLOW"), [_family(one) for one in rows]
        if any(family):
            put_table([(*line, own) for line, own in zip(lines, family)], (*head, "FAMILY"))
        else:
            put_table(lines, head)
    else:
        of = f" that are {status}" if status else f" yet; start one with: {call.command('run', 'WORKFLOW')}"
        put_none(call, f"there are no runs{of}")
    _tell_more(call, "runs", found, limit, *(("--status", status) if status else ()))
    _put_alone(call, alone)
    return 0


def _put_deleted(call: Call) -> int:
    from reconvene.app.tombstones import gone
    from reconvene.app.views.who import told

    found = [gone(left) for left in open_home(call).log.deleted()] if is_there(call.place) else []
    if call.as_json:
        put_json(found)
    elif found:
        when = [one.at[:16].replace("T", " ") for one in found]
        rows = [(one.run, one.head, at, told(one.by, one.user), one.workflow) for one, at in zip(found, when)]
        put_table(rows, ("RUN", "EVENTS", "DELETED", "BY", "WORKFLOW"))
    else:
        put_none(call, "no run was deleted")
    return 0


def _family(one: Listed) -> str:
    """`piece of brainstorm-1: New API`, `started 3 runs`"""
    title = f": {one.title}" if one.title else ""
    own = [f"piece of {one.parent}{title}"] if one.parent else []
    own += [f"started {one.children} run{'s' * (one.children != 1)}"] if one.children else []
    return "; ".join(own)


def _since(at: str) -> str:
    """`2026-11-15T21:45:03.120Z` → `2026-11-15 21:45`"""
    return at[:16].replace("T", " ")
