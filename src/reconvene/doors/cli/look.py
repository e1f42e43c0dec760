"""`inbox`, `runs`, `show`, `log`, `files`, `diff`: the read side. Nothing here changes a run.

`inbox` and `runs` read index rows through the bare log: no engine, no event library, no asyncio is imported for them.
"""

from __future__ import annotations

import json
import os
import re
import sys
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import Call, command, note, open_run, put, put_json, say, screen_width
from reconvene.doors.cli.text import clean, harmless_json, one_line, table, talk_lines, to_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reconvene.app.index import Listed
    from reconvene.doors.cli.advice import ReviewShape

_RANGE = re.compile(r"(\d*)\.\.(\d*)|(\d+)")
_ENDED = ("completed", "failed", "aborted")
_FEW = 3


def _rows(call: Call, *statuses: str | None) -> tuple[list[Listed], frozenset[str]]:
    """Runs, and which of them nobody drives though they are not at a stop: a crash left them so, or `--no-drive`.

    No state yet is an empty list; looking must not create any."""
    from reconvene.app.index import listed
    from reconvene.wiring import open_log

    if not os.path.isdir(call.home):
        return [], frozenset()
    log = open_log(call.home)
    try:
        rows = [found for status in statuses for found in listed(log, status)]
        running = frozenset(row.run for row, _ in rows if row.status == "running")
        return rows, running - log.driven() if running else running
    finally:
        log.close()


def _put_rows(rows: Sequence[Listed], alone: frozenset[str] = frozenset()) -> None:
    sys.stdout.write(harmless_json("[" + ",\n ".join(_doc(row, alone) for row in rows) + "]\n"))


def _doc(found: Listed, alone: frozenset[str]) -> str:
    row, doc = found
    if row.status != "running":
        return row.doc
    return json.dumps({**doc, "driven": row.run not in alone}, ensure_ascii=False)


def _put_alone(call: Call, runs: Sequence[str]) -> None:
    """What no process works on and no person is asked about would be forgotten."""
    if len(runs) == 1:
        put(f"\n{runs[0]} is running, but nobody is driving it; go on with: {call.command('resume', runs[0])}")
    elif runs:
        put(f"\n{len(runs)} runs are running, but nobody is driving them; go on with:")
        for run in runs[:_FEW]:
            put(f"  {call.command('resume', run)}")
        if len(runs) > _FEW:
            put(f"  … and {len(runs) - _FEW} more: {call.command('runs', '--status', 'running')}")


@command()
def inbox(call: Call) -> int:
    """Runs that wait for a person, newest first."""
    found, alone = _rows(call, "waiting", "running")
    rows = [one for one in found if one.row.status == "waiting"]
    left = [row.run for row, _ in found if row.run in alone]
    if call.as_json:
        _put_rows(rows)
        return 0
    if not rows:
        put("nothing waits for you")
        _put_alone(call, left)
        return 0
    lines = []
    for row, doc in rows:
        checkpoint = doc.get("checkpoint") or {}
        status = checkpoint.get("status") or ("attention" if checkpoint.get("attention") else "")
        piece = f"{doc['title']}: " if doc.get("parent") and doc.get("title") else ""
        prompt = piece + (checkpoint.get("prompt") or "")
        lines.append((row.run, doc.get("phase") or "", _since(row.updated), status, prompt))
    for line in table(lines, ("RUN", "PHASE", "SINCE", "STATUS", "QUESTION"), screen_width()):
        put(line)
    first = rows[0].row.run
    put(f"\ndecide with: {call.command('decide', first)}   or look first: {call.command('show', first)}")
    _put_alone(call, left)
    return 0


