"""Calls of tools by a model that knows none: what it may say next is one JSON schema, and a grammar holds it to that.

The server of the model passes over `tools`. So a request with tools becomes one for JSON: a call with arguments that
fit the tool's schema, of any tool that was called least so far, and after `MOST_TURNS` of them the answer. What was
called before stands in the messages as the same JSON. Arguments of the names in `WORDS` are chosen among a few, so that
some calls find something and some are to be refused.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence

MOST_TURNS = 15  # with calls; then only an answer is left
_LONGEST = 60  # characters of other texts
WORDS: Mapping[str, Sequence[str]] = {
    "name": ("notes.md", "prices.csv", "plan.pdf"),
    "source": ("shop.db", "other.db"),
    "query": ("SELECT * FROM sales", "SELECT sum(amount) FROM sales", "DELETE FROM sales", "ATTACH 'x' AS y"),
    "path": ("draft.md", "workspace.md", "../draft.md"),
    "below": ("", "notes"),
    "place": ("", "lines 1-3"),
}

Body = dict[str, object]


def without_tools(asked: Body) -> Body:
    """The request as the model's server understands it."""
    messages = asked.get("messages")
    given = messages if isinstance(messages, list) else []
    turns = [_plain(one) for one in given]
    called = Counter(_tool_of(one) for one in given if one.get("tool_calls"))
    form = {"type": "json_schema", "json_schema": {"name": "next", "schema": schema(_tools(asked), called)}}
    kept = {key: value for key, value in asked.items() if key not in ("tools", "tool_choice", "stream_options")}
    return {**kept, "messages": turns, "response_format": form, "stream": False}


def schema(tools: Sequence[Mapping[str, object]], called: Counter[str]) -> Body:
    if called.total() >= MOST_TURNS:
        return _exactly(answer={"type": "string", "maxLength": 200})
    least = min(called[str(tool["name"])] for tool in tools)
    offered = [tool for tool in tools if called[str(tool["name"])] == least]
    made = [_exactly(tool={"const": one["name"]}, arguments=_narrowed(one.get("parameters"))) for one in offered]
    return {"anyOf": made}


def _tool_of(message: Mapping[str, Sequence[Mapping[str, Mapping[str, object]]]]) -> str:
    return str(message["tool_calls"][0]["function"]["name"])


def _exactly(**properties: object) -> Body:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _narrowed(parameters: object) -> Body:
    """All arguments, in their order, each short."""
    properties = parameters.get("properties") if isinstance(parameters, dict) else None
    return _exactly(**{name: _short(name, one) for name, one in (properties or {}).items()})


def _short(name: str, one: object) -> object:
    if not isinstance(one, dict) or one.get("type") != "string":
        return one
    return {"enum": list(WORDS[name])} if name in WORDS else {"type": "string", "maxLength": _LONGEST}


def _tools(asked: Body) -> list[Mapping[str, object]]:
    tools = asked.get("tools")
    return [one["function"] for one in tools if isinstance(one, dict)] if isinstance(tools, list) else []


def _plain(message: Mapping[str, object]) -> dict[str, str]:
    calls = message.get("tool_calls")
    if isinstance(calls, list) and calls:
        called = calls[0]["function"]
        said = {"tool": called["name"], "arguments": json.loads(called["arguments"])}
        return {"role": "assistant", "content": json.dumps(said)}
    role, text = str(message["role"]), str(message.get("content") or "")
    return {"role": "user", "content": f"The tool gave:\n{text}"} if role == "tool" else {"role": role, "content": text}


def with_calls(reply: Body) -> Body:
    """The model's reply as one that calls a tool, where it does; what is cut off stays as it is."""
    choice = reply["choices"][0]  # type: ignore[index]
    try:
        said = json.loads(choice["message"]["content"])
    except ValueError:
        return reply
    if "tool" not in said:
        message = {"role": "assistant", "content": str(said["answer"])}
        return {**reply, "choices": [{**choice, "message": message}]}
    function = {"name": said["tool"], "arguments": json.dumps(said["arguments"])}
    call = {"id": "call_1", "index": 0, "type": "function", "function": function}
    message = {"role": "assistant", "content": None, "tool_calls": [call]}  # type: ignore[dict-item]
    return {**reply, "choices": [{**choice, "message": message, "finish_reason": "tool_calls"}]}


def streamed(reply: Body) -> bytes:
    """The same as the events of a stream."""
    choice = reply["choices"][0]  # type: ignore[index]
    head = {key: value for key, value in reply.items() if key not in ("choices", "usage")}
    head["object"] = "chat.completion.chunk"
    pieces = [
        {**head, "choices": [{"index": 0, "delta": choice["message"], "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**head, "choices": [], "usage": reply.get("usage")},
    ]
    return b"".join(f"data: {json.dumps(piece)}\n\n".encode() for piece in pieces) + b"data: [DONE]\n\n"
