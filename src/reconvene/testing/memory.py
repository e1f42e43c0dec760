"""An EventLog in memory, for tests. It passes the same conformance suite as the real ones; nothing of it is durable."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from threading import Lock
from zlib import decompress

from reconvene.chain_ports import Deleted, Fault, Stored, Unneeded
from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.ids import digest_of
from reconvene.errors import Conflict, Repeated, StoreError, UserError
from reconvene.language.times import later
from reconvene.ports import REQUESTS_KEPT, Append, IndexRow
from reconvene.testing.memory_outbox import MemoryOutbox
from reconvene.wire.chain import BEGINNING, link, value_after
from reconvene.wire.event_json import decode_batch, encode_batch


class MemoryLog(MemoryOutbox):
    """Safe to share between threads; whoever holds the object shares the store."""

    def __init__(self) -> None:
        super().__init__()
        self._lock = Lock()
        self._logs: dict[str, list[AnyEvent]] = {}
        self._stored: dict[str, list[Stored]] = {}
        self._old: dict[str, int] = {}  # run → the last event from before the chain
        self._deleted: dict[str, Deleted] = {}
        self._artefacts: dict[str, bytes] = {}
        self._index: dict[str, IndexRow] = {}
        self._due: dict[str, str] = {}
        self._snapshots: dict[str, tuple[int, str, bytes]] = {}
        self._leases: dict[str, str] = {}
        self._requests: dict[str, tuple[str, int, str]] = {}  # by mark: run, seq, when

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        # Through the codec, so that a test meets here whatever a real store would change or refuse.
        data = encode_batch(append.events)
        recorded = decode_batch(data)
        with self._lock:
            if run in self._deleted:
                raise UserError(f"Run {run} was deleted.")
            head = len(self._logs.get(run, ()))
            if head != expected_seq:
                raise Conflict(f"Run {run} has moved on: its log is at {head}, not at {expected_seq}.")
            if append.request is not None:
                mark, at = append.request
                long_ago = later(at, -REQUESTS_KEPT)
                self._requests = {name: one for name, one in self._requests.items() if one[2] >= long_ago}
                if mark in self._requests:
                    raise Repeated("This request was carried out before.")
                self._requests[mark] = (run, head + len(recorded), at)
            self._logs.setdefault(run, []).extend(recorded)
            if recorded:
                rows = self._stored.setdefault(run, [])
                linked = link(_value_after(run, rows), run, head + len(recorded), False, data)
                seal = append.seal(linked) if append.seal is not None else b""
                rows.append(Stored(head + len(recorded), False, data, value_after(linked, seal), seal))
            for digest, data in append.artefacts.items():
                self._artefacts.setdefault(digest, bytes(data))
            if append.row is not None:
                self._index[run] = append.row
            if append.due is not None:
                self._due[run] = append.due
            self._leave(run, append.messages, append.followers)
            return head + len(recorded)

    def head(self, run: str) -> int:
        with self._lock:
            return self._deleted[run].head if run in self._deleted else len(self._logs.get(run, ()))

    def heads(self) -> dict[str, int]:
        with self._lock:
            return {run: len(events) for run, events in self._logs.items() if events}

    def moment(self) -> object:
        return sum(self.heads().values())

    def read(self, run: str, after: int = 0, limit: int = 0) -> list[tuple[int, AnyEvent]]:
        after = max(after, 0)
        with self._lock:
            found = self._logs.get(run, [])[after : after + limit if limit else None]
        return list(enumerate(found, after + 1))

    def artefact(self, digest: str) -> bytes:
        with self._lock:
            if digest not in self._artefacts:
                raise StoreError(f"There is no content with the digest {digest}.")
            data = self._artefacts[digest]
        if digest_of(data) != digest:
            raise StoreError(f"There are other bytes than the content {digest}.")
        return data

    def carried_out(self, mark: str) -> tuple[str, int] | None:
        with self._lock:
            found = self._requests.get(mark)
        return found[:2] if found else None

    def runs(self) -> list[str]:
        with self._lock:
            return [run for run, events in self._logs.items() if events]

    def chain(self, run: str, after: int = 0) -> list[tuple[int, bytes]]:
        return [(row.seq, row.chain) for row in self.stored(run) if row.seq > after]

    def stored(self, run: str) -> list[Stored]:
        with self._lock:
            return list(self._stored.get(run, ()))

    def unchained(self, run: str) -> int:
        return self._old.get(run, 0)

    def adopt(self, run: str, rows: Sequence[Stored], unchained: int, append: Append) -> int:
        events = [event for row in rows for event in decode_batch(decompress(row.data) if row.packed else row.data)]
        with self._lock:
            if run in self._deleted or self._logs.get(run):
                raise Conflict(f"There is a run {run} already.")
            self._logs[run], self._stored[run] = events, list(rows)
            self._old[run] = unchained
        return self.append(run, len(events), append)

    def delete(self, left: Deleted, unneeded: Callable[[], Unneeded]) -> None:
        gone = unneeded().gone
        with self._lock:
            if len(self._logs.get(left.run, ())) != left.head:
                raise Conflict(f"Run {left.run} has moved on.")
            for kept in (self._logs, self._stored, self._index, self._due, self._snapshots):
                kept.pop(left.run, None)
            self._deleted[left.run] = left
            self._forget(left.run)
            self._requests = {name: one for name, one in self._requests.items() if one[0] != left.run}
            for digest in gone:
                self._artefacts.pop(digest, None)

    def deleted(self) -> list[Deleted]:
        with self._lock:
            return list(self._deleted.values())

    def audit(self) -> Iterator[Fault]:
        with self._lock:
            kept = dict(self._artefacts)
        for digest, data in kept.items():
            if digest_of(data) != digest:
                yield Fault(f"the content {digest}", f"bytes with the digest {digest}", f"{digest_of(data)}")

    def index(self, *, status: str | None = None, after: str = "", limit: int = 0) -> list[IndexRow]:
        with self._lock:
            ids = {run: number for number, run in enumerate(self._logs)}
            rows = [row for row in self._index.values() if status is None or row.status == status]
        rows.sort(key=lambda row: ids[row.run], reverse=True)
        if after:
            rows = [row for row in rows if ids[row.run] < ids.get(after, 0)]
        return rows[: limit or None]

    def index_row(self, run: str) -> IndexRow | None:
        with self._lock:
            return self._index.get(run)

    def due(self, now: str, limit: int = 0) -> list[tuple[str, str]]:
        with self._lock:
            ids = {run: number for number, run in enumerate(self._logs)}
            found = sorted((due, ids[run], run) for run, due in self._due.items() if due and due <= now)
        return [(due, run) for due, _, run in found][: limit or None]

    def save_snapshot(self, run: str, seq: int, key: str, data: bytes) -> None:
        with self._lock:
            self._snapshots[run] = (seq, key, bytes(data))

    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None:
        with self._lock:
            seq, kept_key, data = self._snapshots.get(run, (0, None, b""))
        return (seq, data) if kept_key == key else None

    def acquire(self, run: str, holder: str) -> bool:
        with self._lock:
            return self._leases.setdefault(run, holder) == holder

    def release(self, run: str, holder: str) -> None:
        with self._lock:
            if self._leases.get(run) == holder:
                del self._leases[run]

    def driven(self) -> frozenset[str]:
        with self._lock:
            return frozenset(self._leases)

    def close(self) -> None:
        """Nothing to do: the store lives as long as the object."""


def _value_after(run: str, rows: Sequence[Stored]) -> bytes:
    """Worked out where they are from before the chain."""
    if rows and rows[-1].chain:
        return rows[-1].chain
    found = BEGINNING
    for row in rows:
        found = value_after(link(found, run, row.seq, row.packed, row.data), row.seal)
    return found
