"""`inbox`, `runs`, `show`, `log`, `files`, `diff`: the read side. Nothing here changes a run.

`inbox` and `runs` read index rows through the bare log: no engine, no event library, no asyncio is imported for them.
"""

from __future__ import annotations

import json
import re
import sys
from contextlib import closing
from typing import TYPE_CHECKING, NamedTuple

import click

from reconvene.doors.cli.common import (
    COUNT,
    OPEN,
    Call,
    command,
    note,
    open_run,
    put,
    put_json,
    put_none,
    put_table,
    say,
)
from reconvene.doors.cli.text import (
    clean,
    clock_time,
    column_widths,
    fitted,
    harmless_json,
    one_line,
    screen_width,
    to_json,
    ungated,
)
from reconvene.home import is_there

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from reconvene.app.index import Listed
    from reconvene.app.views.beside import Review
    from reconvene.app.views.read_model import Child, Decision, Event, Late, Remark, RunInFull

_RANGE = re.compile(r"(\d*)\.\.(\d*)|(\d+)")
_ENDED = ("completed", "failed", "aborted")
_FEW = 3
_SHORTEST_QUESTION = 30  # columns


class _Found(NamedTuple):
    rows: list[Listed]
    alone: list[str]  # runs that nobody drives though they are not at a stop: a crash left them so, or `--no-drive`
    next: str = ""  # the cursor of the rest


def _rows(call: Call, status: str | None, after: str, limit: int, *, beside: str | None = None) -> _Found:
    """No state yet is an empty list. `beside`: of runs with this status, too, it is told which are alone."""
    from reconvene.app.index import page
    from reconvene.wiring import open_log

    if not is_there(call.place):
        return _Found([], [])
    with closing(open_log(call.home)) as log:
        found = page(log, status, after, limit)
        others = [row.run for row in log.index(status=beside)] if beside else []
        running = [one.run for one in found.rows if one.status == "running"] + others
        driven = log.driven() if running else frozenset()
        return _Found(found.rows, [run for run in running if run not in driven], found.next)


def _tell_more(call: Call, name: str, found: _Found, limit: int, *more: str) -> None:
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
def inbox(call: Call, after: str, limit: int) -> int:
    """Runs that wait for a person, or for a provider, the one that was started last first."""
    found = _rows(call, "waiting", after, limit, beside="running")
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
    _tell_more(call, "inbox", found, limit)
    if found.rows and not call.as_json:
        first = next((one.run for one in found.rows if not one.provider), "")
        parked = next((one.run for one in found.rows if one.provider), "")
        put()
        if first:
            put(f"decide with: {call.command('decide', first)}\nor look first: {call.command('show', first)}")
        if parked:
            put(f"try a provider again with: {call.command('resume', parked)}")
    _put_alone(call, found.alone)
    return 0


def _asked_as(one: Listed) -> str:
    return "provider" if one.provider else one.asked_as


def _asks(one: Listed) -> str:
    return f"not before {clock_time(one.not_before)}: {one.asks}" if one.provider else one.asks


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
@_LIMIT
@_AFTER
def runs(call: Call, status: str | None, after: str, limit: int) -> int:
    """Every run, the one that was started last first."""
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
        of = f" that are {status}" if status else " yet; start one with: reconvene run WORKFLOW"
        put_none(call, f"there are no runs{of}")
    _tell_more(call, "runs", found, limit, *(("--status", status) if status else ()))
    _put_alone(call, alone)
    return 0


def _family(one: Listed) -> str:
    """`piece of brainstorm-1: New API`, `started 3 runs`"""
    title = f": {one.title}" if one.title else ""
    own = [f"piece of {one.parent}{title}"] if one.parent else []
    own += [f"started {one.children} run{'s' * (one.children != 1)}"] if one.children else []
    return "; ".join(own)


