"""A filter of system calls that lets a program make no sockets: none of this machine's own, or none at all.

What a program connects to by a path is no file to the kernel's rules: neither a mount that is read-only nor Landlock
refuses it. Where a socket cannot be hidden, it must not be possible to make one. Pairs of sockets stay: nobody else is
at their other end, unless they are made for single messages, which can be sent to anybody.

Made here as bytes; bubblewrap and the keeper put it into force.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from typing import NamedTuple

_UNIX, _NETLINK, _MESSAGES = 1, 16, 2  # families; the type of a socket for single messages
_LOAD, _EQUAL, _AT_LEAST, _AND, _RETURN = 0x20, 0x15, 0x35, 0x54, 0x06
_NUMBER, _MACHINE, _FIRST, _SECOND = 0, 4, 16, 24  # where the kernel puts what is asked for
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # with EPERM
_FOREIGN = 0x40000000  # a second set of numbers on x86_64
_RING = 425  # io_uring_setup: it makes sockets without a system call of its own; the same on every processor
_TYPE = 0xF
_SYSCALL_NUMBER = {"x86_64": 317, "aarch64": 277}  # of seccomp itself
_IS_THERE = 2


class _Calls(NamedTuple):
    """The numbers on one processor, as the kernel names it. `any_of_them`: one call for all that sockets do."""

    machine: int
    socket: int
    pair: int
    any_of_them: int = -1


# each with those of the older programs that it runs as well
_CALLS = {
    "x86_64": (_Calls(0xC000003E, 41, 53), _Calls(0x40000003, 359, 360, 102)),
    "aarch64": (_Calls(0xC00000B7, 198, 199), _Calls(0x40000028, 281, 288, 102)),
}


def filter_for(*, all_kinds: bool, machine: str = "") -> bytes:
    """b"": there is none for this processor. `all_kinds`: of sockets, not only those that have paths or names."""
    calls = _CALLS.get(machine or os.uname().machine, ())
    if not calls:
        return b""
    code = [(_LOAD, 0, 0, _MACHINE)]
    for one in calls:
        body = _body(one, all_kinds=all_kinds)
        code += [(_EQUAL, 0, len(body), one.machine), *body]
    code.append((_RETURN, 0, 0, _REFUSE))
    return b"".join(struct.pack("=HBBI", *each) for each in code)


def _body(calls: _Calls, *, all_kinds: bool) -> list[tuple[int, int, int, int]]:
    refuse, allow = (_RETURN, 0, 0, _REFUSE), (_RETURN, 0, 0, _ALLOW)
    family = (_EQUAL, 1, 0, _NETLINK) if all_kinds else (_EQUAL, 0, 1, _UNIX)
    kinds = [(_LOAD, 0, 0, _FIRST), family, refuse, allow]
    pairs = [(_LOAD, 0, 0, _SECOND), (_AND, 0, 0, _TYPE), (_EQUAL, 0, 1, _MESSAGES), refuse, allow]
    refused = [_RING, *([calls.any_of_them] if calls.any_of_them >= 0 else [])]
    return [
        (_LOAD, 0, 0, _NUMBER),
        (_AT_LEAST, 0, 1, _FOREIGN),
        refuse,
        *(step for number in refused for step in ((_EQUAL, 0, 1, number), refuse)),
        (_EQUAL, 0, len(kinds), calls.socket),
        *kinds,
        (_EQUAL, 0, len(pairs), calls.pair),
        *pairs,
        allow,
    ]


def works() -> bool:
    """Whether this kernel takes such a filter."""
    number = _SYSCALL_NUMBER.get(os.uname().machine, 0) if sys.platform == "linux" else 0
    if not number:
        return False
    try:
        libc = ctypes.CDLL(None, use_errno=True)
        asked = ctypes.c_uint32(_REFUSE & 0xFFFF0000)
        return int(libc.syscall(ctypes.c_long(number), _IS_THERE, 0, ctypes.byref(asked))) == 0
    except (AttributeError, OSError):
        return False
