"""The store as one simulated process has it: a connection to a disk that everybody shares, on which writing may fail.

The disk is a MemoryLog, which passes the conformance suite of all stores. What an append acknowledged is on it,
whatever happens afterwards. An append under way when its process is killed is there as a whole, or not at all. Leases
and snapshots are written without a sync, as in the real store: a power cut may take them.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from reconvene.chain_ports import Deleted, Fault, Stored, Unneeded
from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.ids import digest_of
from reconvene.errors import StoreError
from reconvene.message_ports import Queued, Routes
from reconvene.ports import Append, IndexRow
from reconvene.testing.memory import MemoryLog

if TYPE_CHECKING:
    from reconvene.testing.simulation.simulated_world import Process


class Disk(MemoryLog):
    """What lies on it, and what would be gone after a power cut."""

    def __init__(self) -> None:
        super().__init__()
        self.held: dict[str, tuple[str, str]] = {}  # run → process and holder of its lease
        self.full_until = 0.0
        self.locked_until = 0.0
        self._unsynced: dict[str, tuple[int, str, bytes] | None] = {}  # run → the snapshot before

    def save_snapshot(self, run: str, seq: int, key: str, data: bytes) -> None:
        self._unsynced.setdefault(run, self._snapshots.get(run))
        super().save_snapshot(run, seq, key, data)

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        head = super().append(run, expected_seq, append)
        self._unsynced.clear()  # with what is synced, all that was written before it is
        return head

    def cut_power(self) -> None:
        for run, before in self._unsynced.items():
            if before is None:
                self._snapshots.pop(run, None)
            else:
                self._snapshots[run] = before
        self._unsynced.clear()
        self.held.clear()


class SimulatedStore:
    """ports.EventLog of one process."""

    def __init__(self, disk: Disk, process: Process) -> None:
        self._disk = disk
        self._process = process
        self.routes: Callable[[], Routes] = Routes

    # --- what changes the disk ---

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        process, faults = self._process, self._process.world.faults
        process.step("append")
        self._refuse(run)
        if faults.strikes("crash in a write"):
            if faults.either():
                self._written(run, expected_seq, append)
                process.kill("an append, which is there")
            process.kill("an append, which is not there")
        head = self._written(run, expected_seq, append)
        if faults.strikes("unknown write"):
            process.note(f"said to have failed, and written: {run} up to {head}")
            raise StoreError("The store cannot be written: the disk reported an error (simulated, at the commit).")
        process.step("appended")
        return head

    def _written(self, run: str, expected_seq: int, append: Append) -> int:
        head = self._disk.append(run, expected_seq, append)
        self._process.note(f"append {run} {expected_seq}+{len(append.events)} {_names(append.events)}")
        return head

    def _refuse(self, run: str) -> None:
        process, disk = self._process, self._disk
        faults, now = process.world.faults, process.world.loop.time()
        if faults.strikes("disk full"):
            disk.full_until = now + faults.between(1, 20)
        if faults.strikes("locked"):
            disk.locked_until = now + faults.between(0.1, 3)
        if faults.over:
            disk.full_until = disk.locked_until = 0.0
        for until, why in ((disk.full_until, "the disk is full"), (disk.locked_until, "it is locked")):
            if now < until:
                process.note(f"refused: {why}")
                raise StoreError(f"The store cannot be written: {why} (simulated).")
        if faults.strikes("failed write"):
            process.note(f"refused: a write of {run}")
            raise StoreError("The store cannot be written: the disk reported an error (simulated).")

    def save_snapshot(self, run: str, seq: int, key: str, data: bytes) -> None:
        self._process.step("snapshot")
        self._refuse(run)
        self._disk.save_snapshot(run, seq, key, data)

    def acquire(self, run: str, holder: str) -> bool:
        process, disk = self._process, self._disk
        process.step("acquire")
        self._refuse(run)
        held = disk.held.get(run)
        if held is not None and held[0] in process.world.living:
            if held == (process.name, holder):
                return True
            if held[0] == process.name or not process.world.faults.strikes("second driver"):
                return False
            process.note(f"lease of {run} is taken from {held[0]}, which lives")
        disk.held[run] = (process.name, holder)
        return True

    def release(self, run: str, holder: str) -> None:
        self._process.step("release")
        self._refuse(run)
        if self._disk.held.get(run) == (self._process.name, holder):
            del self._disk.held[run]

    def adopt(self, run: str, rows: Sequence[Stored], unchained: int, append: Append) -> int:
        self._process.step("adopt")
        return self._disk.adopt(run, rows, unchained, append)

    def delete(self, left: Deleted, unneeded: Callable[[], Unneeded]) -> None:
        self._process.step("delete")
        self._disk.delete(left, unneeded)

    # --- what only looks ---

    def _look(self) -> Disk:
        self._process.step("read")
        if self._process.world.faults.strikes("failed read"):
            self._process.note("a read failed")
            raise StoreError("The store cannot be read: the disk reported an error (simulated).")
        return self._disk

    def driven(self) -> frozenset[str]:
        living = self._process.world.living
        return frozenset(run for run, (process, _) in self._look().held.items() if process in living)

    def head(self, run: str) -> int:
        return self._look().head(run)

    def heads(self) -> dict[str, int]:
        return self._look().heads()

    def moment(self) -> object:
        return self._look().moment()

    def read(self, run: str, after: int = 0, limit: int = 0) -> list[tuple[int, AnyEvent]]:
        return self._look().read(run, after, limit)

    def artefact(self, digest: str) -> bytes:
        return self._look().artefact(digest)

    def carried_out(self, mark: str) -> tuple[str, int] | None:
        return self._look().carried_out(mark)

    def runs(self) -> list[str]:
        return self._look().runs()

    def chain(self, run: str, after: int = 0) -> list[tuple[int, bytes]]:
        return self._look().chain(run, after)

    def stored(self, run: str) -> list[Stored]:
        return self._look().stored(run)

    def unchained(self, run: str) -> int:
        return self._look().unchained(run)

    def deleted(self) -> list[Deleted]:
        return self._look().deleted()

    def audit(self) -> Iterator[Fault]:
        return self._look().audit()

    def index(self, *, status: str | None = None, after: str = "", limit: int = 0) -> list[IndexRow]:
        return self._look().index(status=status, after=after, limit=limit)

    def index_row(self, run: str) -> IndexRow | None:
        return self._look().index_row(run)

    def due(self, now: str, limit: int = 0) -> list[tuple[str, str]]:
        return self._look().due(now, limit)

    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None:
        return self._look().snapshot(run, key)

    def close(self) -> None:
        """Gives up every lease taken here."""
        for run in [run for run, (process, _) in self._disk.held.items() if process == self._process.name]:
            del self._disk.held[run]

    # --- the outbox, which nothing simulated uses ---

    def followers(self, run: str) -> tuple[str, ...]:
        return self._disk.followers(run)

    def claim_messages(self, now: str, until: str, to: Collection[str], limit: int = 20) -> list[Queued]:
        return self._disk.claim_messages(now, until, to, limit)

    def settle_message(self, id: str, attempt: int, now: str, *, error: str = "", again: str = "") -> None:
        self._disk.settle_message(id, attempt, now, error=error, again=again)

    def put_back(self, id: str, attempt: int, due: str) -> None:
        self._disk.put_back(id, attempt, due)

    def drop_message(self, id: str, attempt: int) -> None:
        self._disk.drop_message(id, attempt)

    def messages(self, limit: int = 0) -> list[Queued]:
        return self._disk.messages(limit)

    def retry_messages(self, now: str, to: str = "") -> int:
        return self._disk.retry_messages(now, to)

    def tidy_messages(self, *, tried: str, untried: str, done: str, now: str) -> int:
        return self._disk.tidy_messages(tried=tried, untried=untried, done=done, now=now)


def _names(events: Sequence[AnyEvent]) -> str:
    names = " ".join(type(event).__name__ for event in events)
    return f"{names} {digest_of(repr(list(events)).encode())[:8]}"