@command()
@click.argument("run", required=False)
def show(call: Call, run: str | None) -> int:
    """Where RUN stands: what is done and what is to come, its files, remarks and decisions, its open checkpoint.

    At a checkpoint also what the remarks made there weigh, which remarks nobody has answered yet, whether another round
    would likely change anything, and what it would take.
    """
    from msgspec.structs import replace

    from reconvene.app import queries
    from reconvene.app.measures import review
    from reconvene.doors.cli.stops import report
    from reconvene.doors.shared.advice import talk_lines

    engine, found = open_run(call, run)
    shown = queries.show(engine, found)
    beside = review(engine, found)
    if call.as_json:
        put_json(shown, review=beside or {})
        return 0
    _put_details(shown)
    if shown.talk:
        put(f"the talk at {shown.phase}")
        for line in talk_lines(shown.talk):
            say(f"  {line}")
        put()
    if beside is not None:
        _put_review(beside, found)
    report(call, replace(shown, passed_over=(), unasked=()))
    return 0


def _put_review(review: Review, run: str) -> None:
    from reconvene.doors.shared.advice import sections, weighed

    told = [("said at this checkpoint", tuple(map(weighed, review.remarks)))] if review.remarks else []
    for title, lines in [*told, *sections(review, ledger=f"reconvene ledger {run}", whole=f"reconvene show {run}")]:
        put(title)
        for line in lines:
            say(f"  {line}")
        put()


def _put_details(shown: RunInFull) -> None:
    from msgspec import structs

    from reconvene.doors.cli.stops import not_asked

    put(f"workflow   {shown.workflow}\nworkspace  {shown.workspace}")
    if shown.project:
        put(f"project    {clean(shown.project.path)}, branch {clean(shown.project.branch)}")
    if shown.parent:
        put(f"parent     {shown.parent} (this is its piece {one_line(shown.title)!r})")
    _put_list("to do", [f"[{'x' if row.done else ' '}] {one_line(row.what)}" for row in shown.todo])
    _put_list("runs that it started", map(_child, shown.children))
    _put_list("files", [f"{file.path}  ({file.size} bytes, {file.by})" for file in shown.files], put)
    _put_list("decisions", map(_decision, shown.decisions))
    _put_list("remarks", map(_remark, shown.remarks))
    _put_list("checkpoints that were not asked", not_asked(structs.replace(shown, unasked=())))
    _put_list("outputs whose gate could not be asked", [f"! {one_line(one.text, 300)}" for one in shown.unasked])
    _put_list("gates that ask a model", _unjudged(shown))
    _put_list("answers that came too late (kept and counted, without effect)", map(_late, shown.late))
    put()


def _put_list(title: str, lines: Iterable[str], tell: Callable[[str], None] = say) -> None:
    for number, line in enumerate(lines):
        if not number:
            put(f"\n{title}")
        tell(f"  {line}")


def _decision(one: Decision) -> str:
    item, by = f" of {one_line(one.item)}" if one.item else "", f" ({one.by})" if one.by else ""
    return f"{one.phase}{item}: {one_line(one.option)}{by}"


def _child(child: Child) -> str:
    outcome = f" ({child.outcome})" if child.outcome not in ("", child.status) else ""
    where = f" at {child.phase}" if child.phase and child.status in OPEN else ""
    return f"{child.run}  {child.status}{where}{outcome}  {child.title}"


def _unjudged(shown: RunInFull) -> list[str]:
    if shown.judged_by:
        return [f"{shown.judged_by} answers them"]
    return [f"{ungated(shown.unjudged)}"] if shown.unjudged else []


def _remark(remark: Remark) -> str:
    told = ", ".join(part for part in (remark.by, f"in {remark.origin}" if remark.origin else "") if part)
    target = f" to {remark.target}" if remark.target else ""
    text = one_line(remark.text or remark.path, 200)
    return f"{remark.id} {remark.kind}{target}: {text}" + (f" ({told})" if told else "")


def _late(row: Late) -> str:
    cost = f", ${row.cost:.2f}" if row.cost else ""
    return f"{row.task} attempt {row.attempt}{cost}: {one_line(row.text, 200)}"


