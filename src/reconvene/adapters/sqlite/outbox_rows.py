"""The outbox in the store of the logs: rows that appends write, and those who send them claim one after another.

Whoever claims a row moves the time at which it is due to the end of their claim, and counts the attempt. If they die,
it is due again then, and the number of the attempt tells whose word counts.
"""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

from reconvene.message_ports import Message, Queued, Routes, State

if TYPE_CHECKING:
    from typing import Any

_ADD = """INSERT INTO outbox (id, run, dest, made, since, due, changed, doc)
    VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?4, ?5)"""
_FOLLOW = "UPDATE runs SET followers = ? WHERE id = ?"
_COLUMNS = "id, dest, state, made, due, attempts, error, changed, doc"
_CLAIM = f"""UPDATE outbox SET due = ?, attempts = attempts + 1 WHERE number IN (
    SELECT number FROM outbox WHERE state = 0 AND due <= ? AND dest IN ({{}}) ORDER BY number LIMIT ?
    ) RETURNING number, {_COLUMNS}"""
_ANY_DUE = "SELECT 1 FROM outbox WHERE state = 0 AND due <= ? LIMIT 1"
_OWN = "id = ? AND attempts = ? AND state = 0"
_DONE = f"UPDATE outbox SET state = 1, error = '', changed = ? WHERE {_OWN}"
_FAILED = f"UPDATE outbox SET error = ?, due = ?, changed = ? WHERE {_OWN}"
_BACK = f"UPDATE outbox SET due = ?, attempts = attempts - 1 WHERE {_OWN}"
_RETRY = """UPDATE outbox SET state = 0, due = ?1, since = ?1, changed = ?1
    WHERE state <> 1 AND (dest = ?2 OR ?2 = '')"""
_GIVE_UP = """UPDATE outbox SET state = 2, changed = ? WHERE state = 0
    AND ((attempts > 0 AND since < ?) OR since < ?)"""
_FORGET = "DELETE FROM outbox WHERE state <> 0 AND changed < ?"
_STATES: tuple[State, ...] = ("waiting", "delivered", "given up")


def add(connection: sqlite3.Connection, run: int, messages: Sequence[Message], followers: object) -> None:
    """Within the transaction of an append. `run`: its number."""
    from reconvene.wire.notice_json import encode_notice

    for message in messages:
        notice = message.notice
        connection.execute(_ADD, (message.id, notice.run, message.to, notice.at, encode_notice(notice)))
    if followers is not None:
        connection.execute(_FOLLOW, (json.dumps(followers), run))


class OutboxRows:
    """message_ports.Outbox."""

    _connection: sqlite3.Connection

    def __init__(self) -> None:
        self.routes: Callable[[], Routes] = Routes

    def _plain_words(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def _transaction(self) -> AbstractContextManager[None]:
        raise NotImplementedError

    def followers(self, run: str) -> tuple[str, ...]:
        with self._plain_words():
            found = self._connection.execute("SELECT followers FROM runs WHERE run = ?", (run,)).fetchone()
        return tuple(json.loads(found[0])) if found and found[0] else ()

    def claim_messages(self, now: str, until: str, to: Collection[str], limit: int = 20) -> list[Queued]:
        names = list(to)
        claim = _CLAIM.format(", ".join("?" * len(names)))
        with self._plain_words():  # most looks find nothing, and need no lock
            if not self._connection.execute(_ANY_DUE, (now,)).fetchone():
                return []
        with self._transaction():
            rows = self._connection.execute(claim, (until, now, *names, limit)).fetchall()
        return list(_read(row[1:] for row in sorted(rows)))

    def settle_message(self, id: str, attempt: int, now: str, *, error: str = "", again: str = "") -> None:
        with self._transaction():
            if error:
                self._connection.execute(_FAILED, (error, again, now, id, attempt))
            else:
                self._connection.execute(_DONE, (now, id, attempt))

    def put_back(self, id: str, attempt: int, due: str) -> None:
        with self._transaction():
            self._connection.execute(_BACK, (due, id, attempt))

    def drop_message(self, id: str, attempt: int) -> None:
        with self._transaction():
            self._connection.execute(f"DELETE FROM outbox WHERE {_OWN}", (id, attempt))

    def messages(self, limit: int = 0) -> list[Queued]:
        with self._plain_words():
            newest = f"SELECT {_COLUMNS} FROM outbox ORDER BY number DESC LIMIT ?"
            return list(_read(self._connection.execute(newest, (limit or -1,)).fetchall()))

    def retry_messages(self, now: str, to: str = "") -> int:
        with self._transaction():
            return self._connection.execute(_RETRY, (now, to)).rowcount

    def tidy_messages(self, *, tried: str, untried: str, done: str, now: str) -> int:
        with self._transaction():
            given_up = self._connection.execute(_GIVE_UP, (now, tried, untried)).rowcount
            self._connection.execute(_FORGET, (done,))
        return given_up


def _read(rows: Iterable[tuple[Any, ...]]) -> Iterator[Queued]:
    from reconvene.wire.notice_json import decode_notice

    for id, dest, state, made, due, attempts, error, changed, doc in rows:
        yield Queued(Message(id, dest, decode_notice(doc)), _STATES[state], made, due, attempts, error, changed)
