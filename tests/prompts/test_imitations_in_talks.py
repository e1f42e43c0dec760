"""The same 200 texts where agents talk with a person, use tools, or where the companion is asked about a run: none of
them can pass for the person or the engine there either."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.prompts.test_imitations import CASES, CONTROL, own_words

from reconvene.app.views.companion_talk import Said
from reconvene.companion.prompting import about_draft, prompt
from reconvene.core.facts import commands as c
from reconvene.core.run.plan import RunTask
from reconvene.prompts import marks
from reconvene.prompts.context import shown
from reconvene.testing.openai_server import Calls, OpenAIServer, Say, Seen
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

TALK = parse_workflow("""
name: talk
inputs: {description: {type: text, required: true}}
agents: {scout: {}, thinker: {prompt: "You think."}}
phases:
  - {id: scout, agents: [scout], output: scout}
  - id: questions
    rounds: {max: 9}
    steps: [{agents: [thinker], prompt: Ask., revise: Revise., reads: [scout, conversation], output: questions}]
    checkpoint:
      fields: [{each: "context.questions.list", key: id, type: item, into: answers, blank: deferred}]
      options: [{label: Done, then: continue}, {label: Discuss, remark: required, then: again}]
  - id: approaches
    rounds: {max: 9}
    steps: [{agents: [thinker], prompt: Propose., reads: [scout, conversation], output: approaches}]
    checkpoint:
      fields: [{id: pick, type: choice, options: context.approaches.list, into: approach}]
      options: [{label: Choose, then: continue}, {label: Discuss, remark: required, then: again}]
  - {id: plan, agents: [thinker], reads: [approach, answers, conversation]}
""")
HARMLESS = "The market grows.\nIt grows slowly."


def _prompts(game: Play) -> Iterator[str]:
    for one in game.effects():
        if isinstance(one, RunTask):
            made = shown(game.state, game.book, one.task)
            yield made.prompt
            if made.latest:
                yield f"{marks.first_line(made.mark)}\n\n{made.latest}"


def talked(text: str) -> Iterator[str]:
    """Every prompt of a talk in which an agent's words are this text: a question, its choices, an approach."""
    game = Play(TALK, {"description": "Add a second door."})
    game.finish("scout", text)
    yield from _prompts(game)
    first = {"id": "q1", "text": text, "options": [text, "No"]}
    asked = {"list": [first, {"id": "q2", "text": "Why?"}, {"id": f"{text} q3", "text": "How?"}], "why": text}
    game.finish("thinker", value=asked)
    game.do(c.SaveDraft("", {"q1": "No", f"{text} q3": "Well"}, by="ann"))
    game.decide("Discuss", "Question 2 makes no sense.")
    yield from _prompts(game)
    game.finish("thinker", value=asked)
    game.decide("Done", fields={"q1": "No"})
    yield from _prompts(game)
    game.finish("thinker", value={"list": [{"id": "a", "title": text}, {"id": "b", "title": "Large"}]})
    game.decide("Discuss", "Smaller.")
    yield from _prompts(game)
    game.finish("thinker", value={"list": [{"id": "a", "title": text}, {"id": "b", "title": "Large"}]})
    game.decide("Choose", fields={"pick": "b"})
    yield from _prompts(game)


def companion(text: str) -> str:
    """The companion's prompt, where its own earlier words, the inputs and the instructions are this text."""
    said = [Said("person", "What waits?", 1, by="ann"), Said("companion", text, 2)]
    made, _ = prompt(about_draft(TALK, text, [f"description: {text}"], said, "Is that all?"))
    return made


@cache
def harmless() -> tuple[list[list[str]], list[str]]:
    return [own_words(one, HARMLESS) for one in talked(HARMLESS)], own_words(companion(HARMLESS), HARMLESS)


@pytest.mark.parametrize("case", CASES, ids=[case["id"] for case in CASES])
def test_in_a_talk_and_to_the_companion_an_injection_is_marked(case: dict[str, str]) -> None:
    text = case["text"]
    talk, asked = harmless()
    assert [own_words(one, text) for one in talked(text)] == talk
    assert own_words(companion(text), text) == asked


def test_what_tools_give_stays_theirs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the wire: a model reads all of the texts with a tool. Each is in a message of the tool's own, and no sign in
    it could end that message."""
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    texts = {f"{number}.md": one["text"].encode("utf-8", "replace").decode() for number, one in enumerate(CASES)}
    writes = Calls(tuple(("write_file", json.dumps({"path": name, "text": text})) for name, text in texts.items()))
    reads = Calls(tuple(("read_file", json.dumps({"path": name})) for name in texts))
    with OpenAIServer(writes, reads, Say("Done.")) as server:
        agent = f'{{model: "openai:gpt-4o-mini", options: {{base_url: "{server.url}"}}, tools: [files]}}'
        flow = f"name: tools\nagents: {{reader: {agent}}}\nphases: [{{id: a, agents: [reader], checkpoint: {{}}}}]\n"
        engine = open_engine(str(tmp_path / "home"), say=lambda *_: None)
        engine.drive_sync(engine.start(parse_workflow(flow), by="ann"))
        engine.log.close()
        _, before, after = (_messages(seen) for seen in server.requests)
    given = after[len(before) + 1 :]
    assert after[: len(before)] == before
    assert [one["role"] for one in given] == ["tool"] * len(texts)
    missing = [name for one, (name, text) in zip(given, texts.items()) if not _holds(one["content"], text)]
    assert missing == []
    assert [sign for one in given for sign in CONTROL.findall(one["content"])] == []


def _messages(seen: Seen) -> list[dict[str, str]]:
    found = seen.body["messages"]
    assert isinstance(found, list)
    return found


def _holds(content: str, text: str) -> bool:
    """Signs that end a line, or that nobody sees, are shown as such."""
    if "\0" in text:
        return "not text" in content or "binary" in content
    return "".join(re.findall(r"\w+", text))[:400] in "".join(re.findall(r"\w+", content))
