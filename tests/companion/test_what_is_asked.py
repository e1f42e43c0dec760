"""What is asked is recognised by rules, in English and in German."""

from __future__ import annotations

import pytest

from reconvene.companion.recognised import Subject, lines_in, read

ASKED: tuple[tuple[str, Subject], ...] = (
    ("What does phase 2 cover?", "plan phase"),
    ("Why did you choose this approach?", "approach"),
    ("I think we should split the analysis into two phases", "feedback"),
    ("Summarize what was produced", "produced"),
    ("Show me the key findings", "findings"),
    ("The analysis missed section 3 of the input document", "feedback"),
    ("What does the plan say about data validation?", "passages"),
    ("What does the plan say about costs?", "passages"),
    ("Find where the agent discusses the methodology", "passages"),
    ("What changed between phase 1 and phase 2?", "changes"),
    ("Why did the agent skip section 3?", "skipped"),
    ("The output seems wrong, what happened?", "trouble"),
    ("How much did this job cost in tokens?", "cost"),
    ("Show me what tools the agent used", "tools"),
    ("How's it going?", "progress"),
    ("What phase is it on?", "phase"),
    ("Why did it fail?", "failure"),
    ("Where did it go wrong?", "trouble"),
    ("Wie läuft es?", "progress"),
    ("In welcher Phase ist es?", "phase"),
    ("Was hat das gekostet?", "cost"),
    ("Was hat sich zwischen Phase 1 und Phase 2 geändert?", "changes"),
    ("Welche Werkzeuge wurden benutzt?", "tools"),
    ("Warum ist es gescheitert?", "failure"),
    ("Warum wurde Abschnitt 3 ausgelassen?", "skipped"),
    ("Warum dieser Ansatz?", "approach"),
    ("Was ist schief gegangen?", "trouble"),
    ("Was umfasst Phase 2?", "plan phase"),
    ("Zeig mir die wichtigsten Ergebnisse", "findings"),
    ("Fasse zusammen, was erstellt wurde", "produced"),
    ("Was steht im Plan über Datenprüfung?", "passages"),
    ("Bitte in Euro rechnen", "feedback"),
    ("Who is the seller?", "passages"),
    ("Which to-dos are done?", "progress"),
    ("Which todo is under way?", "progress"),
    ("How many to-dos are open?", "progress"),
    ("what is left?", "progress"),
    ("What's left to do?", "progress"),
    ("What is done so far?", "progress"),
    ("What is it working on?", "progress"),
    ("What comes next?", "progress"),
    ("Welche Aufgaben sind erledigt?", "progress"),
    ("Was ist noch offen?", "progress"),
    ("What is left out of the report?", "passages"),
    ("What is done about late orders?", "passages"),
    ("What does the todo list say about orders?", "passages"),
    ("Why was the to-do about orders skipped?", "skipped"),
)


@pytest.mark.parametrize(("text", "subject"), ASKED)
def test_a_question_is_recognised(text: str, subject: Subject) -> None:
    assert read(text).subject == subject


def test_phases_sections_and_lines_that_are_named_are_read() -> None:
    assert read("What changed between phase 1 and phase 2?").numbers == (1, 2)
    assert read("Why did the agent skip section 3.2?").section == "section 3.2"
    assert read("What does the plan say about it?").within == "plan"
    assert lines_in("In plan.md, lines 3-5, say more") == ("plan.md", "3-5")
    assert lines_in("plan.md:7 is wrong") == ("plan.md", "7")
    assert lines_in("at 10:30 all is well") == ("", "")
