"""Long contents as pieces, so that what ten versions of a text share is kept once. It must not know where bytes lie.

Prompts, kept documents and values grow round by round, and most of each is in the one before. A content is cut where
its own words say so (after some ends of lines, chosen by a checksum of the line), never at fixed distances: a change
moves the cuts next to it, and all other pieces stay the same. The pieces are named in lists; lists are cut by the same
idea and named in lists above them, so that a version costs its new pieces and one path of lists to them.

The format, read for ever: a piece is kept under the digest of its bytes. A list is one byte, its height (1 = it names
pieces), and the names below it, 16 bytes each. The topmost list is kept under the digest of the whole content, those
below under "+" and the digest of their own bytes: no content has such a name. Where the cuts are is no part of the
format and may change.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import NamedTuple
from zlib import crc32

from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError

_LEAST, _MORE, _MOST = 1024, 1024, 8 * 1024  # a piece: at least, that many more on average, at most
_LAST = "08"  # digits with which a name ends a list: one in eight does
_WIDEST = 32  # names in a list
_REMEMBERED = 4096  # pieces
_NAME = 16  # bytes of a digest
# Ends of lines, as they are and as JSON writes them, and of JSON objects: places where texts are taken apart anyway.
_END = re.compile(rb"\n|\\n|\}")


class Laid(NamedTuple):
    """A content taken apart: its topmost list, and by name the pieces and the lists below that one."""

    top: bytes
    pieces: Mapping[str, bytes]
    lists: Mapping[str, bytes]


class Cutter:
    """Takes contents apart. Remembers which piece followed which: a text that is known so far is compared, not cut."""

    def __init__(self) -> None:
        self._after: dict[str, tuple[str, bytes]] = {}  # a piece → the one that last followed it

    def lay_out(self, data: bytes) -> Laid:
        pieces: dict[str, bytes] = {}
        names: list[str] = []
        at, before = 0, ""
        after, starts, size = self._after, data.startswith, len(data)
        while at < size:
            # Where a piece ends follows from its own bytes: one that was cut before would be cut again.
            known = after.get(before)
            before, piece = known if known is not None and starts(known[1], at) else self._cut(data, at, before)
            pieces[before] = piece
            names.append(before)
            at += len(piece)
        lists: dict[str, bytes] = {}
        height = 1
        while len(names) > _WIDEST:
            groups = [_list(height, group) for group in _grouped(names)]
            names = ["+" + digest_of(group) for group in groups]
            lists.update(zip(names, groups))
            height += 1
        return Laid(_list(height, names), pieces, lists)

    def _cut(self, data: bytes, at: int, before: str) -> tuple[str, bytes]:
        piece = data[at : _end(data, at)]
        name = digest_of(piece)
        if at + len(piece) < len(data):  # the last one ends with the text, and may go on in the next version
            if len(self._after) >= _REMEMBERED:
                self._after.clear()
            self._after[before] = (name, piece)
        return name, piece


def _end(data: bytes, start: int) -> int:
    last, limit = start + _LEAST, min(start + _MOST, len(data))
    for found in _END.finditer(data, last, limit):
        end = found.end()
        if crc32(data[last:end]) * _MORE < (end - last) << 32:
            return end
        last = end
    return limit


def _grouped(names: list[str]) -> Iterable[list[str]]:
    group: list[str] = []
    for name in names:
        group.append(name)
        if (name[-1] in _LAST and len(group) > 1) or len(group) == _WIDEST:
            yield group
            group = []
    if group:
        yield group


def _list(height: int, names: Iterable[str]) -> bytes:
    return bytes([height]) + bytes.fromhex("".join(names).replace("+", ""))


def put_together(top: bytes, fetch: Callable[[list[str]], Mapping[str, bytes]]) -> bytes:
    """The content again. `fetch` gives what is kept under these names; one that it lacks is a StoreError."""
    height, names = _named(top)
    while height > 1:
        below = fetch(names)
        height, names = height - 1, [name for list_ in names for name in _named(_there(below, list_))[1]]
    pieces = fetch(names)
    return b"".join(_there(pieces, name) for name in names)


def below(data: bytes) -> list[str]:
    """The names in a list: of pieces, or of the lists below it."""
    return _named(data)[1]


def _named(data: bytes) -> tuple[int, list[str]]:
    prefix = "+" if data[0] > 1 else ""
    return data[0], [prefix + data[at : at + _NAME].hex() for at in range(1, len(data), _NAME)]


def _there(found: Mapping[str, bytes], name: str) -> bytes:
    try:
        return found[name]
    except KeyError:
        raise StoreError(
            f"The store lacks {name}, which is part of a longer content.",
            hint="The store is damaged: restore it from a backup.",
        ) from None
