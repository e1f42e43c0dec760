"""The layout of the database: its version (PRAGMA user_version), and the steps that lead to it. Not what it holds.

Every store begins empty and takes the same steps, in order: a new one takes all of them at once, an old one those that
it lacks, when a newer release first opens it. To change the layout, add `migrations/0002_what_it_does.sql` and name it
in `STEPS`. Where the tables stay and only their contents get a form that older releases would misread, the step is a
comment: its number keeps those releases out. A step that a release has is never changed. It is SQL without BEGIN and
COMMIT: each step is one transaction together with its version, so a process that is killed in the middle leaves the
store at the version before.

Whoever calls holds the lock of the folder, so nobody opens the store meanwhile. Those who have it open already, perhaps
with an older release that knows nothing of the new layout, are found by SQLite's exclusive lock: a store changes its
layout only while nobody else has it open.
"""

from __future__ import annotations

import os
import sqlite3
from typing import NoReturn

from reconvene.errors import StoreError

STEPS = ("0001_the_log.sql", "0002_long_contents_in_pieces.sql")
NEWEST = len(STEPS)

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")


def version_of(connection: sqlite3.Connection) -> int:
    """0 = there is no layout yet."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def create(connection: sqlite3.Connection, path: str) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise StoreError(
            f"The store {path} is an SQLite database, but not a Reconvene log.",
            hint="Choose another place with --home. Nothing was changed.",
        )
    connection.execute("PRAGMA journal_mode=WAL")
    _take_steps(connection, 0)


def migrate(path: str, version: int, busy_timeout: float) -> None:
    """From this version to the newest. No connection of the caller's own may be open."""
    connection = sqlite3.connect(path, timeout=busy_timeout, isolation_level=None)
    try:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
        _take_steps(connection, version)
    except sqlite3.OperationalError as error:
        if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY:
            raise
        raise StoreError(
            f"The store {path} has the layout {version}. This release of Reconvene must bring it to {NEWEST}, and"
            " cannot while another program has it open.",
            hint="Let other Reconvene commands end, or stop them, and run the same command again. Nothing was changed.",
        ) from error
    finally:
        connection.close()


def refuse(connection: sqlite3.Connection, path: str, version: int) -> NoReturn:
    """The layout of a newer release, or of none. Closes the connection, and leaves every file as it was."""
    last = connection
    # The last one to close moves into the database what a killed process left in the write-ahead log, unless it may
    # only read. Where nothing was left, it removes the files that opening made, and one that may only read would not.
    if _holds_anything(f"{path}-wal"):
        import pathlib

        last = sqlite3.connect(f"{pathlib.Path(path).as_uri()}?mode=ro", uri=True)
        version_of(last)  # SQLite opens nothing before it is used
    connection.close()
    last.close()
    if version < 0:
        raise StoreError(
            f"The store {path} is damaged: its layout is {version}, which no release of Reconvene writes.",
            hint="Restore it from a backup. Nothing was changed.",
        )
    raise StoreError(
        f"The store {path} was written by a newer release of Reconvene"
        f" (its layout is {version}, this release knows {NEWEST}).",
        hint="Upgrade: pip install --upgrade reconvene. Nothing was changed.",
    )


def _holds_anything(path: str) -> bool:
    return os.path.exists(path) and os.path.getsize(path) > 0


def _take_steps(connection: sqlite3.Connection, version: int) -> None:
    for number, name in enumerate(STEPS[version:], version + 1):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            connection.executescript(f"BEGIN IMMEDIATE;\n{file.read()}\nPRAGMA user_version={number}; COMMIT;")
