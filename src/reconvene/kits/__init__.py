"""Kits: what one kind of process needs beyond the engine. Pure, each on its own, reached through `core.extensions`.

A packaged kit is a folder here with a `kit.py` that says what it brings. Others are entry points of the group
`reconvene.kits`; they are looked up only for a name that is not packaged, because looking costs time.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.core.extensions import Kit

PACKAGED = ("gaps", "reading")
GROUP = "reconvene.kits"


def find(name: str) -> Kit | None:
    if name in PACKAGED:
        found: Kit = import_module(f"reconvene.kits.{name}.kit").KIT
        return found
    from importlib.metadata import entry_points

    for point in entry_points(group=GROUP, name=name):
        installed: Kit = point.load()
        return installed
    return None
