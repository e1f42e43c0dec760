"""The companion at a real terminal: one key sends a draft, Ctrl-C loses nothing, and each query of the web is asked."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command
from reconvene.testing.openai_server import Calls, OpenAIServer, Say
from terminals import ASKING, CLEAR, Terminal

FLOW = """\
name: note
agents:
  writer: {command: [sh, -c, "printf 'Herons eat fish.'"]}
phases:
  - id: write
    rounds: {max: 3}
    agents: [writer]
    prompt: Write.
    checkpoint:
      prompt: Is it good?
      options: [{label: "Yes", then: continue}, {label: "No", remark: required, then: again}]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "note.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


def test_a_draft_is_sent_with_one_key_and_a_line_that_was_broken_off_is_there_again(
    reconvene: Command,
    terminal: Terminal,
) -> None:
    assert reconvene("run", "note.yaml", "--no-input").code == 3
    chat = terminal("chat", "note-1", "--by", "ann")
    chat.expect("plan review")
    chat.expect(ASKING)
    chat.send("Say what herons eat in winter\r")
    chat.expect("draft 1: s sends it as your remark")
    chat.send("s")
    chat.expect("sent as your remark FB-001")
    chat.expect(ASKING)
    chat.send("What about")
    chat.expect("What about")
    chat.sendintr()
    chat.expect("what was said is on record")
    chat.expect_exact("reconvene")
    chat.wait()
    assert chat.exitstatus == 130
    again = terminal("chat", "note-1", "--by", "ann")
    again.expect("2 entries so far")
    again.expect(ASKING)
    again.expect("What about")
    again.send(f"{CLEAR}/quit\r")
    again.wait()
    assert again.exitstatus == 0
    shown = json.loads(reconvene("show", "note-1", "--json").out)
    assert [(one["text"], one["by"]) for one in shown["remarks"]] == [("Say what herons eat in winter", "ann")]


def test_each_query_of_the_web_is_asked_and_none_leaves_without_a_terminal(
    reconvene: Command,
    folder: Path,
    terminal: Terminal,
) -> None:
    own = Path(f"{folder}.config") / "reconvene"
    own.mkdir(parents=True)
    script = folder / "look.sh"
    script.write_text(f"#!/bin/sh\necho \"$@\" >> {folder}/asked\necho 'Herons winter in Spain.'\n", encoding="utf-8")
    script.chmod(0o755)
    (own / "reconvene.toml").write_text(f'web_search = "{script}"\n', encoding="utf-8")
    assert reconvene("run", "note.yaml", "--no-input").code == 3
    wants = Calls((("web_search", '{"query": "--heron winter"}'),))
    for answer in ("", "n", "y"):
        with OpenAIServer(wants, Say("Found.")) as server:
            words = ("ask", "note-1", "Where?", "--model", "openai:gpt-4o-mini", "--tier", "research")
            environment = {"OPENAI_API_KEY": "none", "OPENAI_BASE_URL": server.url}
            if not answer:
                assert reconvene(*words, **environment).code == 0
            else:
                asked = terminal(*words, **environment)
                asked.expect_exact("Search the web for “heron winter”? [y/N]")
                asked.send(f"{answer}\r")
                asked.expect("Found.")
                asked.wait()
            told = server.requests[1].prompt
        assert ("Spain" in told) == (answer == "y")
        assert ("did not allow" in told) == (answer != "y")
    assert (folder / "asked").read_text(encoding="utf-8") == "heron winter\n"