@command()
@click.option(
    "--status",
    type=click.Choice(["queued", "running", "waiting", "paused", "completed", "failed", "aborted"]),
    help="Only these.",
)
def runs(call: Call, status: str | None) -> int:
    """Every run, newest first."""
    rows, alone = _rows(call, status)
    if call.as_json:
        _put_rows(rows, alone)
        return 0
    if not rows:
        put("there are no runs" + (f" that are {status}" if status else " yet; start one with: reconvene run WORKFLOW"))
        return 0
    family = [_family(doc) for _, doc in rows]
    lines = [
        (
            row.run,
            row.status + " (not driven)" * (row.run in alone),
            doc.get("phase") or "",
            _since(row.updated),
            row.workflow,
            *([own] if any(family) else []),
        )
        for (row, doc), own in zip(rows, family)
    ]
    head = ("RUN", "STATUS", "PHASE", "UPDATED", "WORKFLOW", *(["FAMILY"] if any(family) else []))
    for line in table(lines, head, screen_width()):
        put(line)
    _put_alone(call, [row.run for row, _ in rows if row.run in alone])
    return 0


def _family(doc: Mapping[str, object]) -> str:
    """`piece of brainstorm-1: New API`, `started 3 runs`"""
    title = f": {doc['title']}" if doc.get("title") else ""
    own = [f"piece of {doc['parent']}{title}"] if doc.get("parent") else []
    started = _dicts(doc.get("children"))
    own += [f"started {len(started)} run{'s' * (len(started) != 1)}"] if started else []
    return "; ".join(own)


@command()
@click.argument("run", required=False)
def show(call: Call, run: str | None) -> int:
    """Where RUN stands: what is done and what is to come, its files, remarks and decisions, its open checkpoint.

    At a checkpoint also what the remarks made there weigh, which remarks nobody has answered yet, whether another round
    would likely change anything, and what it would take.
    """
    from reconvene.app import queries
    from reconvene.app.review import todo
    from reconvene.doors.cli.advice import look
    from reconvene.doors.cli.session import report

    engine, found = open_run(call, run)
    shown = queries.show(engine, found)
    review, rows = look(engine, found), todo(engine, found)
    if call.as_json:
        put_json({**shown, "todo": rows, "review": review})
        return 0
    _put_details(shown, rows)
    _put_talk(shown)
    _put_review(review, found)
    report(call, {**shown, "passed_over": []})
    return 0


def _put_talk(shown: Mapping[str, object]) -> None:
    """What was said in the phase in front, where its agents talk with the person."""
    rows = _dicts(shown.get("talk"))
    if rows:
        put(f"the talk at {shown.get('phase')}")
        for line in talk_lines(rows):
            say(f"  {line}")
        put()


def _put_review(review: ReviewShape, run: str) -> None:
    from reconvene.doors.cli.advice import sections, weighed

    said = review.get("remarks", [])
    told = [("said at this checkpoint", tuple(weighed(remark) for remark in said))] if said else []
    for title, lines in [*told, *sections(review, run)]:
        put(title)
        for line in lines:
            say(f"  {line}")
        put()


def _put_details(shown: Mapping[str, object], todo: Sequence[Mapping[str, object]]) -> None:
    from reconvene.doors.cli.advice import todo_lines
    from reconvene.doors.cli.session import not_asked

    put(f"workflow   {shown.get('workflow') or ''}\nworkspace  {shown.get('workspace') or ''}")
    project = shown.get("project")
    if isinstance(project, dict):
        put(f"project    {clean(str(project['path']))}, branch {clean(str(project['branch']))}")
    if shown.get("parent"):
        put(f"parent     {shown['parent']} (this is its piece {one_line(shown.get('title'))!r})")
    put("\nto do")
    for line in todo_lines(todo):
        say(f"  {line}")
    started = _dicts(shown.get("children"))
    if started:
        put("\nruns that it started")
        for child in started:
            outcome = f" ({child['outcome']})" if child.get("outcome") not in (None, "", child["status"]) else ""
            place = f" at {child['phase']}" if child["status"] in ("waiting", "paused", "running") else ""
            say(f"  {child['run']}  {child['status']}{place if child.get('phase') else ''}{outcome}  {child['title']}")
    files = _dicts(shown.get("files"))
    if files:
        put("\nfiles")
        for file in files:
            put(f"  {file.get('path')}  ({file.get('size')} bytes, {file.get('by')})")
    for title, key in (("decisions", "decisions"), ("remarks", "remarks")):
        rows = _dicts(shown.get(key))
        if rows:
            put(f"\n{title}")
        for row in rows:
            say("  " + _sentence(row))
    if passed := not_asked(shown):
        put("\ncheckpoints that were not asked")
    for line in passed:
        say(f"  {line}")
    late = _dicts(shown.get("late"))
    if late:
        put("\nanswers that came too late (kept and counted, without effect)")
        for row in late:
            cost = f", ${row['cost']:.2f}" if row.get("cost") else ""
            say(f"  {row['task']} attempt {row['attempt']}{cost}: {one_line(row.get('text'), 200)}")
    put()


