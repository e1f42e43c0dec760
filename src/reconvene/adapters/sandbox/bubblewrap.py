"""The command line of bubblewrap for one program: what it sees, where it may write. Starts nothing."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from reconvene.adapters.sandbox.hiding import TEMPORARY, within


class Walls(NamedTuple):
    """Real paths. What is named deeper in the tree goes before what is named above it."""

    hidden: Collection[str]
    readable: Collection[str]  # although they lie in something hidden
    writable: Collection[str]
    devices: Collection[str]
    large: str  # a private folder for large temporary files; the others are kept in memory
    empty: str  # an empty folder, shown in place of a hidden one
    network: bool
    closed: int = -1  # an open file: the filter that is put into force, if any

    @property
    def handles(self) -> tuple[int, ...]:
        return (self.closed,) if self.closed >= 0 else ()


def command(base: Sequence[str], walls: Walls, folder: str, argv: Sequence[str]) -> tuple[str, ...]:
    """`base`: what is the same for all of them."""
    words = [*base, *([] if walls.network else ["--unshare-net"])]
    words += ["--seccomp", str(walls.closed)] if walls.closed >= 0 else []
    mounts = _seen(_mounts(walls))
    hidden = [path for path, what in mounts.items() if what == "hidden"]
    opened = [path for path in hidden if any(other != path and within(other, path) for other in mounts)]
    for path in sorted(mounts, key=lambda path: path.count("/")):
        words += _words(path, mounts[path], opened, walls)
    # only now: until here what lies in them had to be put there
    words += [word for path in sorted(opened) for word in ("--remount-ro", path)]
    return (*words, "--chdir", folder, "--", *argv)


def _mounts(walls: Walls) -> Mapping[str, str]:
    """path → what is put there; the later of two for the same path counts."""
    mounts = dict.fromkeys(walls.hidden, "hidden")
    mounts |= dict.fromkeys((path for path in TEMPORARY if os.path.isdir(path)), "temporary")
    # what is there anyway needs no mention
    mounts |= {path: "readable" for path in walls.readable if _lies_in(path, mounts)}
    mounts |= dict.fromkeys(walls.devices, "device")
    return mounts | dict.fromkeys(walls.writable, "writable")


def _seen(mounts: Mapping[str, str]) -> Mapping[str, str]:
    """Without what is hidden in something that does not show it anyway."""
    kept: dict[str, str] = {}
    for path in sorted(mounts, key=lambda path: path.count("/")):
        around = max((other for other in kept if within(path, other)), key=len, default="")
        if mounts[path] != "hidden" or kept.get(around) not in ("hidden", "temporary"):
            kept[path] = mounts[path]
    return kept


def _lies_in(path: str, mounts: Collection[str]) -> bool:
    return any(within(path, other) for other in mounts)


def _words(path: str, what: str, opened: Collection[str], walls: Walls) -> Iterator[str]:
    match what:
        case "hidden" if path in opened:
            yield from ("--tmpfs", path)
        case "hidden" if os.path.isdir(path):
            yield from ("--ro-bind", walls.empty, path)
        case "hidden":
            yield from ("--ro-bind", os.devnull, path)
        case "temporary" if path == TEMPORARY[0]:
            # not a folder of ours: a program that looks where it is mounted from would find a path that it cannot use
            yield from ("--tmpfs", path)
        case "temporary":
            yield from ("--bind", walls.large, path)
        case "readable" if os.path.islink(path):
            yield from ("--symlink", os.readlink(path), path)
        case "readable":
            yield from ("--ro-bind-try", path, path)
        case "device":
            yield from ("--dev-bind", path, path)
        case _:
            yield from ("--bind", path, path)
