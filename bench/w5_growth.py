"""W5: what a step costs at step 10, 100, 1,000 and 5,000 of one run, and how the database grows.

Minutes lie between step 10 and step 5,000, and a machine is not the same after minutes. So inside each window of steps
the agent also makes a raw commit, and a window's cost is compared in units of the floor of that very moment.
"""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections.abc import Callable
from pathlib import Path

from bench import agents, floors, ours, peers
from bench.harness import OURS, PEER, Options, Row, progress

TITLE = "growth: one run of 5,000 steps"
AT = (10, 100, 1_000, 5_000)
FLAT, LINEAR = 1.2, 1.1


class Probe:
    """Called once in every step. Within a window it measures: since the last call one step's cost, then one commit."""

    def __init__(self, folder: Path, database: Callable[[], Path], steps: int) -> None:
        self._windows = {at: window(at, steps) for at in AT if at <= steps}
        self._half, self._last = steps // 2, steps
        self._database = database
        self._floor = floors.connect(folder / "probe.db")
        self._step = 0
        self._left = 0.0
        self.costs: dict[int, list[float]] = {at: [] for at in self._windows}
        self.floors: dict[int, list[float]] = {at: [] for at in self._windows}
        self.bytes: dict[int, int] = {}

    def __call__(self) -> None:
        arrived = time.perf_counter()
        self._step += 1
        for at, steps in self._windows.items():
            if self._step in steps:
                if self._step - 1 in steps:
                    self.costs[at].append(arrived - self._left)
                begun = time.perf_counter()
                floors.commit(self._floor)
                self.floors[at].append(time.perf_counter() - begun)
        if self._step in (1, self._half, self._last):
            self.bytes[self._step] = _logical_size(self._database())
        self._left = time.perf_counter()

    def cost(self, at: int) -> float:
        return statistics.median(self.costs[at]) * 1000

    def floor(self, at: int) -> float:
        return statistics.median(self.floors[at]) * 1000

    def relative(self, at: int) -> float:
        return self.cost(at) / self.floor(at)

    def bend(self) -> float:
        """Bytes of the second half over bytes of the first: 1 is a straight line."""
        first, half, last = (self.bytes[step] for step in (1, self._half, self._last))
        return (last - half) / (half - first)


def window(at: int, last: int) -> range:
    """About forty steps around `at`, wholly inside the run, none of them the very first."""
    begin = max(3, min(at - 20, last - 41))
    return range(begin, begin + 41)


def measure(options: Options) -> list[Row]:
    steps = 1_000 if options.quick else AT[-1]
    if options.quick:
        progress(f"    --quick: {steps:,} steps instead of {AT[-1]:,}")
    with options.scratch() as folder:
        mine = _ours(folder, steps) if OURS in options.sides else None
        theirs = _langgraph(folder, steps) if PEER in options.sides else None
    steps_shown = [at for at in AT if at <= steps]
    return [*(_step_row(at, mine, theirs, steps) for at in steps_shown), _bytes_row(mine, theirs, steps)]


def _ours(folder: Path, steps: int) -> Probe:
    probe = Probe(folder, lambda: _database(folder / "ours"), steps)
    agents.probes.append(probe)
    ours.growth(folder / "ours", steps)
    agents.probes.remove(probe)
    return probe


def _langgraph(folder: Path, steps: int) -> Probe:
    database = folder / "threads.db"
    probe = Probe(folder, lambda: database, steps)
    peers.growth(database, steps, probe)
    return probe


def _step_row(at: int, mine: Probe | None, theirs: Probe | None, steps: int) -> Row:
    last = at == steps
    either = mine or theirs
    return Row(
        workload="W5",
        what=f"step {at:,}",
        unit="ms",
        ours=mine.cost(at) if mine else None,
        floor=either.floor(at) if either else None,
        peer=theirs.cost(at) if theirs else None,
        score=mine.relative(at) / mine.relative(AT[0]) if mine and last else None,
        target=FLAT if last else None,
        of=f"× step {AT[0]}",
    )


def _bytes_row(mine: Probe | None, theirs: Probe | None, steps: int) -> Row:
    return Row(
        workload="W5",
        what=f"database after {steps:,}",
        unit="MB",
        ours=mine.bytes[steps] / 2**20 if mine else None,
        floor=steps * len(floors.ROW) / 2**20,
        peer=theirs.bytes[steps] / 2**20 if theirs else None,
        score=mine.bend() if mine else None,
        target=LINEAR,
        of="2nd half ÷ 1st",
    )


def _database(home: Path) -> Path:
    """The largest SQLite file of a home."""
    found = [path for path in home.rglob("*") if path.is_file() and path.open("rb").read(15) == b"SQLite format 3"]
    return max(found, key=lambda path: path.stat().st_size)


def _logical_size(path: Path) -> int:
    """Pages in use as a reader sees them, so that what still lies in the write-ahead log counts too."""
    reader = sqlite3.connect(path)
    pages, size = (reader.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    reader.close()
    return int(pages) * int(size)
