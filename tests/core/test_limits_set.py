"""A person sets what a run may cost, and which tools ask first."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.adapters.agents.as_answer import from_result
from reconvene.app.engine import Engine
from reconvene.core.facts import commands as c
from reconvene.core.facts.events import LimitsSet, Usage
from reconvene.core.working import spending
from reconvene.errors import Refused
from reconvene.ports import Answer, Assignment
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = """
name: flow
agents: {writer: {tools: [files, {shell: {ask: always}}]}}
phases:
  - id: draft
    rounds: {max: 5}
    agents: [writer]
    checkpoint: {question: Good?, options: [{label: Go on, then: continue}, {label: Once more, then: again}]}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    made = open_engine(str(tmp_path / "home"), runner=ScriptedAgents({}, default=_for_a_dollar))
    yield made
    asyncio.run(made.close())


def _for_a_dollar(assignment: Assignment) -> Answer:
    return from_result(assignment, "done", Usage(model="scripted", requests=1, cost=1.0))


def _parked(engine: Engine) -> str:
    run = engine.start(parse_workflow(FLOW), by="ann")
    engine.drive_sync(run)
    return run


def test_a_limit_of_cost_that_a_person_sets_holds(engine: Engine) -> None:
    run = _parked(engine)
    engine.submit(run, c.SetLimits(1.0, (), "ann"))
    point = engine.load(run).world.open
    assert point is not None
    engine.submit(run, c.AnswerCheckpoint(point.id, "Once more", {}, by="ann"))
    state = engine.drive_sync(run)
    assert state.world.open is not None
    assert state.world.open.attention
    assert "limit cost ($1.00) is reached" in state.world.open.prompt
    assert spending.budgets(state, engine.session(run).book)[0].allowed == 1.0


def test_what_is_said_twice_is_on_record_once(engine: Engine) -> None:
    run = _parked(engine)
    for _ in range(2):
        engine.submit(run, c.SetLimits(2.5, ("files",), "ann"))
    found = [event for _, event in engine.log.read(run) if isinstance(event, LimitsSet)]
    assert [(one.cost, one.ask, one.by) for one in found] == [(2.5, ("files",), "ann")]
    assert engine.load(run).record.ask_first == ("files",)


@pytest.mark.parametrize("wrong", [c.SetLimits(-1.0), c.SetLimits(float("nan")), c.SetLimits(0.0, ("telephone",))])
def test_what_makes_no_sense_is_refused(engine: Engine, wrong: c.SetLimits) -> None:
    run = _parked(engine)
    with pytest.raises(Refused):
        engine.submit(run, wrong)
    assert engine.load(run).record.ceiling == 0.0
