"""At a terminal: what a settings file that was found starts is asked once, and a failed agent gets another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from commands import call
from terminals import CLEAR, DOWN, ENTER, Terminal, ending

FLOW = """
name: flow
agents: {writer: {retries: 0}}
phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW)
    (tmp_path / "reconvene.toml").write_text('[agents]\nwriter = "false"\n')
    return tmp_path


def test_the_person_is_shown_what_would_start_and_asked_once(terminal: Terminal, folder: Path) -> None:
    child = terminal("run", "flow.yaml", "--no-input")
    child.expect("reconvene accept ")
    assert ending(child) == 64
    child = terminal("run", "flow.yaml")
    child.expect("writer runs: false")
    child.expect("Do you want that")
    child.send("n")
    assert ending(child) == 64
    child = terminal("run", "flow.yaml")
    child.expect("Do you want that")
    child.send("y")
    child.expect("Your decision")
    child.send(DOWN + DOWN + ENTER)
    child.expect("Who for writer")
    child.send("olama:x" + ENTER)
    child.expect("there is no provider 'olama'")
    child.expect("Your decision")
    child.send(DOWN + DOWN + ENTER)
    child.expect("Who for writer")
    child.send(CLEAR + "cat" + ENTER)  # what was typed before stands there, to be mended
    child.expect("writer done")
    child.expect("Your decision")
    child.send(ENTER)
    assert ending(child) == 0
    assert call("run", "flow.yaml", cwd=folder).code == 3  # not asked again
    found = call("show", "flow-1", "--json", cwd=folder).object["bindings"]
    assert isinstance(found, list)
    assert [(row["agent"], row["who"]) for row in found] == [("writer", "cat")]
