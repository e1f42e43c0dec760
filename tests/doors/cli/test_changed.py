"""After another round every command that shows a checkpoint says what that changed, whatever agents write."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from reconvene.app.views.read_model import Change, Checkpoint
from reconvene.doors.cli.draw_checkpoint import Screen
from reconvene.wiring import open_engine

if TYPE_CHECKING:
    from commands import Command

FLOW = """\
name: again
agents:
  analyst:
    command: [sh, -c, 'printf "The cost\\033[2J is %s\\302\\204 pounds a year.\\r" $(grep -c FB-)']
  clerk: {command: [echo, I keep the books.]}
phases:
  - id: draft
    rounds: {max: 3}
    agents: [analyst, clerk]
    checkpoint:
      prompt: Good?
      options:
        - {label: Good, then: continue}
        - label: Again
          remark: optional
          fields: [{id: count, type: number, prompt: How often?}]
          then: again
"""
CHANGED = (Change("analyst", "The cost is 0 pounds a year.", "The cost is 1 pounds a year."),)
LINES = """\
What changed since the round before:
  analyst
    was: The cost is 0 pounds a year.
    is:  The cost is 1 pounds a year.
"""


@pytest.fixture
def parked(reconvene: Command, folder: Path) -> str:
    (folder / "again.yaml").write_text(FLOW, encoding="utf-8")
    assert reconvene("run", "again.yaml", "--no-input").code == 3
    return "again-1"


def test_nothing_is_said_of_changes_before_another_round(reconvene: Command, parked: str) -> None:
    shown = reconvene("show", parked)
    assert "What changed" not in shown.out
    checkpoint = reconvene("show", parked, "--json").object["checkpoint"]
    assert isinstance(checkpoint, dict)
    assert "changed" not in checkpoint


def test_decide_resume_and_show_tell_what_another_round_changed(reconvene: Command, parked: str) -> None:
    for words in (("decide", parked, "--option", "Again", "--feedback", "dearer"), ("resume",), ("show",)):
        told = reconvene(*words).out
        assert LINES in told, words
        assert told.index("Good?") < told.index(LINES)
        assert "\x1b" not in told
        assert "\x84" not in told


def test_for_scripts_it_stands_with_the_checkpoint(reconvene: Command, parked: str) -> None:
    done = reconvene("decide", parked, "--option", "Again", "--feedback", "dearer", "--json").object["checkpoint"]
    shown = reconvene("show", "--json").object["checkpoint"]
    for checkpoint in (done, shown):
        assert isinstance(checkpoint, dict)
        (row,) = checkpoint["changed"]
        assert row.keys() == {"agent", "was", "is", "also", "because"}
        assert "is 1" in row["is"]


def test_an_answers_file_prints_it_before_the_next_decision(reconvene: Command, folder: Path) -> None:
    (folder / "again.yaml").write_text(FLOW, encoding="utf-8")
    answers = '- {option: Again, feedback: ["correction: it is dearer"]}\n- Good\n'
    (folder / "said.yaml").write_text(answers, encoding="utf-8")
    told = reconvene("run", "again.yaml", "--answers", "said.yaml")
    assert told.code == 0, told.err
    places = [
        "── draft, round 1 ─",
        "[Good] [Again]",
        "▸ “it is dearer”\n  · FB-001 correction",
        "▸ Again   (said.yaml:1)",
        "── draft, round 2 ─",
        LINES,
        "▸ Good   (said.yaml:2)",
        "again-1 is completed",
        "What became of what was said:\n  ○ FB-001 correction: it is dearer\n    delivered to 2 agents in 2 tasks",
        "1 remark is still open",
    ]
    found = [told.out.find(place) for place in places]
    assert -1 not in found, places[found.index(-1)] + "\n" + told.out
    assert found == sorted(found)


def test_what_a_refused_answer_said_is_kept_once(reconvene: Command, folder: Path) -> None:
    (folder / "again.yaml").write_text(FLOW, encoding="utf-8")
    (folder / "said.yaml").write_text("- {option: Again, feedback: dearer, fields: {count: many}}\n", encoding="utf-8")
    refused = reconvene("run", "again.yaml", "--answers", "said.yaml")
    assert refused.code == 64
    assert "said.yaml:1: entry 1" in refused.err
    (folder / "said.yaml").write_text("- {option: Again, feedback: dearer, fields: {count: 2}}\n", encoding="utf-8")
    assert reconvene("remark", "again-1", "shorter").code == 0
    taken = reconvene("resume", "--answers", "said.yaml")
    assert taken.code == 3
    assert "FB-001 comment" in taken.out
    assert "FB-002 comment" not in taken.out, "it was not said by the file"
    remarks = reconvene("show", "--json").object["remarks"]
    assert isinstance(remarks, list)
    assert [remark["text"] for remark in remarks] == ["dearer", "shorter"]


def test_on_a_terminal_it_stands_under_the_question(
    reconvene: Command, parked: str, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    checkpoint = Checkpoint("c", "Good?", (), (), "d", "waiting", False, "", changed=CHANGED, question="Good?")
    Screen(open_engine(folder / ".reconvene"), parked).checkpoint("again-1 waits", checkpoint)
    told = capsys.readouterr().out
    assert told.index("Good?") < told.index("What changed since the round before:") < told.index("was: The cost is 0")
