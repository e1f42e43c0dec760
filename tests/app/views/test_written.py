"""What agents wrote: first lines of substance, and every attempt with its round, its item and what became of it."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest

from reconvene.app import queries
from reconvene.app.round_tries import rounds
from reconvene.app.views.written import first_lines
from reconvene.core.facts.commands import AnswerCheckpoint, Rollback
from reconvene.errors import UserError
from reconvene.ports import Progress
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = """
name: flow
agents:
  planner: {command: x}
  coder: {command: x, gate: {min_chars: 20}}
phases:
  - {id: plan, agents: [planner], output: plan}
  - id: build
    each: {of: context.plan.tasks}
    rounds: {max: 3}
    agents: [coder]
    checkpoint:
      options: [{label: Next}, {label: Again, then: again}, {label: Before, then: {goto: previous}}]
"""
PLAN = {"value": {"tasks": [{"id": "a", "title": "New API"}, {"id": "b", "title": "Docs"}]}}


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("# Draft\n\n## Findings\n\n- **The furnace** ends.\n> It is old.\nMore.", ("The furnace ends.", "It is old.")),
        ("---\n| a | b |\n|---|---|\n| kiln | 5 |", ("| a | b |", "| kiln | 5 |")),
        ("```python\nx = 1\n```", ("x = 1",)),
        ('{"summary": "Cost is 5M.", "rows": [1, {"deep": "x"}]}', ("summary: Cost is 5M.", "rows: 1")),
        ("[1, 2, 3]", ("1", "2")),
        ("{not json", ("{not json",)),
        ("# Only a heading", ("# Only a heading",)),
        ("", ("",)),
    ],
)
def test_the_first_lines_say_something(text: str, lines: tuple[str, ...]) -> None:
    assert first_lines(text) == lines


def test_every_attempt_is_there_with_its_item_its_reason_and_what_became_of_it(tmp_path: Path) -> None:
    heard: list[Progress] = []
    says = ["short", *(f"The work of round {number} is done." for number in range(1, 9))]
    engine = open_engine(tmp_path / "home", runner=ScriptedAgents({"planner": PLAN, "coder": says}))
    run = engine.start(parse_workflow(FLOW))

    def decide(option: str) -> None:
        point = queries.standing(engine, run).checkpoint
        assert point is not None
        engine.submit(run, AnswerCheckpoint(point.id, option))
        engine.drive_sync(run)

    engine.drive_sync(run, heard.append)
    told = [(one.agent, one.what) for one in heard if one.what in ("done", "sent back")]
    assert told == [("planner", "done"), ("coder", "sent back"), ("coder", "done")], "only what was accepted is done"
    (back,) = [one.detail for one in heard if one.what == "sent back"]
    assert "5 characters, at least 20" in back

    point = queries.standing(engine, run).checkpoint
    assert point is not None
    (written,) = point.outputs
    assert (written.agent, written.lines) == ("coder", ("The work of round 1 is done.",))
    assert queries.output(engine, run, written) == "The work of round 1 is done."

    decide("Next")
    engine.submit(run, Rollback())
    engine.drive_sync(run)
    decide("Before")
    decide("Again")
    rows = [(one.serial, one.item, one.round, one.verdict, one.undone) for one in queries.attempts(engine, run)]
    assert rows == [
        (1, "", 1, "accepted", False),
        (2, "New API", 1, "rejected", False),
        (2, "New API", 1, "accepted", False),
        (3, "Docs", 1, "accepted", True),
        (4, "Docs", 1, "accepted", False),
        (5, "New API", 2, "accepted", False),
    ]
    assert [one.item for one in rounds(engine, run)] == ["", "New API", "Docs", "Docs", "New API"]
    assert [one.item for one in queries.show(engine, run).decisions] == ["a", "b", "a"]

    assert [one.verdict for one in queries.wrote(engine, run, "coder", "R2")] == ["rejected", "accepted"]
    assert queries.wrote(engine, run, "coder", "1")[0].serial == 4, "the latest of that number"
    assert queries.wrote(engine, run, "coder")[0].serial == 5
    assert queries.wrote(engine, run, which="r1")[0].agent == "planner"
    for agent, which, why in (
        ("codr", "", "no agent 'codr'"),
        ("planner", "R2", "planner wrote nothing in round R2"),
        ("", "99", "nobody wrote anything in round 99"),
        ("", "two", "'two' is not a round"),
    ):
        with pytest.raises(UserError, match=why):
            queries.wrote(engine, run, agent, which)
    asyncio.run(engine.close())
