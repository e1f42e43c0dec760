"""Agents of other frameworks as python agents, and modules that lie beside a workflow."""

from __future__ import annotations

import asyncio
import dataclasses
import json
import sys
from pathlib import Path
from typing import Any

import pytest

from commands import process
from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.other_frameworks import require_whole
from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment
from reconvene.wire.workflow_file import load_workflow

HERE = __name__
SCORE = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


class Message:
    """As LangChain's: content, in text or blocks, and what it took."""

    def __init__(self, content: object) -> None:
        self.content = content
        self.usage_metadata = {"input_tokens": 12, "output_tokens": 5, "total_tokens": 17}


class Runnable:
    """As LangChain's: both ways of calling it."""

    def __init__(self, content: object) -> None:
        self._content = content
        self.heard: list[object] = []

    def invoke(self, given: object) -> object:
        raise AssertionError("the other one does not hold a thread")

    async def ainvoke(self, given: object) -> object:
        self.heard.append(given)
        await asyncio.sleep(0)
        return Message(self._content)


class Graph(Runnable):
    """As LangGraph's: a list of messages in, a longer one out."""

    def get_state(self) -> None: ...

    async def ainvoke(self, given: Any) -> object:
        return {"messages": [*given["messages"], Message(self._content)]}


class OnlyInvoke:
    def invoke(self, given: str) -> str:
        return f"invoked: {given.strip()}"


class Runner:
    def run(self, prompt: str) -> str:
        return f"ran: {prompt.strip()}"


class Called:
    def __call__(self, assignment: Assignment) -> str:
        return f"called for {assignment.agent.name}"


@dataclasses.dataclass
class Verdict:
    score: int


class Result:
    def __init__(self, output: object) -> None:
        self.output = output

    def usage(self) -> object:
        return type("Usage", (), {"input_tokens": 3, "output_tokens": 4})()


class Typed:
    async def run(self, prompt: str) -> Result:
        return Result(Verdict(3))


chain = Runnable("Hello.")
blocks = Runnable([{"type": "reasoning", "reasoning": "hm"}, {"type": "text", "text": "Hello."}])
scoring = Runnable('<think>maybe 2?</think>I say {"score": 4}')
writing = Runnable('<file path="a.md">\nA\n</file>\ndone')
graph = Graph("Hello.")
only_invoke, runner, called, typed = OnlyInvoke(), Runner(), Called(), Typed()
nothing = object()


def run(name: str, *, schema: object = None, writes: tuple[str, ...] = (), beside: str = "", spec: str = "") -> Answer:
    agent = Agent(name="writer", kind="python", python=spec or f"{HERE}:{name}", timeout=120.0, beside=beside)
    work = Assignment("r", "R1/0/writer", 1, agent, "Say hello.\n", {}, writes, schema)
    return asyncio.run(Agents("/nowhere", {}).run(work, lambda _: None))


@pytest.mark.parametrize("name", ["chain", "blocks", "graph"])
def test_a_runnable_gets_the_prompt_and_its_message_is_the_answer(name: str) -> None:
    answer = run(name)
    assert answer.text == "Hello."
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (12, 5)
    assert b"Say hello." in answer.request


@pytest.mark.parametrize(
    ("name", "text"),
    [("only_invoke", "invoked: Say hello."), ("runner", "ran: Say hello."), ("called", "called for writer")],
)
def test_other_objects_are_called_as_they_can_be(name: str, text: str) -> None:
    assert run(name).text == text


def test_the_form_is_asked_for_in_words_and_thinking_is_no_part_of_the_answer() -> None:
    assert run("scoring", schema=SCORE).value == {"score": 4}
    assert '"score"' in str(scoring.heard[-1])
    with pytest.raises(AgentError) as caught:
        run("chain", schema=SCORE)
    assert caught.value.outcome == "form"


def test_files_may_come_as_blocks() -> None:
    assert run("writing", writes=("*.md",)).files == {"a.md": b"A\n"}


def test_a_value_of_a_class_is_a_value() -> None:
    answer = run("typed", schema=SCORE)
    assert answer.value == {"score": 3}
    assert (answer.usage.input_tokens, answer.usage.output_tokens) == (3, 4)


def test_what_cannot_be_called_says_what_would_do() -> None:
    with pytest.raises(AgentError, match="neither `invoke` nor `run`") as caught:
        run("nothing")
    assert not caught.value.retryable


def test_a_pydantic_ai_agent_works_as_it_is() -> None:
    pytest.importorskip("pydantic_ai")
    answer = run("", spec=f"{HERE}:Shelf.text")
    assert answer.text == "success (no tool calls)"
    assert answer.usage.output_tokens > 0
    assert run("", spec=f"{HERE}:Shelf.typed", schema=SCORE).value == {"score": 0}


class _Shelf:
    """Made when they are asked for: the library takes a second to import."""

    @property
    def text(self) -> object:
        from pydantic_ai import Agent as Other
        from pydantic_ai.models.test import TestModel

        return Other(TestModel())

    @property
    def typed(self) -> object:
        from pydantic import BaseModel
        from pydantic_ai import Agent as Other
        from pydantic_ai.models.test import TestModel

        class Score(BaseModel):
            score: int

        return Other(TestModel(), output_type=Score)

    @property
    def langchain(self) -> object:
        from langchain_core.language_models import FakeListChatModel
        from langchain_core.output_parsers import StrOutputParser

        return FakeListChatModel(responses=["Hello."]) | StrOutputParser()

    @property
    def langchain_message(self) -> object:
        from langchain_core.language_models import FakeListChatModel

        return FakeListChatModel(responses=["Hello."])


