"""A disk that fails under a real SQLite: a VFS made with apsw, and a connection that the adapter takes for its own.

apsw brings a SQLite of its own, so the adapter's SQL runs through a shim in place of `sqlite3.connect`. What is real:
the adapter's statements and transactions, and all of SQLite's writing, syncing and recovering. What is not: the module
`sqlite3` itself, and the shared memory of the write-ahead log, which such a VFS does not have; hence one connection
with the lock for itself.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Iterator, Sequence
from random import Random
from typing import Any

import apsw

_SECTOR = 512


class Write:
    """What one write put where, and what lay there before."""

    def __init__(self, path: str, offset: int, data: bytes) -> None:
        self.path, self.offset, self.data = path, offset, data
        with open(path, "rb") as file:
            self.length = os.fstat(file.fileno()).st_size
            file.seek(offset)
            self.before = file.read(len(data))


class FaultyDisk(apsw.VFS):
    """Fails as its `random` says, from `armed` on. After a power cut every operation fails, until `lose`."""

    def __init__(self, name: str, random: Random, rates: dict[str, float]) -> None:
        self.name = name
        self.random = random
        self.rates = rates
        self.armed = self.cut = False
        self.unsynced: list[Write] = []
        self.struck: list[str] = []
        super().__init__(name, base="")

    def xOpen(self, name: Any, flags: list[int]) -> FaultyFile:
        return FaultyFile(self, name, flags)

    def xDelete(self, name: str, syncdir: bool) -> None:
        self.check()
        super().xDelete(name, syncdir)
        self.unsynced = [write for write in self.unsynced if write.path != name]

    def strikes(self, kind: str) -> bool:
        if not self.armed or self.random.random() >= self.rates.get(kind, 0.0):
            return False
        self.struck.append(kind)
        return True

    def check(self) -> None:
        if self.cut:
            raise _error(apsw.SQLITE_IOERR)
        if self.strikes("power cut"):
            self.cut = True
            raise _error(apsw.SQLITE_IOERR)

    def lose(self) -> None:
        """What a power cut does to writes that were not synced: each is there, or not, or in part, in any order."""
        for write in reversed(self.unsynced):
            fate = self.random.random()
            if fate < 0.4:
                continue
            kept = 0 if fate < 0.7 else self.random.randrange(0, len(write.data) + 1, _SECTOR)
            with open(write.path, "r+b") as file:
                file.seek(write.offset + kept)
                file.write(write.before[kept:])
                if write.offset + len(write.before) <= write.length < write.offset + len(write.data) and not kept:
                    file.truncate(write.length)
        self.unsynced.clear()


class FaultyFile(apsw.VFSFile):
    def __init__(self, disk: FaultyDisk, name: Any, flags: list[int]) -> None:
        self._disk = disk
        self._path = name.filename() if isinstance(name, apsw.URIFilename) else str(name)
        super().__init__("", name, flags)

    def xWrite(self, data: bytes, offset: int) -> None:
        disk = self._disk
        disk.check()
        if disk.strikes("full"):
            raise _error(apsw.SQLITE_FULL)
        if disk.strikes("failed"):
            raise _error(apsw.SQLITE_IOERR_WRITE)
        if disk.strikes("torn"):
            part = data[: len(data) // 2]
            disk.unsynced.append(Write(self._path, offset, part))
            super().xWrite(part, offset)
            raise _error(apsw.SQLITE_IOERR_WRITE)
        disk.unsynced.append(Write(self._path, offset, bytes(data)))
        super().xWrite(data, offset)

    def xSync(self, flags: int) -> None:
        disk = self._disk
        disk.check()
        if disk.strikes("unsynced"):
            raise _error(apsw.SQLITE_IOERR_FSYNC)
        super().xSync(flags)
        disk.unsynced = [write for write in disk.unsynced if write.path != self._path]

    def xTruncate(self, size: int) -> None:
        self._disk.check()
        super().xTruncate(size)

    def xRead(self, amount: int, offset: int) -> bytes:
        if self._disk.cut:
            raise _error(apsw.SQLITE_IOERR_READ)
        return bytes(super().xRead(amount, offset))


def _error(code: int) -> Exception:
    error: Exception = apsw.exception_for(code)
    return error


class Cursor:
    def __init__(self, connection: apsw.Connection, sql: str, values: Sequence[object]) -> None:
        self._connection = connection
        with _as_sqlite3():
            self._cursor = connection.cursor().execute(sql, tuple(values))
            self.rowcount = connection.changes()
            self.lastrowid = connection.last_insert_rowid()

    def fetchone(self) -> tuple[Any, ...] | None:
        with _as_sqlite3():
            row: tuple[Any, ...] | None = self._cursor.fetchone()
            return row

    def fetchall(self) -> list[tuple[Any, ...]]:
        with _as_sqlite3():
            return list(self._cursor)

    def __iter__(self) -> Iterator[tuple[Any, ...]]:
        return iter(self.fetchall())


class Connection:
    """As much of sqlite3.Connection as the adapter uses."""

    def __init__(self, path: str, vfs: str) -> None:
        with _as_sqlite3():
            self._connection = apsw.Connection(path, vfs=vfs)
        self.execute("PRAGMA locking_mode=EXCLUSIVE")

    def execute(self, sql: str, values: Sequence[object] = ()) -> Cursor:
        return Cursor(self._connection, sql, values)

    def executescript(self, sql: str) -> None:
        with _as_sqlite3():
            list(self._connection.cursor().execute(sql))

    @property
    def in_transaction(self) -> bool:
        return bool(self._connection.in_transaction)

    @property
    def total_changes(self) -> int:
        return int(self._connection.total_changes())

    def close(self) -> None:
        with _as_sqlite3():
            self._connection.close(True)


class _as_sqlite3:
    """What apsw raises becomes what the module sqlite3 raises, with the same code."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: object, error: BaseException | None, trace: object) -> None:
        if isinstance(error, apsw.Error):
            raised = sqlite3.OperationalError(str(error))
            raised.sqlite_errorcode = getattr(error, "extendedresult", getattr(error, "result", 0))
            raise raised from error
