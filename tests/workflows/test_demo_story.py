"""`reconvene demo`: it tells the story of a run from its log, leaves runs to look at, and lets a person take part."""

from __future__ import annotations

import json
import re
import sys
from functools import partial
from pathlib import Path

import pytest

from reconvene.app import queries, review
from reconvene.core.facts.events import AttemptEnded
from reconvene.doors.cli.demo import PATTERNS, STORY, demo
from reconvene.errors import UserError
from reconvene.wiring import open_engine
from terminals import ENTER, UP, Terminal, answer, ending, pexpect

ANYTHING, MORE, RIGHT, DECISION = "Anything to correct", "more, or an empty line", "what you mean", "Your decision"


def run_demo(*arguments: str) -> int:
    code = demo.main(list(arguments), standalone_mode=False)
    assert isinstance(code, int)
    return code


def in_order(told: str, texts: list[str]) -> None:
    plain = " ".join(told.split())
    at = 0
    for text in texts:
        found = plain.find(text, at)
        assert found >= 0, f"{text!r} does not follow in:\n{told}"
        at = found


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """The demo, played once without a terminal: where its state is, and what it said."""
    home = tmp_path_factory.mktemp("demo") / "state"
    lines: list[str] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RECONVENE_DEMO_SPEED", "0")
        patch.setenv("COLUMNS", "100")
        patch.setattr(sys.stdout, "write", lambda text: lines.append(text))
        assert run_demo("--home", str(home), "--by", "ann") == 0
    return home, "".join(lines)


def test_the_demo_tells_the_whole_story(told: tuple[Path, str]) -> None:
    in_order(
        told[1],
        [
            "The company: Aldermoor Glass",
            "The question: How should Aldermoor Glass rebuild furnace 2",
            "moderator and 7 specialists (economist,",
            "Phase 2: Predetermined elements",
            "Round 1 (isolated): 7 specialists in parallel",
            "fits inside the covenant, at 3.10x",
            "▸ “Debt is £150M, not £100M”",
            "FB-001 correction, £100M → £150M, major: it speaks against an assumption of economist",
            "Recommended: One more round",
            "• economist: ",
            "• contrarian: always",
            "▸ One more round",
            "Round 2 (extra): economist and contrarian in parallel",
            "was: Capital is the predetermined element: the all-electric furnace fits",
            "is: Capital is the predetermined element: the all-electric furnace breaks the covenant, at 3.89x",
            "moderator wrote predetermined_elements.md",
            "Phase 3: Critical uncertainties",
            "FB-002 clarification, minor",
            "FB-003 new context, major",
            "Ownership now stands before both axes [FB-003]",
            "Phase 4: Scenario development",
            "Phase 5: Early-warning signals",
            "Phase 6: Strategies",
            "Build the hybrid now",
            "▸ Finish: yes",
            "-001 is completed. Its files are in",
            "What became of what was said",
            "✓ FB-001 correction",
            "delivered to 8 agents in",
            "reflected in",
            "How well it went",
            "rounds per phase",
            "Four patterns",
            "review-before-changes",
            "early-exit",
        ],
    )


def test_the_sample_in_the_readme_is_what_the_demo_prints(told: tuple[Path, str]) -> None:
    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    sample = readme.partition("```text\n")[2].partition("```")[0]
    assert len(sample.splitlines()) > 10
    assert [line for line in sample.splitlines() if line not in told[1].splitlines()] == []


def test_the_story_does_not_flood(told: tuple[Path, str]) -> None:
    story = told[1].partition("Four patterns")[0]
    assert len(story.splitlines()) < 220
    assert not re.search(r"✓ \w+ done", story), "one line per round, not per agent"
    assert max(len(line) for line in story.splitlines() if "files are in" not in line) <= 100
    assert "\n\n\n" not in story