def _sentence(row: Mapping[str, object]) -> str:
    """A decision or a remark in a line."""
    origin = f"in {row['origin']}" if row.get("origin") else ""
    told = ", ".join(str(part) for part in (row.get("by"), origin) if part)
    by = f" ({told})" if told else ""
    if "option" in row:
        return f"{row.get('phase') or ''}: {one_line(row['option'])}{by}"
    target = f" to {row['target']}" if row.get("target") else ""
    return f"{row.get('id')} {row.get('kind')}{target}: {one_line(row.get('text') or row.get('path'), 200)}{by}"


def _dicts(value: object) -> list[dict[str, object]]:
    return [row for row in value if isinstance(row, dict)] if isinstance(value, list | tuple) else []


@command()
@click.argument("run", required=False)
@click.option("--follow", "-f", is_flag=True, help="Go on printing as events come, until the run ends.")
@click.option("--after", type=click.IntRange(min=0), default=0, metavar="SEQ", help="Only events after this one.")
def log(call: Call, run: str | None, follow: bool, after: int) -> int:
    """RUN's events, one per line; with --json each line is an object with seq, type and at."""
    import time

    from reconvene.app import queries

    engine, found = open_run(call, run)
    last = after
    while True:
        ended = False
        for event in queries.events(engine, found, after=last):
            sys.stdout.write((to_json(event) if call.as_json else _event_line(event)) + "\n")
            last = int(str(event["seq"]))
            ended = event["type"] == "RunEnded"
        sys.stdout.flush()
        row = engine.log.index_row(found)
        if not follow or ended or row is None or row.status in _ENDED:
            return 0
        time.sleep(0.25)


def _event_line(event: Mapping[str, object]) -> str:
    """The event's own words, its longest ones cut."""
    rest = {key: value for key, value in event.items() if key not in ("seq", "at", "type")}
    told = " ".join(f"{key}={one_line(_told(value), 60)}" for key, value in rest.items())
    return f"{event['seq']:>5}  {event['at']}  {event['type']}" + (f"  {told}" if told else "")


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
    rows = list(queries.files(engine, found))
    if call.as_json:
        put_json(rows)
        return 0
    if not rows:
        put(f"{found} has no files yet")
        return 0
    lines = [(row["phase"], row["by"], row["size"], row["path"]) for row in rows]
    for line in table(lines, ("PHASE", "BY", "BYTES", "PATH"), screen_width()):
        put(line)
    return 0


@command(
    epilog="Examples:\n  reconvene diff                  # what the last round did\n  reconvene diff two-step-1 1..2"
)
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

    found = _RANGE.fullmatch(text) if text else None
    if not text:
        return "", ""
    if found is None:
        raise UserError(f"{text!r} is not ROUND..ROUND", hint="write the rounds' numbers, as in 1..2")
    if found[3]:
        return str(int(found[3]) - 1) if int(found[3]) > 1 else "", found[3]
    return found[1], found[2]


def _since(at: str) -> str:
    """`2026-11-15T21:45:03.120Z` → `2026-11-15 21:45`"""
    return at[:16].replace("T", " ")
