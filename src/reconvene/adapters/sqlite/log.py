"""EventLog in SQLite: one transaction per append, a compare-and-swap on the head. It must not know what events mean.

Start-up is part of the contract: opening, `head`, `index` and `index_row` load neither the event types nor their codec.
"""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from threading import RLock
from typing import TYPE_CHECKING, NamedTuple

from reconvene.adapters.shared.sqlite_faults import store_error
from reconvene.adapters.sqlite.chained import LAST_SEQ, SEQ_BITS, stored, value_at, values
from reconvene.adapters.sqlite.contents import ADD, Contents, pack, unpack
from reconvene.adapters.sqlite.layout import connect
from reconvene.adapters.sqlite.outbox_rows import OutboxRows, add
from reconvene.adapters.sqlite.presence import Presence
from reconvene.adapters.sqlite.request_rows import RequestRows, note
from reconvene.chain_ports import Deleted, Fault, Stored, Unneeded
from reconvene.errors import Conflict, UserError
from reconvene.ports import Append, IndexRow

if TYPE_CHECKING:
    from reconvene.core.facts.events import AnyEvent

_LONG_SNAPSHOT = 1024
_REMEMBERED = 4096
_LONG_BATCH = 2048  # above it, two would not fit on a page; below, packing costs more time than it saves space

_FIND = "SELECT id, head, status, due FROM runs WHERE run = ?"
_ADD_RUN = "INSERT INTO runs (run, head) VALUES (?, 0)"
# What is known to be on disk may be gone once somebody deleted a run: asked in the same breath, as it costs the least.
_AS_KNOWN = "AND head = ? AND (SELECT max(rowid) FROM deleted) IS ?"
_MOVE_HEAD = f"UPDATE runs SET head = ? WHERE id = ? {_AS_KNOWN}"
# Naming `status` rewrites its index even where the value stays, one more page to sync: only when it changes.
_MOVE_ROW = f"UPDATE runs SET head = ?, workflow = ?, started = ?, updated = ?, doc = ? WHERE id = ? {_AS_KNOWN}"
_MOVE_STATUS = "UPDATE runs SET status = ? WHERE id = ?"
_MOVE_DUE = "UPDATE runs SET due = ? WHERE id = ?"
_ADD_EVENTS = "INSERT INTO appends (key, events, chain, seal) VALUES (?, CAST(? AS TEXT), ?, ?)"
_ADD_PACKED_EVENTS = "INSERT INTO appends (key, events, chain, seal) VALUES (?, ?, ?, ?)"
_DELETIONS = "SELECT max(rowid) FROM deleted"
_RUNS = "SELECT run FROM runs WHERE head > 0 ORDER BY id"
_UNCHAINED = "SELECT seq FROM unchained JOIN runs ON runs.id = unchained.run WHERE runs.run = ?"
_READ = (
    "SELECT key, typeof(events) = 'blob', CAST(events AS BLOB) FROM appends"
    " WHERE key > ? AND key <= ? ORDER BY key LIMIT ?"
)
_COLUMNS = ", ".join(f"CAST(COALESCE({name}, '') AS TEXT)" for name in IndexRow._fields)  # text, also where damaged
_PAGE = f"SELECT {_COLUMNS} FROM runs WHERE {{}} ORDER BY id DESC LIMIT ?"
_AFTER = "id < (SELECT id FROM runs WHERE run = ?)"
_DUE = "SELECT CAST(due AS TEXT), run FROM runs WHERE due IS NOT NULL AND due <= ? ORDER BY due, id LIMIT ?"
_INDEX_ROW = f"SELECT {_COLUMNS} FROM runs WHERE run = ? AND status IS NOT NULL"
_SAVE_SNAPSHOT = "INSERT OR REPLACE INTO snapshots (run, seq, key, packed, data) VALUES (?, ?, ?, ?, ?)"


class _Place(NamedTuple):
    """Where a run stands."""

    id: int
    status: str | None
    head: int
    chain: bytes
    due: str


