"""What each option of a checkpoint leads to, whether it ends the run, and at which item of how many the run is."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.views.read_model import Checkpoint, Item
from reconvene.app.views.what_is_asked import question_in, trouble_in
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.errors import AgentError
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = """
name: flow
agents: {planner: {command: x}, coder: {command: x}}
phases:
  - id: plan
    title: The plan
    rounds: {plan: [first, second], max: 4}
    agents: [planner]
    output: plan
    checkpoint:
      question: "Is “{{ context.plan.name }}” a plan?"
      options:
        - {label: Good}
        - {label: Enough, then: leave}
        - {label: Again, then: again}
        - {label: Back, undo: true, then: again}
        - {label: Never mind, then: {end: dropped, status: aborted}}
        - {label: Enough for now, then: {end: planned}}
        - {label: Straight on, then: leave, skip: [build, proof]}
        - {label: With a check, then: leave, skip: [build], set: {plan.checked: true}}
        - {label: Ask me, then: leave, skip: [build], fields: [{id: checked, type: confirm, into: plan.checked}]}
        - {label: Trust it, then: leave, set: {hurry: true}}
        - {label: Ask otherwise, then: leave, set: {hurry: true}, fields: [{id: name, into: plan.name}]}
        - {label: Ask whether, then: leave, set: {hurry: true}, fields: [{id: hurry, type: confirm, into: hurry}]}
  - id: build
    each: {of: context.plan.tasks}
    rounds: {max: 2}
    agents: [coder]
    checkpoint:
      prompt: It is done.
      options:
        - {label: Next}
        - {label: The plan again, then: {goto: plan, rerun: true}}
        - {label: To the one before, then: {goto: previous}}
  - id: check
    when: context.plan.checked
    agents: [coder]
  - id: report
    title: The report
    agents: [coder]
    checkpoint:
      prompt: |
        What an agent asks: shall I?

        The report is there. Is it good?
      options: [{label: Good}, {label: Finish, then: {end: completed}}, {label: Fail, then: {end: failed}}]
  - {id: proof, title: The proof, when: "!context.hurry", agents: [coder]}
"""
PLAN = {"value": {"name": "P", "tasks": [{"id": "a", "title": "New API"}, {"id": "b"}]}}


class Sitting:
    def __init__(self, engine: Engine) -> None:
        self.engine = engine
        self.run = engine.start(parse_workflow(FLOW))
        engine.drive_sync(self.run)

    @property
    def point(self) -> Checkpoint:
        found = queries.standing(self.engine, self.run).checkpoint
        assert found is not None
        return found

    def decide(self, option: str) -> None:
        self.engine.submit(self.run, AnswerCheckpoint(self.point.id, option))
        self.engine.drive_sync(self.run)

    @property
    def leads(self) -> dict[str, str]:
        return {option.label: option.leads for option in self.point.options}

    @property
    def ends(self) -> list[str]:
        return [option.label for option in self.point.options if option.ends]


@pytest.fixture
def sitting(tmp_path: Path) -> Iterator[Sitting]:
    engine = open_engine(tmp_path / "home", runner=ScriptedAgents({"planner": PLAN, "coder": "It is done, all of it."}))
    yield Sitting(engine)
    asyncio.run(engine.close())


def test_every_move_is_told_in_words(sitting: Sitting) -> None:
    assert sitting.leads == {
        "Good": "the next round: second",
        "Enough": "on to build",
        "Again": "one more round of The plan",
        "Back": "takes this round back, then The plan once more",
        "Never mind": "ends the run: dropped (aborted)",
        "Enough for now": "ends the run: planned",
        "Straight on": "on to The report; skips build, The proof",
        "With a check": "on to check; skips build",
        "Ask me": "on to check, or The report; skips build",
        "Trust it": "on to build; without The proof",
        "Ask otherwise": "on to build; without The proof",
        "Ask whether": "on to build",
    }
    assert sitting.ends == ["Never mind", "Enough for now"]


def test_items_are_counted_and_named(sitting: Sitting) -> None:
    sitting.decide("Enough")
    run = queries.standing(sitting.engine, sitting.run)
    assert run.items == (Item("build", "a", "New API", 1, 2),)
    assert queries.show(sitting.engine, sitting.run).items == run.items
    assert sitting.leads == {
        "Next": "item 2 of 2",
        "The plan again": "back to the beginning of The plan; what is there stays",
        "To the one before": "back to the checkpoint before this one",
    }
    sitting.decide("Next")
    assert queries.standing(sitting.engine, sitting.run).items == (Item("build", "b", "b", 2, 2),)
    assert sitting.leads["Next"] == "on to The report"


def test_at_the_last_phase_only_another_end_than_the_usual_one_counts_as_early(sitting: Sitting) -> None:
    for option in ("Straight on",):
        sitting.decide(option)
    assert sitting.leads == {
        "Good": "the end of the run",
        "Finish": "ends the run: completed",
        "Fail": "ends the run: failed",
    }
    assert sitting.ends == ["Fail"]


def test_the_workflows_own_question_is_a_template_and_stands_in_the_list_of_runs(sitting: Sitting) -> None:
    assert sitting.point.question == "Is “P” a plan?"
    row = queries.summary(sitting.engine, sitting.run).checkpoint
    assert row is not None
    assert row.question == "Is “P” a plan?"
    assert row.prompt == "Is “P” a plan?", "what scripts of older releases read"


@pytest.mark.parametrize(
    ("prompt", "question"),
    [
        ("Good?", "Good?"),
        ("Found this.\n\nIs the memo ready? It must be.\n\nShall it go? Or not?", "Or not?"),
        ("Shall we?\n\nThe agent asks: may I?\nIt is done.", "Shall we?"),
        ("**Look.**\n\nMay I? says an agent.\n\nDone.", "Look."),
        ("\n\n", "What now?"),
    ],
)
def test_without_one_the_prompts_last_or_first_line_is_it(prompt: str, question: str) -> None:
    assert question_in(prompt) == question


def test_what_settles_trouble_is_told_in_words(tmp_path: Path) -> None:
    engine = open_engine(tmp_path / "home", runner=ScriptedAgents({"planner": AgentError("it cannot")}))
    sitting = Sitting(engine)
    assert sitting.leads == {
        "Try again": "the same work is asked for once more",
        "Go on without it": "the run goes on with what there is",
        "Try again with another model": "the same work is asked of whom you name",
        "Stop the run": "ends the run: aborted",
    }
    asyncio.run(engine.close())


def test_trouble_is_asked_about_by_its_name() -> None:
    prompt = (
        "This needs you before the run can go on:\n- no agent of this step gave an output. writer: it failed\n- two"
    )
    assert trouble_in(prompt) == "No agent of this step gave an output. How shall it go on?"
    assert trouble_in("Nothing listed") == "How shall it go on?"
