"""Complaints of SQLite and the file system, in plain words with a next step. It must not know what was attempted."""

from __future__ import annotations

import sqlite3

from reconvene.errors import StoreError, UserError

# Nobody has looked at what is there: a message says what was not done, and who looks.
_SAFE = "This was not recorded; reconvene doctor looks whether all that was recorded before is whole."

# primary result code of SQLite → what happened, what to do
_FAULTS: dict[int, tuple[str, str]] = {
    sqlite3.SQLITE_BUSY: (
        "is locked: another program kept it busy for too long",
        f"{_SAFE} Close other programs that have it open (a database browser, a backup), then try again.",
    ),
    sqlite3.SQLITE_FULL: (
        "cannot grow: the disk is full",
        f"{_SAFE} Free some space on that disk, then run the same command again.",
    ),
    sqlite3.SQLITE_IOERR: (
        "cannot be read or written: the disk reported an error",
        f"{_SAFE} Check free space, quotas and the disk's health (df -h, dmesg), then run the same command again.",
    ),
    sqlite3.SQLITE_READONLY: (
        "is read-only",
        "Make the file and its folder writable for you (ls -l), or choose another place with --home.",
    ),
    sqlite3.SQLITE_CANTOPEN: (
        "cannot be opened",
        "Check that its folder exists and that you may read and write it (ls -ld), or choose another with --home.",
    ),
    sqlite3.SQLITE_NOTADB: (
        "is not a Reconvene log: it is not an SQLite database at all",
        "Choose another place with --home, or put a backup back: reconvene restore FILE",
    ),
    sqlite3.SQLITE_CORRUPT: (
        "is damaged",
        "Copy the home away first. Then put a backup back: reconvene restore FILE; or salvage what is there: sqlite3"
        " FILE .recover",
    ),
}
_FAULTS[sqlite3.SQLITE_LOCKED] = _FAULTS[sqlite3.SQLITE_BUSY]
_FAULTS[sqlite3.SQLITE_PERM] = _FAULTS[sqlite3.SQLITE_CANTOPEN]
_FAULTS[sqlite3.SQLITE_AUTH] = _FAULTS[sqlite3.SQLITE_CANTOPEN]

_PASSING = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_FULL)
_UNKNOWN = ("could not serve", "Check the file and its folder, then try again.")


def store_error(error: sqlite3.Error | OSError | UnicodeError, path: str) -> StoreError | UserError:
    """The error to raise instead."""
    if isinstance(error, UnicodeDecodeError):  # not even what SQLite complains of can be read
        what, hint = _FAULTS[sqlite3.SQLITE_CORRUPT]
        return StoreError(f"The store {path} {what} ({error}).", hint=hint)
    if isinstance(error, UnicodeError):
        return UserError(
            f"A text cannot be stored: it holds bytes that are not valid UTF-8 ({getattr(error, 'reason', error)}).",
            hint="Save or type the text as UTF-8 and try again.",
        )
    if isinstance(error, OSError):
        where = f" ({error.filename})" if error.filename and error.filename != path else ""
        return StoreError(
            f"The store {path} cannot be used: {error.strerror or error}{where}.",
            hint="Check that its folder exists and that you may write there (ls -ld), or choose another with --home.",
        )
    # Extended codes (SQLITE_IOERR_FSYNC, …) carry the primary one in their low byte.
    code: int = getattr(error, "sqlite_errorcode", 0) & 0xFF
    what, hint = _FAULTS.get(code, _UNKNOWN)
    return StoreError(f"The store {path} {what} (SQLite: {error}).", hint=hint, passing=code in _PASSING)
