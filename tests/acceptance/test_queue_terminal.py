"""Splitting and the queue at a real pseudo-terminal: pieces are offered, asked about, left for later, dropped."""

from __future__ import annotations

import json
import os
from functools import partial
from pathlib import Path

import pytest

from commands import call
from terminals import ENTER, UP, Terminal, ending, pexpect

PIECES = [{"id": "api", "title": "New API"}, {"id": "cli", "title": "CLI help"}, {"id": "docs", "title": "Docs"}]
SPLIT = """\
name: split
inputs: {description: {type: text, required: true}, piece: {type: bool, default: false}}
agents:
  scout: {command: ["sh", "-c", "cat >/dev/null; cat PIECES"]}
  worker: {command: ["sh", "-c", "cat >/dev/null; echo done"]}
phases:
  - id: triage
    when: "!inputs.piece"
    agents: [scout]
    output: triage
    checkpoint:
      prompt: Split it?
      options:
        - {label: Split, start: {workflow: split, each: context.triage, inputs: {piece: "true"}}, then: {end: split}}
        - {label: Keep, then: continue}
  - id: work
    agents: [worker]
    checkpoint: {prompt: "Is {{ inputs.description }} good?", options: [{label: Good, then: continue}]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    pieces = tmp_path / "pieces.json"
    pieces.write_text(json.dumps(PIECES))
    (tmp_path / "split.yaml").write_text(SPLIT.replace("PIECES", str(pieces)))
    return tmp_path


@pytest.fixture
def terminal(terminal: Terminal) -> Terminal:
    return partial(terminal, size=(50, 120))


def statuses(folder: Path) -> dict[str, str]:
    return {str(row["run"]).partition(".")[2]: str(row["status"]) for row in call("runs", "--json", cwd=folder).objects}


def split(terminal: Terminal) -> pexpect.spawn[str]:
    """A run that has just been split; the first piece is offered."""
    child = terminal("run", "split.yaml", "--input", "description=all of it")
    child.expect("Your decision")
    child.send(ENTER)
    child.expect("in the queue now")
    child.expect("Go on with the first piece, New API")
    return child


def test_after_a_split_the_pieces_are_offered_one_after_the_other(terminal: Terminal, folder: Path) -> None:
    child = split(terminal)
    child.send(ENTER)  # yes is the default
    child.expect("Is New API good")
    child.expect("Your decision")
    child.send(ENTER)
    child.expect(r"split-1\.api is completed")
    child.expect("Go on with the next piece, CLI help")
    child.send("n")
    child.expect("the rest stays in the queue; go on with: reconvene queue run")
    assert ending(child) == 0
    assert statuses(folder) == {"": "completed", "api": "completed", "cli": "queued", "docs": "queued"}


def test_who_wants_no_piece_now_is_told_how_to_go_on(terminal: Terminal, folder: Path) -> None:
    child = split(terminal)
    child.send("n")
    child.expect("reconvene queue run")
    assert ending(child) == 0
    assert statuses(folder)["api"] == "queued"


def test_the_queue_asks_at_each_checkpoint_and_goes_on_by_itself(terminal: Terminal, folder: Path) -> None:
    child = split(terminal)
    child.sendcontrol("c")  # leaving the question is a no
    assert ending(child) == 0
    child = terminal("queue", "run")
    for title in ("New API", "CLI help", "Docs"):
        child.expect(f"Is {title} good")
        child.expect("Your decision")
        child.send(ENTER)
    child.expect(r"split-1\.docs: completed")
    assert ending(child) == 0
    assert set(statuses(folder).values()) == {"completed"}


def test_who_leaves_a_piece_open_is_asked_whether_to_go_on(terminal: Terminal, folder: Path) -> None:
    child = split(terminal)
    child.send("n")
    assert ending(child) == 0
    child = terminal("queue", "run")
    child.expect("Your decision")
    child.send(UP + ENTER)  # pause here, decide later
    child.expect(r"Go on with the next one, split-1\.cli")
    child.send(ENTER)
    child.expect("Is CLI help good")
    child.expect("Your decision")
    child.send(UP + ENTER)
    child.expect(r"Go on with the next one, split-1\.docs")
    child.send("n")
    assert ending(child) == 3
    assert statuses(folder) == {"": "completed", "api": "waiting", "cli": "waiting", "docs": "queued"}


def test_dropping_asks_first_and_no_is_the_default(terminal: Terminal, folder: Path) -> None:
    child = split(terminal)
    child.send("n")
    assert ending(child) == 0
    child = terminal("queue", "drop", "split-1.cli")
    child.expect(r"Drop split-1\.cli \(CLI help\)")
    child.send(ENTER)
    child.expect("nothing was changed")
    assert ending(child) == 0
    child = terminal("queue", "drop", "split-1.cli")
    child.expect("Drop")
    child.send("y")
    child.expect("is dropped")
    assert ending(child) == 0
    assert statuses(folder)["cli"] == "aborted"


def test_ctrl_c_while_a_piece_is_worked_on_stops_the_queue_there(terminal: Terminal, folder: Path) -> None:
    started = folder / "started"
    os.mkfifo(started)
    text = (folder / "split.yaml").read_text()
    (folder / "split.yaml").write_text(text.replace("echo done", f"echo go >{started}; exec sleep 600"))
    child = split(terminal)
    child.send("n")
    assert ending(child) == 0
    child = terminal("queue", "run")
    assert started.read_text() == "go\n"  # opening the pipe waits for the agent
    child.expect(r"worker\s+\d+ s")
    child.sendcontrol("c")
    child.expect(r"reconvene resume split-1\.api")
    assert ending(child) == 3
    assert statuses(folder) == {"": "completed", "api": "paused", "cli": "queued", "docs": "queued"}
