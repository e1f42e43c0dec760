"""A store that may only be read: on a medium, or in a folder, where nobody can write through this process.

SQLite needs files beside a database in WAL mode, and cannot make them there. Where they are, it uses them. Where none
holds anything, the database is whole as it is. Where a process left its write-ahead log behind, both are copied aside
and read there: what was acknowledged is in that log, and leaving it out would show an older state without a word.
"""

from __future__ import annotations

import os
import sqlite3
from weakref import finalize

from reconvene.errors import StoreError


def is_read_only(path: str) -> bool:
    """Whether there is a store that this process cannot write."""
    return os.path.isfile(path) and not (os.access(os.path.dirname(path), os.W_OK) and os.access(path, os.W_OK))


class _Reading(sqlite3.Connection):
    """Can be told when it is gone."""


def any_database(path: str, busy_timeout: float) -> sqlite3.Connection:
    """Whatever it holds."""
    connection = _live(path, busy_timeout) or _as_it_is(path) or _copied(path, busy_timeout)
    if connection is None:
        raise StoreError(
            f"The store {path} cannot be read where it is: it may not be written, and its write-ahead log is damaged.",
            hint="Copy the whole home to a place of your own, and name that: reconvene --home COPY doctor",
        )
    connection.execute("PRAGMA query_only=ON")
    return connection


def opened(path: str, busy_timeout: float, newest: int) -> sqlite3.Connection:
    """The log, if this release knows its layout."""
    connection = any_database(path, busy_timeout)
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    if version != newest:
        connection.close()
        older = 0 < version < newest
        raise StoreError(
            f"The store {path} has the layout {version}, this release of Reconvene knows {newest}"
            + (", and it may not be written." if older else "."),
            hint="Copy the whole home to a place where you may write, and name that: reconvene --home COPY runs"
            if older
            else "Upgrade: pip install --upgrade reconvene. Nothing was changed.",
        )
    return connection


def _live(path: str, busy_timeout: float) -> sqlite3.Connection | None:
    """With what lies beside it, as others who write see it."""
    return _tried(f"{_uri(path)}?mode=ro", busy_timeout) if os.path.exists(f"{path}-shm") else None


def _as_it_is(path: str) -> sqlite3.Connection | None:
    log = f"{path}-wal"
    if os.path.exists(log) and os.path.getsize(log):
        return None
    return _tried(f"{_uri(path)}?mode=ro&immutable=1", 0)


def _copied(path: str, busy_timeout: float) -> sqlite3.Connection | None:
    import shutil  # as all that is rarely needed: every command opens a store
    import tempfile

    aside = tempfile.mkdtemp(prefix="reconvene-read-")
    for name in (path, f"{path}-wal"):
        if os.path.exists(name):
            shutil.copyfile(name, os.path.join(aside, os.path.basename(name)))
    connection = _tried(_uri(os.path.join(aside, os.path.basename(path))), busy_timeout)
    if connection is None:
        shutil.rmtree(aside, ignore_errors=True)
    else:
        finalize(connection, shutil.rmtree, aside, ignore_errors=True)
    return connection


def _uri(path: str) -> str:
    from pathlib import Path

    return Path(path).as_uri()


def _tried(uri: str, busy_timeout: float) -> sqlite3.Connection | None:
    """None where it cannot be read so. What is damaged is said by who reads on."""
    connection = sqlite3.connect(
        uri, uri=True, timeout=busy_timeout, isolation_level=None, check_same_thread=False, factory=_Reading
    )
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.OperationalError as error:
        connection.close()
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY):
            return None
        raise
    return connection
