"""Scenario planning with its budget of specialist calls used up: nobody is asked for what cannot be done."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reconvene.core.definition.workflow import Workflow
from reconvene.wire.workflow_file import load_workflow

from . import boards
from .boards import FOLDER, LOOKS_GOOD, MORE, Sit


@pytest.fixture(autouse=True)
def seven_calls(monkeypatch: pytest.MonkeyPatch) -> None:
    def small(_: object) -> Workflow:
        whole = load_workflow(FOLDER)
        return replace(whole, limits=replace(whole.limits, group_calls={"specialists": 7}))

    monkeypatch.setattr(boards, "load_workflow", small)


def test_without_budget_no_round_is_offered_and_none_begins_with_nobody_in_it(board: Sit) -> None:
    run = board().on_to("predetermined")
    more = next(option for option in run.open.options if option.label == MORE)
    assert (more.available, more.why_not) == (False, "limit calls.specialists (7) is reached")
    run.decide(LOOKS_GOOD, "correction: Debt is $150M, not $100M")
    assert run.phase == "completeness"
    assert run.calls == {"predetermined": 7}
    syntheses = {call.phase for call in run.agents.of("moderator")} & set(boards.PHASES)
    assert syntheses == {"predetermined"}
    assert run.metadata["total_rounds_by_phase"] == {"phase_2": 1}
    decisions = run.file("decisions.md")
    assert "Phase 2, Predetermined elements: 1 of at most 2 rounds. Completed by user confirmation." in decisions
    assert (
        "Phase 3, Critical uncertainties: 0 of at most 3 rounds. Completed by the limit of specialist calls."
        in decisions
    )
    assert {"critical_uncertainties.md", "strategies.md"} <= run.files
    run.clean()


def test_the_screen_says_phase_round_budget_and_what_comes_next(board: Sit) -> None:
    run = board().on_to("predetermined")
    assert "Phase 2 of 6, round 1 of at most 2; 0 of 7 specialist calls left." in run.open.prompt
    assert "Next: the moderator writes the deliverable of this phase." in run.open.prompt  # there is no budget left