Shelf = _Shelf()


@pytest.mark.parametrize("name", ["langchain", "langchain_message"])
def test_a_real_langchain_runnable_works_as_it_is(name: str) -> None:
    pytest.importorskip("langchain_core")
    assert run("", spec=f"{HERE}:Shelf.{name}").text == "Hello."


# --- beside the workflow ---

FLOW = "name: small\nagents:\n  writer: {python: 'my_agents:writer'}\nphases: [{id: one, agents: [writer]}]\n"


def beside(folder: Path, text: str, sibling: str = "greeting") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "workflow.yaml").write_text(FLOW)
    (folder / f"{sibling}.py").write_text("WORD = 'hello'\n")
    (folder / "my_agents.py").write_text(text)
    return folder


def loaded(folder: Path) -> str:
    return load_workflow(folder / "workflow.yaml").agents["writer"].beside


def test_a_module_beside_the_workflow_is_found_with_what_it_imports(tmp_path: Path) -> None:
    path = list(sys.path)
    lazily = "def writer(assignment):\n    import greeting_a\n    return greeting_a.WORD\n"
    folder = beside(tmp_path / "a", lazily, "greeting_a")
    other = beside(tmp_path / "b", "def writer(assignment):\n    return 'other'\n")
    assert loaded(folder) == str(folder)
    assert run("", spec="my_agents:writer", beside=str(folder)).text == "hello"
    assert run("", spec="my_agents:writer", beside=str(other)).text == "other"
    assert run("", spec="my_agents:writer", beside=str(folder)).text == "hello"
    assert sys.path == path


def test_a_module_beside_the_workflow_may_have_the_name_of_an_installed_one(tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("def writer(assignment):\n    return 'mine'\n")
    assert run("", spec="json:writer", beside=str(tmp_path)).text == "mine"
    import json as again

    assert again.loads("1") == 1


def test_a_package_beside_the_workflow_is_found(tmp_path: Path) -> None:
    (tmp_path / "crew").mkdir()
    (tmp_path / "crew" / "__init__.py").write_text("")
    (tmp_path / "crew" / "writers.py").write_text("from . import words\ndef poet(a):\n    return words.WORD\n")
    (tmp_path / "crew" / "words.py").write_text("WORD = 'rhyme'\n")
    assert run("", spec="crew.writers:poet", beside=str(tmp_path)).text == "rhyme"


def test_a_module_that_is_not_beside_it_leaves_no_path_in_the_workflow(tmp_path: Path) -> None:
    (tmp_path / "workflow.yaml").write_text(FLOW)
    assert loaded(tmp_path) == ""
    with pytest.raises(AgentError, match="cannot be imported") as caught:
        run("", spec="no_such_module_at_all:writer")
    assert "no_such_module_at_all.py beside the workflow" in caught.value.hint


def test_a_module_that_breaks_when_it_is_imported_says_so_and_is_tried_anew_when_mended(tmp_path: Path) -> None:
    folder = beside(tmp_path / "c", "raise ValueError('not yet')\n")
    with pytest.raises(AgentError, match="ValueError: not yet"):
        run("", spec="my_agents:writer", beside=str(folder))
    (folder / "my_agents.py").write_text("def writer(assignment):\n    return 'mended now'\n")
    assert run("", spec="my_agents:writer", beside=str(folder)).text == "mended now"


NOISY = """import subprocess, threading
print("imported")
def writer(assignment):
    print("said by the agent")
    thread = threading.Thread(target=print, args=("said by a thread",))
    thread.start()
    thread.join()
    subprocess.run(["echo", "said by a program"])
    return "the answer"
"""


def test_what_an_agent_prints_does_not_get_into_the_output_of_a_script(tmp_path: Path) -> None:
    folder = beside(tmp_path / "flow", NOISY)
    done = process("run", str(folder), "--json", cwd=tmp_path)
    assert done.code == 0, done.err
    assert json.loads(done.out)["status"] == "completed"
    for words in ("imported", "said by the agent", "said by a thread", "said by a program"):
        assert words in done.err
    plain = process("run", str(folder), cwd=tmp_path)
    assert "said by" not in plain.out
    assert "completed" in plain.out


class Cut:
    def __init__(self, reason: str | None) -> None:
        self.finish_reason = reason


@pytest.mark.parametrize(
    ("reason", "outcome"),
    [("length", "length"), ("content_filter", "filter"), ("error", "cut"), ("stop", ""), (None, "")],
)
def test_a_reply_that_is_not_whole_is_no_answer(reason: str | None, outcome: str) -> None:
    class Result:
        output = "cut he"
        response = Cut(reason)

    message = Message("cut he")
    message.response_metadata = {"finish_reason": reason}  # type: ignore[attr-defined]
    for result in (Result(), message, {"messages": [message]}):
        try:
            require_whole(result)
            found = ""
        except AgentError as error:
            found = error.outcome
        assert found == outcome
