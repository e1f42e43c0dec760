"""Where kits are found: the engine asks here for one by its name.

Who knows the kits is named, not imported: the package `reconvene.kits` is loaded when the first one is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from importlib import import_module
from typing import TYPE_CHECKING

from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.core.extensions import Field, Gate, Judge, Kit, Pick, Reader, Tracker

READING = "reading"  # whose reader is used where a workflow names no other
_KITS = "reconvene.kits"

_found: dict[str, Kit] = {}


def find(name: str) -> Kit | None:
    if name not in _found:
        kit: Kit | None = import_module(_KITS).find(name)
        if kit is None:
            return None
        _found[name] = kit
    return _found[name]


def kit(name: str) -> Kit:
    found = find(name)
    if found is None:
        known: tuple[str, ...] = import_module(_KITS).names()
        raise UserError(
            f"The kit {name!r} is not installed.",
            hint=f"Install the package that brings it, or use one that is there: {', '.join(known)}.",
        )
    return found


def packaged(name: str) -> bool:
    """Whether it comes with the engine, and so is always there."""
    return name in import_module(_KITS).PACKAGED


def require(names: tuple[str, ...]) -> None:
    """Before a run moves: nothing is begun that could not be ended."""
    for name in names:
        if find(name) is None:
            raise UserError(
                f"This run needs the kit {name!r}, which is not installed here. The run stays as it is.",
                hint="Install the package that brings the kit, and give the same command again.",
            )


def _there(names: tuple[str, ...]) -> Iterator[Kit]:
    """These kits and the packaged reading, as far as they can be had: a run is shown also where its kit is missing."""
    for name in (*names, READING):
        with suppress(UserError):
            if (found := find(name)) is not None:
                yield found


def tracker(name: str) -> Tracker:
    found = kit(name).tracker
    if found is None:
        raise UserError(f"The kit {name!r} has no tracker.", hint="'track' needs a kit that follows something.")
    return found


def gate(name: str) -> Gate:
    """By its full name, KIT.GATE."""
    owner, _, own = name.partition(".")
    found = kit(owner).gates.get(own)
    if found is None:
        known = ", ".join(f"{owner}.{each}" for each in kit(owner).gates) or "none"
        wrong = f"The kit {owner!r} has no gate {own!r}." if own else f"'{owner}' names a kit and no gate of it."
        raise UserError(wrong, hint=f"Its gates: {known}.")
    return found


def pick(names: tuple[str, ...], word: str) -> Pick | None:
    """What a word of `reads` (WORD.full, WORD.summary) picks, by the first of these kits that knows it."""
    return next((each.reads[word] for each in _there(names) if word in each.reads), None)


def read_words(names: tuple[str, ...]) -> tuple[str, ...]:
    """The words of `reads` that these kits know."""
    return tuple(dict.fromkeys(word for each in _there(names) for word in each.reads))


def fields(names: tuple[str, ...]) -> dict[str, Mapping[str, Field]]:
    """What `kit.NAME.FIELD` may be, of those of these kits that can be had."""
    found: dict[str, Mapping[str, Field]] = {}
    for name in names:
        with suppress(UserError):
            found[name] = kit(name).fields
    return found


def reader(names: tuple[str, ...] = ()) -> Reader:
    """Of the first of these kits that has a reader; else the packaged one."""
    for each in _there(names):
        if each.reader is not None:
            return each.reader
    raise UserError(f"The kit {READING!r} has no reader.")


def judge(names: tuple[str, ...] = ()) -> Judge:
    """Of the first of these kits that has a judge; else the packaged one."""
    for each in _there(names):
        if each.judge is not None:
            return each.judge
    raise UserError(f"The kit {READING!r} has no judge.")
