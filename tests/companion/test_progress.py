"""How far a run is: every to-do of the list is told, done, under way or open, as the list is now."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.app.engine import Engine
from reconvene.companion import from_record
from reconvene.companion.told import Told
from reconvene.companion.tool_scope import Scope
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = parse_workflow("""
name: flow
kits: [planning]
agents: {planner: {}, worker: {}}
phases:
  - {id: plan, agents: [planner], checkpoint: {prompt: "So?", options: [{label: Go, then: continue}]}}
  - id: work
    each: {of: kit.planning.todos, key: id}
    agents: [worker]
    checkpoint: {prompt: "Good?", options: [{label: Go, then: continue}]}
  - {id: next, agents: [planner], checkpoint: {prompt: "And now?", options: [{label: Go, then: continue}]}}
""")
FIRST = b"- {id: count, text: Count the orders}\n- {id: report, text: Write the report}\n"
SECOND = b"- {id: mend, text: Mend the sums}\n"


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    plans = [{"text": "Planned.", "files": {"todos.yaml": data}} for data in (FIRST, SECOND)]
    engine = open_engine(tmp_path / "home", runner=ScriptedAgents({"planner": plans, "worker": "Worked."}))
    yield engine
    engine.log.close()


def go(engine: Engine, run: str) -> None:
    engine.submit(run, AnswerCheckpoint("", "Go", by="ann"))
    asyncio.run(engine.drive(run))


def asked(engine: Engine, run: str, question: str = "How is it going?") -> Told:
    return from_record.answer(Scope(engine, run), question)[1]


def figures(told: Told) -> tuple[object, ...]:
    return tuple(told.facts[key] for key in ("items_done", "items_under_way", "items_open", "items"))


def test_all_to_dos_of_the_list_are_counted_from_the_plan_to_the_end(engine: Engine) -> None:
    run = engine.start(FLOW, {}, by="ann")
    asyncio.run(engine.drive(run))
    assert figures(asked(engine, run)) == (0, [], ["count", "report"], 2)
    go(engine, run)
    told = asked(engine, run, "Which todo is under way?")
    assert figures(told) == (0, ["count"], ["report"], 2)
    assert "To-dos: 0 of 2 done.\n- under way: count, Count the orders [event" in told.text
    assert "- open: report, Write the report" in told.text
    go(engine, run)
    told = asked(engine, run, "Which to-dos are done?")
    assert figures(told) == (1, ["report"], [], 2)
    assert "- done: count, Count the orders [event" in told.text
    assert asked(engine, run, "what is left?").facts == told.facts


def test_a_list_that_was_written_after_the_work_is_the_one_that_is_told(engine: Engine) -> None:
    run = engine.start(FLOW, {}, by="ann")
    asyncio.run(engine.drive(run))
    for _ in range(3):
        go(engine, run)
    assert figures(asked(engine, run)) == (0, [], ["mend"], 1)
