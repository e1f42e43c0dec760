"""An agent that is Python, `"package.module:name"`: a function, called with the Assignment, or an agent of a framework.

It may return text, `{"text", "value", "files"}`, a value for its contract, or an Answer. What it raises becomes a
message.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import inspect
import threading
import time
from collections.abc import Callable

from reconvene.adapters.agents import module_beside, other_frameworks
from reconvene.adapters.agents.as_answer import from_result, interpret
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment

_Function = Callable[[object], object]
# What was named, and beside which folder → what is there, and how it is called.
_imported: dict[tuple[str, str], tuple[object, other_frameworks.Way]] = {}


async def run(assignment: Assignment) -> Answer:
    way = await _loaded(assignment.agent)
    given = other_frameworks.given(way, assignment)
    began = time.monotonic()
    try:
        async with asyncio.timeout(assignment.agent.timeout) as deadline:
            result = await _call(way.call, given, assignment.agent.name)
    except AgentError:
        raise
    except TimeoutError as error:
        if not deadline.expired():
            raise _failed(assignment, error) from error
        limit = f"{assignment.agent.timeout:g} s"
        raise AgentError(
            f"{assignment.agent.python} gave no answer within {limit}.", hint="Raise the agent's `timeout`."
        ) from None
    except Exception as error:
        raise _failed(assignment, error) from error
    return _answer(assignment, way, given, result, round(time.monotonic() - began, 3))


def _answer(assignment: Assignment, way: other_frameworks.Way, given: object, result: object, seconds: float) -> Answer:
    if isinstance(result, Answer):
        return from_result(assignment, result, Usage())
    if way.prompted:
        other_frameworks.require_whole(result)
    said = other_frameworks.said(result) if way.prompted else other_frameworks.Said(result)
    usage = Usage(requests=1, seconds=seconds, input_tokens=said.input_tokens, output_tokens=said.output_tokens)
    if not way.prompted or not isinstance(said.result, str):
        return from_result(assignment, said.result, usage)
    read = interpret(assignment, said.result)
    request, reply = str(given).encode("utf-8", "replace"), said.result.encode("utf-8", "replace")
    return Answer(read.text, read.value, read.has_value, read.files, read.ignored, usage, request, reply)


def _failed(assignment: Assignment, error: Exception) -> AgentError:
    from reconvene.adapters.agents import foreign_errors

    return foreign_errors.failed(assignment.agent.python, error)


async def _loaded(agent: Agent) -> other_frameworks.Way:
    """The first import may take seconds: it is done beside, so that other agents go on."""
    known = (agent.python, agent.beside)
    if known in _imported or _is_there(agent):
        return _load(agent)
    way = await _in_thread(lambda _: _load(agent), agent, agent.name)
    assert isinstance(way, other_frameworks.Way)
    return way


def _is_there(agent: Agent) -> bool:
    """Whether the module was imported by somebody else, wholly."""
    return not agent.beside and module_beside.imported(agent.python.partition(":")[0]) is not None


def _load(agent: Agent) -> other_frameworks.Way:
    spec = agent.python
    module_name, _, name = spec.partition(":")
    if not module_name or not name:
        raise AgentError(
            f"{spec!r} does not name a function.", hint="Write `python: package.module:function`.", retryable=False
        )
    try:
        found: object = module_beside.load(module_name, agent.beside)
    except Exception as error:  # importing runs the module's own code
        raise AgentError(
            f"The module {module_name} cannot be imported: {type(error).__name__}: {error}.",
            hint=f"Put {module_name.partition('.')[0]}.py beside the workflow's file, install it beside reconvene, or "
            "put its folder on PYTHONPATH.",
            retryable=False,
        ) from error
    try:
        for part in name.split("."):
            found = getattr(found, part)
    except AttributeError:
        raise AgentError(f"The module {module_name} has no {name!r}.", retryable=False) from None
    known = _imported.get((spec, agent.beside))
    if known is not None and known[0] is found:
        return known[1]
    way = other_frameworks.way(found)
    if way is None:
        raise AgentError(
            f"{spec} is not a function, and has neither `invoke` nor `run`.",
            hint="Name a function, or an agent of a framework.",
            retryable=False,
        )
    _imported[spec, agent.beside] = (found, way)
    return way


async def _call(function: _Function, given: object, agent: str) -> object:
    if inspect.iscoroutinefunction(function):
        result: object = function(given)
    else:
        result = await _in_thread(function, given, agent)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(function: _Function, given: object, agent: str) -> object:
    """In a daemon thread of its own: a function that never returns must not keep the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[object] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: object, error: BaseException | None) -> None:
        if done.done():
            return
        if error is not None:
            done.set_exception(error)
        else:
            done.set_result(result)

    def work() -> None:
        result: object = None
        failure: BaseException | None = None
        try:
            result = context.run(function, given)
        except StopIteration as error:  # a future cannot carry it
            failure = RuntimeError(f"StopIteration: {error}")
        except SystemExit as error:
            failure = RuntimeError(f"it called sys.exit({error.code!r})")
        except BaseException as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, result, failure)

    threading.Thread(target=work, name=f"agent {agent}", daemon=True).start()
    return await done
