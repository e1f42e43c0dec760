"""What lies about on the machine and no list names: sockets that somebody answers at, and homes of Reconvene.

The kernel tells which paths have sockets. What it does not tell of (sockets of containers, homes that were moved or
copied) is looked for: below the person's own folder and around the projects, level by level, within bounds.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

from reconvene.adapters.sandbox.hiding import is_socket, within

_KERNELS = "/proc/net/unix"
_STORE, _MARK, _USUAL = "reconvene.db", "id", ".reconvene"
_SYSTEMS = ("/dev", "/proc", "/sys")  # a sandbox has its own
_NEVER = frozenset(  # large, and made by programs for themselves
    (".git", ".venv", ".tox", ".cache", ".cargo", ".rustup", ".npm", ".nvm", ".pyenv", ".gradle", ".m2", ".conda",
     "node_modules", "__pycache__", "site-packages", "miniconda3", "anaconda3", "snap", "Trash")
)  # fmt: skip
_MOST = 10_000  # entries that are looked at below one folder
_LONGEST = 1.0  # seconds for that, on a slow disk
_MOST_IN_ONE = 2_000  # and of one folder
_DEEPEST = 5
_STALE = 60.0  # seconds after which it is looked anew
_MOST_BESIDE = 200  # entries of a folder with a socket in it that are shown one by one


class Found(NamedTuple):
    sockets: frozenset[str] = frozenset()
    homes: frozenset[str] = frozenset()


class Nearby:
    """Looks once in a while; the kernel is asked each time."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[float, Found]] = {}

    def found(self, tops: Iterable[str], hidden: Collection[str]) -> Found:
        """`hidden`: there nothing needs to be looked for."""
        key = tuple(sorted(set(tops)))
        at, seen = self._known.get(key, (0.0, Found()))
        if not at or time.monotonic() - at > _STALE:
            places = [_look(top, hidden) for top in key]
            seen = Found(*(frozenset().union(*parts) for parts in zip(*places))) if places else Found()
            self._known[key] = (time.monotonic(), seen)
        return Found(frozenset({*filter(is_socket, seen.sockets), *bound()}), seen.homes)


def bound() -> Iterator[str]:
    """Where the kernel says that sockets are, as far as they are there."""
    try:
        with open(_KERNELS, "rb") as file:
            lines = file.read().split(b"\n")[1:]
    except OSError:
        return
    names = {os.fsdecode(fields[7]) for line in lines if len(fields := line.split(b" ", 7)) > 7}
    for name in {name.strip() for name in names}:
        if name.startswith("/") and is_socket(name):
            real = os.path.realpath(name)
            if not real.startswith(tuple(f"{system}/" for system in _SYSTEMS)):
                yield real


def without_sockets(
    sockets: Iterable[str], hidden: Collection[str], readable: Collection[str], writable: Collection[str]
) -> tuple[set[str], list[str]]:
    """What is hidden and what is readable where nobody is to reach these sockets.

    A folder with a socket in it is hidden, and what else is in it shown, entry by entry: one who answers anew makes a
    new socket at the same place, and that is not seen either."""
    closed, shown, opened = set(hidden), list(readable), set[str]()
    for path in sockets:
        folder = os.path.dirname(path)
        if path in shown or folder in opened or not _is_seen(path, closed, shown, writable):
            continue
        others = _beside(folder) if folder != "/" else None
        if others is None:
            closed.add(path)
            continue
        opened.add(folder)
        shown = [each for each in shown if each != folder]
        shown += [each for each in others if each not in closed and each not in shown]
        closed.add(folder)
    return closed, shown


def _is_seen(path: str, hidden: Collection[str], readable: Collection[str], writable: Collection[str]) -> bool:
    """By what is named nearest to it; where it may write, sockets are its own."""
    around = max((each for each in (*hidden, *readable, *writable) if within(path, each)), key=len, default="")
    return not around or (around in readable and around not in writable)


def _beside(folder: str) -> list[str] | None:
    """What else is in a folder with sockets; None: too much of it, or nobody may look."""
    try:
        with os.scandir(folder) as entries:
            found = [entry.path for entry, _ in zip(entries, range(_MOST_BESIDE + 1))]
    except OSError:
        return None
    return None if len(found) > _MOST_BESIDE else [path for path in found if not is_socket(path, follow=False)]


def _look(top: str, hidden: Collection[str]) -> Found:
    """The nearest first."""
    sockets, homes = set[str](), set[str]()
    waiting, left = deque([(top, 0)]), _MOST
    try:
        disk = os.stat(top).st_dev
    except OSError:
        return Found()
    until = time.monotonic() + _LONGEST
    while waiting and left > 0 and time.monotonic() < until:
        here, depth = waiting.popleft()
        entries = _entries(here, min(left, _MOST_IN_ONE))
        left -= len(entries) + 1
        names = {entry.name for entry in entries}
        if _STORE in names and (_MARK in names or os.path.basename(here) == _USUAL):
            homes.add(here)
            continue
        for entry in entries:
            if entry.is_dir(follow_symlinks=False):
                if depth < _DEEPEST and entry.name not in _NEVER and entry.path not in hidden and _is_on(entry, disk):
                    waiting.append((entry.path, depth + 1))
            elif not entry.is_file(follow_symlinks=False) and is_socket(entry.path, follow=False):
                sockets.add(entry.path)
    return Found(frozenset(sockets), frozenset(homes))


def _entries(folder: str, most: int) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as found:
            return [entry for entry, _ in zip(found, range(most))]
    except OSError:
        return []


def _is_on(entry: os.DirEntry[str], disk: int) -> bool:
    try:
        return entry.stat(follow_symlinks=False).st_dev == disk
    except OSError:
        return False
