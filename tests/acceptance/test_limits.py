"""Limits of a run: whatever one of them stops, it is named, and a person can raise it or go on without."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.stage import Stage

from reconvene.core.facts.commands import Rollback
from reconvene.errors import Refused


def limited(limits: str, rounds: str = "{plan: [one, two, three]}") -> str:
    return f"""
name: w
limits: {limits}
agents: {{a: {{}}, b: {{}}}}
phases:
  - id: one
    rounds: {rounds}
    agents: [a, b]
    checkpoint:
      options:
        - {{label: Go on, then: continue}}
        - {{label: Anew, then: {{goto: one, rerun: true}}}}
"""


@pytest.mark.parametrize(
    ("limits", "message"),
    [
        ("{rounds: 2}", "limit rounds (2 per run) is reached before one"),
        ("{calls: 4}", "limit calls (4 agent calls) is reached at one"),
    ],
)
def test_a_limit_of_the_run_is_named_and_can_be_raised(tmp_path: Path, limits: str, message: str) -> None:
    stage = Stage(tmp_path, limited(limits), {"a": "done", "b": "done"})
    stage.drive()
    stage.decide("Go on")
    stage.decide("Go on")
    assert message in stage.point.prompt
    assert len(stage.agents.calls) == 4
    assert "Raise the limit" in stage.labels
    stage.decide("Raise the limit")
    assert len(stage.agents.calls) == 6
    assert stage.decide("Go on").status == "completed"


@pytest.mark.parametrize("limits", ["{rounds: 2}", "{calls: 4}"])
def test_a_run_may_go_on_without_what_its_limit_forbids(tmp_path: Path, limits: str) -> None:
    stage = Stage(tmp_path, limited(limits), {"a": "done", "b": "done"})
    stage.drive()
    stage.decide("Go on")
    stage.decide("Go on")
    state = stage.decide("Go on without it")
    while state.status == "waiting":
        state = stage.decide("Go on")
    assert state.status == "completed"
    assert len(stage.agents.calls) == 4


def test_the_limit_on_entries_is_named_where_the_option_is_not_available(tmp_path: Path) -> None:
    stage = Stage(tmp_path, limited("{entries: 2}", "{plan: [one]}"), {"a": "done", "b": "done"})
    stage.drive()
    stage.decide("Anew")
    assert stage.labels == ["Go on"]
    with pytest.raises(Refused, match=r"limit entries \(2 per phase\) of one is reached"):
        stage.answer("Anew")


@pytest.mark.parametrize(
    ("limits", "rounds", "message"),
    [
        ("{undo: 1}", "{plan: [one]}", "limit undo (1 per run) is reached"),
        ("{}", "{plan: [one], undo: 1}", "limit rounds.undo (1 per round) is reached"),
    ],
)
def test_the_limit_on_undoing_is_named_and_the_round_stands(
    tmp_path: Path, limits: str, rounds: str, message: str
) -> None:
    stage = Stage(tmp_path, limited(limits, rounds), {"a": "done", "b": "done"})
    stage.drive()
    stage.engine.submit(stage.run, Rollback())
    stage.drive()
    with pytest.raises(Refused) as refusal:
        stage.engine.submit(stage.run, Rollback())
    assert message in refusal.value.message
    assert stage.decide("Go on").status == "completed"
