"""A run as it was after any of its events."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.app import as_of, index
from reconvene.app.engine import Engine
from reconvene.app.views.all_rounds import rounds
from reconvene.app.views.phase_marks import PhaseMark, phase_marks
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.errors import UserError
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FLOW = """
name: flow
agents: {writer: {}}
phases:
  - {id: optional, agents: [writer], when: "false"}
  - id: draft
    title: The draft
    rounds: {plan: [first, second], max: 4}
    agents: [writer]
    checkpoint: {question: Good?, options: [{label: Good, then: continue}, {label: Again, then: again}]}
  - id: parts
    phases:
      - {id: left, agents: [writer]}
      - {id: right, agents: [writer], checkpoint: {}}
"""


@pytest.fixture
def engine(tmp_path: Path) -> Engine:
    agents = ScriptedAgents({}, default=lambda asked: {"text": "x", "files": {"a.md": asked.task}})
    return open_engine(str(tmp_path / "home"), runner=agents)


def started(engine: Engine) -> str:
    run = engine.start(parse_workflow(FLOW), by="ann")
    engine.drive_sync(run)
    return run


def decide(engine: Engine, run: str, option: str) -> None:
    engine.submit(run, AnswerCheckpoint("", option, by="ann", door="test"))
    engine.drive_sync(run)


def marks(engine: Engine, run: str, seq: int = 0) -> dict[str, PhaseMark]:
    then = as_of.moment(engine, run, seq)
    found = phase_marks(then.book.workflow, then.state, then.events, rounds(then.events))
    return {one.id: one for mark in found for one in (mark, *mark.phases)}


def test_every_moment_is_what_the_log_says_up_to_it(engine: Engine) -> None:
    run = started(engine)
    seen = {seq: as_of.moment(engine, run, seq).state for seq in range(1, engine.log.head(run) + 1)}
    decide(engine, run, "Again")

    assert as_of.moment(engine, run).state == engine.load(run)
    for seq, state in seen.items():
        then = as_of.moment(engine, run, seq)
        assert then.state == state
        assert then.log[-1][0] == seq
        assert not then.is_now


def test_an_event_that_is_not_there_is_refused(engine: Engine) -> None:
    run = started(engine)
    with pytest.raises(UserError, match="has no event 999"):
        as_of.moment(engine, run, 999)


def test_phases_are_done_at_work_skipped_or_to_come_with_their_rounds(engine: Engine) -> None:
    run = started(engine)
    found = marks(engine, run)

    assert {name: one.state for name, one in found.items()} == {
        "optional": "skipped", "draft": "here", "parts": "to come", "left": "to come", "right": "to come",
    }  # fmt: skip
    assert (found["draft"].title, found["draft"].note, found["draft"].asks) == ("The draft", "round 1, asks", "open")
    assert [(one.name, one.state) for one in found["draft"].rounds] == [("first", "done"), ("second", "to come")]


def test_rounds_that_a_person_adds_stand_among_those_of_the_plan(engine: Engine) -> None:
    run = started(engine)
    decide(engine, run, "Again")
    decide(engine, run, "Good")
    shown = marks(engine, run)["draft"]

    assert [one.serial for one in shown.rounds] == sorted(one.serial for one in shown.rounds)
    assert len([one for one in shown.rounds if one.state == "done"]) == 3


def test_a_group_holds_its_phases_and_ends_with_them(engine: Engine) -> None:
    run = started(engine)
    for option in ("Good", "Good"):
        decide(engine, run, option)
    found = marks(engine, run)
    assert (found["parts"].state, found["left"].state, found["right"].asks) == ("here", "done", "open")
    assert found["draft"].asks == "decided"

    decide(engine, run, "Continue")
    assert {one.state for name, one in marks(engine, run).items() if name != "optional"} == {"done"}


def test_runs_are_searched_page_by_page_and_none_is_missed(engine: Engine) -> None:
    names = [engine.start(parse_workflow(FLOW), by="ann") for _ in range(7)]
    found, after = list[str](), ""
    while True:
        page = index.search(engine.log, "FLOW", None, after, 2)
        found += [one.run for one in page.rows]
        after = page.next
        if not after:
            break
    assert sorted(found) == sorted(names)
    assert index.search(engine.log, "flow nothing", None, "", 2).rows == []
