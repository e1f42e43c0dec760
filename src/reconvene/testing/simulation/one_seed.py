"""One seed from its beginning to its end: faults for a while, then none, and everything must come to its end."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from random import Random

from msgspec import Struct

from reconvene.app.session import forget_books
from reconvene.app.worker import Worker
from reconvene.core.facts.events import AttemptEnded
from reconvene.errors import ReconveneError
from reconvene.ports import Listener, Progress
from reconvene.testing.simulation.simulated_agents import Outside, SimulatedAgents
from reconvene.testing.simulation.simulated_flows import TEXTS, flow
from reconvene.testing.simulation.simulated_loop import Stuck
from reconvene.testing.simulation.simulated_people import Acknowledged, Person
from reconvene.testing.simulation.simulated_world import Killed, Process, Violation, World
from reconvene.testing.simulation.what_holds import check

_PATIENCE = 300.0  # simulated seconds in which every run must have ended once faults are over


class Outcome(Struct, frozen=True):
    seed: int
    wrong: tuple[str, ...]  # what does not hold; () = all does
    digest: str  # of the trace: the same whenever the seed is the same
    trace: tuple[str, ...]
    faults: dict[str, float]
    seconds: float  # that were simulated
    events: int


def simulate(seed: int) -> Outcome:
    forget_books()
    outside = Outside()
    world = World(seed, lambda process: SimulatedAgents(process, outside))
    known = Acknowledged()
    try:
        world.loop.run_until_complete(_play(world, known))
        check(world, known, outside)
    except (Violation, Stuck) as error:
        world.violated(str(error) or "everybody waits, and nothing is due")
    finally:
        _leave(world)
    events = sum(world.disk.heads().values())
    return Outcome(
        seed, tuple(world.violations), world.digest, tuple(world.trace), world.faults.rates, world.loop.time(), events
    )


def _leave(world: World) -> None:
    for process in list(world.living.values()):
        process.end()
    tasks = sorted(asyncio.all_tasks(world.loop), key=hash)
    for task in tasks:
        task.cancel()
    if tasks:
        world.loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    world.loop.close()


async def _play(world: World, known: Acknowledged) -> None:
    random = Random(f"play {world.seed}")
    people = [Person(world, name, known) for name in ("ann", "bob")]
    names = random.choices(sorted(TEXTS), k=random.choice((1, 1, 2)))
    for name in names:
        known.started.append(await _started(world, name))
    world.bystanders += [person.act for person in people]
    lives = [person.live() for person in people] + [_work(world, f"worker{n}") for n in range(random.choice((1, 2)))]
    tasks = [asyncio.create_task(life) for life in lives]
    tasks.append(asyncio.create_task(_reap(world, Random(f"reaper {world.seed}"))))
    await asyncio.sleep(random.uniform(4, 16))
    world.faults.over = world.closing = True
    world.note("", "faults are over")
    try:
        await _until(lambda: all(row.status in _ENDED for row in world.disk.index()), world, tasks)
    finally:
        for task in tasks:
            task.cancel()


_ENDED = ("completed", "failed", "aborted")


async def _until(done: Callable[[], bool], world: World, tasks: list[asyncio.Task[None]]) -> None:
    deadline = world.loop.time() + _PATIENCE
    while not done():
        for task in tasks:
            if task.done() and not task.cancelled() and (error := task.exception()) is not None:
                raise Violation(f"the simulation broke: {type(error).__name__}: {error}") from error
        if world.loop.time() > deadline:
            left = [f"{row.run} ({row.status})" for row in world.disk.index() if row.status not in _ENDED]
            raise Violation(f"not at its end {_PATIENCE:.0f} s after the last fault: {', '.join(left)}")
        await asyncio.sleep(1)


async def _started(world: World, name: str) -> str:
    """Tried until somebody was told that it is started."""
    while True:
        process = world.process("starter")
        try:
            return process.engine.start(flow(name), by="ann", door="simulated")
        except (Killed, ReconveneError) as error:
            process.note(f"not started: {type(error).__name__}")
        finally:
            process.end()
        await asyncio.sleep(1)


async def _work(world: World, name: str) -> None:
    """A worker that is started again whenever it has ended."""
    while True:
        process = world.process(name)
        worker = Worker(
            process.engine,
            2,
            tell=lambda told, process=process: process.note(f"tells of {told.run}: {told.error or told.lapsed}"),  # type: ignore[misc]
            begin=lambda run, process=process: _listener(process),  # type: ignore[misc]
            permit=lambda run: None,
        )
        await asyncio.wait([process.spawn(worker.work())])
        await asyncio.sleep(world.faults.between(0.1, 3))


def _listener(process: Process) -> Listener:
    """What is said to be done is on disk."""

    def listen(progress: Progress) -> None:
        if progress.what != "done":
            return
        process.note(f"tells that {progress.task} is done")
        ended = [event for _, event in process.world.disk.read(progress.run) if isinstance(event, AttemptEnded)]
        if not any(event.task == progress.task and event.verdict == "accepted" for event in ended):
            process.world.violated(f"{progress.task} is said to be done, and is not on disk")

    return listen


async def _reap(world: World, random: Random) -> None:
    """Kills processes at any moment, also where they wait."""
    while "crash" in world.faults.rates:
        await asyncio.sleep(random.expovariate(1 / 6.0))
        if world.faults.over:
            return
        living = sorted(world.living)
        if living:
            world.living[random.choice(living)].die("any moment")
