"""A run is planned anew, in the pure core: from which stops, with what, and what becomes of what was under way."""

from __future__ import annotations

import pytest

from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import fold
from reconvene.core.run.plan import RunTask
from reconvene.errors import Refused, StaleDecision, WorkflowError
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: w
replan: {phase: plan, set: {review: true}}
agents: {scout: {}, planner: {contract: {type: object, additionalProperties: true}}, worker: {}}
phases:
  - {id: look, agents: [scout]}
  - id: job
    rounds: {max: 3, until: "context.plan.done"}
    phases:
      - id: plan
        agents: [planner]
        output: plan
        checkpoint:
          condition: "context.review || up.job.round.n === 1"
          options: [{label: Go, set: {review: false}, then: continue}]
      - {id: work, each: {of: "context.plan.todos"}, agents: [worker], output: made}
  - id: result
    checkpoint:
      options: [{label: Accept, then: continue}]
"""
PLAN = {"todos": [{"id": "a"}, {"id": "b"}], "done": False}


def play(text: str = FLOW) -> Play:
    return Play(parse_workflow(text))


def planned(text: str = FLOW) -> Play:
    game = play(text)
    game.finish("scout")
    game.finish("planner", value=PLAN)
    return game


def replan(game: Play, *said: str, **more: object) -> list[e.AnyEvent]:
    point = game.state.world.open
    remarks = tuple(c.RemarkIn(text) for text in said)
    command = c.Replan(point.id if point else "", "ann", "test", remarks, **more)  # type: ignore[arg-type]
    done = game.do(command)
    assert fold(game.log) == game.state
    return done


def told_to_planner(game: Play) -> str:
    (task,) = [one for one in game.effects() if isinstance(one, RunTask)]
    assert task.agent == "planner"
    return shown(game.state, game.book, task.task).prompt


def test_at_a_checkpoint_the_phase_is_done_anew_with_the_persons_words() -> None:
    game = planned()
    replan(game, "for customers, not for the board")
    assert "for customers, not for the board" in told_to_planner(game)
    assert game.context()["review"] is True
    game.finish("planner", value=PLAN)
    assert game.labels == ["Go"]


def test_in_the_middle_of_work_what_is_done_stays_and_what_was_begun_is_given_up() -> None:
    game = planned()
    game.decide("Go")
    game.finish("worker", files={"a.md": "made"})
    late = game.output("worker", "too late")
    game.do(c.Pause("ann"))
    replan(game, "otherwise")
    (event,) = [one for one in game.log if isinstance(one, e.Replanned)]
    assert (event.phase, event.target, event.by, event.tasks) == ("work", "plan", "ann", (late.task,))
    assert list(game.state.world.files) == ["a.md"]
    assert "otherwise" in told_to_planner(game)
    game.do(late)
    assert isinstance(game.log[-1], e.LateOutputArchived)
    game.finish("planner", value=PLAN)
    assert game.labels == ["Go"], "the plan is reviewed again, though it is not the first"
    game.decide("Go")
    assert game.working() == ["worker"]
    assert game.entered()[-1] == "job#1/work#2"


def test_where_something_needs_attention_it_is_settled_by_that() -> None:
    game = planned(FLOW.replace("worker: {}", "worker: {retries: 0}"))
    game.decide("Go")
    game.fail("worker", retryable=False)
    assert game.state.world.open is not None
    assert game.state.world.open.attention
    replan(game)
    assert game.state.world.trouble == ()
    assert game.working() == ["planner"]


def test_where_a_provider_is_awaited() -> None:
    game = planned()
    game.decide("Go")
    (task,) = [one for one in game.effects() if isinstance(one, RunTask)]
    until = "2027-01-01T00:00:00.000Z"
    game.do(c.RecordFault(task.task, task.attempt, "m:far", "transport", "busy", wait=1.0, not_before=until))
    assert game.state.awaits is not None
    replan(game)
    assert game.state.awaits is None
    assert game.working() == ["planner"]


@pytest.mark.parametrize("how", ["completed", "aborted"])
def test_after_the_end_it_is_taken_up_with_the_phase_around_it(how: str) -> None:
    game = planned()
    if how == "completed":
        game.decide("Go")
        game.finish("worker")
        game.finish("worker")
        game.finish("planner", value={**PLAN, "done": True, "todos": []})
        game.decide("Accept")
    else:
        game.do(c.Abort("ann"))
    assert game.state.ended == how
    replan(game, "one thing more")
    assert game.state.status == "running"
    assert "one thing more" in told_to_planner(game)
    assert game.entered()[-1] == ("job#2/plan#1" if how == "completed" else "job#1/plan#2")
    assert [one.status for one in game.state.record.reopened] == [how]


def test_it_is_refused_where_agents_work_and_before_there_is_a_plan() -> None:
    game = play()
    with pytest.raises(Refused, match="has not come to plan yet"):
        replan(game)
    game.finish("scout")
    with pytest.raises(Refused, match="is running: it is planned anew when it stands still"):
        replan(game)


def test_it_is_refused_where_the_workflow_names_no_phase_for_it() -> None:
    game = planned(FLOW.replace("replan: {phase: plan, set: {review: true}}\n", "").replace("context.review || ", ""))
    with pytest.raises(Refused, match="it has no `replan`"):
        replan(game)


def test_it_is_refused_when_somebody_decided_meanwhile() -> None:
    game = planned()
    seen = game.state.world.open
    assert seen is not None
    game.decide("Go")
    game.do(c.Pause("bob"))
    with pytest.raises(StaleDecision, match="has moved on since you looked"):
        game.do(c.Replan(seen.id, "ann"))


def test_a_limit_on_how_often_is_named() -> None:
    game = planned(FLOW.replace("name: w\n", "name: w\nlimits: {entries: 2}\n"))
    replan(game)
    game.finish("planner", value=PLAN)
    with pytest.raises(Refused, match=r"limit entries \(2 per phase\) of plan is reached"):
        replan(game)


def test_agents_with_effects_do_not_act_again_unless_the_person_was_told() -> None:
    game = planned(FLOW.replace("worker: {}", "worker: {effects: true}"))
    game.decide("Go")
    game.finish("worker")
    game.do(c.Pause("ann"))
    with pytest.raises(Refused, match="worker acts on the world"):
        replan(game)
    replan(game, told=("worker",))
    (event,) = [one for one in game.log if isinstance(one, e.Replanned)]
    assert event.acts == ("worker",)


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ("replan: plans", "replan: there is no phase 'plans' (did you mean 'plan'?)"),
        ("replan: {phase: plan, set: {run: 1}}", "'run' is kept by the engine"),
        ("replan: {set: {a: 1}}", "'replan' needs 'phase'"),
    ],
)
def test_what_is_wrong_with_it_is_told_at_load(written: str, told: str) -> None:
    with pytest.raises(WorkflowError) as error:
        parse_workflow(FLOW.replace("replan: {phase: plan, set: {review: true}}", written))
    assert told in str(error.value), str(error.value)
