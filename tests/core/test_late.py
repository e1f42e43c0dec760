"""Answers that come when nothing waits for them any more: kept once, counted once, without effect. Rule 20."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reconvene.app.views.all_rounds import rounds
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import fold
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

TEAM = """
name: n
agents: {a: {retries: 1}, b: {}}
phases:
  - id: p
    rounds: {max: 3}
    agents: [a, b]
    checkpoint:
      options:
        - {label: On, then: continue}
        - {label: Redo, undo: true, then: again}
  - {id: q, agents: [b]}
"""
COST = e.Usage(model="m", input_tokens=10, output_tokens=20, cost=0.5)


def play(text: str = TEAM) -> Play:
    return Play(parse_workflow(text, "w.yaml", {}))


def answer(game: Play, agent: str, text: str = "said late") -> c.RecordAttempt:
    return replace(game.output(agent, text), usage=COST)


def spent(game: Play) -> tuple[float, int, int]:
    record = game.state.record
    return record.cost, record.input_tokens, record.output_tokens


def arrives_late(game: Play, command: c.RecordAttempt) -> None:
    """It is archived and counted, once, and nothing else changes."""
    world, before = game.state.world, spent(game)
    (event,) = game.do(command)
    assert isinstance(event, e.LateOutputArchived)
    assert (event.task, event.attempt, event.output, event.usage) == (
        command.task,
        command.attempt,
        command.output,
        command.usage,
    )
    assert game.state.world == world
    assert spent(game) == (before[0] + 0.5, before[1] + 10, before[2] + 20)
    assert game.do(command) == []
    assert fold(game.log) == game.state


def test_the_answer_of_an_attempt_in_doubt_is_kept_and_counted():
    game = play()
    command = answer(game, "a")
    game.do(c.Claim("ann", "test"), claim="second driver")
    assert [event.verdict for event in game.log if isinstance(event, e.AttemptEnded)] == ["doubt", "doubt"]
    arrives_late(game, command)
    assert game.working() == ["a", "b"]


def test_it_is_kept_also_when_the_next_attempt_has_answered_and_the_run_has_ended():
    game = play()
    command = answer(game, "a")
    game.do(c.Claim("ann", "test"), claim="second driver")
    game.finish_all()
    game.decide("On")
    game.finish_all()
    assert game.state.ended == "completed"
    arrives_late(game, command)


def test_effects_in_doubt_wait_for_the_person_and_their_late_answer_is_kept_beside():
    game = play("name: n\nagents: {a: {effects: true}}\nphases: [{id: p, agents: [a]}]\n")
    command = answer(game, "a")
    game.do(c.Claim("ann", "test"), claim="second driver")
    labels = game.labels
    arrives_late(game, command)
    assert game.labels == labels


def test_a_cancelled_attempt_that_answered_after_all_is_counted():
    game = play()
    command = answer(game, "a")
    game.do(c.Pause("ann", now=True))
    game.do(c.RecordAttempt(command.task, 1, cancelled=True, why="cancelled"))
    arrives_late(game, command)


@pytest.mark.parametrize("said", [None, "half of an ans"])
def test_an_attempt_that_timed_out_and_answers_after_all_is_counted_besides(said: str | None):
    game = play()
    command = answer(game, "a")
    data = (said or "").encode()
    output = e.Ref(game.keep(data), "text", len(data)) if said else None
    timed_out = replace(command, output=output, failed=True, why="it took too long")
    game.do(timed_out)
    assert game.do(timed_out) == [], "the same outcome again is no late answer"
    arrives_late(game, command)
    assert game.do(timed_out) == []


def test_an_answer_for_an_attempt_that_was_rejected_and_tried_again_is_not_counted_twice():
    game = play("name: n\nagents: {a: {gate: [{min_chars: 100}]}}\nphases: [{id: p, agents: [a]}]\n")
    command = answer(game, "a")
    game.do(command)
    assert game.do(command) == []
    assert spent(game) == (0.5, 10, 20)


def test_an_answer_for_a_round_that_was_undone_is_kept():
    game = play()
    command = answer(game, "a")
    game.do(c.Claim("ann", "test"), claim="second driver")
    game.finish_all()
    game.decide("Redo")
    arrives_late(game, command)
    (first, _) = rounds(game.log)
    assert ("a", 1, "late", 0.5) in [(one.agent, one.attempt, one.verdict, one.cost) for one in first.tried]


def test_an_answer_for_a_phase_that_was_left_is_kept():
    game = play()
    command = answer(game, "a")
    game.do(c.Claim("ann", "test"), claim="second driver")
    game.finish_all()
    game.decide("On")
    assert game.phase == "q"
    arrives_late(game, command)


def test_a_failure_in_doubt_brings_its_cost_once():
    game = play()
    command = replace(answer(game, "a"), output=None, failed=True, why="the provider closed the line")
    game.do(c.Claim("ann", "test"), claim="second driver")
    arrives_late(game, command)


def test_an_end_that_brings_nothing_adds_nothing():
    game = play()
    command = c.RecordAttempt(game.output("a").task, 1, cancelled=True, why="cancelled")
    game.do(c.Claim("ann", "test"), claim="second driver")
    assert game.do(command) == []
