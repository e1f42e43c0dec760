"""What a round changed after feedback: was and is, because of which remark; and that nobody changed, where it is so."""

from __future__ import annotations

from reconvene.app import queries
from reconvene.doors.shared.advice import changed_lines
from reconvene.ports import Assignment

from .boards import MORE, SPECIALISTS, Board, Sit, specialist

FIXED = "correction: Debt is $150M, not $100M"
SYNTHESIS = "conversations/phase_2/moderator_round2_synthesis.md"


def obedient(work: Assignment) -> str:
    """Takes the figure over once it was told."""
    told = any("$150M" in remark["text"] for remark in work.remarks)
    return specialist(work).replace("Debt is $100M", "Debt is $150M") if told else specialist(work)


def on_screen(run: Board) -> str:
    point = queries.standing(run.engine, run.run).checkpoint
    assert point is not None
    return "\n".join(changed_lines(point))


def test_below_the_synthesis_stands_who_changed_what_because_of_which_remark(board: Sit) -> None:
    run = board(economist=obedient).on_to("predetermined")
    assert "What changed" not in run.file("conversations/phase_2/moderator_round1_synthesis.md")
    run.decide(MORE, FIXED, gap="the debt", agents=["economist", "contrarian"])
    text = run.file(SYNTHESIS)
    assert text.index("The moderator on Quillmark") < text.index("## What changed")
    assert "| economist | FB-001 | - Debt is $100M. | - Debt is $150M. |" in text
    assert "| contrarian | FB-001 | as before | no change to be seen: " in text
    assert "nobody changed" not in text
    assert "geopolitics" not in text.partition("## What changed")[2]
    shown = on_screen(run)
    assert "economist, because of FB-001" in shown
    assert "nobody changed" not in shown
    run.clean()


def test_that_nobody_changed_is_said_too(board: Sit) -> None:
    run = board().on_to("predetermined").decide(MORE, FIXED, gap="the debt", agents=list(SPECIALISTS))
    assert "As far as can be seen, nobody changed what they say because of FB-001." in run.file(SYNTHESIS)
    assert "nobody changed what they say because of FB-001" in on_screen(run)


def test_a_remark_is_in_the_context_file_at_once(board: Sit) -> None:
    run = board().on_to("predetermined").say(FIXED)
    assert "- **Correction:** Debt is $150M, not $100M [FB-001]" in run.file("scenario_context.md")
