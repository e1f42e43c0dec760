"""Wrong usage and bad input: one clear message, exit code 64, no traceback (the fixture checks that), nothing made."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command

USAGE = [
    (),
    ("frobnicate",),
    ("--frobnicate",),
    ("run",),
    ("run", "two-step.yaml", "extra"),
    ("run", "two-step.yaml", "--nope"),
    ("run", "no-such.yaml"),
    ("run", "no-such-workflow"),
    ("run", "."),
    ("run", "two-step.yaml", "--input", "x=1"),
    ("run", "two-step.yaml", "--input", "x"),
    ("run", "two-step.yaml", "--set", "x=1"),
    ("run", "two-step.yaml", "--answers", "no-such.yaml"),
    ("check", "no-such.yaml"),
    ("resume",),
    ("resume", "no-such-run"),
    ("show", "no-such-run"),
    ("log", "no-such-run"),
    ("files", "no-such-run"),
    ("diff", "no-such-run"),
    ("decide", "no-such-run"),
    ("decide", "no-such-run", "--option", "Continue"),
    ("remark", "no-such-run", "hello"),
    ("remark", "no-such-run", " "),
    ("pause", "no-such-run"),
    ("abort", "no-such-run"),
    ("rollback", "no-such-run"),
    ("fork", "no-such-run", "--at", "3"),
    ("fork", "no-such-run"),
    ("fork", "no-such-run", "--at", "zero"),
    ("runs", "--status", "asleep"),
    ("demo", "no-such-demo"),
]


@pytest.mark.parametrize("words", USAGE, ids=lambda words: " ".join(words) or "nothing")
def test_wrong_usage_exits_with_64_and_says_why(reconvene: Command, words: tuple[str, ...]) -> None:
    done = reconvene(*words)
    assert done.code == 64
    assert done.out == ""
    assert done.err.startswith("error: ") or "Usage: reconvene" in done.err


@pytest.mark.parametrize("words", [("frobnicate",), ("run", "no-such.yaml"), ("show", "no-such-run"), ("runs", "x")])
def test_with_json_an_error_is_an_object_on_stderr(reconvene: Command, words: tuple[str, ...]) -> None:
    done = reconvene(*words, "--json")
    assert done.code == 64
    assert set(json.loads(done.err)) == {"error", "hint"}


def test_the_nearest_command_is_offered(reconvene: Command) -> None:
    assert "did you mean resume?" in reconvene("resum").err


def test_looking_at_nothing_creates_nothing(reconvene: Command, folder: Path) -> None:
    assert reconvene("inbox").out.startswith("no runs here (RECONVENE_HOME is ")
    assert reconvene("inbox", "--json").json == []
    assert reconvene("--json", "runs").json == []
    assert not (folder / ".reconvene").exists()


def test_a_bad_workflow_is_refused_with_file_and_line_before_anything_starts(reconvene: Command, folder: Path) -> None:
    text = (folder / "two-step.yaml").read_text(encoding="utf-8")
    (folder / "bad.yaml").write_text(text.replace("agents: [writer]", "agents: [wirter]"), encoding="utf-8")
    for words in (("run", "bad.yaml"), ("check", "bad.yaml")):
        done = reconvene(*words)
        assert done.code == 64
        assert "bad.yaml:7" in done.err
        assert "writer" in done.err
    assert reconvene("runs", "--json").json == []


def test_check_says_yes_or_lists_every_problem(reconvene: Command, folder: Path) -> None:
    assert reconvene("check", "two-step.yaml").code == 0
    assert reconvene("check", "two-step.yaml", "--json").object["ok"] is True
    (folder / "bad.yaml").write_text("name: bad\nphases:\n  - id: a\n    agents: [x]\n  - id: b\n    agents: [y]\n")
    done = reconvene("check", "bad.yaml", "--json")
    assert done.code == 64
    problems = done.object["problems"]
    assert isinstance(problems, list)
    assert {4, 6} <= {problem["line"] for problem in problems}


def test_a_home_that_cannot_be_used_is_said_plainly(reconvene: Command, folder: Path) -> None:
    (folder / "file").write_text("in the way")
    done = reconvene("--home", str(folder / "file" / "home"), "run", "two-step.yaml")
    assert done.code in (1, 64)
    assert done.err.startswith("error: ")


def test_help_and_version_need_no_run(reconvene: Command) -> None:
    helped = reconvene("--help")
    assert helped.code == 0
    assert "decide" in helped.out
    assert reconvene("-h").out == helped.out
    assert reconvene("decide", "-h").code == 0
    assert reconvene("--version").out.startswith("reconvene ")


def test_doctor_schema_and_workflows_answer(reconvene: Command) -> None:
    assert reconvene("doctor").code == 0
    assert {"python", "sqlite"} <= {str(row["what"]) for row in reconvene("doctor", "--json").objects}
    assert "$defs" in reconvene("schema").object
    assert isinstance(reconvene("workflows", "--json").json, list)
