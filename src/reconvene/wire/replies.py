"""Reading what agents reply: JSON inside prose, `<file>` blocks, and whether a value fits its contract. Pure text work.

It knows nothing of who replied or over which wire. Every complaint is written to be read by the agent that must do
better next time, as well as by a person.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping

from msgspec import Struct

from reconvene.language import guest
from reconvene.language.late_patterns import late

_FENCE = late(r"^[ \t]*(`{3,}|~{3,})[ \t]*(\w*)[^\n]*\n(.*?)^[ \t]*\1[ \t]*$", re.DOTALL | re.MULTILINE)
_FILE_OPEN = late(r"""<file\s+path\s*=\s*(?:"([^"\n]*)"|'([^'\n]*)')\s*>""")
_FILE_CLOSE = late(r"^[ \t]*</file>|</file>", re.MULTILINE)
_WHOLE_FENCE = late(r"\A\s*(`{3,})[^\n]*\n(.*?)\n?[ \t]*\1\s*\Z", re.DOTALL)
_STARTS = late(r"[{\[]")
_SCHEMA_SECONDS = 2.0
_MAX_VALUES = 20  # that are looked at in one reply
_MAX_STARTS = 1000  # a reply full of brackets must not cost quadratic time


def extract_json(text: str) -> object:
    """The JSON in a reply: the whole text, else a fenced block, else the first object or array that parses.

    ValueError says where the most promising candidate went wrong.
    """
    whole, value, complaint = _whole(text)
    if whole:
        return value
    for candidate in _fenced(text):
        try:
            return _loads(candidate)
        except ValueError as error:
            complaint = error
    found = _balanced(text)
    if not found:
        raise _nothing(text, complaint)
    return next((each.value for each in found if each.counts), found[0].value)


def json_values(text: str) -> list[object]:
    """All JSON in a reply that may be meant, the last first: models write a draft, then the final version.

    Text that is JSON as a whole is one value. Objects, and arrays that hold some, go before stray marks such as [1].
    ValueError where there is none, as for `extract_json`.
    """
    whole, value, complaint = _whole(text)
    if whole:
        return [value]
    found = {each.end: each for each in _balanced(text)}
    for match in _FENCE.finditer(text):
        try:
            inside = _loads(match[3])
        except ValueError as error:
            complaint = error
            continue
        found.setdefault(match.start(3) + len(match[3].rstrip()), _Found(match.end(3), inside, True))
    ordered = [found[end] for end in sorted(found, reverse=True)]
    if not ordered:
        raise _nothing(text, complaint)
    meant = [each.value for each in ordered if each.counts] + [each.value for each in ordered if not each.counts]
    return meant[:_MAX_VALUES]


def _whole(text: str) -> tuple[bool, object, ValueError]:
    body = text.strip().removeprefix("\ufeff")
    if not body:
        raise ValueError("the reply is empty; it should be JSON")
    try:
        return True, _loads(body), ValueError()
    except ValueError as error:
        return False, None, error


def _nothing(text: str, complaint: ValueError) -> ValueError:
    if not _STARTS.search(text):
        return ValueError(f"the reply holds no JSON; it starts with {_excerpt(text.strip(), 0)!r}")
    return ValueError(f"the reply holds no valid JSON: {complaint}")


def _loads(text: str) -> object:
    try:
        value: object = json.loads(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        near = _excerpt(text, error.pos)
        raise ValueError(f"{error.msg} at line {error.lineno}, column {error.colno}, near {near!r}") from None
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    return value


def _refuse_constant(name: str) -> object:
    raise ValueError(f"{name} is not JSON; use null or a number")


def _fenced(text: str) -> list[str]:
    blocks = [(match[2].lower(), match[3]) for match in _FENCE.finditer(text)]
    return [body for language, body in blocks if language == "json"] + [body for lang, body in blocks if lang != "json"]


class _Found(Struct, frozen=True):
    end: int
    value: object
    counts: bool  # more than a stray `[]` or `[1]` mark in prose


def _balanced(text: str) -> list[_Found]:
    """The objects and arrays in running text, in their order; what lies inside another is not listed."""
    decoder = json.JSONDecoder(parse_constant=_refuse_constant)
    found: list[_Found] = []
    position = 0
    for _ in range(_MAX_STARTS):
        start = _STARTS.search(text, position)
        if start is None:
            break
        try:
            value, position = decoder.raw_decode(text, start.start())
        except (ValueError, RecursionError):
            position = start.end()
            continue
        counts = isinstance(value, dict) or any(isinstance(item, dict | list) for item in value)
        found.append(_Found(position, value, counts))
    return found


def _excerpt(text: str, position: int, width: int = 40) -> str:
    piece = text[max(0, position - width // 2) : position + width]
    return " ".join(piece.split())


def file_blocks(text: str) -> tuple[dict[str, str], str]:
    """The `<file path="…">…</file>` blocks of a reply, and the reply without them.

    A block ends at the first `</file>` that stands on a line of its own, or else at the first one. A block that is
    never closed was cut short: ValueError. Naming a path twice keeps the later text.
    """
    files: dict[str, str] = {}
    rest: list[str] = []
    position = 0
    while opening := _FILE_OPEN.search(text, position):
        rest.append(text[position : opening.start()])
        closing = _closing(text, opening.end())
        path = (opening[1] or opening[2] or "").strip()
        if closing is None:
            raise ValueError(f'the block <file path="{path}"> is never closed with </file>; the reply may be cut short')
        files[path] = _block_body(text[opening.end() : closing[0]])
        position = closing[1]
    rest.append(text[position:])
    return files, "".join(rest).strip()


def _closing(text: str, start: int) -> tuple[int, int] | None:
    following = _FILE_OPEN.search(text, start)
    limit = following.start() if following else len(text)
    inline: tuple[int, int] | None = None
    for match in _FILE_CLOSE.finditer(text, start, limit):
        if match.start() and text[match.start() - 1] == "\n":
            return match.span()
        inline = inline or match.span()
    return inline


def _block_body(body: str) -> str:
    """Without the line breaks that belong to the tags, and without a code fence around the whole of it."""
    body = body.removeprefix("\r\n").removeprefix("\n")
    fence = _WHOLE_FENCE.match(body)
    if fence and fence[1] not in fence[2]:
        body = fence[2]
    if body and not body.endswith("\n"):
        body += "\n"
    return body


def wrong_arguments(schema: object, arguments: Mapping[str, object]) -> list[str]:
    """What is wrong with the arguments of a call of a tool, as `validate` tells it."""
    from reconvene.wire import contracts

    found = validate(schema, dict(arguments))
    return [
        f"the arguments{one.removeprefix(contracts.WHOLE)}" if one.startswith(contracts.WHOLE) else one for one in found
    ]


def validate(schema: object, value: object) -> list[str]:
    """What is wrong with a value, in plain words; [] = it fits. What could take for ever is left to the guest."""
    from reconvene.wire import contracts

    away = guest.here()
    if away is None or contracts.is_cheap(schema, value):
        return contracts.problems(schema, value)
    try:
        said = away.validate(_as_json(schema), _as_json(value), _SCHEMA_SECONDS)
    except guest.OutOfTime:
        return [f"the output contract takes longer than {_SCHEMA_SECONDS:g} s to check; simplify its patterns"]
    found: list[str] = json.loads(said)
    return found


def _as_json(value: object) -> bytes:
    return json.dumps(value, default=str).encode()
