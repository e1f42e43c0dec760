"""Appends as they are stored, with their values in the chain. Reads only; it must not know what events mean."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator

from reconvene.chain_ports import Stored
from reconvene.errors import StoreError

SEQ_BITS = 32  # of a key: those of the seq
LAST_SEQ = (1 << SEQ_BITS) - 1

_VALUE = "SELECT chain FROM appends WHERE key = ?"
_VALUES = "SELECT key, CAST(chain AS BLOB) FROM appends WHERE key > ? AND key <= ? ORDER BY key"
_STORED = (
    "SELECT key, typeof(events) = 'blob', CAST(events AS BLOB), CAST(chain AS BLOB), CAST(seal AS BLOB) FROM appends"
    " WHERE key > ? AND key <= ? ORDER BY key"
)


def value_at(connection: sqlite3.Connection, path: str, run: str, number: int, head: int) -> bytes:
    """The value after the event `head`, an append's last. Worked out where the log is from before the chain."""
    from reconvene.wire import chain

    if not head:
        return chain.BEGINNING
    found = connection.execute(_VALUE, (number << SEQ_BITS | head,)).fetchone()
    if found is None:
        raise StoreError(
            f"The store {path} says that the log of run {run} ends with event {head}, and holds no such event."
            " It is damaged; nothing was added.",
            hint=f"See what is wrong with it: reconvene verify {run}",
        )
    value = bytes(found[0] or b"")
    if not value:
        value = chain.BEGINNING
        for row in stored(connection, number):
            value = chain.value_after(chain.link(value, run, row.seq, row.packed, row.data), row.seal)
    return value


def stored(connection: sqlite3.Connection, number: int) -> Iterator[Stored]:
    base = number << SEQ_BITS
    for key, packed, data, value, seal in connection.execute(_STORED, (base, base | LAST_SEQ)):
        yield Stored(key & LAST_SEQ, bool(packed), data, value or b"", seal or b"")


def values(connection: sqlite3.Connection, number: int, after: int) -> list[tuple[int, bytes]]:
    base = number << SEQ_BITS
    rows = connection.execute(_VALUES, (base | max(after, 0), base | LAST_SEQ)).fetchall()
    return [(key & LAST_SEQ, value or b"") for key, value in rows]
