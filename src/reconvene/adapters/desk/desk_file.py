"""The database of a desk: opened, laid out, shared by threads and processes. It must not know what is kept in it.

The layout has a version and steps that lead to it, as the log has: a desk takes those it lacks when it is opened,
each in one transaction with its number.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from shlex import quote
from threading import RLock

from reconvene.adapters.shared.private_folders import folder_lock, make_private_folder
from reconvene.adapters.shared.sqlite_faults import store_error
from reconvene.errors import StoreError
from reconvene.language.times import later

STEPS = ("0001_the_desk.sql",)
_STEPS_FOLDER = os.path.join(os.path.dirname(__file__), "migrations")
_BUSY = 10.0  # seconds that another process may take
_DAMAGED = (sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_CORRUPT)


def earlier(now: str, back: timedelta) -> str:
    return later(now, -back.total_seconds())


class DeskFile:
    def __init__(self, path: str) -> None:
        self._path = path
        self._lock = RLock()
        with self._plain_words():
            self._connection = self._opened()

    def rows(self, sql: str, *values: object) -> list[tuple[object, ...]]:
        with self._plain_words():
            return self._connection.execute(sql, values).fetchall()

    def row(self, sql: str, *values: object) -> tuple[object, ...] | None:
        found = self.rows(sql, *values)
        return found[0] if found else None

    def do(self, sql: str, *values: object) -> int:
        """One statement on its own, or within a transaction; how many rows it touched."""
        with self._plain_words():
            return self._connection.execute(sql, values).rowcount

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """All or nothing. What is read inside stays true until the end."""
        with self._plain_words():
            self._connection.execute("BEGIN IMMEDIATE")
            try:
                yield
                self._connection.execute("COMMIT")
            finally:
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")

    def close(self) -> None:
        with self._plain_words():
            self._connection.close()

    @contextmanager
    def _plain_words(self) -> Iterator[None]:
        """One thread at a time; complaints of the system become StoreErrors."""
        with self._lock:
            try:
                yield
            except sqlite3.DatabaseError as error:
                if getattr(error, "sqlite_errorcode", 0) & 0xFF in _DAMAGED:
                    hint = f"Move it away: mv {quote(self._path)} {quote(self._path)}.old. Drafts and marks go with it."
                    raise StoreError(f"The desk {self._path} is damaged. No run is touched.", hint=hint) from error
                raise store_error(error, self._path) from error
            except (OSError, UnicodeError) as error:
                raise store_error(error, self._path) from error

    def _opened(self) -> sqlite3.Connection:
        folder = os.path.dirname(self._path)
        make_private_folder(folder)
        with folder_lock(folder):  # the switch to WAL does not wait for others
            if not os.path.lexists(self._path):
                os.close(os.open(self._path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
            connection = sqlite3.connect(self._path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
            try:
                version = int(connection.execute("PRAGMA user_version").fetchone()[0])
                if version > len(STEPS):
                    raise StoreError(
                        f"The desk {self._path} was written by a newer release of Reconvene.",
                        hint="Upgrade: pip install --upgrade reconvene. Nothing was changed.",
                    )
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=FULL")  # a draft is on disk before the page says so
                connection.execute("PRAGMA secure_delete=ON")
                _take_steps(connection, STEPS[version:], version)
            except BaseException:
                connection.close()
                raise
            return connection


def _take_steps(connection: sqlite3.Connection, steps: Sequence[str], version: int) -> None:
    for number, name in enumerate(steps, version + 1):
        with open(os.path.join(_STEPS_FOLDER, name), encoding="utf-8") as file:
            connection.executescript(f"BEGIN IMMEDIATE;\n{file.read()}\nPRAGMA user_version={number}; COMMIT;")
