"""A checkpoint that is not asked because its condition failed is told: when it happens, in show, at the next stop."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconvene.app import queries
from reconvene.doors.cli.draw_checkpoint import Screen
from reconvene.doors.cli.stops import not_asked
from reconvene.wiring import open_engine

if TYPE_CHECKING:
    from commands import Command

WORKFLOW = """\
name: gated
inputs: {feature: json}
agents: {a: {command: [echo, done]}}
phases:
  - {id: test, agents: [a], checkpoint: {condition: "context.feature.flags.includes('x')", approval_required: true}}
  - {id: release, agents: [a], checkpoint: true}
  - {id: end, checkpoint: {condition: "context.feature.flags.length"}}
"""
TOLD = "! the checkpoint of test, round 1, was not asked: its condition failed: TypeError: cannot read property 'flags'"


@pytest.fixture
def gated(folder: Path) -> str:
    (folder / "gated.yaml").write_text(WORKFLOW, encoding="utf-8")
    return "gated.yaml"


def test_it_is_told_when_it_happens_and_at_the_next_stop(reconvene: Command, gated: str) -> None:
    done = reconvene("run", gated, "--no-input")
    assert done.code == 3
    assert TOLD in done.err
    assert TOLD in done.out
    assert done.out.index(TOLD) < done.out.index("Continue with next phase?")


def test_a_script_is_told_beside_its_object(reconvene: Command, gated: str) -> None:
    done = reconvene("run", gated, "--no-input", "--json")
    assert TOLD in done.err
    (row,) = done.object["passed_over"]  # type: ignore[attr-defined]
    assert (row["phase"], row["round"], row["text"]) == ("test", 1, row["text"])
    assert f"! {row['text']}".startswith(TOLD)


def test_show_lists_all_of_them_and_a_stop_those_since_the_stop_before(reconvene: Command, gated: str) -> None:
    reconvene("run", gated, "--no-input")
    first = reconvene("show")
    assert first.out.count(TOLD) == 1
    assert "checkpoints that were not asked" in first.out
    ended = reconvene("decide", "gated-1", "--option", "Continue")
    assert ended.code == 0
    assert "the checkpoint of end" in ended.out
    assert TOLD not in ended.out
    shown = reconvene("show", "gated-1")
    assert TOLD in shown.out
    assert "the checkpoint of end" in shown.out
    assert len(reconvene("show", "gated-1", "--json").object["passed_over"]) == 2  # type: ignore[arg-type]


def test_a_condition_that_is_false_is_no_news(reconvene: Command, gated: str) -> None:
    done = reconvene("run", gated, "--no-input", "--json", "--input", 'feature={"flags": []}')
    assert "was not asked" not in done.err
    assert "passed_over" not in done.object


def test_the_person_at_the_terminal_reads_it_above_the_question(
    reconvene: Command, gated: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert reconvene("run", gated, "--no-input").code == 3
    capsys.readouterr()
    engine = open_engine(folder / ".reconvene")
    summary = queries.summary(engine, "gated-1")
    assert summary.checkpoint is not None
    Screen(engine, "gated-1").checkpoint("gated-1", summary.checkpoint, (), not_asked(summary))
    shown = " ".join(capsys.readouterr().out.split())
    assert shown.index(TOLD) < shown.index("Continue with next phase?")


IDLE = """\
name: idle
agents: {a: {command: [echo, done]}}
phases:
  - {id: first, checkpoint: {condition: "(() => { throw 'one' })()"}}
  - {id: ask, checkpoint: {prompt: Shall we?}}
  - {id: second, checkpoint: {condition: "(() => { throw 'two' })()"}}
  - {id: ask again, checkpoint: {prompt: Sure?}}
  - {id: third, checkpoint: {condition: "(() => { throw 'three' })()"}}
"""
GATES = ("first", "second", "third")


@pytest.fixture
def idle(folder: Path) -> str:
    """No agent works between a gate and the stop after it."""
    (folder / "idle.yaml").write_text(IDLE.replace("ask again", "ask-again"), encoding="utf-8")
    (folder / "answers.yaml").write_text("- {option: Continue}\n" * 2, encoding="utf-8")
    return "idle.yaml"


def test_each_is_told_when_it_happens_and_above_the_stop_that_a_file_answers(reconvene: Command, idle: str) -> None:
    done = reconvene("run", idle, "--answers", "answers.yaml")
    assert done.code == 0
    told = [f"the checkpoint of {gate}, round 1, was not asked" for gate in GATES]
    assert [done.err.count(line) for line in told] == [1, 1, 1]
    assert [done.out.count(line) for line in told] == [1, 1, 1]
    marks = [told[0], "Shall we?", told[1], "Sure?", told[2]]
    assert sorted(marks, key=done.out.index) == marks


def test_a_script_gets_all_since_the_last_stop_that_was_printed(reconvene: Command, idle: str) -> None:
    done = reconvene("run", idle, "--answers", "answers.yaml", "--json")
    assert [row["phase"] for row in done.object["passed_over"]] == list(GATES)  # type: ignore[attr-defined]
    assert [done.err.count(f"the checkpoint of {gate},") for gate in GATES] == [1, 1, 1]


def test_one_command_after_the_other_tells_each_once(reconvene: Command, idle: str) -> None:
    first = reconvene("run", idle, "--no-input")
    second = reconvene("decide", "idle-1", "--option", "Continue")
    third = reconvene("decide", "idle-1", "--option", "Continue", "--latest")
    for gate, done in zip(GATES, (first, second, third)):
        assert [f"the checkpoint of {each}," in done.out for each in GATES] == [gate == each for each in GATES]
        assert [done.err.count(f"the checkpoint of {each},") for each in GATES] == [gate == each for each in GATES]
