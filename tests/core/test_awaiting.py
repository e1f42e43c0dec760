"""A run that waits for a provider, in the pure core: who is tried again when, and what a crash in between does."""

from __future__ import annotations

from reconvene.core.facts import commands as c
from reconvene.core.facts.events import AttemptEnded, ProviderAwaited
from reconvene.core.run.plan import RunTask
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

TEAM = """
name: team
agents: {far: {retries: 0}, near: {}}
limits: {calls: 2}
phases: [{id: write, agents: [far, near], checkpoint: {approval_required: true}}]
"""
LATER, PAST = "2026-01-02T00:00:00.000Z", "2026-01-01T00:00:00.000Z"


def fault(play: Play, agent: str, not_before: str = "") -> None:
    effect = next(one for one in play.effects() if isinstance(one, RunTask) and one.agent == agent)
    why = "far is busy (429)."
    play.do(c.RecordFault(effect.task, effect.attempt, "m:far", "transport", why, wait=1.0, not_before=not_before))


def test_the_run_waits_when_nobody_else_works() -> None:
    play = Play(parse_workflow(TEAM))
    fault(play, "far")
    assert play.working() == ["far", "near"]
    fault(play, "far", LATER)
    assert (play.working(), play.state.status) == (["near"], "running")
    play.finish("near")
    assert (play.working(), play.state.status, play.effects()) == ([], "waiting", [])
    (awaited,) = [event for event in play.log if isinstance(event, ProviderAwaited)]
    assert (awaited.model, awaited.not_before, awaited.tasks) == ("m:far", LATER, ("R1/0/far",))
    assert play.state.record.checkpoints == 0
    play.do(c.Resume("ann"))
    assert play.working() == ["far"]
    play.finish("far")
    assert play.state.world.open is not None
    assert dict(play.state.record.calls) == {"far": 1, "near": 1}


def test_after_a_crash_who_waits_is_not_in_doubt_and_not_tried_before_its_time() -> None:
    play = Play(parse_workflow(TEAM))
    fault(play, "far", LATER)
    play.do(c.Claim(), claim="another")
    ended = [(event.task, event.verdict) for event in play.log if isinstance(event, AttemptEnded)]
    assert ended == [("R1/0/near", "doubt")]
    assert play.working() == ["near"]


def test_after_a_crash_who_waited_long_enough_is_tried_again() -> None:
    play = Play(parse_workflow(TEAM))
    fault(play, "far", PAST)
    play.do(c.Claim(), claim="another")
    assert play.working() == ["far", "near"]


def test_a_late_fault_of_a_task_that_is_over_is_nothing() -> None:
    play = Play(parse_workflow(TEAM))
    play.finish("far")
    assert play.do(c.RecordFault("R1/0/far", 1, "m:far", "transport", "late")) == []
