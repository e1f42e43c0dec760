"""`fork`: a new run that shares another's history up to an event, and goes its own way from there."""

from __future__ import annotations

import click

from reconvene.doors.cli.common import DOOR, Call, command, open_run, put, put_json
from reconvene.settings import person


@command(epilog="Example:\n  reconvene log two-step-1        # find the event\n  reconvene fork two-step-1 --at 12")
@click.argument("run")
@click.option("--at", "at", type=click.IntRange(min=1), required=True, metavar="SEQ", help="The last event to share.")
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
def fork(call: Call, run: str, at: int, by: str) -> int:
    """Fork RUN: a new run with its own files, holding RUN's events up to SEQ."""
    from reconvene.app import queries

    engine, source = open_run(call, run)
    made = engine.fork(source, at=at, by=person(by), door=DOOR)
    if call.as_json:
        put_json(queries.summary(engine, made))
    else:
        put(f"{made} is {source} as it was at event {at}\n\ncontinue with:\n  {call.command('resume', made)}")
    return 0
