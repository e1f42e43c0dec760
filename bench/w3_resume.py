"""W3: pause, exit, resume in a fresh process: a decision is given and the run driven to its next checkpoint.

Timed twice: inside the process, from loaded code to the next checkpoint; and whole, from starting the interpreter to
its end. "Loaded code" is taken literally: a first process reports what it imported on the way, the measured ones import
that before their clock starts. The last row is the real command, `reconvene decide`, which also brings the git history
up to date.
"""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from bench import floors, ours, peers
from bench.harness import FLOOR, OURS, PEER, ROOT, Options, Row, interleave

TITLE = "pause, exit, resume in a fresh process"
INSIDE, WHOLE = 15.0, 400.0
THREAD = "run"


class Report(NamedTuple):
    """What bench.w3_child prints."""

    seconds: float
    loaded: list[str]


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        fresh = (folder / str(number) for number in itertools.count())
        kinds = options.sides
        preload = {kind: _child(kind, _parked(kind, fresh)).loaded for kind in kinds}
        samples = options.samples(15, 5)
        inside = interleave({kind: _inside(kind, fresh, preload[kind]) for kind in kinds}, samples)
        whole = interleave({kind: _whole(kind, fresh) for kind in kinds}, samples)
        command = interleave({OURS: _decide(fresh)} if OURS in kinds else {}, samples)
    return [
        _row("loaded code → next checkpoint", inside, INSIDE),
        _row("the same, with interpreter start", whole, WHOLE),
        _row("reconvene decide, git history too", command, None),
    ]


def _row(what: str, taken: dict[str, list[float]], target: float | None) -> Row:
    found = {kind: statistics.median(values) * 1000 for kind, values in taken.items()}
    return Row(
        workload="W3",
        what=what,
        unit="ms",
        ours=found.get(OURS),
        floor=found.get(FLOOR),
        peer=found.get(PEER),
        score=found.get(OURS),
        target=target,
        of="ms",
    )


def _parked(kind: str, fresh: Iterator[Path]) -> tuple[str, str]:
    """A run that waits at its first checkpoint, left behind by whoever parked it: (place, run)."""
    place = next(fresh)
    match kind:
        case "ours":
            with ours.opened(place) as engine:
                return str(place), asyncio.run(ours.park(engine, ours.workflow(ours.REVIEW)))
        case "langgraph":
            keeper = peers.saver(place)
            peers.park(peers.review_graph(keeper), THREAD)
            keeper.conn.close()
        case _:
            connection = floors.connect(place)
            floors.commit(connection, 5)
            connection.close()
    return str(place), THREAD


def _inside(kind: str, fresh: Iterator[Path], preload: list[str]) -> Callable[[], float]:
    return lambda: _child(kind, _parked(kind, fresh), preload).seconds


def _whole(kind: str, fresh: Iterator[Path]) -> Callable[[], float]:
    def timed() -> float:
        place, run = _parked(kind, fresh)
        return _timed([sys.executable, "-m", "bench.w3_child", kind, place, run], 0)

    return timed


def _decide(fresh: Iterator[Path]) -> Callable[[], float]:
    def timed() -> float:
        place, run = _parked(OURS, fresh)
        command = [sys.executable, "-m", "reconvene.doors.cli.main", "--home", place, "decide", run]
        return _timed([*command, "--option", "Continue", "--by", "bench", "--json"], 3)

    return timed


def _timed(command: list[str], expected: int) -> float:
    begun = time.perf_counter()
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True, stdin=subprocess.DEVNULL)
    taken = time.perf_counter() - begun
    assert done.returncode == expected, done.stderr.decode()
    return taken


def _child(kind: str, parked: tuple[str, str], preload: list[str] | None = None) -> Report:
    command = [sys.executable, "-m", "bench.w3_child", kind, *parked, json.dumps(preload or [])]
    done = subprocess.run(command, cwd=ROOT, env=_environment(), capture_output=True)
    assert done.returncode == 0, done.stderr.decode()
    return Report(**json.loads(done.stdout))


def _environment() -> dict[str, str]:
    """The agents of the run are found in the project's folder."""
    return {**os.environ, "PYTHONPATH": str(ROOT)}
