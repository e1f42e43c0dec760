"""What known programs print, read: the answer, what it cost, and what they say when they fail. Pure.

Each prints a document or lines of JSON of its own; what does not look like it is taken as plain text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

from reconvene.adapters.agents.presets import Reader
from reconvene.errors import Outcome


class Printed(NamedTuple):
    """`text` is the answer; `error` is what went wrong in the program's own words, "" where nothing did."""

    text: str
    error: str = ""
    status: int = 0  # of the provider's HTTP reply, where the program tells it
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0  # USD


_Object = Mapping[str, object]
_STATUS = re.compile(r"\b(?:status|error|code)\D{0,3}(4\d\d|5\d\d)\b", re.IGNORECASE)
_TRANSPORT = re.compile(
    r"unable to connect|cannot connect|connection (?:refused|reset|failed|error)|connectionrefused|timed? ?out|"
    r"overloaded|rate.?limit|too many requests|stream disconnected|fetch failed|ENOTFOUND|ECONNREFUSED|"
    r"service unavailable",
    re.IGNORECASE,
)
_QUOTA = re.compile(
    r"credit balance is too low|usage limit|insufficient_quota|exceeded your current quota", re.IGNORECASE
)
_TOO_LONG = re.compile(r"prompt is too long|context (?:length|window)|too many (?:input )?tokens", re.IGNORECASE)


def read(reader: Reader, stdout: str, stderr: str) -> Printed:
    return _READERS[reader](stdout, stderr)


def progress(line: str) -> str:
    """What a person may be shown of a line of events while the program works, "" where it says nothing."""
    for event in _lines(line):
        item = _object(event.get("item")) or _object(event.get("part"))
        told = _text(item, "text") or _text(item, "command") or _text(item, "tool") or _text(item, "message")
        if told:
            return told.strip().splitlines()[-1]
    return "" if line.lstrip()[:1] in ("{", "}", "[", "]", '"') else line


def outcome(printed: Printed, no_login: re.Pattern[str]) -> Outcome:
    """How the program failed, from what it said."""
    said = printed.error
    found = _STATUS.search(said)
    status = printed.status or (int(found[1]) if found else 0)
    if no_login.search(said) or status in (401, 403):
        return "authentication"
    if _QUOTA.search(said):
        return "quota"
    if _TOO_LONG.search(said) or status == 413:
        return "too_long"
    if status in (408, 429) or status >= 500 or _TRANSPORT.search(said):
        return "transport"
    return "other"


def _claude(stdout: str, stderr: str) -> Printed:
    """`--output-format json`: one object. A failure is told in `result`, too."""
    found = _last(stdout, lambda each: each.get("type") == "result")
    if found is None:
        return Printed(stdout)
    usage = _object(found.get("usage"))
    cached = _whole(usage, "cache_creation_input_tokens") + _whole(usage, "cache_read_input_tokens")
    said = _text(found, "result")
    printed = Printed(
        text=said,
        status=_whole(found, "api_error_status"),
        model=next(iter(_object(found.get("modelUsage"))), ""),
        input_tokens=_whole(usage, "input_tokens") + cached,
        output_tokens=_whole(usage, "output_tokens"),
        cost=_number(found, "total_cost_usd"),
    )
    subtype = _text(found, "subtype")
    if found.get("is_error") or (not said and subtype.startswith("error")):
        return printed._replace(text="", error=said or subtype.replace("_", " ") or "it says that it failed")
    return printed


def _codex(stdout: str, stderr: str) -> Printed:
    """`--json`: lines of events. The last message is the answer; `turn.failed` says that there is none."""
    text, error, usage = "", "", dict[str, object]()
    for event in _lines(stdout):
        item = _object(event.get("item"))
        match event.get("type"), item.get("type"):
            case "item.completed", "agent_message":
                text = _text(item, "text")
            case "turn.completed", _:
                usage, error = dict(_object(event.get("usage"))), ""
            case "turn.failed", _:
                error = _text(_object(event.get("error")), "message") or "the turn failed"
            case "error", _ if not _text(event, "message").startswith("Reconnecting"):
                error = _text(event, "message")
    if not text and not error and not usage:
        return Printed(stdout)
    return Printed(
        "" if error else text,
        error,
        input_tokens=_whole(usage, "input_tokens"),
        output_tokens=_whole(usage, "output_tokens"),
    )


