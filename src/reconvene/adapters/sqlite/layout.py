"""Opens the database file: its folder, how durable it is, and its layout. It must not know what is stored.

The layout has a version (PRAGMA user_version), and steps that lead to it. Every store begins empty and takes the same
steps, in order: a new one takes all of them at once, an old one those that it lacks, when a newer release first opens
it. To change the layout, add `migrations/0002_what_it_does.sql` and name it in `STEPS`. Where the tables stay and only
their contents get a form that older releases would misread, the step is a comment: its number keeps those releases out.
A step that a release has is never changed. It is SQL without BEGIN and COMMIT: each step is one transaction together
with its version, so a process that is killed in the middle leaves the store at the version before.

All of it is done under the lock of the folder, so nobody opens the store meanwhile. Those who have it open already,
perhaps with an older release that knows nothing of the new layout, are found by SQLite's exclusive lock: a store
changes its layout only while nobody else has it open.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from shlex import quote
from typing import NoReturn

from reconvene.adapters.shared.private_folders import folder_lock, make_private_folder
from reconvene.adapters.sqlite.for_reading import is_read_only, opened
from reconvene.errors import StoreError

STEPS = (
    "0001_the_log.sql",
    "0002_long_contents_in_pieces.sql",
    "0003_appends_are_chained.sql",
    "0004_what_is_due.sql",
    "0005_the_outbox.sql",
    "0006_requests.sql",
)
NEWEST = len(STEPS)

FOLDER = os.path.join(os.path.dirname(__file__), "migrations")

# The pages at which SQLite moves the write-ahead log into the database and starts it over. While that file grows, every
# fsync also has to put its new length on disk, which may cost as much as the data; at SQLite's own 1,000 pages, a run
# of a few hundred steps would pay that at each of them. Far fewer, and the moving would cost more than is saved.
_WAL_PAGES = 128


def connect(path: str, busy_timeout: float) -> sqlite3.Connection:
    """A connection to a log that is ready for use, created where there was none."""
    folder = os.path.dirname(path)
    if is_read_only(path):
        _require_content(path)
        return opened(path, busy_timeout, NEWEST)
    make_private_folder(folder)
    # The switch to WAL does not wait for others, and a layout is changed while nobody else opens the store.
    with folder_lock(folder):
        if not os.path.lexists(path):
            _create(path)
        _require_content(path)
        return _open(path, busy_timeout)


def _require_content(path: str) -> None:
    if os.path.isfile(path) and not os.path.getsize(path):
        raise StoreError(
            f"The store {path} is damaged: it is empty, which a store never is.",
            hint=f"Put a backup back: reconvene restore FILE. If no run was ever made there: rm {quote(path)}",
        )


def _create(path: str) -> None:
    """A store that is whole from its first moment: a process that is killed leaves none, never an empty file."""
    new = f"{path}.new"
    for name in (new, f"{new}-journal", f"{new}-wal", f"{new}-shm"):  # of a process that was killed
        with suppress(FileNotFoundError):
            os.unlink(name)
    with closing(sqlite3.connect(new, isolation_level=None)) as connection:
        connection.execute("PRAGMA synchronous=OFF")  # once, below, is enough
        _lay_out(connection, path)
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
        version = _version_of(connection)
        if not 0 <= version <= NEWEST:
            _refuse(connection, path, version)
        if 0 < version < NEWEST:
            connection.close()  # it would be one more that has the store open
            _migrate(path, version, busy_timeout)
            return _open(path, busy_timeout)
        if version == 0:
            _lay_out(connection, path)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute(f"PRAGMA wal_autocheckpoint={_WAL_PAGES}")
    except BaseException:
        connection.close()
        raise
    return connection


# --- the layout ---


def _version_of(connection: sqlite3.Connection) -> int:
    """0 = there is no layout yet."""
    version: int = connection.execute("PRAGMA user_version").fetchone()[0]
    return version


def _lay_out(connection: sqlite3.Connection, path: str) -> None:
    if connection.execute("SELECT 1 FROM sqlite_master LIMIT 1").fetchone():
        raise StoreError(
            f"The store {path} is an SQLite database, but not a Reconvene log.",
            hint="Choose another place with --home. Nothing was changed.",
        )
    connection.execute("PRAGMA journal_mode=WAL")
    _take_steps(connection, 0)


def _migrate(path: str, version: int, busy_timeout: float) -> None:
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


def _refuse(connection: sqlite3.Connection, path: str, version: int) -> NoReturn:
    """The layout of a newer release, or of none. Closes the connection, and leaves every file as it was."""
    last = connection
    # The last one to close moves into the database what a killed process left in the write-ahead log, unless it may
    # only read. Where nothing was left, it removes the files that opening made, and one that may only read would not.
    log = f"{path}-wal"
    if os.path.exists(log) and os.path.getsize(log) > 0:
        import pathlib

        last = sqlite3.connect(f"{pathlib.Path(path).as_uri()}?mode=ro", uri=True)
        _version_of(last)  # SQLite opens nothing before it is used
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


def _take_steps(connection: sqlite3.Connection, version: int) -> None:
    for number, name in enumerate(STEPS[version:], version + 1):
        with open(os.path.join(FOLDER, name), encoding="utf-8") as file:
            connection.executescript(f"BEGIN IMMEDIATE;\n{file.read()}\nPRAGMA user_version={number}; COMMIT;")
