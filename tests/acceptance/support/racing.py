"""What two processes do to the same runs at the same moment: decide, resume, remark, mend, take up."""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Callable
from contextlib import suppress

from reconvene.app.engine import Engine
from reconvene.app.reopening import reopen
from reconvene.app.upgrading import fit, upgrade
from reconvene.core.facts.commands import Abort, AddRemark, AnswerCheckpoint, RemarkIn
from reconvene.errors import ReconveneError, StaleDecision, UserError
from reconvene.ports import Assignment
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine
from support.fuse import note

_WORKFLOW = """
name: race
agents: {a: {}, b: {}}
phases:
  - id: one
    agents: [a]
    checkpoint:
      options: [{label: Left, then: continue}, {label: Right, then: continue}]
  - {id: two, agents: [b]}
"""
_PATIENCE = 300.0  # seconds: reached only where the other never comes


class Meeting:
    """Two processes leave `meet` at the same moment: each waits for the other's byte."""

    def __init__(self, home: str, me: int) -> None:
        fifos = [os.path.join(home, f"meeting{number}") for number in (0, 1)]
        for fifo in fifos:
            with suppress(FileExistsError):
                os.mkfifo(fifo)
        # Opened for both ways, so that neither open nor write waits for anybody.
        self._mine, self._theirs = (os.open(fifos[number], os.O_RDWR) for number in (me, 1 - me))

    def meet(self) -> None:
        os.write(self._mine, b".")
        os.read(self._theirs, 1)


def prepare(home: str, runs: int) -> list[str]:
    """So many runs, each parked at its checkpoint."""
    engine = open_engine(home, runner=ScriptedAgents({"a": "done"}))
    workflow = parse_workflow(_WORKFLOW)
    made = [engine.start(workflow) for _ in range(runs)]
    for run in made:
        engine.drive_sync(run)
    asyncio.run(engine.close())
    return made


def decide(home: str, me: int, runs: list[str]) -> list[str]:
    """Per run: an empty text where this process won, else the refusal."""
    option = ("Left", "Right")[me]

    def once(engine: Engine, run: str) -> str:
        try:
            engine.submit(run, AnswerCheckpoint("C1", option, by=f"person {me}"))
        except StaleDecision as error:
            return error.message
        return ""

    return _each(home, me, runs, once, ScriptedAgents({}))


def resume(home: str, me: int, runs: list[str]) -> list[str]:
    """As `decide`, for driving. Whoever drives goes on until the other one has been refused."""

    def work(assignment: Assignment) -> str:
        note(os.path.join(home, "calls.txt"), f"{assignment.run} {assignment.task}#{assignment.attempt}")
        deadline = time.monotonic() + _PATIENCE
        while not os.path.exists(_refused(home, assignment.run)) and time.monotonic() < deadline:
            time.sleep(0.002)
        return "done"

    def once(engine: Engine, run: str) -> str:
        try:
            engine.drive_sync(run)
        except UserError as error:
            note(_refused(home, run), error.message)
            return error.message
        return ""

    return _each(home, me, runs, once, ScriptedAgents({"b": work}))


def remark(home: str, me: int, run: str, count: int) -> list[str]:
    """Say so many things while the other process does the same."""

    def once(engine: Engine, text: str) -> str:
        engine.submit(run, AddRemark(RemarkIn(text), by=f"person {me}"))
        return ""

    return _each(home, me, [f"{me}: remark {number}" for number in range(count)], once, ScriptedAgents({}))


def start(home: str, me: int, count: int) -> list[str]:
    """Start runs of one workflow, so that both want the same ids."""

    def once(engine: Engine, _: str) -> str:
        return engine.start(parse_workflow(_WORKFLOW))

    return _each(home, me, [""] * count, once, ScriptedAgents({}))


def _each(
    home: str, me: int, items: list[str], once: Callable[[Engine, str], str], agents: ScriptedAgents
) -> list[str]:
    engine = open_engine(home, runner=agents)
    meeting = Meeting(home, me)
    outcomes: list[str] = []
    for item in items:
        meeting.meet()
        try:
            outcomes.append(once(engine, item))
        except ReconveneError as error:
            outcomes.append(f"{type(error).__name__}: {error.message}")
    asyncio.run(engine.close())
    return outcomes


def _refused(home: str, run: str) -> str:
    return os.path.join(home, f"refused-{run}")


def upgrade_or_decide(home: str, me: int, runs: list[str]) -> list[str]:
    """One mends the workflow of each run, the other decides on what it saw."""

    def once(engine: Engine, run: str) -> str:
        try:
            if me == 0:
                mended = parse_workflow(_WORKFLOW.replace("agents: {a: {}", "agents: {a: {prompt: Better.}"))
                upgrade(engine, fit(engine, run, mended, by="person 0"))
            else:
                engine.submit(run, AnswerCheckpoint("C1", "Right", by="person 1"))
        except UserError as error:
            return error.message
        return ""

    return _each(home, me, runs, once, ScriptedAgents({}))


def reopen_both(home: str, me: int, runs: list[str]) -> list[str]:
    """Both take up runs that have ended, each with a remark of its own."""

    def once(engine: Engine, run: str) -> str:
        try:
            reopen(engine, run, "one", remarks=(RemarkIn(f"by {me}"),), by=f"person {me}")
        except UserError as error:
            return error.message
        return ""

    return _each(home, me, runs, once, ScriptedAgents({}))


def abort_all(home: str, runs: list[str]) -> None:
    engine = open_engine(home, runner=ScriptedAgents({}))
    for run in runs:
        engine.submit(run, Abort("ann"))
    asyncio.run(engine.close())
