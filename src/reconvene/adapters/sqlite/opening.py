"""Opens the database file: its folder, its layout, how durable it is. It must not know what is stored."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from shlex import quote

from reconvene.adapters.sqlite import layout
from reconvene.errors import StoreError

# The pages at which SQLite moves the write-ahead log into the database and starts it over. While that file grows, every
# fsync also has to put its new length on disk, which may cost as much as the data; at SQLite's own 1,000 pages, a run
# of a few hundred steps would pay that at each of them. Far fewer, and the moving would cost more than is saved.
_WAL_PAGES = 128


def connect(path: str, busy_timeout: float) -> sqlite3.Connection:
    """A connection to a log that is ready for use, created where there was none."""
    folder = os.path.dirname(path)
    make_private_folder(folder)
    # The switch to WAL does not wait for others, and a layout is changed while nobody else opens the store.
    with folder_lock(folder):
        if not os.path.lexists(path):
            _create(path)
        elif os.path.isfile(path) and not os.path.getsize(path):
            raise StoreError(
                f"The store {path} is damaged: it is empty, which a store never is.",
                hint=f"Restore it from a backup. If no run was ever made there: rm {quote(path)}",
            )
        return _open(path, busy_timeout)


def _create(path: str) -> None:
    """A store that is whole from its first moment: a process that is killed leaves none, never an empty file."""
    new = f"{path}.new"
    for name in (new, f"{new}-journal", f"{new}-wal", f"{new}-shm"):  # of a process that was killed
        with suppress(FileNotFoundError):
            os.unlink(name)
    connection = sqlite3.connect(new, isolation_level=None)
    try:
        connection.execute("PRAGMA synchronous=OFF")  # once, below, is enough
        layout.create(connection, path)
    finally:
        connection.close()
    _sync(new)
    os.rename(new, path)
    _sync(os.path.dirname(path))


def _sync(path: str) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def _open(path: str, busy_timeout: float) -> sqlite3.Connection:
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
    try:
        version = layout.version_of(connection)
        if not 0 <= version <= layout.NEWEST:
            layout.refuse(connection, path, version)
        if 0 < version < layout.NEWEST:
            connection.close()  # it would be one more that has the store open
            layout.migrate(path, version, busy_timeout)
            return _open(path, busy_timeout)
        if version == 0:
            layout.create(connection, path)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint={_WAL_PAGES}")
    except BaseException:
        connection.close()
        raise
    return connection


def make_private_folder(folder: str) -> None:
    """Like makedirs, but every folder made on the way is for its owner only: runs hold what people wrote."""
    if os.path.isdir(folder):
        return
    make_private_folder(os.path.dirname(folder))
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if not os.path.isdir(folder):
            raise


@contextmanager
def folder_lock(folder: str) -> Iterator[None]:
    """Take turns with every other process that locks this folder. Gone with the process, whatever happens to it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