def _gemini(stdout: str, stderr: str) -> Printed:
    """`--output-format json`: one object; a failure is one with `error`, on standard error."""
    answered, failed = _last(stdout, lambda each: "response" in each), _last(stderr, lambda each: "error" in each)
    failed = failed or _last(stdout, lambda each: bool(each.get("error")))
    if failed is not None:
        error = _object(failed.get("error"))
        status = _whole(error, "code")
        return Printed("", _text(error, "message") or "it says that it failed", status if status >= 400 else 0)
    if answered is None:
        return Printed(stdout)
    models = _object(_object(answered.get("stats")).get("models"))
    tokens = [_object(_object(each).get("tokens")) for each in models.values()]
    return Printed(
        _text(answered, "response"),
        model=next(iter(models), ""),
        input_tokens=sum(_whole(each, "prompt") for each in tokens),
        output_tokens=sum(_whole(each, "candidates") + _whole(each, "thoughts") for each in tokens),
    )


def _opencode(stdout: str, stderr: str) -> Printed:
    """`--format json`: lines of events. What it said after its last tool is the answer."""
    parts, error, status, seen = list[str](), "", 0, False
    sent = received = 0
    cost = 0.0
    for event in _lines(stdout):
        part = _object(event.get("part"))
        match event.get("type"):
            case "text":
                seen = True
                parts.append(_text(part, "text"))
            case "tool_use":
                parts.clear()
            case "step_finish":
                seen = True
                tokens = _object(part.get("tokens"))
                cache = _object(tokens.get("cache"))
                sent += _whole(tokens, "input") + _whole(cache, "read") + _whole(cache, "write")
                received += _whole(tokens, "output") + _whole(tokens, "reasoning")
                cost += _number(part, "cost")
            case "error":
                data = _object(_object(event.get("error")).get("data"))
                error = _text(data, "message") or _text(_object(event.get("error")), "name") or "it says that it failed"
                status = _whole(data, "statusCode")
    if not seen and not error:
        return Printed(stdout)
    text = "" if error else "\n".join(parts)
    return Printed(text, error, status, input_tokens=sent, output_tokens=received, cost=cost)


def _llm(stdout: str, stderr: str) -> Printed:
    """The answer as text; with `--usage` a line on standard error says what it took."""
    used = re.search(r"Token usage: ([\d,]+) input(?:, ([\d,]+) output)?", stderr)
    sent, received = (int((each or "0").replace(",", "")) for each in used.groups()) if used else (0, 0)
    return Printed(stdout, input_tokens=sent, output_tokens=received)


_READERS: Mapping[Reader, Callable[[str, str], Printed]] = {
    "claude": _claude, "codex": _codex, "gemini": _gemini, "opencode": _opencode, "llm": _llm,
}  # fmt: skip


def _lines(text: str) -> Iterator[_Object]:
    for line in text.splitlines():
        if line.lstrip().startswith("{"):
            try:
                found = json.loads(line)
            except ValueError:
                continue
            if isinstance(found, dict):
                yield found


def _last(text: str, wanted: Callable[[_Object], bool]) -> _Object | None:
    """The last object that is wanted: on a line of its own, or over several lines up to the end."""
    found = [each for each in _lines(text) if wanted(each)]
    if found:
        return found[-1]
    for start in re.finditer(r"^\{", text, re.MULTILINE):
        try:
            whole, _ = json.JSONDecoder().raw_decode(text, start.start())
        except ValueError:
            continue
        if isinstance(whole, dict) and wanted(whole):
            found.append(whole)
    return found[-1] if found else None


def _object(value: object) -> _Object:
    return value if isinstance(value, dict) else {}


def _text(found: _Object, name: str) -> str:
    value = found.get(name)
    return value if isinstance(value, str) else ""


def _whole(found: _Object, name: str) -> int:
    value = found.get(name)
    return int(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e15 else 0


def _number(found: _Object, name: str) -> float:
    value = found.get(name)
    return float(value) if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < 1e9 else 0.0
