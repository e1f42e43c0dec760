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

PACKAGED = ("gaps", "planning", "reading")
GROUP = "reconvene.kits"


def find(name: str) -> Kit | None:
    if name in PACKAGED:
        found: Kit = import_module(f"reconvene.kits.{name}.kit").KIT
        return found
    points = [point for point in _installed() if point.name == name]
    if len(points) > 1:
        both = " and ".join(f"{point.dist.name if point.dist else '?'} ({point.value})" for point in points)
        raise UserError(f"Several packages bring a kit {name!r}: {both}.", hint="Uninstall all but one of them.")
    return _loaded(points[0]) if points else None


def names() -> tuple[str, ...]:
    """Every kit that is there, the packaged ones first."""
    return tuple(dict.fromkeys((*PACKAGED, *(point.name for point in _installed()))))


def _installed() -> list[EntryPoint]:
    from importlib.metadata import entry_points

    return list(entry_points(group=GROUP))


def _loaded(point: EntryPoint) -> Kit:
    from reconvene.kits.kit_guard import guarded  # only for who has such a kit

    wrong = f"{point.value} is not a reconvene.core.extensions.Kit"
    try:
        found = point.load()
        if isinstance(found, Kit) and found.name == point.name:
            return guarded(found)
        if isinstance(found, Kit):
            wrong = f"{point.value} calls itself {found.name!r}, and its entry point {point.name!r}"
    except UserError:
        raise
    except (Exception, SystemExit) as error:  # it is another's code: whatever it raises
        wrong = f"{point.value} cannot be loaded ({type(error).__name__}: {error})"
    raise UserError(f"The kit {point.name!r} is broken: {wrong}.", hint="Mend or reinstall the package that brings it.")
