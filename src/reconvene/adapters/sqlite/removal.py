"""Takes a run out of a store, with the contents that nobody else needs. What stays is its id, its head and who did it.

Its row in `runs` stays with the head below zero: neither its id nor its number is given out again, and whoever still
has the run in hand cannot add to it. Bytes are overwritten, not only let go.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable

from reconvene.adapters.sqlite.chained import LAST_SEQ, SEQ_BITS
from reconvene.adapters.sqlite.contents import LIST
from reconvene.chain_ports import Deleted, Unneeded
from reconvene.wire.content_pieces import below

_LISTS = f"SELECT digest, data FROM artefacts WHERE packed = {LIST}"
_HIDE = (
    "UPDATE runs SET head = -head, workflow = NULL, status = NULL, started = NULL, updated = NULL, doc = NULL,"
    " due = NULL, followers = NULL WHERE id = ?"
)
_LEFT = "SELECT run, head, CAST(chain AS BLOB), doc, CAST(seal AS BLOB) FROM deleted ORDER BY rowid"
_KEEP = "INSERT INTO deleted (run, head, chain, doc, seal) VALUES (?, ?, ?, ?, ?)"


def delete(connection: sqlite3.Connection, number: int, left: Deleted, unneeded: Callable[[], Unneeded]) -> None:
    """Within a transaction, in which `unneeded` is asked: nobody adds anything meanwhile."""
    gone, kept = unneeded()
    execute = connection.execute
    for name in _only(connection, gone, kept):
        execute("DELETE FROM artefacts WHERE digest = ?", (name,))
    base = number << SEQ_BITS
    execute("DELETE FROM appends WHERE key > ? AND key <= ?", (base, base | LAST_SEQ))
    execute("DELETE FROM snapshots WHERE run = ?", (left.run,))
    execute("DELETE FROM outbox WHERE run = ?", (left.run,))
    execute("DELETE FROM unchained WHERE run = ?", (number,))
    execute("DELETE FROM requests WHERE run = ?", (number,))
    execute(_HIDE, (number,))
    execute(_KEEP, (left.run, left.head, left.chain, left.doc, left.seal or None))


def _only(connection: sqlite3.Connection, gone: Iterable[str], kept: Iterable[str]) -> set[str]:
    """The rows that only these contents need: pieces are shared."""
    lists = {str(name): below(bytes(data)) for name, data in connection.execute(_LISTS)}
    going = set(gone)
    tops = [name for name in lists if not name.startswith("+") and name not in going]
    return _with_parts(going, lists) - _with_parts(tops, lists) - set(kept)


def _with_parts(names: Iterable[str], lists: dict[str, list[str]]) -> set[str]:
    found, todo = set[str](), list(names)
    while todo:
        name = todo.pop()
        if name not in found:
            found.add(name)
            todo += lists.get(name, ())
    return found


def deleted(connection: sqlite3.Connection) -> list[Deleted]:
    rows = connection.execute(_LEFT)
    return [Deleted(str(run), head, value or b"", str(doc), seal or b"") for run, head, value, doc, seal in rows]
