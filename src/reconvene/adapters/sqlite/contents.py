"""How contents lie in the table `artefacts`: short ones as they are, long ones in pieces that versions have in common.

Rows are only ever added: what was there once is there for good. It must not know what a content is, nor when it is
stored.
"""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from reconvene.errors import StoreError

if TYPE_CHECKING:
    from reconvene.wire.content_pieces import Cutter

PLAIN, PACKED, LIST = 0, 1, 2  # the column `packed`: as it is, zlib-compressed, a list of pieces
_WHOLE = 8 * 1024  # above it a content is kept in pieces
_LONG, _LONG_PIECE = 1024, 256  # above it, packing is tried
_REMEMBERED = 4096
_ASKED = 500  # names in one question: SQLite has a limit

ADD = "INSERT OR IGNORE INTO artefacts (digest, packed, data) VALUES (?, ?, ?)"
_READ = "SELECT digest, packed, data FROM artefacts WHERE digest = ?"
_READ_THESE = "SELECT digest, packed, data FROM artefacts WHERE digest IN ({})"
_FIND_THESE = "SELECT digest, packed, x'' FROM artefacts WHERE digest IN ({})"


class Row(NamedTuple):
    digest: str
    packed: int
    data: bytes


Query = Callable[[str, Sequence[str]], list[tuple[str, int, bytes]]]


class Contents:
    """`query` asks the database that `path` names."""

    def __init__(self, path: str, query: Query) -> None:
        self._path = path
        self._query = query
        self._stored: set[str] = set()  # digests known to be on disk
        self._cutter: Cutter | None = None

    def missing(self, artefacts: Mapping[str, bytes]) -> list[Row]:
        """The rows that these contents still need; some may be there already."""
        rows: list[Row] = []
        long: dict[str, bytes] = {}
        for digest, data in artefacts.items():
            if digest in self._stored:
                continue
            if len(data) > _WHOLE:
                long[digest] = data
            else:
                rows.append(Row(digest, *pack(data, _LONG)))
        return rows + self._in_pieces(long) if long else rows

    def added(self, rows: Iterable[Row]) -> None:
        """After the commit: these need not be stored again."""
        if len(self._stored) > _REMEMBERED:
            self._stored.clear()
        self._stored.update(row.digest for row in rows)

    def forget(self) -> None:
        """Somebody may have deleted what was there."""
        self._stored.clear()

    def read(self, digest: str) -> bytes:
        found = self._query(_READ, (digest,))
        if not found:
            raise StoreError(
                f"The store {self._path} holds no content with the digest {digest}.",
                hint="If a log refers to it, the store is damaged: restore it from a backup (reconvene restore).",
            )
        from reconvene.core.facts.ids import digest_of

        row = Row(*found[0])
        data = self._put_together(row) if row.packed == LIST else unpack(self._path, *row[1:])
        if digest_of(data) != digest:
            raise StoreError(
                f"The store {self._path} holds other bytes than the content {digest}.",
                hint="The store is damaged: restore it from a backup. See what else is damaged: reconvene verify",
            )
        return data

    def _in_pieces(self, long: Mapping[str, bytes]) -> list[Row]:
        from reconvene.wire.content_pieces import Cutter

        self._cutter = self._cutter or Cutter()
        lists: dict[str, bytes] = {}
        pieces: dict[str, bytes] = {}
        for digest, data in long.items():
            laid = self._cutter.lay_out(data)
            lists |= laid.lists
            lists[digest] = laid.top
            pieces |= laid.pieces
        there = self._there([*lists, *pieces])
        kept = [Row(name, *pack(data, _LONG_PIECE)) for name, data in pieces.items() if name not in there]
        return kept + [Row(name, LIST, data) for name, data in lists.items() if name not in there]

    def _there(self, names: Iterable[str]) -> set[str]:
        known = {name for name in names if name in self._stored}
        found = {row.digest for row in self._ask(_FIND_THESE, [name for name in names if name not in known])}
        self._stored |= found
        return known | found

    def _put_together(self, top: Row) -> bytes:
        from reconvene.wire.content_pieces import put_together

        return put_together(top.data, self._fetch)

    def _fetch(self, names: list[str]) -> dict[str, bytes]:
        rows = self._ask(_READ_THESE, list(dict.fromkeys(names)))
        return {row.digest: row.data if row.packed == LIST else unpack(self._path, *row[1:]) for row in rows}

    def _ask(self, question: str, names: list[str]) -> Iterator[Row]:
        for first in range(0, len(names), _ASKED):
            some = names[first : first + _ASKED]
            yield from map(Row._make, self._query(question.format(",".join("?" * len(some))), some))


def pack(data: bytes, long: int) -> tuple[int, bytes]:
    """(1, compressed) where it is longer than that and packing saves a tenth or more, else (0, as it is)."""
    if len(data) > long:
        packed = _compressed(data)
        if len(packed) * 10 < len(data) * 9:
            return PACKED, packed
    return PLAIN, data


def _compressed(data: bytes) -> bytes:
    """For short ones with less memory: to get it costs more than the packing itself."""
    packer = zlib.compressobj(1, wbits=13, memLevel=5) if len(data) <= _WHOLE else zlib.compressobj(1)
    return packer.compress(data) + packer.flush()


def unpack(path: str, packed: int, data: bytes) -> bytes:
    try:
        return zlib.decompress(data) if packed else data
    except zlib.error as error:
        raise StoreError(
            f"The store {path} holds content that cannot be unpacked ({error}).",
            hint="The store is damaged: restore it from a backup (reconvene restore).",
        ) from error
