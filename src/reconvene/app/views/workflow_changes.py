"""How two versions of a workflow differ, in words that people know from the file. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from reconvene.app.line_diff import diff_summary, unified_diff
from reconvene.app.views.read_model import Shown
from reconvene.core.definition.workflow import Workflow

_ASIDE = frozenset({"line", "source", "file", "beside"})  # where something is written, and not what
_LONGEST = 60  # characters of a value that is told in a line
_NOTHING = object()

# How the members of these are called; elsewhere a member is its key.
_MEMBERS: Mapping[str, str] = {
    "agents": "agent", "groups": "group", "inputs": "input", "settings": "setting", "templates": "template",
    "recordings": "recording", "names": "value", "phases": "phase", "steps": "step", "options": "option",
    "fields": "field", "gates": "gate", "rules": "rule", "files": "file",
}  # fmt: skip
_NAMED_BY = ("id", "label", "name", "path")  # what tells the members of a list apart; else their number does


class Changed(Shown, frozen=True):
    """How another version of a workflow differs in one place."""

    what: str  # "agent economist, prompt"
    how: str  # new, gone, changed
    was: str = ""
    now: str = ""
    diff: str = ""  # of a long text


def changes(before: Workflow, after: Workflow) -> tuple[Changed, ...]:
    was, now = msgspec.to_builtins(before), msgspec.to_builtins(after)
    return tuple(_walk(was, now, ()))


def _walk(was: object, now: object, path: tuple[str, ...]) -> Iterator[Changed]:
    if was == now:
        return
    if isinstance(was, dict) and isinstance(now, dict):
        for key in [*was, *(key for key in now if key not in was)]:
            if key not in _ASIDE:
                yield from _member(key, was.get(key, _NOTHING), now.get(key, _NOTHING), path)
        return
    yield _told(was, now, ", ".join(path))


def _member(key: str, was: object, now: object, path: tuple[str, ...]) -> Iterator[Changed]:
    """What a key of the file holds: its members each, where it holds several."""
    word = _MEMBERS.get(key)
    if word is None or not _holds_members(was) or not _holds_members(now):
        yield from _walk(was, now, (*path, key))
        return
    old, new = _members(was, word), _members(now, word)
    for name in [*old, *(name for name in new if name not in old)]:
        yield from _walk(old.get(name, _NOTHING), new.get(name, _NOTHING), (*path, name))
    both = [name for name in old if name in new]
    order = [name for name in new if name in old]
    if both != order:
        yield Changed(", ".join((*path, f"order of {key}")), "changed", ", ".join(both), ", ".join(order))


def _holds_members(value: object) -> bool:
    listed = value if isinstance(value, list | tuple) else ()
    return value is _NOTHING or isinstance(value, dict) or any(isinstance(one, dict) for one in listed)


def _members(value: object, word: str) -> dict[str, object]:
    if isinstance(value, dict):
        return {f"{word} {key}": one for key, one in value.items()}
    found: dict[str, object] = {}
    for number, one in enumerate(value if isinstance(value, list | tuple) else (), 1):
        name = next((str(one[key]) for key in _NAMED_BY if one.get(key)), str(number))
        found[f"{word} {name}" if f"{word} {name}" not in found else f"{word} {name} ({number})"] = one
    return found


def _told(was: object, now: object, where: str) -> Changed:
    if was is _NOTHING:
        return Changed(where, "new", "", _short(now))
    if now is _NOTHING:
        return Changed(where, "gone", _short(was), "")
    if isinstance(was, str) and isinstance(now, str) and (_is_long(was) or _is_long(now)):
        diff = unified_diff(where, was.encode(), now.encode())
        return Changed(where, "changed", diff=diff)
    return Changed(where, "changed", _short(was), _short(now))


def _is_long(text: str) -> bool:
    return "\n" in text or len(text) > _LONGEST


def _short(value: object) -> str:
    """In a line; nothing of what is too long for one."""
    if isinstance(value, list | tuple) and all(isinstance(one, str | int | float) for one in value):
        value = ", ".join(map(str, value))
    text = value if isinstance(value, str) else "" if isinstance(value, dict | list | tuple) else _json(value)
    return text if not _is_long(text) else ""


def _json(value: object) -> str:
    return msgspec.json.encode(value).decode()


def line(one: Changed) -> str:
    """One change, as people read it."""
    match one.how:
        case "new":
            return f"new: {one.what}" + (f": {one.now}" if one.now else "")
        case "gone":
            return f"gone: {one.what}" + (f" (was: {one.was})" if one.was else "")
    if one.diff:
        return f"{one.what}: {diff_summary(one.diff)}"
    return f"{one.what}: {one.was} → {one.now}" if one.was or one.now else f"{one.what}: changed"