def test_every_remark_is_closed_and_what_is_told_of_it_is_the_ledger(told: tuple[Path, str]) -> None:
    home, text = told
    engine = open_engine(home)
    (run,) = [row.run for row in engine.log.index() if row.run.startswith("SCENARIO-")]
    book = review.ledger(engine, run)
    assert [entry.status for entry in book] == ["reflected"] * 3
    plain = " ".join(text.split())
    for entry in book:
        assert f"delivered to 8 agents in {len(entry.delivered)} tasks; addressed by 8; reflected in" in plain
    for reading in review.stats(engine, run).success:
        assert reading.line() in plain
    attempts = [event for _, event in engine.log.read(run) if isinstance(event, AttemptEnded)]
    assert f"{len(attempts)} agent tasks" in plain
    assert (Path(engine.load(run).workspace) / "strategies.md").is_file()
    assert b"3.89x" in queries.file(engine, run, "strategies.md")


def test_one_packaged_workflow_can_be_played_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo("quality-gate", "--home", str(tmp_path / "state")) == 0
    text = capsys.readouterr().out
    assert "▸ The person chooses: No, fix tests" in text
    assert "Aldermoor" not in text
    assert "Four patterns" not in text


def test_the_ferry_company_can_still_be_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo("market-entry", "--home", str(tmp_path / "state"), "--by", "ann") == 0
    in_order(
        capsys.readouterr().out,
        [
            "Northlight Ferries (a fictional company)",
            "✓ sceptic done",
            "A checkpoint",
            "Do not buy: charter two ships",
            "▸ The person chooses: Look again",
            "correction: Revenue is $900M, not $850M",
            "-| Revenue | $850M |",
            "+| Revenue | $900M |",
            "▸ The person chooses: Accept the memo",
            "memo.md, in the end",
            "market-entry-1 is completed. Its files are in",
        ],
    )


def test_for_scripts_it_prints_how_each_run_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo("--json", "--home", str(tmp_path / "state")) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [row["status"] for row in rows] == ["completed"] * 4 + ["aborted"]
    assert [row["run"] for row in rows[1:]] == [f"{name}-1" for name in PATTERNS]
    assert rows[0]["run"].startswith("SCENARIO-")
    assert STORY == "scenario-planning"


def test_a_workflow_that_is_not_there_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        run_demo("quality-gates", "--home", str(tmp_path / "state"))
    assert "quality-gate" in caught.value.hint


# --- at a terminal ----------------------------------------------------------------------------------------------------


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    return partial(terminal, size=(50, 120), RECONVENE_BY="ann")


def correct_the_debt(child: pexpect.spawn[str]) -> None:
    """From the first screen to the round that looks again."""
    child.expect("How it goes")
    child.expect(r"Debt is £150M, not £100M")
    child.expect(r"reconvene resume SCENARIO-\d+-001")
    answer(child, "Press Enter to begin", ENTER)
    child.expect("Is this the question")
    answer(child, DECISION, ENTER)
    child.expect(r"3\.10x")
    answer(child, ANYTHING, "Debt is £150M, not £100M" + ENTER)
    answer(child, MORE, ENTER)
    answer(child, RIGHT, ENTER)
    child.expect("FB-001 correction, major")
    answer(child, r"One more round  \(recommended\)", ENTER)
    answer(child, "What specific gap", "does it still fit?" + ENTER)
    answer(child, "Who should look again", ENTER)
    child.expect(r"3\.89x")


def test_on_a_terminal_the_person_decides_and_can_leave_and_come_back(terminal: Terminal) -> None:
    child = terminal("demo")
    correct_the_debt(child)
    answer(child, ANYTHING, ENTER)
    answer(child, DECISION, UP + ENTER)  # the last choice: pause here
    child.expect(r"continue with:\s+reconvene resume SCENARIO-\d+-001")
    assert ending(child) == 0, "to leave a demo is no failure"
    again = terminal("resume")
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
    child.expect("What your words changed")
    child.expect(r"was: Capital is the predetermined element: [^~]*3\.10x")
    child.expect(r"is:  Capital is the predetermined element: [^~]*3\.89x")
    child.expect("What became of what was said")
    child.expect("✓ FB-001 correction")
    child.expect("How well it went")
    child.expect("reconvene ledger SCENARIO")
    assert ending(child) == 0


def test_leaving_before_the_first_round_starts_nothing(terminal: Terminal) -> None:
    child = terminal("demo")
    child.expect("Press Enter to begin")
    child.sendcontrol("c")
    child.expect(r"begin with: reconvene resume SCENARIO-\d+-001")
    assert ending(child) == 0
