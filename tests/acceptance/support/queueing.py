"""A run that is split and its queue worked off with the real command, in processes that a fuse may kill on the way."""

from __future__ import annotations

import asyncio
import io
import json
import os
import time
from contextlib import redirect_stderr, redirect_stdout

from reconvene import wiring
from reconvene.adapters import sqlite
from reconvene.core.facts.commands import AddRemark, AnswerCheckpoint, RemarkIn
from reconvene.doors.cli.main import run
from reconvene.ports import Assignment
from reconvene.wire.workflow_file import parse_workflow
from support.crashing import CrashingLog
from support.fuse import Fuse, note, noted

PARENT = "split-1"
_WORKFLOW = """
name: split
inputs: {description: {type: text, required: true}, piece: {type: bool, default: false}}
agents: {scout: {python: "support.queueing:scout"}, worker: {python: "support.queueing:worker"}}
phases:
  - id: triage
    when: "!inputs.piece"
    agents: [scout]
    output: triage
    checkpoint:
      options:
        - {label: Split, start: {workflow: split, each: context.triage, inputs: {piece: "true"}}, then: {end: split}}
  - {id: work, agents: [worker], output: {name: done, file: done.md}}
"""
_PATIENCE = 300.0  # seconds: reached only where the other never comes
_fuse = Fuse()


def scout(assignment: Assignment) -> object:
    count = int(os.environ["PIECES"])
    return {"value": [{"id": f"p{number:02d}", "title": f"Piece {number}"} for number in range(1, count + 1)]}


def worker(assignment: Assignment) -> str:
    """Noted durably before it does anything: who was called, for which run, in which process."""
    note("calls.txt", f"{assignment.run} {os.getpid()}")
    _fuse("call")
    deadline = time.monotonic() + _PATIENCE
    wanted = int(os.environ.get("PROCESSES", "1"))
    while len(_at_work()) < wanted and time.monotonic() < deadline:  # all of them are in the middle of the queue
        time.sleep(0.002)
    return "done"


def _at_work() -> set[str]:
    return {line.split()[1] for line in noted("calls.txt")}


def prepare(home: str, pieces: int) -> str:
    """A run that waits for the decision to split it. Two remarks were made on the way."""
    os.makedirs(home, exist_ok=True)
    os.chdir(home)
    os.environ["PIECES"] = str(pieces)
    engine = wiring.open_engine(os.path.join(home, ".reconvene"))
    run = engine.start(parse_workflow(_WORKFLOW), {"description": "all of it"}, by="ann")
    engine.submit(run, AddRemark(RemarkIn("Revenue is $900M, not $850M", "correction"), by="ann"))
    engine.drive_sync(run)
    engine.submit(run, AddRemark(RemarkIn("shorter please"), by="bob"))
    asyncio.run(engine.close())
    return run


def split(home: str) -> int:
    os.chdir(home)
    return _command("decide", PARENT, "--latest", "--option", "Split")[0]


def work_off(home: str, processes: int = 1) -> list[str]:
    """`queue run`: the runs that this process worked off."""
    os.chdir(home)
    os.environ["PROCESSES"] = str(processes)
    code, out = _command("queue", "run", "--json")
    assert code == 0, out
    return [row["run"] for row in json.loads(out)]


def play(home: str, place: str = "", at: int = 0) -> dict[str, int]:
    """Decide, unless that is on record, then work the queue off; die the n-th time that a place is passed."""
    global _fuse
    os.chdir(home)
    _fuse = Fuse(place, at)
    acknowledged = os.path.join(home, "acknowledged.txt")
    sqlite.SqliteLog = lambda path: CrashingLog(path, _fuse, acknowledged)  # type: ignore[assignment,misc]
    engine = wiring.open_engine(os.path.join(home, ".reconvene"))
    if engine.load(PARENT).world.open is not None:
        engine.submit(PARENT, AnswerCheckpoint("C1", "Split", by="ann", door="test"))
    asyncio.run(engine.close())
    code, out = _command("queue", "run", "--json")
    assert code == 0, out
    return dict(_fuse.passed)


def _command(*words: str) -> tuple[int, str]:
    """The real command line, in this process."""
    out, err = io.StringIO(), io.StringIO()
    with redirect_stdout(out), redirect_stderr(err):
        code = run([*words, "--home", os.path.abspath(".reconvene")])
    return code, out.getvalue() or err.getvalue()
