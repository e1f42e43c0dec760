"""`reconvene demo`: an ordinary run with the recording that comes with a workflow, which a person may take part in."""

from __future__ import annotations

import re
import shlex
from functools import partial
from pathlib import Path

import pytest

from commands import Command, Done, call
from reconvene.app import measures as review
from reconvene.app import queries
from reconvene.app.views.remark_lives import fate
from reconvene.wire.packaged import demos, packaged
from reconvene.wiring import open_engine
from terminals import ENTER, UP, Terminal, answer, ending, pexpect

ANYTHING, MORE, RIGHT, DECISION = "Anything to correct", "more, or an empty line", "what you mean", "Your decision"
README = Path(__file__).parents[2] / "README.md"


def in_order(told: str, texts: list[str]) -> None:
    plain = " ".join(told.split())
    at = 0
    for text in texts:
        found = plain.find(text, at)
        assert found >= 0, f"{text!r} does not follow in:\n{told}"
        at = found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Done]:
    """The demo, played once without a terminal: where, and what it said."""
    folder = tmp_path_factory.mktemp("demo")
    home = {"RECONVENE_HOME": str(folder / ".reconvene"), "RECONVENE_DEMO_SPEED": "0", "RECONVENE_BY": "ann"}
    return folder, call("demo", cwd=folder, **home)


def test_without_a_terminal_it_takes_the_decisions_that_come_with_it(told: tuple[Path, Done]) -> None:
    assert told[1].code == 0, told[1].err
    in_order(
        told[1].out,
        [
            "This demo is an ordinary run. The command it stands for: reconvene run scenario-planning --recorded",
            "All agents are recorded: no model is asked, nothing leaves this machine.",
            "company: Aldermoor Glass",
            "question: How should Aldermoor Glass rebuild furnace 2",
            "── Phase 2: Predetermined elements, round 1 ──",
            "fits inside the covenant, at 3.10x",
            "▸ “Debt is £150M, not £100M”",
            "FB-001 correction, major: it speaks against an assumption of economist",
            "recommended: One more round: economist (assumption: it takes for granted: “Net debt is £100M.”",
            "▸ One more round (answers.yaml:3)",
            "── Phase 2: Predetermined elements, round 2 ──",
            "Here's what the 2 specialists found",
            "What changed since the round before:",
            "was: Capital is the predetermined element: the all-electric furnace fits",
            "is: Capital is the predetermined element: the all-electric furnace breaks the covenant, at 3.89x",
            "FB-002 clarification, minor",
            "FB-003 new context, major",
            "What changed since the round before:",
            "is: The acquisition talks [FB-003] belong into every scenario",
            "── Phase 6: Strategies, round 1 ──",
            "▸ Finish",
            "captured: yes",
            "-001 is completed",
            "What became of what was said:",
            "✓ FB-001 correction",
            "delivered to 8 agents in",
            "reflected in",
            "Other demos",
        ],
    )


def test_a_question_that_is_asked_at_every_stop_is_printed_once(told: tuple[Path, Done]) -> None:
    assert told[1].out.count("Any corrections to the data they're working with?") == 1


def test_the_sample_in_the_readme_is_what_the_demo_prints(told: tuple[Path, Done]) -> None:
    sample = README.read_text(encoding="utf-8").partition("```text\n")[2].partition("```")[0]
    assert len(sample.splitlines()) > 10
    printed = " ".join(told[1].out.split())
    for part in re.split(r"^\[…\]$", sample, flags=re.MULTILINE):
        assert " ".join(part.split()) in printed


def test_what_is_told_of_every_remark_is_the_ledger_and_only_what_is_proved_is_closed(told: tuple[Path, Done]) -> None:
    folder, done = told
    engine = open_engine(folder / ".reconvene")
    (run,) = [row.run for row in engine.log.index()]
    book = review.ledger(engine, run)
    assert [entry.status for entry in book] == ["reflected", "claimed", "claimed"]
    plain = " ".join(done.out.split())
    for entry in book:
        told_of = f"delivered to 8 agents in {len(entry.delivered)} tasks; {entry.status} {fate(entry).strip()}"
        assert " ".join(told_of.split()) in plain
    assert b"3.89x" in queries.file(engine, run, "strategies.md")


def test_the_command_that_a_demo_names_does_the_same(reconvene: Command) -> None:
    shown = reconvene("demo", "market-entry", "--by", "ann")
    said = shown.out.splitlines()[1].strip()
    again = reconvene(*shlex.split(said)[1:], "--by", "ann")
    assert again.code == shown.code == 0
    printed = shown.out.partition("\n\n")[2].partition("\nOther demos")[0]
    assert again.out.replace("market-entry-2", "market-entry-1") == printed


@pytest.mark.parametrize("name", [name for name in demos() if name != "scenario-planning"])
def test_every_packaged_workflow_can_be_played(name: str, reconvene: Command) -> None:
    done = reconvene("demo", name)
    assert done.code == 0, done.err
    assert "{%" not in done.out
    status = reconvene("runs", "--json").objects[0]["status"]
    assert status == ("aborted" if name == "early-exit" else "completed")