class SqliteLog(OutboxRows, RequestRows):
    """The log in the file at `path`; `processes/` beside it holds the signs of life of those who drive runs.

    Safe to share between threads. A forked child must open its own.
    """

    def __init__(self, path: str | os.PathLike[str], *, busy_timeout: float = 10.0) -> None:
        super().__init__()
        self._path = os.path.abspath(path)
        self._lock = RLock()
        self._places: dict[str, _Place] = {}  # run → where our last append left it
        self._contents = Contents(self._path, self._query)
        self._deletions: int | None = None  # the last one that is known here
        self._presence = Presence(os.path.join(os.path.dirname(self._path), "processes"))
        with self._plain_words():
            self._connection = connect(self._path, busy_timeout)

    def append(self, run: str, expected_seq: int, append: Append, first: Callable[[], None] | None = None) -> int:
        """`first`: what is done before, in the same transaction."""
        encode_batch, link, value_after = self._formats
        events, artefacts, index, seal, due, messages, followers, request = append
        # Everything that needs no lock is done before one is taken.
        batch_is_packed, batch = pack(encode_batch(events), _LONG_BATCH)
        fresh = self._contents.missing(artefacts)
        new_head = expected_seq + len(events)
        with self._transaction():
            execute = self._connection.execute
            if first is not None:
                first()
            key, status, _, value, was_due = self._place(run, expected_seq)
            due = was_due if due is None else due
            move, known = _MOVE_HEAD, self._deletions
            row: tuple[object, ...] = (new_head, key, expected_seq, known)
            if index is not None:
                move = _MOVE_ROW
                row = (new_head, index.workflow, index.started, index.updated, index.doc, key, expected_seq, known)
            if not execute(move, row).rowcount:
                if not self._was_deleted_meanwhile() or not execute(move, (*row[:-1], self._deletions)).rowcount:
                    self._places.pop(run, None)
                    raise self._conflict(run, expected_seq)
                fresh = self._contents.missing(artefacts)
            if index is not None and index.status != status:
                execute(_MOVE_STATUS, (index.status, key))
            if due != was_due:
                execute(_MOVE_DUE, (due or None, key))
            if events:
                linked = link(value, run, new_head, bool(batch_is_packed), batch)
                mark = seal(linked) if seal is not None else b""
                value = value_after(linked, mark)
                added = (key << SEQ_BITS | new_head, batch, value, mark or None)
                execute(_ADD_PACKED_EVENTS if batch_is_packed else _ADD_EVENTS, added)
            for artefact in fresh:
                execute(ADD, artefact)
            if messages or followers is not None:
                add(self._connection, key, messages, followers)
            if request is not None:
                note(self._connection, key, new_head, request)
        if index is not None:
            if len(self._places) > _REMEMBERED:
                self._places.clear()
            self._places[run] = _Place(key, index.status, new_head, value, due)
        self._contents.added(fresh)
        return new_head

    def adopt(self, run: str, rows: Sequence[Stored], unchained: int, append: Append) -> int:
        def lay() -> None:
            if self._connection.execute(_FIND, (run,)).fetchone():
                raise self._conflict(run, 0)
            number = self._connection.execute(_ADD_RUN, (run,)).lastrowid or 0
            for row in rows:
                added = (number << SEQ_BITS | row.seq, row.data, row.chain or None, row.seal or None)
                self._connection.execute(_ADD_PACKED_EVENTS if row.packed else _ADD_EVENTS, added)
            self._connection.execute("UPDATE runs SET head = ? WHERE id = ?", (rows[-1].seq, number))
            if unchained:
                self._connection.execute("INSERT INTO unchained VALUES (?, ?)", (number, unchained))

        return self.append(run, rows[-1].seq, append, lay)

    def delete(self, left: Deleted, unneeded: Callable[[], Unneeded]) -> None:
        from reconvene.adapters.sqlite.removal import delete

        with self._plain_words():
            self._connection.execute("PRAGMA secure_delete=ON")
        with self._transaction():
            found = self._connection.execute(_FIND, (left.run,)).fetchone()
            if not found or found[1] != left.head:
                raise self._conflict(left.run, left.head)
            delete(self._connection, found[0], left, unneeded)
        self._places.pop(left.run, None)
        self._contents.forget()
        with self._plain_words():  # the write-ahead log holds the bytes still
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

    def deleted(self) -> list[Deleted]:
        from reconvene.adapters.sqlite.removal import deleted

        with self._plain_words():
            return deleted(self._connection)

    @cached_property
    def _formats(self) -> tuple[Callable[[Sequence[AnyEvent]], bytes], Callable[..., bytes], Callable[..., bytes]]:
        """Loaded with the first append, and not looked for again: that costs more than the chain does."""
        from reconvene.wire.chain import link, value_after
        from reconvene.wire.event_json import encode_batch

        return encode_batch, link, value_after

    def _was_deleted_meanwhile(self) -> bool:
        """Whether a run was, since this was asked last. Then nothing is known to be on disk any more."""
        before, self._deletions = self._deletions, self._connection.execute(_DELETIONS).fetchone()[0]
        if before != self._deletions:
            self._contents.forget()
        return before != self._deletions

    def _place(self, run: str, expected_seq: int) -> _Place:
        """What the last append here left may be trusted: if anybody appended since, the swap of the head fails."""
        known = self._places.get(run)
        if known is not None and known.head == expected_seq:
            return known
        found = self._connection.execute(_FIND, (run,)).fetchone()
        key, head, status, due = found or (0, 0, None, None)
        if head != expected_seq:
            raise self._conflict(run, expected_seq)
        if not found:
            key = self._connection.execute(_ADD_RUN, (run,)).lastrowid or 0
        return _Place(key, status, head, value_at(self._connection, self._path, run, key, head), due or "")

    def _conflict(self, run: str, expected_seq: int) -> Conflict:
        found = self._connection.execute(_FIND, (run,)).fetchone()
        if found and found[1] < 0:
            raise UserError(f"Run {run} was deleted.", hint="See who did: reconvene runs --deleted")
        return Conflict(
            f"Run {run} has moved on: its log is at {found[1] if found else 0}, not at {expected_seq}.",
            hint="Somebody else was faster. Look at where it stands now: reconvene show " + run,
        )

    def head(self, run: str) -> int:
        with self._plain_words():
            found = self._connection.execute(_FIND, (run,)).fetchone()
        return abs(found[1]) if found else 0

    def heads(self) -> dict[str, int]:
        with self._plain_words():
            return dict(self._connection.execute("SELECT run, head FROM runs WHERE head > 0").fetchall())

    def moment(self) -> object:
        with self._plain_words():
            others = self._connection.execute("PRAGMA data_version").fetchone()[0]  # of other connections only
        return others, self._connection.total_changes

    def read(self, run: str, after: int = 0, limit: int = 0) -> list[tuple[int, AnyEvent]]:
        from reconvene.wire.event_json import decode_batch

        with self._plain_words():
            found = self._connection.execute(_FIND, (run,)).fetchone()
            if not found:
                return []
            base = found[0] << SEQ_BITS
            rows = self._connection.execute(_READ, (base | max(after, 0), base | LAST_SEQ, limit or -1)).fetchall()
        events: list[tuple[int, AnyEvent]] = []
        for key, packed, batch in rows:
            decoded = decode_batch(unpack(self._path, packed, batch), run)
            first = (key & LAST_SEQ) - len(decoded) + 1
            events.extend(enumerate(decoded, first))
        # The first row may begin before `after`.
        skip = max(after, 0) - events[0][0] + 1 if events else 0
        return events[max(skip, 0) :][:limit] if limit else events[skip:] if skip > 0 else events

    def artefact(self, digest: str) -> bytes:
        return self._contents.read(digest)

    def runs(self) -> list[str]:
        with self._plain_words():
            return [str(name) for (name,) in self._connection.execute(_RUNS)]

    def chain(self, run: str, after: int = 0) -> list[tuple[int, bytes]]:
        with self._plain_words():
            found = self._connection.execute(_FIND, (run,)).fetchone()
            return values(self._connection, found[0], after) if found else []

    def stored(self, run: str) -> list[Stored]:
        with self._plain_words():
            found = self._connection.execute(_FIND, (run,)).fetchone()
            return list(stored(self._connection, found[0])) if found else []

    def unchained(self, run: str) -> int:
        with self._plain_words():
            found = self._connection.execute(_UNCHAINED, (run,)).fetchone()
        return int(found[0]) if found else 0

    def audit(self) -> Iterator[Fault]:
        from reconvene.adapters.sqlite.auditing import audit

        with self._plain_words():
            yield from audit(self._connection)

    def _query(self, sql: str, values: Sequence[str]) -> list[tuple[str, int, bytes]]:
        with self._plain_words():
            return self._connection.execute(sql, values).fetchall()

    def index(self, *, status: str | None = None, after: str = "", limit: int = 0) -> list[IndexRow]:
        tests = ["status IS NOT NULL" if status is None else "status = ?", *([_AFTER] if after else [])]
        values = (*([] if status is None else [status]), *([after] if after else []), limit or -1)
        with self._plain_words():
            cursor = self._connection.execute(_PAGE.format(" AND ".join(tests)), values)
            return list(map(IndexRow._make, cursor))

    def index_row(self, run: str) -> IndexRow | None:
        with self._plain_words():
            found = self._connection.execute(_INDEX_ROW, (run,)).fetchone()
        return IndexRow._make(found) if found else None

    def due(self, now: str, limit: int = 0) -> list[tuple[str, str]]:
        with self._plain_words():
            return self._connection.execute(_DUE, (now, limit or -1)).fetchall()

    def save_snapshot(self, run: str, seq: int, key: str, data: bytes) -> None:
        packed = pack(data, _LONG_SNAPSHOT)
        with self._without_fsync(), self._transaction():
            self._connection.execute(_SAVE_SNAPSHOT, (run, seq, key, *packed))

    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None:
        with self._plain_words():
            found = self._connection.execute(
                "SELECT seq, packed, data FROM snapshots WHERE run = ? AND key = ?", (run, key)
            ).fetchone()
        return (found[0], unpack(self._path, *found[1:])) if found else None

    def acquire(self, run: str, holder: str) -> bool:
        with self._without_fsync(), self._transaction():
            self._presence.show()
            found = self._connection.execute("SELECT holder FROM leases WHERE run = ?", (run,)).fetchone()
            if found:
                token, _, name = found[0].partition(":")
                if token == self._presence.token:
                    return bool(name == holder)
                if self._presence.is_alive(token):
                    return False
            self._connection.execute("INSERT OR REPLACE INTO leases VALUES (?, ?)", (run, self._signed(holder)))
            return True

    def release(self, run: str, holder: str) -> None:
        with self._without_fsync(), self._transaction():
            self._connection.execute("DELETE FROM leases WHERE run = ? AND holder = ?", (run, self._signed(holder)))

    def driven(self) -> frozenset[str]:
        with self._plain_words():
            rows = self._connection.execute("SELECT run, holder FROM leases").fetchall()
            tokens = {run: holder.partition(":")[0] for run, holder in rows}
            alive = self._presence.alive(set(tokens.values()))
        return frozenset(run for run, token in tokens.items() if token in alive)

    def close(self) -> None:
        """Gives up every lease taken here: with its sign of life gone, anybody may take them over."""
        with self._plain_words():
            self._presence.hide()
            self._connection.close()

    def _signed(self, holder: str) -> str:
        return f"{self._presence.token}:{holder}"

    @contextmanager
    def _plain_words(self) -> Iterator[None]:
        """One thread at a time; complaints of the system become StoreErrors."""
        with self._lock:
            try:
                yield
            except (sqlite3.Error, OSError, UnicodeError) as error:
                raise store_error(error, self._path) from error

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        """All or nothing. The write lock is taken at the start: what is read inside stays true until the commit."""
        # `_plain_words` once more instead of nested: this is the road every append takes.
        with self._lock:
            try:
                self._connection.execute("BEGIN IMMEDIATE")
                yield
                self._connection.execute("COMMIT")
            except BaseException as error:
                # After some errors (a full disk) SQLite has already done it.
                if self._connection.in_transaction:
                    self._connection.execute("ROLLBACK")
                if isinstance(error, sqlite3.Error | OSError | UnicodeError):
                    raise store_error(error, self._path) from error
                raise

    @contextmanager
    def _without_fsync(self) -> Iterator[None]:
        """For what need not outlive a power cut: caches, and leases (nobody who held one is alive after it)."""
        with self._plain_words():
            self._connection.execute("PRAGMA synchronous=NORMAL")
            try:
                yield
            finally:
                self._connection.execute("PRAGMA synchronous=FULL")
