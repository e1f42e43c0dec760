"""Spec refinement at a terminal: the menu has the same form at every stop of the rounds."""

from __future__ import annotations

from terminals import ENTER, Terminal, answer, ending


def test_the_menu_of_a_round_has_one_form_with_questions_and_without(terminal: Terminal) -> None:
    person = terminal("run", "spec-refinement", "--recorded")
    answer(person, "Press Enter to begin", ENTER)
    person.expect(r"1\. Begin \[")
    answer(person, "Your choice", f"1{ENTER}")
    person.expect(r"1\. Continue \[")  # round 1 asks nothing
    answer(person, "Your choice", ENTER)
    person.expect("choose one of: Continue")
    answer(person, "Your choice", f"1{ENTER}")
    person.expect("ISSUE-R1-001")  # round 2 asks for a ruling
    person.expect(r"Continue \[")
    answer(person, "Your choice", f"p{ENTER}")
    assert ending(person) == 3
