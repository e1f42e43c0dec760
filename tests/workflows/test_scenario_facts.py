"""Scenario planning's fact sheet: what the person corrected is a page, and no deliverable says what was instead."""

from __future__ import annotations

from reconvene.ports import Assignment

from .boards import LOOKS_GOOD, Sit, future, moderator

FIXED = "correction: Debt is $150M, not $100M"


def test_a_correction_is_on_the_fact_sheet_with_what_it_replaced_and_its_remark(board: Sit) -> None:
    run = board().on_to("predetermined")
    assert "facts.md" not in run.files
    run.decide(LOOKS_GOOD, FIXED, "new context: We're in acquisition talks", "reaction to economist: I see")
    sheet = run.file("facts.md")
    assert "`scenario_context.md` holds your own words and stays the\nauthority" in sheet
    assert "| Debt is $150M, not $100M | $150M | $100M | FB-001 | correction, phase 2 round 1, " in sheet
    assert "| We're in acquisition talks | as stated | – | FB-002 | new context, phase 2 round 1, " in sheet
    assert "FB-003" not in sheet
    assert "facts.md" in run.agents.of("economist")[-1].files
    run.clean()


def stubborn(work: Assignment) -> object:
    """Writes the old figure whatever it is told."""
    if work.phase == "predetermined_file":
        return "# Predetermined\n\n## Elements\n\n### Debt\nQuillmark owes $100M, and Tarnside carries it.\n"
    return moderator(work)


def test_a_deliverable_with_an_old_figure_is_refused_by_its_line_and_the_person_may_waive_it(board: Sit) -> None:
    run = board(moderator=stubborn).on_to("predetermined").decide(LOOKS_GOOD, FIXED)
    assert run.phase == "predetermined_file"
    refused = "line 6, says $100M and not $150M [FB-001]: “Quillmark owes $100M, and Tarnside carries it.”"
    assert refused in run.point.prompt
    told = [call.prompt for call in run.agents.of("moderator") if call.phase == "predetermined_file"]
    assert len(told) == 3
    assert "OLD_FIGURE" in told[1]
    run.answer("Take the output as it is", {}, at=run.point)
    assert run.phase == "uncertainties"
    assert "Quillmark owes $100M" in run.file("predetermined_elements.md")
    assert "User feedback from checkpoints incorporated" in run.file("predetermined_elements.md")


def test_scenarios_are_checked_file_by_file(board: Sit) -> None:
    def careless(work: Assignment) -> object:
        if work.phase != "scenarios_file":
            return moderator(work)
        debt = "$100M" if work.attempt == 1 else "$150M"
        return {"files": {path: future(path).replace("\n\n", f"\n\nIt owes {debt}.\n\n", 1) for path in work.writes}}

    run = board(moderator=careless).on_to("predetermined").decide(LOOKS_GOOD, FIXED).on_to("signals")
    told = [call.prompt for call in run.agents.of("moderator") if call.phase == "scenarios_file"]
    assert len(told) == 2
    assert "scenarios/scenario_1.md, line 3, says $100M and not $150M" in told[1]
    assert "owes $150M" in run.file("scenarios/scenario_4.md")
