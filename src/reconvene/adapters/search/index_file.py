"""The file of an index: opened, laid out, and thrown away where it is damaged or of another layout.

Nothing in it is needed: all of it is made from the log. So there are no migrations and no repairs, only a new file. One
that cannot be written, as in a home that is only read, is replaced by one in memory.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import suppress

_VERSION = 1  # of the layout below; raised with every change of it
_BUSY = 20.0  # seconds that another process may take
MEMORY = ":memory:"

_LAYOUT = """
CREATE TABLE runs (run TEXT PRIMARY KEY, mark TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE contents (id INTEGER PRIMARY KEY, cut TEXT NOT NULL, digest TEXT NOT NULL, UNIQUE (cut, digest));
CREATE TABLE visible (
    run TEXT NOT NULL, kind TEXT NOT NULL, cite TEXT NOT NULL, name TEXT NOT NULL, content INTEGER NOT NULL,
    PRIMARY KEY (run, kind, cite)
) WITHOUT ROWID;
CREATE INDEX visible_content ON visible (content);
CREATE TABLE passages (
    id INTEGER PRIMARY KEY, content INTEGER NOT NULL, place TEXT NOT NULL, heading TEXT NOT NULL, text TEXT NOT NULL
);
CREATE INDEX passages_content ON passages (content);
CREATE TABLE vectors (passage INTEGER PRIMARY KEY, model TEXT NOT NULL, vector BLOB NOT NULL);
CREATE VIRTUAL TABLE words USING fts5 (heading, text, tokenize = 'porter unicode61 remove_diacritics 2');
"""


def opened(path: str) -> sqlite3.Connection:
    """Ready for use; where it cannot be kept, in memory."""
    if path == MEMORY:
        return _laid_out(sqlite3.connect(MEMORY, isolation_level=None, check_same_thread=False))
    try:
        return _open(path)
    except sqlite3.OperationalError as error:
        if not _cannot_be_kept(error):
            raise
        return opened(MEMORY)
    except sqlite3.DatabaseError:
        discard(path)
        return _open(path)


def discard(path: str) -> None:
    for name in (path, f"{path}-journal"):
        with suppress(FileNotFoundError):
            os.unlink(name)


def _open(path: str) -> sqlite3.Connection:
    if not os.path.lexists(path):
        with suppress(OSError):  # what people wrote is in it
            os.close(os.open(path, os.O_CREAT | os.O_WRONLY | os.O_NOFOLLOW, 0o600))
    connection = sqlite3.connect(path, timeout=_BUSY, isolation_level=None, check_same_thread=False)
    try:
        version = connection.execute("PRAGMA user_version").fetchone()[0]
        connection.execute("PRAGMA synchronous=NORMAL")
        connection.execute("PRAGMA secure_delete=ON")
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"layout {version}")
        return connection if version else _laid_out(connection)
    except BaseException:
        connection.close()
        raise


def _laid_out(connection: sqlite3.Connection) -> sqlite3.Connection:
    connection.execute("BEGIN IMMEDIATE")
    try:
        if not connection.execute("PRAGMA user_version").fetchone()[0]:  # nobody else has done it meanwhile
            for statement in filter(str.strip, _LAYOUT.split(";\n")):
                connection.execute(statement)
            connection.execute(f"PRAGMA user_version={_VERSION}")
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")
    return connection


def _cannot_be_kept(error: sqlite3.OperationalError) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0) & 0xFF
    return code in (sqlite3.SQLITE_READONLY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PERM, sqlite3.SQLITE_FULL)
