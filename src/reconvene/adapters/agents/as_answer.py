"""From what an agent said to an `Answer`: its JSON checked against the contract, its files checked one by one.

Shared by all adapters, so that a contract means the same whoever answers. Knows no process, wire or provider.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

import msgspec
from msgspec import Struct

from reconvene.adapters.shared.file_names import (
    Taken,
    only_literal,
    safe_relative_path,
    shown,
    why_not_taken,
    why_unsafe,
)
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError, Outcome
from reconvene.ports import Answer, Assignment
from reconvene.wire import replies

_ENVELOPE = frozenset({"text", "value", "files"})


class ReplyError(AgentError):
    """An agent failed, and the attempt cost something. What it cost, was asked and was said is kept for the record."""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        outcome: Outcome = "other",
        retryable: bool | None = None,
        retry_after: float = 0.0,
        said: str = "",
        for_agents: str = "",
        usage: Usage | None = None,
        request: bytes = b"",
        reply: bytes = b"",
    ) -> None:
        super().__init__(
            message,
            hint=hint,
            outcome=outcome,
            retryable=retryable,
            retry_after=retry_after,
            said=said,
            for_agents=for_agents,
        )
        self.usage = usage or Usage()
        self.request = request
        self.reply = reply


def parse_value(schema: object, text: str) -> object:
    """The JSON of a reply: the last that fits, since models write a draft first. AgentError says what to change."""
    try:
        found = replies.json_values(_without_asides(text))
    except ValueError as error:
        raise AgentError(f"The reply should be JSON, but {error}.", outcome="form", said=text) from None
    for value in found:
        if not replies.validate(schema, value):
            return value
    return check_value(schema, found[0])


def _without_asides(text: str) -> str:
    """Around JSON whatever was thought is no answer, wherever in a line it stands. In JSON itself it may be a text."""
    from reconvene.adapters.agents.thinking import without_any

    bare = without_any(text)
    if bare == text:
        return text
    for candidate in (text.strip(), bare):
        try:
            msgspec.json.decode(candidate)
            return candidate
        except (msgspec.DecodeError, UnicodeError, RecursionError):
            continue
    try:
        replies.json_values(bare)
    except ValueError:
        return text
    return bare


def check_value(schema: object, value: object) -> object:
    problems = replies.validate(schema, value)
    if problems:
        message = "The reply does not fit its output contract: " + "; ".join(problems) + "."
        raise AgentError(message, outcome="form", said=as_json(value))
    return value


def take_files(assignment: Assignment, files: Mapping[str, bytes]) -> Taken:
    """The files that may be handed over."""
    taken: dict[str, bytes] = {}
    ignored: list[str] = []
    for name, data in files.items():
        path = safe_relative_path(name)
        if path is None:
            ignored.append(f"{shown(name)}: {why_unsafe(name)}")
        elif reason := why_not_taken(assignment, path, len(data), len(taken)):
            ignored.append(f"{shown(path)}: {reason}")
        else:
            taken[path] = data
    return Taken(taken, tuple(ignored))


def spoken(reply: str, *, besides: bool = False) -> str:
    """What an agent of any kind said, without what it thought. `besides`: it also gave a value or files.

    AgentError where all of it is thinking: it said nothing.
    """
    if "<" not in reply and "[" not in reply:  # no tag begins otherwise
        return reply
    from reconvene.adapters.agents.thinking import without_thinking

    split = without_thinking(reply)
    if split.thought and not besides and not split.text.strip():
        raise only_thought("agent", "said")
    return split.text


def only_thought(who: str, verb: str) -> AgentError:
    return AgentError(
        f"The {who} only thought, and {verb} nothing.",
        hint="Another try may help. If it stays so, let it think less, or choose another model.",
        outcome="empty",
        for_agents="The reply held only thinking. Write the answer after it.",
    )


class Interpreted(Struct, frozen=True):
    text: str
    value: object
    has_value: bool
    files: dict[str, bytes]
    ignored: tuple[str, ...]


def interpret(assignment: Assignment, reply: str) -> Interpreted:
    """Read a reply that carries all in its text: prose or JSON, and `<file>` blocks where files are asked for."""
    reply = spoken(reply)
    text, files = reply, dict[str, str]()
    if assignment.writes:
        try:
            files, text = replies.file_blocks(reply)
        except ValueError as error:
            raise AgentError(f"The reply cannot be read: {error}.", outcome="form") from None
        single = only_literal(assignment.writes)
        if not files and single and reply.strip():
            files, text = {single: _with_newline(reply)}, reply
    taken = take_files(assignment, {path: body.encode("utf-8", "replace") for path, body in files.items()})
    if assignment.schema is None:
        return Interpreted(text, None, False, taken.files, taken.ignored)
    return Interpreted(text, parse_value(assignment.schema, text), True, taken.files, taken.ignored)


def _with_newline(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def from_result(assignment: Assignment, result: object, usage: Usage, *, recorded: bool = False) -> Answer:
    """From what Python code gave: text, `{"text", "value", "files"}`, a value for a contract, or an Answer."""
    if isinstance(result, Answer):
        besides = result.has_value or bool(result.files)
        return result._replace(text=spoken(result.text, besides=besides), reply=result.reply or _bytes(result.text))
    said, value, has_value, files = _unpack(assignment, result)
    text = spoken(said, besides=has_value or bool(files))
    if assignment.schema is not None:
        value = check_value(assignment.schema, value) if has_value else parse_value(assignment.schema, text)
        has_value = True
    if has_value and not text:
        text = as_json(value)
    taken = take_files(assignment, files)
    request, reply = _bytes(assignment.prompt), _bytes(said or text)
    return Answer(text, value, has_value, taken.files, taken.ignored, usage, request, reply, recorded)


def _bytes(text: str) -> bytes:
    return text.encode("utf-8", "replace")


def _unpack(assignment: Assignment, result: object) -> tuple[str, object, bool, dict[str, bytes]]:
    match result:
        case None:
            return "", None, False, {}
        case str():
            return result, None, False, {}
        case dict() if result and set(result) <= _ENVELOPE:
            text, files = result.get("text", ""), result.get("files") or {}
            if not isinstance(text, str) or not isinstance(files, Mapping):
                raise AgentError("An agent's `text` must be text and its `files` a mapping of path to content.")
            return text, result.get("value"), "value" in result, {str(path): _data(files[path]) for path in files}
        case dict() | list() | int() | float() | bool() if assignment.schema is not None:
            return "", result, True, {}
        case _:
            raise AgentError(
                f"The agent returned {type(result).__name__}; it should return text, "
                'a dict with "text", "value" or "files", or an Answer.',
                retryable=False,
            )


def _data(content: object) -> bytes:
    if isinstance(content, bytes | bytearray):
        return bytes(content)
    return content.encode("utf-8", "replace") if isinstance(content, str) else as_json(content).encode()


def as_json(value: object) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, indent=2, allow_nan=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise AgentError(f"The agent's value cannot be written as JSON: {error}.", retryable=False) from None
