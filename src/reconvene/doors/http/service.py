"""What the doors over HTTP work with: the engine of one home, and the one thread in which it is used.

Engines and what workflows say are used by one thread at a time. Requests are answered on the event loop; what they ask
of the engine is handed to that thread, in turn. Agents are driven by another process (see `driving`), so no page waits
for them.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from reconvene.doors.http.live import Live

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.facts.commands import Command
    from reconvene.core.facts.state import RunState
    from reconvene.desk_ports import Desk
    from reconvene.doors.http.begun_runs import Starts
    from reconvene.doors.http.callers import Caller

T = TypeVar("T")


class Service:
    """`permit`: refuses a run of which the person has not accepted what it starts. `wake`: something may be due."""

    def __init__(
        self,
        open_engine: Callable[[], Engine],
        home: str,
        permit: Callable[[Engine, str], None],
        wake: Callable[[], None],
        starts: Starts | None = None,
    ) -> None:
        """`starts`: what may be started here, None = nothing."""
        self.starts = starts
        self._open_engine = open_engine
        self._permit = permit
        self._wake = wake
        self._thread = ThreadPoolExecutor(1, "engine")
        self._engine: Engine | None = None
        self._desk: Desk | None = None
        self.under_way: set[tuple[str, str]] = set()  # requests with a key: who asks, and their key
        self._begun = 0.0  # when the engine's thread took up what it is at
        self.home = home
        self.live = Live(self)

    async def do(self, work: Callable[[Engine], T]) -> T:
        """In the engine's thread. What was begun is finished, whether or not anybody still waits for it."""

        def timed() -> T:
            self._begun = time.monotonic()
            try:
                return work(self._opened())
            finally:
                self._begun = 0.0

        return await asyncio.get_running_loop().run_in_executor(self._thread, timed)

    @property
    def busy(self) -> float:
        """For how many seconds the engine has been at one piece of work."""
        begun = self._begun
        return round(time.monotonic() - begun, 3) if begun else 0.0

    def another_engine(self, caller: Caller) -> Engine:
        """For a thread of its own, which closes it: all that is done with it, this caller does."""
        made = self._open_engine()
        made.actor = caller.actor or made.actor
        return made

    def _opened(self) -> Engine:
        if self._engine is None:
            self._engine = self._open_engine()
        return self._engine

    async def change(self, run: str, work: Callable[[Engine], T]) -> T:
        """The same for what changes a run (or, with "", makes one); whoever drives goes on with it."""

        def permitted(engine: Engine) -> T:
            if run:
                self._permit(engine, run)
            return work(engine)

        try:
            return await self.do(permitted)
        finally:
            self._wake()

    async def submit(self, caller: Caller, run: str, command: Command, *, once: bool = False) -> RunState:
        return await self.change(run, lambda engine: recorded(engine, caller, run, command, once=once))

    @property
    def desk(self) -> Desk:
        """What is kept for people beside the logs. Any thread may use it; the event loop should not wait for it."""
        if self._desk is None:
            from reconvene.desk_wiring import open_desk

            self._desk = open_desk(self.home)
        return self._desk

    async def close(self) -> None:
        def end() -> None:
            if self._engine is not None:
                asyncio.run(self._engine.close())
            if self._desk is not None:
                self._desk.close()

        await self.live.close()
        await asyncio.get_running_loop().run_in_executor(self._thread, end)
        self._thread.shutdown()


def recorded(engine: Engine, caller: Caller, run: str, command: Command, *, once: bool = False) -> RunState:
    """As what this caller did."""
    return engine.submit(run, command, once=once, actor=caller.actor, request=caller.request)