def test_every_packaged_workflow_is_offered_as_a_demo() -> None:
    assert sorted(demos()) == sorted(packaged())


def test_a_correction_shows_what_it_turned(reconvene: Command) -> None:
    in_order(
        reconvene("demo", "market-entry").out,
        [
            "Northlight Ferries (a fictional company)",
            "Do not buy: charter two ships",
            "▸ “Revenue is $900M, not $850M. The brief has last year's figure.”",
            "▸ Look again",
            "moderator, writer, because of FB-001 was: Do not buy: charter two ships",
            "is: Buy both ships, once the bank has granted a waiver for the first year.",
            "finance was: The purchase breaks the bank's covenant: EBITDA is $2.3M too low for it.",
            "is: The purchase fits inside the bank's covenant, with 4.3 % of EBITDA to spare.",
            "▸ Accept the memo",
            "market-entry-1 is completed",
            "✓ FB-001 correction: Revenue is $900M",
        ],
    )


def test_a_phase_that_runs_again_shows_what_changed_as_well(reconvene: Command) -> None:
    told = " ".join(reconvene("demo", "quality-gate").out.split())
    assert "tester was: Run 1: 2 passed, 2 failed is: Run 2: 3 passed, 1 failed" in told


def test_for_scripts_it_prints_what_a_run_prints(reconvene: Command) -> None:
    shown = reconvene("demo", "skip-optional", "--json")
    assert shown.code == 0
    assert shown.object["run"] == "skip-optional-1"
    assert shown.object["status"] == "completed"


def test_a_workflow_that_is_not_there_is_refused_with_the_nearest_name(reconvene: Command) -> None:
    done = reconvene("demo", "quality-gates")
    assert done.code == 64
    assert "did you mean quality-gate?" in done.err


def test_a_case_that_is_not_there_is_refused_with_those_there_are(reconvene: Command) -> None:
    done = reconvene("demo", "brainstorm", "--case", "comlex")
    assert done.code == 64
    assert "did you mean complex?" in done.err


# --- at a terminal ----------------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    return partial(terminal, size=(50, 120), RECONVENE_BY="ann")


def correct_the_debt(child: pexpect.spawn[str]) -> None:
    """From the first screen to the round that looks again."""
    child.expect("reconvene run scenario-planning --recorded")
    child.expect("The company|company: Aldermoor")
    answer(child, "Press Enter to begin", ENTER)
    child.expect("Is this the question")
    answer(child, DECISION, ENTER)
    child.expect(r"3\.10x")
    child.expect("For example: “Debt is £150M, not £100M”, and then “One more round”")
    answer(child, ANYTHING, "Debt is £150M, not £100M" + ENTER)
    answer(child, MORE, ENTER)
    answer(child, RIGHT, ENTER)
    child.expect("FB-001 correction, major")
    answer(child, r"One more round  \(recommended\)", ENTER)
    answer(child, "What specific gap", "does it still fit?" + ENTER)
    answer(child, "Who should look again", ENTER)
    child.expect("What changed since the round before:")
    child.expect(r"was: Capital is the predetermined element: [^~]*?3\.10x")
    child.expect(r"is:  Capital is the predetermined element: [^~]*?3\.89x")
    child.expect("For example: “Corran buys")


def test_on_a_terminal_the_person_decides_and_can_leave_and_come_back(terminal: Terminal) -> None:
    child = terminal("demo")
    correct_the_debt(child)
    answer(child, ANYTHING, ENTER)
    answer(child, DECISION, UP + ENTER)  # the last choice: pause here
    child.expect(r"continue with:\s+reconvene resume SCENARIO-\d+-001")
    assert ending(child) == 0, "to leave a demo is no failure"
    again = terminal("resume")
    again.expect("What changed since the round before:")
    again.expect("Round 2 complete")
    again.expect(ANYTHING)
    again.sendcontrol("c")
    assert ending(again) == 3


def test_on_a_terminal_it_ends_with_what_became_of_the_persons_words(terminal: Terminal) -> None:
    child = terminal("demo")
    correct_the_debt(child)
    while child.expect([ANYTHING, "Did we capture everything you were thinking"]) == 0:
        child.send("looks good" + ENTER)
        answer(child, DECISION, ENTER)
    answer(child, "Your choice:", ENTER)  # the open questions, one after the other
    answer(child, "Use arrow keys", ENTER)
    answer(child, r"on record\? \(optional\)", ENTER)
    answer(child, "Your choice:", "Finish" + ENTER)
    answer(child, "Your feedback", ENTER)
    child.expect("What became of what was said")
    child.expect("✓ FB-001 correction")
    child.expect("Other demos")
    assert ending(child) == 0


def test_leaving_before_it_begins_starts_nothing(terminal: Terminal, reconvene: Command) -> None:
    child = terminal("demo")
    child.expect("Press Enter to begin")
    child.sendcontrol("c")
    assert ending(child) == 130
    assert reconvene("runs", "--json").objects == []
