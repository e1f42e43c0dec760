"""Limits of cost: what counts, when a run stops, what a person may do about it, and how it is said."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from tests.acceptance.support.stage import Stage

from reconvene.core.facts.events import StepStarted, TaskHeld, Usage
from reconvene.core.facts.state import Spent
from reconvene.core.working.spending import said
from reconvene.errors import AgentError, WorkflowError
from reconvene.ports import Answer, Assignment
from reconvene.wire.workflow_file import parse_workflow

TWO = """
name: w
limits: {limits}
agents: {{a: {{}}, b: {{}}}}
groups: {{both: [a, b]}}
phases:
  - {{id: one, agents: [a]}}
  - {{id: two, agents: [a, b]}}
  - {{id: three, agents: [b], checkpoint: {{options: [{{label: Fine, then: continue}}]}}}}
"""


def priced(cost: float, tokens: int = 0) -> Answer:
    usage = Usage(model="m", requests=1, cost=cost, input_tokens=tokens)
    return Answer("done", None, False, {}, (), usage, b"", b"")


def stage_of(tmp_path: Path, limits: str, a: object = priced(1.0), b: object = priced(1.0), text: str = TWO) -> Stage:
    return Stage(tmp_path, text.format(limits=limits), {"a": a, "b": b})  # type: ignore[dict-item]


def test_at_the_limit_the_run_stops_and_says_what_was_spent(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "{cost: 1}")
    stage.drive()
    assert (
        "limit cost ($1.00) is reached at two: $1.00 spent. “Raise the limit” allows $2.00 in all" in stage.point.prompt
    )
    assert stage.labels == ["Raise the limit", "Go on without it", "Stop the run"]
    assert [call.agent.name for call in stage.agents.calls] == ["a"]


def test_a_raised_limit_lets_the_run_go_on_and_asks_again_when_it_is_used_up(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "{cost: 1}")
    stage.drive()
    stage.decide("Raise the limit")
    assert "limit cost ($2.00) is reached at two: $2.00 spent" in stage.point.prompt
    stage.decide("Raise the limit")
    assert "limit cost ($3.00) is reached at three: $3.00 spent" in stage.point.prompt
    stage.decide("Raise the limit")
    assert stage.decide("Fine").status == "completed"


def test_agents_at_work_finish_and_those_that_have_not_begun_wait(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "{cost: 2, concurrency: 1}")
    stage.drive()
    assert "limit cost ($2.00) is reached at two: $2.00 spent" in stage.point.prompt
    assert "b has not begun" in stage.point.prompt
    assert [event.limit for event in stage.events(TaskHeld)] == ["cost"]
    state = stage.decide("Raise the limit")
    assert dict(state.record.spent) == {"a": Spent(2, 2.0), "b": Spent(2, 2.0)}
    assert [call.attempt for call in stage.agents.calls] == [1, 1, 1, 1]


def test_a_person_may_go_on_without_those_that_have_not_begun(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "{cost: {b: 1, total: 2}, concurrency: 1}")
    stage.drive()
    state = stage.decide("Go on without it")
    while state.status == "waiting":
        state = stage.decide("Go on without it" if "limit" in stage.point.prompt else "Fine")
    assert state.status == "completed"
    assert [call.agent.name for call in stage.agents.calls] == ["a", "a"]


def test_a_retry_does_not_begin_above_the_limit(tmp_path: Path) -> None:
    error = AgentError("no")
    error.usage = Usage(model="m", requests=1, cost=1.5)  # type: ignore[attr-defined]
    stage = stage_of(tmp_path, "{cost: 1}", a=[error, priced(0.1)])
    stage.drive()
    assert (
        "limit cost ($1.00) is reached at one: $1.50 spent. “Raise the limit” allows $2.00 in all; a has not begun"
        in (stage.point.prompt)
    )
    stage.decide("Raise the limit")
    assert [call.attempt for call in stage.agents.of("a")][:2] == [1, 2]


@pytest.mark.parametrize(("who", "work"), [("a", ["b"]), ("both", [])])
def test_an_agent_and_a_group_have_limits_of_their_own(tmp_path: Path, who: str, work: list[str]) -> None:
    stage = stage_of(tmp_path, f"{{cost: {{{who}: 1}}}}")
    stage.drive()
    assert f"limit cost.{who} ($1.00) is reached at two" in stage.point.prompt
    stage.decide("Go on without it")
    here = [event for event in stage.events(StepStarted) if event.serial == 2]
    assert [task.agent for event in here for task in event.tasks] == work


def test_a_run_held_back_goes_on_in_another_process(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "{cost: 2, concurrency: 1}")
    stage.drive()
    other = stage.other()
    assert "b has not begun" in other.point.prompt
    other.answer("Raise the limit")  # recorded, and nobody drives
    assert other.other().drive().record.spent["b"].calls == 2


def test_tokens_without_a_price_are_counted_and_said(tmp_path: Path) -> None:
    stage = stage_of(tmp_path, "{cost: 1}", a=priced(0.0, 24_000), b=priced(2.0))
    stage.drive()
    assert "$2.00 spent; cost known for 1 of 3 calls; 48,000 tokens without a price" in stage.point.prompt


def test_what_was_not_used_is_no_call() -> None:
    assert said(Spent()) == "$0.00 spent"
    assert said(Spent(1, 0.0004)) == "$0.0004 spent"
    assert said(Spent(1, 0.0, 1, 10)) == "$0.00 spent; cost known for 0 of 1 call; 10 tokens without a price"


@pytest.mark.parametrize("limits", ["{cost: 0}", "{cost: -1}", "{cost: {a: 0}}"])
def test_a_limit_of_nothing_is_refused(limits: str) -> None:
    with pytest.raises(WorkflowError, match="must be an amount of USD above 0"):
        parse_workflow(TWO.format(limits=limits))


def test_a_limit_for_nobody_is_refused_with_the_nearest_name() -> None:
    with pytest.raises(WorkflowError, match="'cost': there is no agent or group 'bot'") as caught:
        parse_workflow(TWO.format(limits="{cost: {bot: 1}}"))
    assert "did you mean 'both'?" in str(caught.value.problems[0].hint)


def test_agents_that_began_together_all_finish(tmp_path: Path) -> None:
    both: list[asyncio.Barrier] = []

    async def together(assignment: Assignment) -> Answer:
        both.append(both[0] if both else asyncio.Barrier(2))
        await both[0].wait()
        return priced(5.0)

    stage = stage_of(tmp_path, "{cost: 1.5}", a=[priced(1.0), together], b=together)
    stage.drive()
    assert "$11.00 spent. “Raise the limit” allows $12.00 in all" in stage.point.prompt
