"""A whole brainstorm at a real pseudo-terminal: talk, override, answer, leave, come back, design, two batches.

The agents are the recorded ones; the person's keys are all that is simulated. Nothing here waits for time to pass.
"""

from __future__ import annotations

import subprocess
from functools import partial
from pathlib import Path

import pytest

from reconvene.core.facts.events import DecisionRecorded, RemarkAdded
from reconvene.wiring import open_log
from terminals import DOWN, ENTER, Terminal, pexpect

CTRL_C = "\x03"
MENU, CHOICE = "Use arrow keys", "Your choice:"


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    return partial(terminal, size=(60, 140), RECONVENE_BY="ann")


class Person:
    """Reads what is asked, then types."""

    def __init__(self, child: pexpect.spawn[str]) -> None:
        self.child = child

    def sees(self, *texts: str) -> Person:
        for text in texts:
            self.child.expect_exact(text)
        return self

    def takes(self, place: int) -> Person:
        """An entry of a menu with arrow keys, counted from one."""
        self.sees(MENU)
        self.child.send(DOWN * (place - 1) + ENTER)
        return self

    def types(self, text: str) -> Person:
        self.child.send(text + ENTER)
        return self

    def chooses(self, text: str) -> Person:
        """A number, letter or name in the menu of a checkpoint with questions."""
        return self.sees(CHOICE).types(text)


def test_a_whole_brainstorm_at_a_terminal(terminal: Terminal, tmp_path: Path) -> None:
    person = Person(terminal("demo", "brainstorm", "--case", "complex"))
    person.sees("Press Enter to begin").types("")

    person.sees("waiting at triage, round 1", "Brainstormer assessment: Complex", "now: python3 -m unittest")
    person.chooses("Discuss").sees("Discuss: what do you say?").types("Could this be one batch?")
    person.sees("waiting at triage, round 2", "I kept two batches").chooses("Override — needs exploration")

    person.sees("waiting at questions, round 1", "1. [unanswered]", "4. [unanswered]")
    person.chooses("1").sees("How does the program know").takes(1)
    person.sees("[answered: the account on the computer]")
    person.chooses("4").sees("What shall the list say?").takes(1)
    person.sees("[answered: nothing is left]")
    person.chooses("Discuss").sees("what do you say?").types("Must it be seen at once? We meet at breakfast.")
    person.sees("waiting at questions, round 2", "that question is gone", "[answered: the account on the computer]")
    person.sees("[answered: nothing is left]", "5. [unanswered] How often").sees(CHOICE)
    person.child.send(CTRL_C)
    person.child.expect(pexpect.EOF)

    person = Person(terminal("resume", "brainstorm-1"))
    person.sees("waiting at questions, round 2", "Must it be seen at once?")  # the whole talk, and every answer
    person.sees("[answered: the account on the computer]", "[answered: nothing is left]", "5. [unanswered]")
    person.chooses("Done")
    person.sees("waiting at approaches, round 1", "Journal of changes", "(recommended)")
    person.chooses("Back to questions")
    person.sees("waiting at questions", "[answered: the account on the computer]", "[answered: nothing is left]")
    person.chooses("Done")  # the other three are left to the brainstormer
    person.sees("waiting at approaches", "1. Journal of changes").chooses("1")  # picked and decided in one step

    person.sees("waiting at design, round 1", "Section 1 of 3").takes(2)
    person.sees("Revise: what do you say?").types("Say how large the file becomes")
    person.sees("waiting at design, round 2", "From our talk: Say how large the file becomes").takes(1)
    person.sees("Section 2 of 3").takes(1)
    person.sees("Section 3 of 3").takes(1)

    person.sees("The plan for “A journal of changes”").takes(1)
    person.sees("Batch 1, A journal of changes: done", "Bring two journals together").takes(1)
    person.sees("The plan for “Bring two journals together”").takes(1)
    person.sees("Is this what you wanted?", "without conflicts", "See the change (d)")
    person.child.send("d")  # the diff is one key away
    person.sees("diff --git a/README.md", "journal.py")
    person.child.send("q")  # out of the pager
    person.takes(1)
    person.sees("brainstorm-1 is completed", "in the project: commit", " merge ")
    person.child.expect(pexpect.EOF)
    _left_behind(tmp_path)


def _left_behind(folder: Path) -> None:
    events = [event for _, event in open_log(folder / ".reconvene").read("brainstorm-1")]
    decided = [(event.phase, event.option) for event in events if isinstance(event, DecisionRecorded)]
    assert decided == [
        ("triage", "Discuss"),
        ("triage", "Override — needs exploration"),
        ("questions", "Discuss"),
        ("questions", "Done"),
        ("approaches", "Back to questions"),
        ("questions", "Done"),
        ("approaches", "Choose"),
        ("design", "Revise"),
        ("design", "Approve"),
        ("design", "Approve"),
        ("design", "Approve"),
        ("plan_review", "Build it"),
        ("reassess", "Continue to the next batch"),
        ("plan_review", "Build it"),
        ("finish", "Finish"),
    ]
    assert len([event for event in events if isinstance(event, RemarkAdded)]) == 3
    workspace = folder / ".reconvene" / "runs" / "brainstorm-1"
    answers = (workspace / "answers.md").read_text(encoding="utf-8")
    assert answers.count("user deferred") == 3
    assert "the account on the computer" in answers
    assert "Say how large the file becomes" in (workspace / "design.md").read_text(encoding="utf-8")
    project = folder / ".reconvene" / "recorded" / "brainstorm-1"
    log = ["git", "-C", str(project), "log", "--format=%s", "main..reconvene/brainstorm-1"]
    subjects = subprocess.run(log, check=True, capture_output=True, text=True).stdout.splitlines()
    assert set(subjects) == {"Keep changes in a journal", "Let the commands use the journal", "Merge another journal"}
    status = subprocess.run(["git", "-C", str(project), "status", "--porcelain"], check=True, capture_output=True)
    assert status.stdout == b""
