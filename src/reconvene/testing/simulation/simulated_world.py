"""The simulated world: processes that are killed, a disk, folders, clocks, and a trace of all that happened.

A process is an engine with a connection of its own. Each of its operations on what outlives it is a step. At a step it
may be killed, its clock may jump, and somebody else may act first: so any two processes interleave at every operation,
though there is one thread. A process that was killed does nothing any more: each further step raises Killed, also in
its `finally` blocks.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Coroutine
from contextvars import ContextVar
from hashlib import sha256
from random import Random
from typing import Any, NoReturn

from reconvene.app.backoff import Patience
from reconvene.app.engine import Engine
from reconvene.core.facts.ids import digest_of
from reconvene.errors import ReconveneError, StoreError
from reconvene.ports import AgentRunner
from reconvene.testing.memory_history import MemoryHistory
from reconvene.testing.memory_workspace import MemoryFolder, MemoryWorkspace
from reconvene.testing.simulation.faults import Faults
from reconvene.testing.simulation.simulated_loop import SimulatedLoop
from reconvene.testing.simulation.simulated_store import Disk, SimulatedStore

HOME = "/simulated/project/.reconvene"
_BEGINNING = 1_767_225_600  # 2026-01-01
_PATIENCE = Patience(first=0.5, longest=2.0, total=4.0)
_RUNNING: ContextVar[Process | None] = ContextVar("simulated process", default=None)


class Killed(BaseException):
    """The process is gone."""


class Violation(Exception):
    """Something was promised, and is not so."""


class _Task(asyncio.Task[Any]):
    """Sets of tasks have the same order in each replay."""

    number = 0

    def __hash__(self) -> int:
        return self.number


class _Folder(MemoryFolder):
    """Notices when the engine takes a text of a person's away that is nowhere else."""

    def __init__(self, world: World) -> None:
        super().__init__()
        self._world = world
        self._theirs: dict[str, bytes] = {}  # as a person left it

    def edit(self, path: str, data: bytes | None) -> None:
        super().edit(path, data)
        if data is None:
            self._theirs.pop(path, None)
        else:
            self._theirs[path] = data

    def put(self, path: str, data: bytes) -> None:
        self._goes(path)
        super().put(path, data)

    def drop(self, path: str) -> None:
        self._goes(path)
        super().drop(path)

    def _goes(self, path: str) -> None:
        theirs = self._theirs.pop(path, None)
        if theirs is not None and self.digest(path) == digest_of(theirs) and not self._world.is_kept(theirs):
            self._world.violated(f"what a person wrote into {path} is overwritten, and is not on record: {theirs!r}")


