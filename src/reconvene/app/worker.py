"""Takes up every run of a home that is due, and drives it to its next stop: as many at once as there are slots.

Due is a run that nobody drives though it could go on (somebody recorded a decision and left, or a process died), one
whose provider may be asked again, one that another worker left, one that has pieces to put into the queue, and what is
queued, one after another. Deadlines and reminders of checkpoints that are due are recorded on the way. Workers keep
nothing in memory that the log does not say: any number may work on one home, and each run is driven by one of them.

A run that cannot be driven (a kit that is not installed, a folder that cannot be written) is told once. It is tried
again after a while, which gets longer each time, or at once when somebody has added to its log.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator

from msgspec import Struct

from reconvene.app import lapsing, run_queue
from reconvene.app.engine import Engine
from reconvene.app.session import driven_at
from reconvene.core.facts.state import RunState
from reconvene.errors import Busy, ReconveneError
from reconvene.ports import Listener

DOOR = "worker"

_LOOK = 0.4  # seconds between two looks at what is due
_FIRST, _LONGEST = 5.0, 600.0  # seconds until a run that could not be driven is tried again
_MOST = 100  # of runs that wait for their time, so many are looked at at once


class Told(Struct, frozen=True):
    """What became of a run: where it stands, or why it could not be driven."""

    run: str
    state: RunState | None = None
    error: ReconveneError | OSError | None = None
    again: float = 0.0  # seconds until it is tried once more
    lapsed: lapsing.Lapsed | None = None  # instead: what a deadline did


class _Failed(Struct, frozen=True):
    head: int
    due: float
    delay: float


class Worker:
    def __init__(
        self,
        engine: Engine,
        slots: int,
        *,
        tell: Callable[[Told], None],
        begin: Callable[[str], Listener | None],
        permit: Callable[[str], None],
        by: str = "",
    ) -> None:
        """`permit` raises where this person has not accepted what the run would start. `begin`: who is told what
        happens while it works."""
        self._engine = engine
        self._slots = slots
        self._tell = tell
        self._begin = begin
        self._permit = permit
        self._by = by
        self._driving: dict[str, asyncio.Task[None]] = {}
        self._queued = ""  # the one of those that was taken from the queue
        self._failed: dict[str, _Failed] = {}
        self._leaving = asyncio.Event()
        self._news = asyncio.Event()

    def wake(self) -> None:
        """Look at once: something may be due."""
        self._news.set()

    def leave(self, *, now: bool = False) -> None:
        """Take nothing up any more. Agents at work finish, or with `now` are cancelled; what is left is due again."""
        self._leaving.set()
        self._news.set()
        for run in self._driving:
            self._engine.request_pause(run, now=now, by=self._by, door=DOOR, left=True)

    @property
    def at_work(self) -> list[str]:
        return list(self._driving)

    async def work(self, *, once: bool = False) -> None:
        """Until told to leave; with `once`, until nothing is due any more."""
        while not self._leaving.is_set():
            self._news.clear()
            self._engine.leases.give_back_left()
            self._lapse()
            found = self._take_up()
            if once and not found and not self._driving:
                return
            await self._wait()
        while self._driving:
            await asyncio.wait(list(self._driving.values()))

    async def _wait(self) -> None:
        news = asyncio.create_task(self._news.wait())
        try:
            await asyncio.wait([news, *self._driving.values()], timeout=_LOOK, return_when=asyncio.FIRST_COMPLETED)
        finally:
            news.cancel()

    def _take_up(self) -> bool:
        """Whether something was."""
        free = self._slots - len(self._driving)
        if free <= 0:
            return False
        taken = False
        for run in self._due():
            if self._is_held_back(run):
                continue
            self._driving[run] = asyncio.create_task(self._drive(run))
            taken, free = True, free - 1
            if not free:
                break
        return taken

    def _due(self) -> Iterator[str]:
        """What somebody left in the middle comes first, then what has waited longest, then what is queued."""
        log, now = self._engine.log, self._engine.now()
        driven = log.driven() | self._driving.keys()
        yield from (row.run for row in reversed(log.index(status="running")) if row.run not in driven)
        for _, run in log.due(now, _MOST):
            if run not in driven and not self._is_held_back(run) and self._is_to_be_driven(run, now):
                yield run
        if self._queued not in self._driving:
            for one in run_queue.in_order(log):
                if one.run not in driven and not self._is_held_back(one.run):
                    self._queued = one.run
                    yield one.run
                    return

    def _lapse(self) -> None:
        """Deadlines and reminders that are due, at once, whether or not a slot is free: nobody drives for that."""
        for _, run in self._engine.log.due(self._engine.now(), _MOST):
            if self._is_held_back(run):
                continue
            try:
                if lapsing.is_due(self._engine, run):
                    for one in lapsing.lapse(self._engine, run):
                        self._tell(Told(run, lapsed=one))
            except (ReconveneError, OSError) as error:
                self._tell(self._not_driven(run, error))

    def _is_to_be_driven(self, run: str, now: str) -> bool:
        """And not only due because of a deadline."""
        try:
            when = driven_at(self._engine.load(run))
        except (ReconveneError, OSError) as error:
            self._tell(self._not_driven(run, error))
            return False
        return bool(when) and when <= now

    def _is_held_back(self, run: str) -> bool:
        failed = self._failed.get(run)
        if failed is None or failed.head != self._engine.log.head(run):
            return False
        return asyncio.get_running_loop().time() < failed.due

    async def _drive(self, run: str) -> None:
        try:
            self._permit(run)
            state = await self._engine.drive(run, self._begin(run), by=self._by, door=DOOR, take=True)
            self._engine.commit_history(run)
        except Busy:  # another process was faster
            return
        except (ReconveneError, OSError) as error:
            self._tell(self._not_driven(run, error))
        else:
            self._failed.pop(run, None)
            self._tell(Told(run, state))
        finally:
            self._driving.pop(run, None)

    def _not_driven(self, run: str, error: ReconveneError | OSError) -> Told:
        head, before = self._engine.log.head(run), self._failed.get(run)
        delay = min(before.delay * 2, _LONGEST) if before is not None and before.head == head else _FIRST
        self._failed[run] = _Failed(head, asyncio.get_running_loop().time() + delay, delay)
        return Told(run, error=error, again=delay)
