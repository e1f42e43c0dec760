"""What went over the wire to an agent and back, as people read it: texts, with who says them. Pure.

Knows the forms of the providers' requests and replies, streamed or in one piece. What it does not know stays as it is.
"""

from __future__ import annotations

import json
from collections.abc import Iterator


def request_text(request: str) -> str:
    """A request as people read it: the text that was sent, after what else the agent was given."""
    try:
        sent = json.loads(request)
    except (ValueError, RecursionError):
        return request
    if isinstance(sent, dict) and isinstance(sent.get("stdin"), str):
        import shlex

        words = sent.get("command")
        line = shlex.join(map(str, words)) if isinstance(words, list) else ""
        files = sent.get("files")
        given = f"files: {', '.join(map(str, files))}\n" if isinstance(files, list) and files else ""
        return f"command: {line}\n{given}\n{sent['stdin']}"
    # where it was asked more than once, each time: first with a JSON schema, then in words
    asked = sent if isinstance(sent, list) else [sent]
    texts = ["\n\n".join(_messages(one)) for one in asked]
    return "\n\n[asked again]\n\n".join(text for text in texts if text) or request


def _messages(request: object) -> Iterator[str]:
    """The texts of a request to a model, each with who says it, whichever provider's form it has."""
    match request:
        case {"body": dict() as sent} | (dict() as sent):  # in `body` where it stands with its address
            pass
        case _:
            return
    for name in ("system", "systemInstruction", "instructions"):
        if text := "\n".join(_texts(sent.get(name))):
            yield f"[system]\n{text}"
    for name in ("messages", "contents", "input"):
        rows = sent.get(name)
        for row in rows if isinstance(rows, list) else ():
            if isinstance(row, dict) and (text := "\n".join(_texts(row.get("content", row.get("parts"))))):
                yield f"[{row.get('role', 'user')}]\n{text}"


def _texts(content: object) -> Iterator[str]:
    match content:
        case str():
            yield content
        case list():
            for one in content:
                yield from _texts(one)
        case {"text": str() as text}:
            yield text
        case {"parts": list() as parts}:
            yield from _texts(parts)
        case _:
            pass


def reply_text(reply: str) -> str:
    """A model's reply as people read it: what it said, put together, and why it ended."""
    texts, ends = list[str](), list[str]()
    for document in _documents(reply):
        texts += _said(document)
        ends += _ended(document)
    said = "".join(texts)
    if not said and not ends:
        return reply
    return f"{said}\n\n[finish reason: {', '.join(dict.fromkeys(ends)) or 'none'}]"


def _documents(reply: str) -> Iterator[object]:
    """Those of a stream, or the one that it is."""
    lines = [line[5:] for line in reply.splitlines() if line.startswith("data:")]
    for text in lines or [reply]:
        try:
            yield json.loads(text)
        except (ValueError, RecursionError):
            continue


def _said(document: object) -> Iterator[str]:
    match document:
        case {"choices": [{"delta": dict() as piece} | {"message": dict() as piece}, *_]}:
            yield from _texts(piece.get("content"))
            for call in piece.get("tool_calls") or ():
                match call:
                    case {"function": {"arguments": str() as arguments}}:
                        yield arguments
        case {"type": "content_block_delta", "delta": {"text": str() as text} | {"partial_json": str() as text}}:
            yield text
        case {"type": "response.output_text.delta", "delta": str() as text}:
            yield text
        case {"candidates": [{"content": content}, *_]}:
            yield from _texts(content)
        case {"type": "message", "content": list() as content}:
            yield from _texts(content)
        case _:
            pass


def _ended(document: object) -> Iterator[str]:
    match document:
        case (
            {"choices": [{"finish_reason": str() as reason}, *_]}
            | {"type": "message_delta", "delta": {"stop_reason": str() as reason}}
            | {"type": "message", "stop_reason": str() as reason}
            | {"candidates": [{"finishReason": str() as reason}, *_]}
        ):
            yield reason
        case _:
            pass
