"""Landlock: which rules let a program do everything but what it must not. The keeper puts them into force.

Rules only allow, and a rule for a folder holds for all below it. So a folder with something hidden in it is not allowed
itself: what else lies in it is, entry by entry. Pure but for looking at which entries there are.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Iterable, Iterator
from typing import NamedTuple

_VERSION = 1  # a flag: tell the version
_CREATE = 444

_EXECUTE, _WRITE, _READ, _LIST = 1 << 0, 1 << 1, 1 << 2, 1 << 3
_REFER, _TRUNCATE, _DEVICE = 1 << 13, 1 << 14, 1 << 15
_MAKE_AND_REMOVE = sum(1 << bit for bit in range(4, 13))
_LOOK = _EXECUTE | _READ | _LIST
_OF_A_FILE = _EXECUTE | _WRITE | _READ | _TRUNCATE | _DEVICE
_TCP = 3  # bind and connect
_SCOPES = 3  # abstract sockets and signals: only within the sandbox
_DEV = "/dev"
# Neither disks nor `pts`, which holds the person's terminals.
_DEVICES = ("null", "zero", "full", "random", "urandom", "tty", "shm")


def abi() -> int:
    """The kernel's version of Landlock; 0 = it has none."""
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return max(0, int(libc.syscall(ctypes.c_long(_CREATE), None, ctypes.c_size_t(0), _VERSION)))
    except (AttributeError, OSError):
        return 0


def handled(version: int) -> int:
    """The rights over files that this version knows."""
    rights = _LOOK | _WRITE | _MAKE_AND_REMOVE
    for since, right in ((2, _REFER), (3, _TRUNCATE), (5, _DEVICE)):
        rights |= right if version >= since else 0
    return rights


class Allowed(NamedTuple):
    hidden: frozenset[str]  # real paths, as all below
    readable: tuple[str, ...]  # although they lie in something hidden
    writable: tuple[str, ...]
    devices: tuple[str, ...]
    network: bool


def plan(version: int, allowed: Allowed) -> list[str]:
    """For the keeper: how much of the next three the kernel knows, in bytes; the rights over files, over the network,
    and the scopes that are closed; then of each rule the rights and the path."""
    rights = handled(version)
    hidden = allowed.hidden | {_DEV}
    rules = [
        *((path, _LOOK) for top in ("/", *allowed.readable) for path in _around(hidden - {top}, top)),
        (_DEV, _LIST),
        *((f"{_DEV}/{name}", rights) for name in _DEVICES),
        *((path, rights) for path in (*allowed.devices, *allowed.writable)),
    ]
    size = 8 if version < 4 else 16 if version < 6 else 24
    network = 0 if allowed.network or version < 4 else _TCP
    numbers = (size, rights, network, _SCOPES if version >= 6 else 0)
    return [*map(str, numbers), *(text for path, access in rules for text in (str(access & rights & _for(path)), path))]


def _for(path: str) -> int:
    return ~0 if os.path.isdir(path) else _OF_A_FILE


def _around(hidden: Iterable[str], top: str) -> Iterator[str]:
    """The fewest paths that cover everything from the top on but the hidden ones."""
    kept = frozenset(hidden)
    above = {path[:at] or "/" for path in kept for at, char in enumerate(path) if char == "/"}
    waiting = [top]
    while waiting:
        here = waiting.pop()
        if here in kept:
            continue
        if here not in above:
            yield here
            continue
        try:
            with os.scandir(here) as found:
                waiting += [entry.path for entry in found if not entry.is_symlink()]
        except OSError:
            continue
