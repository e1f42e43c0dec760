"""Agents of other frameworks, by what they can do and not by who made them: none of their libraries is imported here.

An object that has `ainvoke` or `invoke` (LangChain, LangGraph) or `run` (pydantic-ai and others) is given the prompt as
text, as a model is. Any other callable is given the Assignment.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping

import msgspec
from msgspec import Struct

from reconvene.errors import AgentError
from reconvene.ports import Assignment


class Way(Struct, frozen=True):
    """How an agent is called. `prompted`: with the prompt, and what it says is read as a model's reply is."""

    call: Callable[[object], object]
    prompted: bool
    graph: bool = False  # it takes and gives back a list of messages


class Said(Struct, frozen=True):
    """What it gave back: text, or a value as plain JSON, and the tokens that it counted."""

    result: object
    input_tokens: int = 0
    output_tokens: int = 0


def way(found: object) -> Way | None:
    """None: it cannot be called."""
    if not inspect.isroutine(found) and not inspect.isclass(found):
        for name in ("ainvoke", "invoke", "run"):
            method = getattr(found, name, None)
            if callable(method):
                return Way(method, prompted=True, graph=name != "run" and hasattr(found, "get_state"))
    return Way(found, prompted=False) if callable(found) else None


def given(chosen: Way, assignment: Assignment) -> object:
    """What it is called with."""
    if not chosen.prompted:
        return assignment
    from reconvene.adapters.agents import asking

    prompt = asking.compose(assignment, with_schema=True)
    return {"messages": [{"role": "user", "content": prompt}]} if chosen.graph else prompt


def said(result: object) -> Said:
    """Out of what frameworks wrap answers into."""
    match result:
        case None | str() | bool() | int() | float() | list():
            return Said(result)
        case {"messages": [*_, last]}:
            return said(last)
        case dict():
            return Said(result)
    for name in ("output", "content"):  # the result of a run; a message
        if hasattr(result, name):
            inner = said(_of_blocks(getattr(result, name)))
            sent, received = _tokens(result)
            return Said(inner.result, sent or inner.input_tokens, received or inner.output_tokens)
    return Said(_plain(result))


_TOO_SHORT = ("length", "max_tokens", "MAX_TOKENS")
_FILTERED = ("content_filter", "SAFETY")
_FAILED = ("error", "failed", "abort")


def require_whole(result: object) -> None:
    """AgentError where the model's last message says that it is not the whole answer."""
    if isinstance(result, dict) and isinstance(result.get("messages"), list) and result["messages"]:
        result = result["messages"][-1]
    from reconvene.adapters.agents import model_reply

    last = getattr(result, "response", None) or result
    told = getattr(last, "response_metadata", None)  # of LangChain's messages
    reasons = [getattr(last, "finish_reason", None)]
    reasons += (
        [told.get(name) for name in ("finish_reason", "stop_reason", "done_reason")] if isinstance(told, dict) else []
    )
    for reason in reasons:
        if reason in _TOO_SHORT:
            raise model_reply.too_short("", "", thought=False)
        if reason in _FILTERED:
            raise model_reply.filtered({}, str(reason), "")
        if reason == "refusal":
            raise model_reply.refused("")
        if reason in _FAILED:
            raise AgentError("The reply broke off: the provider says that it failed.", outcome="cut")


def _of_blocks(content: object) -> object:
    """A message may come in blocks, of which some are text."""
    if not isinstance(content, list) or not all(isinstance(block, str | dict) for block in content):
        return content
    kinds = [block.get("type") for block in content if isinstance(block, dict)]
    if not content or not (len(kinds) < len(content) or all(isinstance(kind, str) for kind in kinds)):
        return content
    return "".join(block if isinstance(block, str) else str(block.get("text", "")) for block in content)


def _plain(result: object) -> object:
    """A value of a class as JSON would have it; what cannot be is left for the message about it."""
    dump = getattr(result, "model_dump", None)
    if callable(dump):
        return dump(mode="json")
    import dataclasses

    if dataclasses.is_dataclass(result) and not isinstance(result, type):
        return dataclasses.asdict(result)
    return msgspec.to_builtins(result) if isinstance(result, msgspec.Struct) else result


def _tokens(result: object) -> tuple[int, int]:
    for name in ("usage", "usage_metadata"):
        used = getattr(result, name, None)
        if used is not None and not hasattr(used, "input_tokens") and callable(used):
            used = used()
        sent, received = _count(used, "input_tokens"), _count(used, "output_tokens")
        if sent or received:
            return sent, received
    return 0, 0


def _count(used: object, name: str) -> int:
    value = used.get(name) if isinstance(used, Mapping) else getattr(used, name, None)
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0
