"""The engine's side of every workload, through the door a program uses: `open_engine`, `start`, `drive`, `submit`."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from bench import agents

if TYPE_CHECKING:
    from pathlib import Path

    from bench.stepper import Turn
    from reconvene.app.engine import Engine
    from reconvene.core.definition.workflow import Workflow

_LIMITS = "limits: {rounds: 100000, calls: 100000, concurrency: 1000}"

REVIEW = f"""
name: review
{_LIMITS}
agents:
  writer: {{python: "bench.agents:trivial"}}
  reviewer: {{python: "bench.agents:trivial"}}
phases:
  - {{id: draft, agents: [writer], checkpoint: {{approval_required: true}}}}
  - {{id: review, agents: [reviewer], checkpoint: {{approval_required: true}}}}
"""


def workflow(text: str) -> Workflow:
    from reconvene.wire.workflow_file import parse_workflow

    return parse_workflow(text, "bench.yaml")


def rounds_of(function: str, agents: int, rounds: int) -> Workflow:
    """One phase of `rounds` planned rounds, all `agents` at the same time in each."""
    names = [f"a{number}" for number in range(1, agents + 1)]
    plan = ", ".join(f"r{number}" for number in range(1, rounds + 1))
    declared = "\n".join(f'  {name}: {{python: "bench.agents:{function}"}}' for name in names)
    return workflow(
        f"name: rounds\n{_LIMITS}\nagents:\n{declared}\n"
        f"phases:\n  - {{id: work, agents: [{', '.join(names)}], rounds: {{plan: [{plan}]}}}}\n"
    )


@contextmanager
def opened(home: Path | str) -> Iterator[Engine]:
    from reconvene.wiring import open_engine

    engine = open_engine(str(home))
    try:
        yield engine
    finally:
        asyncio.run(engine.close())


def _driven(home: Path, made: Workflow, expected: str) -> float:
    """Seconds of one `drive`. The run must get where it should: a run that stops early would look fast."""
    with opened(home) as engine:
        run = engine.start(made, {}, by="bench", door="bench")

        async def timed() -> float:
            begun = time.perf_counter()
            state = await engine.drive(run)
            taken = time.perf_counter() - begun
            assert state.status == expected, f"the run is {state.status}, not {expected}"
            return taken

        return asyncio.run(timed())


def stepped(home: Path, count: int, turn: Turn) -> None:
    """`count` trivial steps, one after the other, each waiting for its turn."""
    agents.this_thread.turn = turn
    _driven(home, rounds_of("stepped", 1, count), "completed")


def fanout(home: Path, agents: int, rounds: int) -> float:
    return _driven(home, rounds_of("sleep50", agents, rounds), "completed")


async def park(engine: Engine, made: Workflow) -> str:
    run = engine.start(made, {}, by="bench", door="bench")
    state = await engine.drive(run)
    assert state.status == "waiting", f"the run is {state.status}, not waiting"
    return run


async def answer(engine: Engine, run: str) -> None:
    """Decide, and drive to the next checkpoint."""
    from reconvene.core.facts.commands import AnswerCheckpoint

    engine.submit(run, AnswerCheckpoint(checkpoint="", option="Continue", by="bench", door="bench"), driving=True)
    state = await engine.drive(run)
    assert state.status == "waiting", f"the run is {state.status}, not waiting"
