"""Looks through a whole store for what is not as it must be: SQLite's own structure, rows that belong to nothing, and
contents that are not what their digest says. Reads only; it must not know what events mean."""

from __future__ import annotations

import sqlite3
import zlib
from collections.abc import Iterator

from reconvene.adapters.sqlite.chained import SEQ_BITS
from reconvene.adapters.sqlite.contents import LIST, PACKED, PLAIN
from reconvene.chain_ports import Fault
from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError
from reconvene.wire.content_pieces import put_together

_MOST = 20  # complaints of SQLite that are told
_ROWS = "SELECT CAST(digest AS TEXT), packed, CAST(data AS BLOB) FROM artefacts ORDER BY rowid"
_ROW = "SELECT packed, CAST(data AS BLOB) FROM artefacts WHERE digest = ?"
_STRAY = f"SELECT DISTINCT key >> {SEQ_BITS} FROM appends WHERE key >> {SEQ_BITS} NOT IN (SELECT id FROM runs)"
_NO_RUN = "SELECT run FROM unchained WHERE run NOT IN (SELECT id FROM runs)"
# Each deleted run has a row in both tables, with the same head; that of `runs` is below zero.
_LEFT = (
    "SELECT run FROM runs WHERE head < 0 AND (SELECT head FROM deleted WHERE deleted.run = runs.run) IS NOT -head"
    " UNION SELECT run FROM deleted WHERE run NOT IN (SELECT run FROM runs WHERE head < 0)"
)
_NO_LOG = "SELECT run FROM runs WHERE head <= 0 AND status IS NOT NULL"


def audit(connection: sqlite3.Connection) -> Iterator[Fault]:
    for (said,) in connection.execute(f"PRAGMA integrity_check({_MOST})"):
        if said != "ok":
            yield Fault("the database", "a database that SQLite finds sound", str(said))
    for (number,) in connection.execute(_STRAY):
        yield Fault("the logs", "that each belongs to a run", f"events of a run number {number}, which is not there")
    for (number,) in connection.execute(_NO_RUN):
        yield Fault("the list of logs from before the chain", "runs that are there", f"a run number {number}")
    for (run,) in connection.execute(_NO_LOG):
        yield Fault("the list of runs", f"a log of run {run}", "none", str(run))
    for (name,) in connection.execute(_LEFT):
        yield Fault(f"the deletion of {name}", "a mark in the list of runs, and who did it", "one of them", str(name))
    for digest, packed, data in connection.execute(_ROWS):
        found = _found(connection, digest, packed, data)
        if found:
            yield Fault(f"the content {digest}", "bytes with that digest", found)


def _found(connection: sqlite3.Connection, digest: str, packed: object, data: bytes) -> str:
    """What lies there instead of this content; "" = it is sound."""
    if packed not in (PLAIN, PACKED, LIST):
        return f"a form {packed!r} that no release writes"
    try:
        if packed == LIST and not digest.startswith("+"):
            data = put_together(data, lambda names: _fetch(connection, names))
        elif packed == PACKED:
            data = zlib.decompress(data)
    except (StoreError, zlib.error, IndexError, ValueError) as error:
        return str(error)
    found = digest_of(data)
    return "" if found == digest.removeprefix("+") else f"bytes with the digest {found}"


def _fetch(connection: sqlite3.Connection, names: list[str]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for name in dict.fromkeys(names):
        row = connection.execute(_ROW, (name,)).fetchone()
        if row is not None:
            found[name] = zlib.decompress(row[1]) if row[0] == PACKED else row[1]
    return found
