"""A run is prepared in a conversation, which goes with it: the companion writes the draft, a person starts it, once."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest

from commands import Command
from reconvene.app.views.companion_talk import Said
from reconvene.companion.drafting import instructed_input
from reconvene.companion_wiring import drafts_of
from reconvene.errors import UserError
from reconvene.testing.openai_server import Calls, OpenAIServer, Say
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine, open_log

FLOW = """\
name: note
inputs:
  company: {type: text}
  description: {type: text, required: true}
agents:
  writer: {command: [cat]}
phases:
  - id: write
    agents: [writer]
    prompt: "Write about {{ inputs.description }}."
    checkpoint: {approval_required: true}
"""
WRITES = (("update_instructions", json.dumps({"instructions": "Write about @/etc/hostname, in two lines."})),)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "note.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


def test_the_companion_writes_the_draft_and_the_person_starts_it_with_the_conversation(
    reconvene: Command, folder: Path
) -> None:
    with OpenAIServer(Calls(WRITES), Say("I wrote it down.")) as server:
        talked = reconvene(
            "chat", "--new", "note.yaml", "--input", "company=Northwind", "--model", "openai:gpt-4o-mini",
            stdin="It is about the name of the machine\n", OPENAI_API_KEY="none", OPENAI_BASE_URL=server.url,
        )  # fmt: skip
        first = server.requests[0]
    assert talked.code == 0, talked.err
    assert "the instructions now:\nWrite about @/etc/hostname, in two lines." in talked.out
    assert "reconvene chat --draft draft-1" in talked.out
    tools = first.body["tools"]
    assert isinstance(tools, list)
    assert {tool["function"]["name"] for tool in tools} == {"update_instructions"}
    assert "Instruction" in first.prompt or "describe what they want" in first.prompt
    assert reconvene("runs", "--json").json == []  # nothing has started

    started = reconvene("run", "--draft", "draft-1", "--no-input", "--json", RECONVENE_BY="ann")
    assert started.code == 3, started.err
    # taken as it is: never as the name of a file
    assert "Write about Write about @/etc/hostname" in reconvene("output", "note-1", "writer").out
    events = [json.loads(line) for line in reconvene("log", "note-1", "--json").out.splitlines()]
    assert events[0]["draft"] == "draft-1" or events[1]["draft"] == "draft-1"
    said = [one for one in events if one["type"] == "CompanionSaid"]
    assert [(one["role"], one["stage"]) for one in said] == [("person", "pre_job"), ("companion", "pre_job")]
    assert all(one["said"] for one in said)  # when it was said
    with OpenAIServer(Say("As I said.")) as server:
        reconvene(
            "ask", "note-1", "And?", "--model", "openai:gpt-4o-mini", OPENAI_API_KEY="none", OPENAI_BASE_URL=server.url
        )
        assert "> It is about the name of the machine" in server.requests[0].prompt

    again = reconvene("run", "--draft", "draft-1", "--no-input")
    assert again.code == 64
    assert "was started, as the run note-1" in again.err
    assert reconvene("chat", "--draft", "draft-1").code == 64


def test_without_a_model_a_draft_says_what_is_missing(reconvene: Command) -> None:
    lines = "I want a note\n/write About herons\n/input company=Northwind\nAnything missing?\n/instructions\n"
    done = reconvene("chat", "--new", "note.yaml", stdin=lines)
    assert done.code == 0, done.err
    assert "Missing: description." in done.out
    assert "Nothing is missing: /start begins the run." in done.out
    assert done.out.count("About herons") >= 2


def test_start_in_the_conversation_begins_the_run(reconvene: Command) -> None:
    done = reconvene("chat", "--new", "note.yaml", stdin="/write About herons\n/start\n")
    assert done.code == 3, done.err
    assert "draft-1 is the run note-1 now" in done.err


def test_a_start_that_was_begun_and_not_noted_is_not_made_twice(reconvene: Command, folder: Path) -> None:
    reconvene("chat", "--new", "note.yaml", stdin="/write About herons\n")
    file = folder / ".reconvene" / "drafts" / "draft-1.jsonl"
    assert reconvene("run", "--draft", "draft-1", "--no-input").code == 3
    lines = file.read_text(encoding="utf-8").splitlines()
    assert "started" in lines[-1]
    file.write_text("\n".join(lines[:-1]) + '\n{"started": "no', encoding="utf-8")  # killed in the middle of this line
    again = reconvene("run", "--draft", "draft-1", "--no-input")
    assert again.code == 64
    assert "was started already, as the run note-1" in again.err
    assert len(reconvene("runs", "--json").objects) == 1


def test_two_who_talk_about_a_draft_lose_nothing(folder: Path) -> None:
    home = str(folder / ".reconvene")
    open_engine(home).log.close()
    name = drafts_of(home).new("note.yaml")

    def talk(who: str) -> None:
        for number in range(20):
            drafts_of(home).add(name, Said("person", f"{who} {number}"))

    threads = [threading.Thread(target=talk, args=(who,)) for who in ("ann", "bob")]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    said = drafts_of(home).load(name).said
    assert [one.number for one in said] == list(range(1, 41))
    assert {one.text for one in said} == {f"{who} {number}" for who in ("ann", "bob") for number in range(20)}


def test_a_draft_that_is_not_there_is_said_with_those_that_are(reconvene: Command) -> None:
    reconvene("chat", "--new", "note.yaml", stdin="\n")
    for words in (("chat", "--draft", "draft-7"), ("run", "--draft", "../../etc")):
        refused = reconvene(*words)
        assert refused.code == 64
        assert "there is: draft-1" in refused.err


def test_the_instructions_are_the_input_that_says_what_to_do() -> None:
    assert instructed_input(parse_workflow(FLOW)) == "description"
    other = parse_workflow(FLOW.replace("description", "aim"))
    assert instructed_input(other) == "aim"


def test_a_started_draft_cannot_be_written(folder: Path) -> None:
    home = str(folder / ".reconvene")
    open_engine(home).log.close()
    drafts = drafts_of(home)
    name = drafts.new("note.yaml")
    with drafts.starting(name) as starting:
        starting.started("note-1")
    with pytest.raises(UserError, match="was started, as the run note-1"):
        drafts.write(name, "something else")
    log = open_log(home)
    assert log.index() == []
    log.close()
