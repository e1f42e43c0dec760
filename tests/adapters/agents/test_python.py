"""Python functions as agents."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading

import pytest

from reconvene.adapters.agents import Agents
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment

HERE = __name__
NEVER = threading.Event()


def plain(assignment: Assignment) -> str:
    return f"{assignment.agent.name}: {assignment.prompt}"


async def awaited(assignment: Assignment) -> dict[str, object]:
    await asyncio.sleep(0)
    return {"text": "hi", "value": [1], "files": {"a.md": "A", "b.bin": b"\x00", "../c": "x"}}


def whole(assignment: Assignment) -> Answer:
    return Answer("t", None, False, {}, (), Usage(), b"", b"", recorded=True)


def thinks(assignment: Assignment) -> object:
    answers = {
        "text": "<think>maybe 4</think>It is 3.",
        "only": "<think>maybe 4",
        "dict": {"text": "<think>maybe 4</think>It is 3.", "files": {"f.md": "<think>content</think>"}},
        "files": {"text": "<think>maybe 4</think>", "files": {"f.md": "3"}},
        "answer": Answer("<think>maybe 4</think>It is 3.", None, False, {}, (), Usage(), b"", b""),
        "json": '<think>{"score": 1}</think>{"score": 2}',
    }
    return answers[assignment.agent.remit]


def silent(assignment: Assignment) -> str:
    return "nothing to say"


def scored(assignment: Assignment) -> dict[str, object]:
    return {"score": 3}


def odd(assignment: Assignment) -> object:
    return object()


def raises(assignment: Assignment) -> str:
    raise KeyError("no such country")


def leaves(assignment: Assignment) -> str:
    sys.exit(3)


def times_out_itself(assignment: Assignment) -> str:
    raise TimeoutError("the archive is slow")


def says_no(assignment: Assignment) -> str:
    raise AgentError("not today", retryable=False)


def hangs(assignment: Assignment) -> str:
    NEVER.wait()
    return ""


async def hangs_awaited(assignment: Assignment) -> str:
    await asyncio.Event().wait()
    return ""


def where(assignment: Assignment) -> str:
    return threading.current_thread().name


class Shelf:
    @staticmethod
    def book(assignment: Assignment) -> str:
        return "from a shelf"


not_a_function = 3


def run(name: str, *, schema: object = None, timeout: float = 120.0, spec: str = "", remit: str = "") -> Answer:
    agent = Agent(name="counter", kind="python", python=spec or f"{HERE}:{name}", timeout=timeout, remit=remit)
    assignment = Assignment("r", "R1/0/counter", 1, agent, "count", {}, ("f.md",) if remit else (), schema)
    return asyncio.run(Agents("/nowhere", {}).run(assignment, lambda _: None))


def fails(name: str = "", **rest: object) -> AgentError:
    with pytest.raises(AgentError) as caught:
        run(name, **rest)  # type: ignore[arg-type]
    return caught.value


def test_a_function_gets_the_assignment_and_returns_text() -> None:
    answer = run("plain")
    assert answer.text == "counter: count"
    assert answer.request == b"count"
    assert not answer.recorded


def test_a_coroutine_may_return_text_value_and_files() -> None:
    answer = run("awaited")
    assert answer.text == "hi"
    assert answer.value == [1]
    assert answer.files == {"a.md": b"A", "b.bin": b"\x00"}
    assert answer.ignored[0].startswith("../c: ")


def test_an_answer_is_passed_on_as_it_is() -> None:
    assert run("whole").recorded


def test_with_a_contract_what_it_returns_is_the_value() -> None:
    schema = {"type": "object", "required": ["score"], "properties": {"score": {"type": "number"}}}
    answer = run("scored", schema=schema)
    assert answer.value == {"score": 3}
    assert '"score": 3' in answer.text
    assert "'other' is missing" in fails("scored", schema={"required": ["other"]}).message
    assert "holds no JSON" in fails("silent", schema=schema).message


def test_a_function_works_in_a_thread_of_its_own() -> None:
    assert run("where").text == "agent counter"


def test_a_module_is_imported_in_a_thread_once(monkeypatch: pytest.MonkeyPatch) -> None:
    run("awaited")
    monkeypatch.setattr(threading, "Thread", None)  # a second thread would cost more than a whole step
    assert run("awaited").text == "hi"


def test_attributes_of_attributes_are_found() -> None:
    assert run("Shelf.book").text == "from a shelf"


def test_what_it_raises_becomes_a_message_without_a_traceback() -> None:
    error = fails("raises")
    assert error.message == f"{HERE}:raises raised KeyError: 'no such country'"
    assert error.retryable
    assert "sys.exit(3)" in fails("leaves").message
    assert "the archive is slow" in fails("times_out_itself").message
    assert fails("says_no").message == "not today"


def test_a_strange_result_is_refused() -> None:
    error = fails("odd")
    assert not error.retryable
    assert "returned object" in error.message


@pytest.mark.parametrize("name", ["hangs", "hangs_awaited"])
def test_one_that_never_returns_is_given_up(name: str) -> None:
    assert "no answer within 0.2 s" in fails(name, timeout=0.2).message


@pytest.mark.parametrize(
    ("spec", "says"),
    [
        ("nothing", "does not name a function"),
        ("no_such_module_here:f", "cannot be imported"),
        (f"{HERE}:nope", "has no 'nope'"),
        (f"{HERE}:not_a_function", "is not a function"),
    ],
)
def test_a_function_that_is_not_there_is_no_use_trying_again(spec: str, says: str) -> None:
    error = fails(spec=spec)
    assert says in error.message
    assert not error.retryable


def test_a_function_that_hangs_does_not_keep_the_process_alive() -> None:
    code = (
        "import asyncio, sys, types, threading\n"
        "module = types.ModuleType('stuck'); module.f = lambda a: threading.Event().wait()\n"
        "sys.modules['stuck'] = module\n"
        "from reconvene.adapters.agents import Agents\n"
        "from reconvene.core.definition.workflow import Agent\n"
        "from reconvene.errors import AgentError\n"
        "from reconvene.ports import Assignment\n"
        "agent = Agent(name='a', kind='python', python='stuck:f', timeout=0.1)\n"
        "try:\n"
        "    asyncio.run(Agents('/x', {}).run(Assignment('r', 'R1/0/a', 1, agent, '', {}, (), None), print))\n"
        "except AgentError as error:\n"
        "    print(error.message)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False)
    assert done.stdout == "stuck:f gave no answer within 0.1 s.\n", done.stderr


@pytest.mark.parametrize("kind", ["text", "dict", "answer"])
def test_what_it_thought_is_no_part_of_its_output(kind: str) -> None:
    assert run("thinks", remit=kind).text == "It is 3."


def test_a_function_that_only_thought_has_said_nothing_unless_it_gave_files() -> None:
    assert fails("thinks", remit="only").outcome == "empty"
    assert run("thinks", remit="files").files == {"f.md": b"3"}
    assert run("thinks", remit="json", schema={"type": "object", "required": ["score"]}).value == {"score": 2}
