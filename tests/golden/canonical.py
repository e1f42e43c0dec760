"""A folded state in the form that golden homes keep: plain JSON values, without what is at its default.

Expected values never change. When the code renames a field of the state, drops one or adds one, CHANGES says so, and a
state of today is written in the words of the release that made the home.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NamedTuple

import msgspec
from immutables import Map


class Change(NamedTuple):
    """`struct`.`now` was called `then` in every release before `since`; then "" = it did not exist.

    `value` turns what it holds today into what it would have held, where the shape changed as well.
    """

    since: str
    struct: str
    now: str
    then: str
    value: Callable[[object], object] = lambda value: value


CHANGES: tuple[Change, ...] = ()


def canonical(value: object, release: str, changes: Sequence[Change] = CHANGES) -> object:
    """Today's state (or any part of one) as homes of this release say it."""
    later = {(one.struct, one.now): one for one in changes if _number(release) < _number(one.since)}
    return _plain(value, later)


def _number(release: str) -> tuple[int, ...]:
    return tuple(int(part) for part in release.split("."))


def _plain(value: object, later: dict[tuple[str, str], Change]) -> object:
    if isinstance(value, msgspec.Struct):
        return _fields(value, later)
    if isinstance(value, Map | dict):
        return {str(key): _plain(item, later) for key, item in value.items()}
    if isinstance(value, tuple | list):
        return [_plain(item, later) for item in value]
    if value is None or isinstance(value, bool | int | float | str):
        return value
    raise TypeError(f"{type(value).__name__} is not part of a state")


def _fields(struct: msgspec.Struct, later: dict[tuple[str, str], Change]) -> dict[str, object]:
    tag = struct.__struct_config__.tag
    row: dict[str, object] = {"type": tag} if tag is not None else {}
    for field in msgspec.structs.fields(struct):
        held = getattr(struct, field.name)
        if held == _default(field):
            continue
        change = later.get((type(struct).__name__, field.name))
        value = _plain(held, later)
        if change is None:
            row[field.name] = value
        elif change.then:
            row[change.then] = change.value(value)
    return row


def _default(field: msgspec.structs.FieldInfo) -> object:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.default_factory()
    return field.default
