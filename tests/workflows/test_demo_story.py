"""`reconvene demo` without a terminal: it runs to the end, tells what happened, and leaves runs to look at."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pexpect
import pytest

from reconvene.doors.cli.demo import PATTERNS, STORY, demo
from reconvene.errors import UserError


def run_demo(*arguments: str) -> int:
    code = demo.main(list(arguments), standalone_mode=False)
    assert isinstance(code, int)
    return code


def test_the_demo_tells_the_whole_story(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo("--home", str(tmp_path / "state"), "--by", "ann") == 0
    told = capsys.readouterr().out
    in_order = [
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
        "Four patterns",
        "review-before-changes",
        "early-exit",
    ]
    places = [told.find(text) for text in in_order]
    assert -1 not in places, dict(zip(in_order, places))
    assert places == sorted(places)
    assert (tmp_path / "state" / "runs" / "market-entry-1" / "memo.md").is_file()


def test_one_packaged_workflow_can_be_played_alone(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo("quality-gate", "--home", str(tmp_path / "state")) == 0
    told = capsys.readouterr().out
    assert "▸ The person chooses: No, fix tests" in told
    assert STORY not in told


def test_for_scripts_it_prints_how_each_run_ended(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_demo("--json", "--home", str(tmp_path / "state")) == 0
    rows = json.loads(capsys.readouterr().out)
    assert {row["run"]: row["status"] for row in rows} == {
        f"{name}-1": "aborted" if name == "early-exit" else "completed" for name in (STORY, *PATTERNS)
    }


def test_a_workflow_that_is_not_there_is_refused_with_the_nearest_name(tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        run_demo("quality-gates", "--home", str(tmp_path / "state"))
    assert "quality-gate" in caught.value.hint


def test_on_a_terminal_the_person_decides_and_sees_what_their_words_changed(tmp_path: Path) -> None:
    child = pexpect.spawn(
        sys.executable,
        ["-m", "reconvene.doors.cli", "demo", "--by", "ann"],
        cwd=str(tmp_path),
        env={**os.environ, "TERM": "xterm"},
        dimensions=(50, 120),
        encoding="utf-8",
        timeout=60,
    )
    child.expect("Your decision")
    child.send("\x1b[B\r")  # the second option: look again
    child.expect("Remark")
    child.send("our revenue is $1.2bn\r")
    child.expect("empty line")
    child.send("\r")
    child.expect("Buy both ships and open the route")
    child.expect("Your decision")
    child.send("\r")
    child.expect(r"\+\| Revenue \| \$1200M \|")
    child.expect("Its files are in")
    child.expect(pexpect.EOF)
    child.close()
    assert child.exitstatus == 0
