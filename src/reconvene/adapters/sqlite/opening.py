"""Opens the database file: folders, durability settings, schema and its version. It must not know what is stored."""

from __future__ import annotations

import fcntl
import os
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager

from reconvene.errors import StoreError

SCHEMA_VERSION = 1
# The pages at which SQLite moves the write-ahead log into the database and starts it over. While that file grows, every
# fsync also has to put its new length on disk, which may cost as much as the data; at SQLite's own 1,000 pages, a run
# of a few hundred steps would pay that at each of them. Far fewer, and the moving would cost more than is saved.
_WAL_PAGES = 128
_SCHEMA_FILE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "schema.sql")


def connect(path: str, busy_timeout: float) -> sqlite3.Connection:
    """A connection to a log that is ready for use, created where there was none."""
    folder = os.path.dirname(path)
    make_private_folder(folder)
    # The switch to WAL does not wait for others, so two processes that create the same log must take turns.
    with folder_lock(folder):
        connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None, check_same_thread=False)
        try:
            _prepare(connection, path)
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


def _prepare(connection: sqlite3.Connection, path: str) -> None:
    version = _version(connection)
    if version > SCHEMA_VERSION:
        raise StoreError(
            f"The store {path} was written by a newer release of Reconvene"
            f" (its layout is {version}, this release knows {SCHEMA_VERSION}).",
            hint="Upgrade: pip install --upgrade reconvene. Nothing was changed.",
        )
    if version == 0:
        _create(connection, path)
    connection.execute("PRAGMA synchronous=FULL")
    connection.execute(f"PRAGMA wal_autocheckpoint={_WAL_PAGES}")


def _create(connection: sqlite3.Connection, path: str) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise StoreError(
            f"The store {path} is an SQLite database, but not a Reconvene log.",
            hint="Choose another place with --home. Nothing was changed.",
        )
    with open(_SCHEMA_FILE, encoding="utf-8") as file:
        schema = file.read()
    connection.execute("PRAGMA journal_mode=WAL")
    connection.executescript(f"BEGIN IMMEDIATE; {schema} PRAGMA user_version={SCHEMA_VERSION}; COMMIT;")


def _version(connection: sqlite3.Connection) -> int:
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version
