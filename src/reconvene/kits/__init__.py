"""Kits: what one kind of process needs beyond the engine. Pure, each on its own, reached through `core.extensions`.

A packaged kit is a folder here with a `kit.py` that says what it brings. Others are entry points of the group
`reconvene.kits`; they are looked up only for a name that is not packaged, because looking costs time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

from reconvene.core.extensions import Kit
from reconvene.errors import UserError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

PACKAGED = ("gaps", "reading")
GROUP = "reconvene.kits"


def find(name: str) -> Kit | None:
    if name in PACKAGED:
        found: Kit = import_module(f"reconvene.kits.{name}.kit").KIT
        return found
    return next((_loaded(point) for point in _installed() if point.name == name), None)


def names() -> tuple[str, ...]:
    """Every kit that is there, the packaged ones first."""
    return tuple(dict.fromkeys((*PACKAGED, *(point.name for point in _installed()))))


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=GROUP))


def _loaded(point: EntryPoint) -> Kit:
    wrong = f"{point.value} is not a reconvene.core.extensions.Kit"
    try:
        found = point.load()
        if isinstance(found, Kit):
            return found
    except Exception as error:  # it is another's code: whatever it raises
        wrong = f"{point.value} cannot be loaded ({type(error).__name__}: {error})"
    raise UserError(f"The kit {point.name!r} is broken: {wrong}.", hint="Mend or reinstall the package that brings it.")
