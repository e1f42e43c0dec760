"""Scenario planning's deliverables are checked: the moderator is told what is missing, and then the person is."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reconvene.ports import Assignment

from .boards import LOOKS_GOOD, Sit, future, moderator


def spoiled(phase: str, spoil: Callable[[str], str]) -> Callable[[Assignment], object]:
    """What the moderator writes in that phase, spoiled at the first try."""

    def write(work: Assignment) -> object:
        made = moderator(work)
        if work.phase != phase or work.attempt > 1:
            return made
        return spoil(made) if isinstance(made, str) else {"files": {path: spoil(future(path)) for path in work.writes}}

    return write


@pytest.mark.parametrize(
    ("phase", "spoil", "told"),
    [
        (
            "predetermined",
            lambda text: text.partition("\n\n")[0],
            "2 to 3 paragraphs of prose are wanted, and there is 1",
        ),
        ("predetermined", lambda text: text.replace("nobody", "they"), "it says nothing about gaps"),
        ("predetermined", lambda text: text.replace("disagree on", "see"), "it says nothing about disagreements"),
        (
            "uncertainties_file",
            lambda text: text.replace("### Axis 2: Rules", "Axis 2: Rules"),
            "2 to 3 entries with a heading below “Axes” are wanted, and there is 1",
        ),
        ("scenario_matrix", lambda text: text.replace("Future 4", "Future 3"), "have the same name: future 3"),
        ("scenario_matrix", lambda text: text.replace("| 4 | Future 4 | end 4 | It differs. |\n", ""), "there are 3"),
        ("scenarios_file", lambda text: "".join(f"{text[:9]}{future('1.md')[9:]}"), "are nearly the same"),
        ("signals_file", lambda text: text.replace("| 2 | the", "| – | the"), "the threshold is missing for “Sign 2”"),
        ("signals_file", lambda text: text.replace("the ledger", ""), "the source is missing for “Sign 1”, “Sign 2”"),
        ("strategy_file", lambda text: text.replace("Future 4", "The last"), "does not speak of “Future 4”"),
        ("strategy_file", lambda text: text.replace("| holds | yes", "|  | yes").replace("suffers", ""), "empty cell"),
    ],
)
def test_the_moderator_is_told_what_a_deliverable_lacks(
    board: Sit, phase: str, spoil: Callable[[str], str], told: str
) -> None:
    run = board(moderator=spoiled(phase, spoil))
    while run.state.status == "waiting" and not [
        c for c in run.agents.of("moderator") if (c.phase, c.attempt) == (phase, 2)
    ]:
        run.agree()
    tries = [call for call in run.agents.of("moderator") if call.phase == phase]
    assert [call.attempt for call in tries][:2] == [1, 2]
    assert told in tries[1].prompt


def test_with_three_axes_the_matrix_says_which_corners_and_why(board: Sit) -> None:
    def three(work: Assignment) -> object:
        made = moderator(work)
        if work.phase == "uncertainties_file" and isinstance(made, str):
            return made.replace("## Corners", "### Axis 3: Capital\n\nCheap or dear.\n\n## Corners")
        if work.phase == "scenario_matrix" and work.attempt > 1:
            return f"{made}\n\nOf the eight corners these four, because Axis 3 follows Axis 1.\n"
        return made

    run = board(moderator=three).on_to("signals")
    tries = [call for call in run.agents.of("moderator") if call.phase == "scenario_matrix"]
    assert len(tries) == 2
    assert "There are three axes, and so eight corners: say which four" in tries[1].prompt


def test_after_all_tries_the_person_sees_what_is_missing_and_may_take_it(board: Sit) -> None:
    def stubborn(work: Assignment) -> object:
        return (
            "# Predetermined elements\n\nNothing is certain in Tarnside.\n"
            if work.phase == "predetermined_file"
            else moderator(work)
        )

    run = board(moderator=stubborn).on_to("predetermined").decide(LOOKS_GOOD)
    assert "WRONG_SHAPE: the section “Elements” is missing." in run.point.prompt
    run.answer("Take the output as it is", {}, at=run.point)
    assert run.phase == "uncertainties"