class World:
    def __init__(self, seed: int, agents: Callable[[Process], AgentRunner]) -> None:
        self.seed = seed
        self.loop = SimulatedLoop()
        self.loop.set_task_factory(self._new_task)
        self.loop.set_exception_handler(self._overlooked)
        self.faults = Faults(Random(f"faults {seed}"))
        self.disk = Disk()
        self.history = MemoryHistory()
        self.folders: dict[str, _Folder] = {}
        self.living: dict[str, Process] = {}
        self.trace: list[str] = []
        self.violations: list[str] = []
        self.bystanders: list[Callable[[], None]] = []  # who may act between two steps of another process
        self.closing = False  # faults are over: whoever is left brings everything to its end
        self._agents = agents
        self._processes = self._tasks = 0
        self._nested = False

    # --- what happened ---

    def note(self, who: str, what: str) -> None:
        self.trace.append(f"{self.loop.time():9.3f} {who:12} {what}")

    def violated(self, what: str) -> None:
        self.note("!!", what)
        self.violations.append(what)

    @property
    def digest(self) -> str:
        return sha256("\n".join(self.trace).encode()).hexdigest()

    def is_kept(self, data: bytes) -> bool:
        """Whether this content is on disk."""
        try:
            return self.disk.artefact(digest_of(data)) == data
        except StoreError:
            return False

    # --- processes ---

    def process(self, name: str) -> Process:
        self._processes += 1
        process = Process(self, f"{name}-{self._processes}")
        self.living[process.name] = process
        process.engine = self._engine(process)
        return process

    def _engine(self, process: Process) -> Engine:
        def workspace(run: str, folder: str) -> MemoryWorkspace:
            if folder not in self.folders:
                self.folders[folder] = _Folder(self)
            return MemoryWorkspace(folder, self.folders[folder], process.file_step)

        return Engine(
            SimulatedStore(self.disk, process),
            process,
            self._agents(process),
            workspace,
            lambda: MemoryHistory(process.step, self.history),
            HOME,
            patience=_PATIENCE,
            chance=process,
        )

    def _new_task(self, loop: asyncio.AbstractEventLoop, coro: Any, **more: Any) -> asyncio.Task[Any]:
        task = _Task(coro, loop=loop, **more)
        self._tasks += 1
        task.number = self._tasks
        if (process := _RUNNING.get()) is not None:
            process.tasks.append(task)
        return task

    def _overlooked(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """A task ended in an error that nobody looked at. Those of processes that were killed may."""
        error = context.get("exception")
        if isinstance(error, Exception) and not isinstance(error, ReconveneError):
            self.violated(f"a task broke, and nobody noticed: {type(error).__name__}: {error}")

    def interleave(self) -> None:
        """Somebody acts now, from beginning to end. Nobody acts within that."""
        if self._nested or not self.bystanders:
            return
        self._nested = True
        running = _RUNNING.set(None)
        try:
            who = self.bystanders.pop(0)
            self.bystanders.append(who)
            who()
        finally:
            _RUNNING.reset(running)
            self._nested = False

    def cut_power(self) -> None:
        self.note("", "power cut")
        for process in list(self.living.values()):
            process.die("the power cut")
        self.disk.cut_power()


class Process:
    """It is its engine's clock and chance as well."""

    engine: Engine

    def __init__(self, world: World, name: str) -> None:
        self.world = world
        self.name = name
        self.alive = True
        self.tasks: list[asyncio.Task[Any]] = []
        self._skew = 0.0
        self._tokens = 0
        self._random = Random(f"{name} {world.seed}")

    def note(self, what: str) -> None:
        self.world.note(self.name, what)

    # --- its life ---

    def spawn(self, work: Coroutine[Any, Any, None], *, last: bool = True) -> asyncio.Task[None]:
        """All tasks that follow from it belong to this process. `last`: it ends with this."""
        running = _RUNNING.set(self)
        try:
            task = self.world.loop.create_task(self._live(work, last=last))
            task.add_done_callback(lambda _: work.close())  # where it was killed before it began
            return task
        finally:
            _RUNNING.reset(running)

    async def _live(self, work: Coroutine[Any, Any, None], *, last: bool) -> None:
        try:
            await work
        except (Killed, asyncio.CancelledError):
            if self.alive:
                raise
        except ReconveneError as error:
            self.note(f"ends with {type(error).__name__}: {error.message}")
        except Exception as error:
            self.world.violated(f"{self.name} broke: {type(error).__name__}: {error}")
        finally:
            if last:
                self.end()

    def end(self) -> None:
        """It exits: what it held is free."""
        self.alive = False
        self.world.living.pop(self.name, None)

    def die(self, why: str) -> None:
        if not self.alive:
            return
        self.note(f"killed at {why}")
        self.end()
        for task in self.tasks:
            if not task.done():
                task.cancel()

    def kill(self, why: str) -> NoReturn:
        self.die(why)
        raise Killed

    def step(self, what: str) -> None:
        if not self.alive:
            raise Killed
        faults = self.world.faults
        if faults.strikes("clock jump"):
            self._skew += faults.between(-90_000, 90_000) if faults.either() else faults.between(-5, 5)
            self.note(f"clock jumps to {self._skew:+.0f} s")
        if faults.strikes("power cut"):
            self.world.cut_power()
            raise Killed
        if faults.strikes("crash"):
            self.kill(what)
        if faults.strikes("interleaved"):
            self.world.interleave()
            if not self.alive:
                raise Killed

    def file_step(self, what: str) -> None:
        self.step(what)
        if what != "look" and self.world.faults.strikes("failed file"):
            self.note(f"refused: {what}")
            raise StoreError("The workspace cannot be used (simulated).")

    # --- ports.Clock and ports.Chance ---

    def now(self) -> str:
        skew = 0.0 if self.world.faults.over else self._skew
        millis = round((_BEGINNING + self.world.loop.time() + skew) * 1000)
        return f"{time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(millis // 1000))}.{millis % 1000:03d}Z"

    def token(self) -> str:
        self._tokens += 1
        return f"{sha256(f'{self.name} {self._tokens}'.encode()).hexdigest()[:12]}"

    def fraction(self) -> float:
        return self._random.random()
