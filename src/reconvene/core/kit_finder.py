"""Where kits are found: the engine asks here for one by its name.

Who knows the kits is named, not imported: the package `reconvene.kits` is loaded when the first one is asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.core.extensions import Gate, Judge, Kit, Pick, Reader, Tracker

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
        raise UserError(
            f"The kit {name!r} is not installed.",
            hint=f"Install the package that brings it (an entry point {name!r} in the group 'reconvene.kits').",
        )
    return found


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
        raise UserError(f"The kit {owner!r} has no gate {own!r}.", hint=f"Its gates: {known}.")
    return found


def pick(names: tuple[str, ...], word: str) -> Pick | None:
    """What a word of `reads` (WORD.full, WORD.summary) picks, by the first of these kits that knows it."""
    kits = (found for name in (*names, READING) if (found := find(name)) is not None)
    return next((each.reads[word] for each in kits if word in each.reads), None)


def reader(names: tuple[str, ...] = ()) -> Reader:
    """Of the first of these kits that has a reader; else the packaged one."""
    for name in (*names, READING):
        if (found := kit(name).reader) is not None:
            return found
    raise UserError(f"The kit {READING!r} has no reader.")


def judge(names: tuple[str, ...] = ()) -> Judge:
    """Of the first of these kits that has a judge; else the packaged one."""
    for name in (*names, READING):
        if (found := kit(name).judge) is not None:
            return found
    raise UserError(f"The kit {READING!r} has no judge.")
