"""Which append carried a request out: rows that are written in the transaction of the append, and forgotten in time."""

from __future__ import annotations

import sqlite3
from contextlib import AbstractContextManager

from reconvene.errors import Repeated
from reconvene.language.times import later
from reconvene.ports import REQUESTS_KEPT, Request

_FOUND = "SELECT 1 FROM requests WHERE mark = ?"
_WHERE = "SELECT runs.run, seq FROM requests JOIN runs ON runs.id = requests.run WHERE mark = ?"


def note(connection: sqlite3.Connection, run: int, seq: int, request: Request) -> None:
    """Within the transaction of an append. `run`: its number."""
    mark = bytes.fromhex(request.mark)
    connection.execute("DELETE FROM requests WHERE at < ?", (later(request.at, -REQUESTS_KEPT),))
    if connection.execute(_FOUND, (mark,)).fetchone():
        raise Repeated("This request was carried out before.")
    connection.execute("INSERT INTO requests VALUES (?, ?, ?, ?)", (mark, run, seq, request.at))


class RequestRows:
    _connection: sqlite3.Connection

    def _plain_words(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def carried_out(self, mark: str) -> tuple[str, int] | None:
        with self._plain_words():
            found = self._connection.execute(_WHERE, (bytes.fromhex(mark),)).fetchone()
        return (str(found[0]), int(found[1])) if found else None