@command()
@click.argument("run", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on printing as events come, until the run ends.")
@click.option("--after", type=COUNT, default=0, metavar="SEQ", help="Only events after this one.")
@click.option("--limit", type=COUNT, default=0, metavar="N", help="At most N events; 0 = all.")
def log(call: Call, run: str | None, follow: bool, after: int, limit: int) -> int:
    """RUN's events, one per line; with --json each line is an object with seq, type and at."""
    import time

    from reconvene.app import queries

    engine, found = open_run(call, run)
    last, left = after, limit or sys.maxsize
    while True:
        ended = False
        while page := queries.events(engine, found, last, min(left, queries.PAGE)):
            for event in page:
                sys.stdout.write((to_json(event) if call.as_json else _event_line(event)) + "\n")
                ended = event.type == "RunEnded"
            last, left = page[-1].seq, left - len(page)
            if not left:
                return 0
        sys.stdout.flush()
        row = engine.log.index_row(found)
        if not follow or ended or row is None or row.status in _ENDED:
            return 0
        time.sleep(0.25)


def _event_line(event: Event) -> str:
    """The event's own words, its longest ones cut."""
    told = " ".join(f"{key}={one_line(_told(value), 60)}" for key, value in event.facts.items())
    return f"{event.seq:>5}  {event.at}  {event.type}" + (f"  {told}" if told else "")


def _told(value: object) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


@command()
@click.argument("run", required=False)
@click.argument("path", required=False)
def files(call: Call, run: str | None, path: str | None) -> int:
    """RUN's files; or, with PATH, the content of one of them."""
    from reconvene.app import queries

    engine, found = open_run(call, run)
    if path is not None:
        data = queries.file(engine, found, path)
        if call.as_json:
            put_json({"path": path, "text": data.decode(errors="replace")})
        elif sys.stdout.isatty():
            put(data.decode(errors="replace").removesuffix("\n"))
        else:
            sys.stdout.flush()
            sys.stdout.buffer.write(data)
        return 0
    rows = queries.files(engine, found)
    if call.as_json:
        put_json(rows)
    elif rows:
        put_table([(row.phase, row.by, row.size, row.path) for row in rows], ("PHASE", "BY", "BYTES", "PATH"))
    else:
        put(f"{found} has no files yet")
    return 0


@command("Examples:\n  reconvene diff                  # what the last round did\n  reconvene diff two-step-1 1..2")
@click.argument("run", required=False)
@click.argument("rounds", required=False, metavar="[ROUND..ROUND]")
def diff(call: Call, run: str | None, rounds: str | None) -> int:
    """What changed in RUN's files between two rounds; without them, in the last round."""
    from reconvene.app import queries

    if run is not None and rounds is None and _RANGE.fullmatch(run):
        run, rounds = None, run
    old, new = _rounds(rounds or "")
    engine, found = open_run(call, run)
    text = queries.diff(engine, found, old, new)
    if call.as_json:
        put_json({"run": found, "old": old, "new": new, "diff": text})
    elif text:
        sys.stdout.write(clean(text) if sys.stdout.isatty() else text)
        if not text.endswith("\n"):
            sys.stdout.write("\n")
    else:
        note("no difference")
    return 0


def _rounds(text: str) -> tuple[str, str]:
    """`1..3` → both ends; `2` → what round 2 did; an end left out is the query's to choose."""
    from reconvene.errors import UserError

    if not text:
        return "", ""
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UserError(f"{text!r} is not ROUND..ROUND", hint="write the rounds' numbers, as in 1..2")
    if found[3]:
        return str(int(found[3]) - 1) if int(found[3]) > 1 else "", found[3]
    return found[1], found[2]


def _since(at: str) -> str:
    """`2026-11-15T21:45:03.120Z` → `2026-11-15 21:45`"""
    return at[:16].replace("T", " ")
