"""Asks a SQLite file, in a box. The database itself refuses whatever is not reading: an authorizer sees every action
of a statement before it runs, those inside of views, functions and subqueries as well.

To open a file read-only is not enough: with a write-ahead log SQLite makes files beside it, and after a crash it rolls
back. So there are three ways. Shared: as it is, where changes go through a rollback journal and none is left over.
Frozen: without locks, where a log is used and nothing is in it. Copy: of the file and what belongs to it, where a log
or a journal holds something.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import sqlite3
import time
from collections.abc import Iterator
from typing import Literal
from urllib.parse import quote

from reconvene.adapters.sources.asked_child import serve
from reconvene.adapters.sources.cells import Taking, clean
from reconvene.adapters.sources.questions import Question, Refused, Reply
from reconvene.material_ports import MEBIBYTE, Column, Description, Table

_LOOKS = frozenset(("table_info", "table_xinfo", "table_list", "index_list", "index_info", "foreign_key_list"))
_REACH_OUT = frozenset(("load_extension", "readfile", "writefile", "edit", "fts3_tokenizer", "fsdir", "zipfile"))
_ALLOWED = frozenset((sqlite3.SQLITE_SELECT, sqlite3.SQLITE_READ, sqlite3.SQLITE_RECURSIVE))
_WORDS = {
    sqlite3.SQLITE_INSERT: "add rows to {}",
    sqlite3.SQLITE_UPDATE: "change rows of {}",
    sqlite3.SQLITE_DELETE: "delete rows of {}",
    sqlite3.SQLITE_ATTACH: "open another file",
    sqlite3.SQLITE_DETACH: "let go of a file",
    sqlite3.SQLITE_TRANSACTION: "control transactions",
    sqlite3.SQLITE_SAVEPOINT: "control transactions",
    sqlite3.SQLITE_PRAGMA: "use the pragma {}",
    sqlite3.SQLITE_FUNCTION: "use a function that reaches out of the database",
    sqlite3.SQLITE_ANALYZE: "write statistics",
    sqlite3.SQLITE_REINDEX: "write an index anew",
}
_LENGTH = 16 * MEBIBYTE  # of a value, while it is worked with
_LIMITS = {
    sqlite3.SQLITE_LIMIT_LENGTH: _LENGTH,
    sqlite3.SQLITE_LIMIT_SQL_LENGTH: 200_000,
    sqlite3.SQLITE_LIMIT_ATTACHED: 0,
    sqlite3.SQLITE_LIMIT_EXPR_DEPTH: 200,
    sqlite3.SQLITE_LIMIT_COMPOUND_SELECT: 100,
    sqlite3.SQLITE_LIMIT_LIKE_PATTERN_LENGTH: 5_000,
    sqlite3.SQLITE_LIMIT_TRIGGER_DEPTH: 10,
    sqlite3.SQLITE_LIMIT_WORKER_THREADS: 0,
}
_STEPS = 10_000  # of the database's machine, between two looks at the clock


def main(words: list[str]) -> None:
    serve(answer)


def answer(question: Question) -> Reply:
    guard = _Guard(question.limits.seconds)
    with _words(guard):
        way = _way(question.place)
        path = _copied(question) if way == "copy" else question.place
        connection = _opened(path, way, guard)
        if question.kind == "describe":
            return Reply(description=_described(connection, question), how=way)
        return Reply(rows=_queried(connection, question).rows(), how=way)


class _Guard:
    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self.refused = ""
        self.late = False

    def allows(self, action: int, first: str | None, second: str | None, base: str | None, within: str | None) -> int:
        if action in _ALLOWED:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_FUNCTION and (second or "").lower() not in _REACH_OUT:
            return sqlite3.SQLITE_OK
        if action == sqlite3.SQLITE_PRAGMA:
            name = (first or "").lower()
            # full-text indexes ask for the version of the data
            if name in _LOOKS or (name == "data_version" and second is None):
                return sqlite3.SQLITE_OK
        self.refused = self.refused or _WORDS.get(action, "change the structure").format(first or "a table")
        return sqlite3.SQLITE_DENY

    def is_late(self) -> int:
        self.late = self.late or time.monotonic() > self._until
        return int(self.late)


def _way(path: str) -> Literal["shared", "frozen", "copy"]:
    with open(path, "rb") as file:
        logged = file.read(100)[18:19] == b"\2"
    if _start(f"{path}-journal").strip(b"\0") or (logged and _start(f"{path}-wal")):
        return "copy"  # a journal that is only kept has zeros at its start
    return "frozen" if logged else "shared"


def _start(path: str) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(8)
    except OSError:
        return b""


def _copied(question: Question) -> str:
    """Into its own folder, which is gone afterwards."""
    files = {f"{question.place}{name}": f"copy.db{name}" for name in ("", "-wal", "-journal")}
    there = {path: name for path, name in files.items() if os.path.exists(path)}
    if sum(os.path.getsize(path) for path in there) > question.limits.copy:
        told = "it has changes that lie beside it, and is too large to be copied."
        raise Refused("busy", told, "Close the program that uses it, so that they are written into it.")
    for path, name in there.items():
        shutil.copyfile(path, name)
    return os.path.abspath("copy.db")


def _opened(path: str, way: str, guard: _Guard) -> sqlite3.Connection:
    options = {"shared": "mode=ro", "frozen": "mode=ro&immutable=1", "copy": "mode=rw"}[way]
    connection = sqlite3.connect(
        f"file:{quote(path)}?{options}", uri=True, isolation_level=None, timeout=5.0, cached_statements=0
    )
    connection.text_factory = lambda data: data.decode("utf-8", "replace")
    for kind, most in _LIMITS.items():
        connection.setlimit(kind, most)
    if way == "copy":
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    for pragma in ("temp_store=MEMORY", "cell_size_check=ON", "trusted_schema=OFF", "mmap_size=0", "query_only=ON"):
        connection.execute(f"PRAGMA {pragma}")
    connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    _connect_virtual_tables(connection)
    connection.set_authorizer(guard.allows)
    connection.set_progress_handler(guard.is_late, _STEPS)
    return connection


def _connect_virtual_tables(connection: sqlite3.Connection) -> None:
    """Full-text indexes and the like are put together when they are first named. To the authorizer that looks like a
    change of the structure, so it is done before."""
    own = connection.execute("SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL%' LIMIT 200").fetchall()
    names = [*(name for (name,) in own), *(f"pragma_{name}" for name in sorted(_LOOKS)), "json_each", "json_tree"]
    for name in names:
        with contextlib.suppress(sqlite3.Error):
            connection.execute('SELECT 1 FROM "' + name.replace('"', '""') + '" LIMIT 0').fetchall()


def _queried(connection: sqlite3.Connection, question: Question) -> Taking:
    cursor = connection.execute(question.text)
    if cursor.description is None:
        raise Refused("query", "the statement gives no rows.", "Write a SELECT.")
    taking = Taking([str(column[0]) for column in cursor.description], question.limit, question.limits)
    while (row := cursor.fetchone()) is not None:
        if not taking.add(row):
            break
    return taking


def _described(connection: sqlite3.Connection, question: Question) -> Description:
    limits = question.limits
    names = connection.execute(
        "SELECT name, type FROM sqlite_master WHERE type IN ('table', 'view') AND substr(name, 1, 7) <> 'sqlite_' "
        "ORDER BY name LIMIT ?",
        (limits.tables + 1,),
    ).fetchall()
    notes = [f"There are more tables: only the first {limits.tables} are listed."] if len(names) > limits.tables else []
    tables = [_table(connection, name, kind, limits.count, notes) for name, kind in names[: limits.tables]]
    return Description(tuple(tables), tuple(notes))


def _table(
    connection: sqlite3.Connection, name: str, kind: Literal["table", "view"], most: int, notes: list[str]
) -> Table:
    quoted = '"' + name.replace('"', '""') + '"'
    columns: tuple[Column, ...] = ()
    rows, more = -1, False
    try:
        found = connection.execute(f"PRAGMA table_xinfo({quoted})").fetchall()
        columns = tuple(Column(clean(row[1]), clean(row[2]), bool(row[5])) for row in found)
        if kind == "table":
            (rows,) = connection.execute(f"SELECT count(*) FROM (SELECT 1 FROM {quoted} LIMIT {most + 1})").fetchone()
            rows, more = min(rows, most), rows > most
    except sqlite3.Error as error:
        notes.append(f"{clean(name)} was not looked at: {clean(str(error))}.")
    return Table(clean(name), kind, columns, rows, more)


@contextlib.contextmanager
def _words(guard: _Guard) -> Iterator[None]:
    """The database's own words, under what they mean."""
    try:
        yield
    except OSError as error:
        told = f"it cannot be read ({error.strerror})."
        raise Refused("missing", told, "Change its rights, or give a copy.") from None
    except (sqlite3.Error, sqlite3.Warning, OverflowError, UnicodeError) as error:
        said = clean(str(error)).rstrip(".")
        if guard.late:
            raise Refused("slow", "the time was up.", "Ask for less, or for something narrower.") from None
        if guard.refused or any(word in said for word in ("readonly", "not authorized", "may not be modified")):
            what = guard.refused or "write"
            raise Refused("refused", f"it is only read, and this would {what} ({said}).", "Write one SELECT.") from None
        raise _fault(said) from None


def _fault(said: str) -> Refused:
    if "one statement" in said:
        return Refused("refused", "only one statement is taken at a time.", "Give each of them on its own.")
    if "locked" in said or "busy" in said:
        return Refused("busy", f"another program is writing to it ({said}).", "Try again when it is done.")
    if "not a database" in said or "malformed" in said or "corrupt" in said:
        return Refused("kind", f"the file is damaged, or no SQLite database ({said}).", "Restore it from a copy.")
    if "too big" in said or "out of memory" in said or "too large" in said:
        return Refused("limit", f"a value is too large ({said}).", f"Values may have {_LENGTH // MEBIBYTE} MB.")
    if "unable to open" in said:
        return Refused("missing", f"it cannot be opened ({said}).", "Look whether it is there and may be read.")
    return Refused("query", f"{said}.", "Look at the tables and columns with describe.")
