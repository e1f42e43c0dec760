"""An agent that is a Python function, `"package.module:function"`, called with the Assignment.

It may return text, `{"text", "value", "files"}`, a value for its contract, or an Answer. What it raises becomes a
message.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import importlib
import inspect
import threading
import time
from collections.abc import Callable

from reconvene.adapters.agents.as_answer import from_result
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment

_Function = Callable[[Assignment], object]


async def run(assignment: Assignment) -> Answer:
    function = _load(assignment.agent.python)
    began = time.monotonic()
    try:
        async with asyncio.timeout(assignment.agent.timeout) as deadline:
            result = await _call(function, assignment)
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
    usage = Usage(requests=1, seconds=round(time.monotonic() - began, 3))
    return from_result(assignment, result, usage)


def _failed(assignment: Assignment, error: Exception) -> AgentError:
    said = str(error)
    return AgentError(f"{assignment.agent.python} raised {type(error).__name__}" + (f": {said}" if said else "."))


def _load(spec: str) -> _Function:
    module_name, _, function_name = spec.partition(":")
    if not module_name or not function_name:
        raise AgentError(
            f"{spec!r} does not name a function.", hint="Write `python: package.module:function`.", retryable=False
        )
    try:
        found: object = importlib.import_module(module_name)
        for name in function_name.split("."):
            found = getattr(found, name)
    except AttributeError:
        raise AgentError(f"The module {module_name} has no {function_name!r}.", retryable=False) from None
    except Exception as error:  # importing runs the module's own code
        raise AgentError(
            f"The module {module_name} cannot be imported: {type(error).__name__}: {error}.",
            hint="Install it beside reconvene, or put its folder on PYTHONPATH.",
            retryable=False,
        ) from error
    if not callable(found):
        raise AgentError(f"{spec} is not a function.", retryable=False)
    return found


async def _call(function: _Function, assignment: Assignment) -> object:
    if inspect.iscoroutinefunction(function):
        result: object = function(assignment)
    else:
        result = await _in_thread(function, assignment)
    return await result if inspect.isawaitable(result) else result


async def _in_thread(function: _Function, assignment: Assignment) -> object:
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
            result = context.run(function, assignment)
        except StopIteration as error:  # a future cannot carry it
            failure = RuntimeError(f"StopIteration: {error}")
        except SystemExit as error:
            failure = RuntimeError(f"it called sys.exit({error.code!r})")
        except BaseException as error:
            failure = error
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(deliver, result, failure)

    threading.Thread(target=work, name=f"agent {assignment.agent.name}", daemon=True).start()
    return await done
