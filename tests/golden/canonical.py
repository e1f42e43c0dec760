"""A folded state in the form that golden homes keep: plain JSON values, without what is at its default.

Expected values never change. When the code renames a field of the state, adds one or drops one, CHANGES says so: a
state of today is then written in the words of the release that made the home, and compared with what it wrote.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import takewhile
from typing import NamedTuple

import msgspec
from immutables import Map


class Gone:
    """In place of a value that today's code no longer keeps: nothing is compared there."""


GONE = Gone()


class Change(NamedTuple):
    """Releases before `since` wrote `struct`.`now` as `then`.

    then "": they did not have it. now "": the code has it no longer; `value` gets the struct, and gives it or GONE.
    Elsewhere `value` turns what is written today into what was written then, where more than the name changed.
    """

    since: str
    struct: str
    now: str
    then: str
    value: Callable[[object], object] = lambda value: value


# Only ever added to. Example: Change("0.2.0", "Record", "undone_rounds", "undos").
CHANGES: tuple[Change, ...] = (
    Change("0.2.0", "CheckpointOpened", "question", ""),
    Change("0.2.0", "Note", "code", ""),
    Change("0.2.0", "Record", "bindings", ""),
    Change("0.2.0", "OptionOffered", "offered", ""),
    Change("0.2.0", "Record", "errors", "errors", lambda rows: [f"{row['where']}: {row['message']}" for row in rows]),
    Change("0.2.0", "Record", "readings", ""),
    Change("0.2.0", "Record", "spent", ""),
    Change("0.2.0", "Record", "withdrawn", ""),
    Change("0.2.0", "Record", "unasked", ""),
    Change("0.2.0", "Record", "keys", ""),
    Change("0.2.0", "Record", "unshown", ""),
    *(Change("0.2.0", "Record", name, "") for name in ("funds", "upgrades", "reopened")),
    Change("0.2.0", "RunState", "awaits", ""),
    Change("0.2.0", "RunState", "imported", ""),
    Change("0.2.0", "OutputAt", "ignored", ""),
    *(Change("0.2.0", "TaskAt", name, "") for name in ("reason", "told", "since", "parked", "answer", "ignored")),
)


def canonical(value: object, release: str, changes: Sequence[Change] = CHANGES) -> object:
    """Today's state (or any part of one) as homes of this release say it."""
    return _plain(value, [change for change in changes if _number(release) < _number(change.since)])


def nameless(shown: object, *, pins: bool = True) -> object:
    """Without the names of versions: what the digest of an open checkpoint is made of may change with a release. `pins`
    False: without the digest of the pinned workflow, too; what is pinned today is another with each version of pins."""
    if isinstance(shown, list):
        return [nameless(one, pins=pins) for one in shown]
    if not isinstance(shown, dict):
        return shown
    point, run = {"digest", "prompt", "options"} <= shown.keys(), {"run", "status", "pinned"} <= shown.keys()
    left_out = {"digest"} if point else {"pinned"} if run and not pins else set()
    return {key: nameless(one, pins=pins) for key, one in shown.items() if key not in left_out}


def differences(expected: object, found: object, at: str = "", *, more: bool = False) -> Iterator[str]:
    """Where the two are not the same, a line for each place. `more`: what is found may have further names in it."""
    if isinstance(found, Gone):
        return
    if isinstance(expected, dict) and isinstance(found, dict):
        for key in sorted({*expected, *found}):
            if key not in found:
                yield f"{at}.{key}: {_short(expected[key])} is missing"
            elif key in expected:
                yield from differences(expected[key], found[key], f"{at}.{key}", more=more)
            elif not more and not isinstance(found[key], Gone):
                yield f"{at}.{key}: {_short(found[key])} is new"
    elif isinstance(expected, list) and isinstance(found, list) and len(expected) == len(found):
        for number, (one, other) in enumerate(zip(expected, found)):
            yield from differences(one, other, f"{at}[{number}]", more=more)
    elif expected != found:
        same = sum(1 for _ in takewhile(lambda pair: pair[0] == pair[1], zip(repr(expected), repr(found))))
        yield f"{at}: {_short(expected, same)} became {_short(found, same)}"


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _short(value: object, same: int = 0) -> str:
    """`same`: so many characters at its beginning are not what matters."""
    text = repr(value)
    if same > 100:
        text = f"…{text[same - 50 :]}"
    return text if len(text) <= 200 else f"{text[:200]}…"


def _plain(value: object, changes: Sequence[Change]) -> object:
    if isinstance(value, msgspec.Struct):
        return _fields(value, changes)
    if isinstance(value, Map | dict):
        return {str(key): _plain(item, changes) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item, changes) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} is not part of a state")


def _fields(struct: msgspec.Struct, changes: Sequence[Change]) -> dict[str, object]:
    tag = struct.__struct_config__.tag
    row: dict[str, object] = {"type": tag} if tag is not None else {}
    own = {change.now: change for change in changes if change.struct == type(struct).__name__ and change.now}
    for name, default in _defaults(type(struct)):
        held = getattr(struct, name)
        if held == default:
            continue
        change = own.get(name)
        if change is None:
            row[name] = _plain(held, changes)
        elif change.then:
            row[change.then] = change.value(_plain(held, changes))
    dropped = [change for change in changes if change.struct == type(struct).__name__ and not change.now]
    return row | {change.then: change.value(struct) for change in dropped}


@cache
def _defaults(kind: type[msgspec.Struct]) -> list[tuple[str, object]]:
    fields = msgspec.structs.fields(kind)
    made = msgspec.NODEFAULT
    return [(one.name, one.default if one.default_factory is made else one.default_factory()) for one in fields]
