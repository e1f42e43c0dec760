"""Rounds in which nobody works do not go on for ever, whatever the limits of the workflow say: a person is asked."""

from __future__ import annotations

import pytest

from exploring import part
from reconvene.core.facts.evolve import fold
from reconvene.core.person.attention import STOP, WITHOUT
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

HEAD = "name: w\nagents: {a: {}}\nlimits: {rounds: 1000000000, entries: 1000000000, calls: 5000}\nphases:\n"
ENDLESS = [
    "  - {id: p, rounds: {max: 1000000000, until: 'false'}}",
    "  - {id: p, rounds: {max: 1000000000, until: 'false'}, steps: [{agents: [a], when: 'false'}]}",
    "  - {id: p, rounds: {max: 1000000000, until: 'false'}, phases: [{id: inside, when: 'false'}]}",
    "  - {id: p, each: {of: 'inputs.many'}}",
    "  - {id: p, check: {max: 1000000000, rules: [{if: 'true', then: retry}]}}",
]


def play(phase: str) -> Play:
    text = HEAD.replace("agents:", "inputs: {many: json}\nagents:") + phase + "\n  - {id: after, agents: [a]}\n"
    return Play(parse_workflow(text, "w.yaml", {}), {"many": list(range(10_000))})


@pytest.mark.parametrize("phase", part(ENDLESS, 2))
def test_a_phase_that_never_ends_asks_before_it_goes_on(phase: str) -> None:
    game = play(phase)
    point = game.state.world.open
    assert point is not None
    assert "p begins round after round in which nobody works" in point.prompt
    assert game.labels == [WITHOUT, STOP]
    assert fold(game.log) == game.state


@pytest.mark.parametrize("phase", ENDLESS[:3])
def test_going_on_without_it_leaves_the_phase(phase: str) -> None:
    game = play(phase)
    game.decide(WITHOUT)
    assert (game.phase, game.working()) == ("after", ["a"])


def test_stopping_ends_the_run() -> None:
    game = play(ENDLESS[0])
    game.decide(STOP)
    assert game.state.ended == "aborted"


def test_many_rounds_with_work_in_each_are_never_asked_about() -> None:
    game = play("  - {id: p, agents: [a], rounds: {max: 1500, until: 'round.n >= 1200'}}")
    for _ in range(1200):
        game.finish("a")
    assert game.phase == "after"
