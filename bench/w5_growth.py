"""W5: what a step costs at step 10, 100, 1,000 and 5,000 of one run, and how the database grows.

Minutes lie between step 10 and step 5,000, and a machine is not the same after minutes. So all runs stand in threads of
their own and take one step when told to, in turns; and around step 100, 1,000 and 5,000 a fresh run takes turns with
the old one, its steps 10 to 50 beside theirs. The score is the old run's step over the fresh run's of the same moment.
"""

from __future__ import annotations

import sqlite3
import statistics
import time
from collections import defaultdict
from collections.abc import Callable
from pathlib import Path

from bench import floors, ours
from bench import peer_langgraph as langgraph
from bench.harness import FLOOR, LANGGRAPH, OURS, Contender, Options, Row, in_turn, progress, ratio
from bench.stepper import Stepper, Turn

TITLE = "growth: one run of 5,000 steps"
AT = (10, 100, 1_000, 5_000)
YOUNG, WIDTH = 9, 41  # a fresh run's first steps do not count; a window is this wide
SEASONING = 500  # steps, enough for the write-ahead log to come round
FLAT, LINEAR = 1.2, 1.1
FRESH = "fresh"


Costs = dict[tuple[str, int], list[float]]  # (side, window) → seconds


class Race:
    """The long runs, in turns, and what was seen of them."""

    def __init__(self, folder: Path, options: Options, steps: int) -> None:
        self._folder, self._steps = folder, steps
        databases: dict[str, Callable[[], Path]] = {
            OURS: lambda: _database(folder / OURS),
            LANGGRAPH: lambda: folder / "threads.db",
        }
        self._databases = options.chosen(databases)
        self._with_ours = OURS in options.sides
        self.windows = {at: window(at, steps) for at in AT if at <= steps}
        self.costs: Costs = defaultdict(list)
        self.bytes: dict[str, list[int]] = defaultdict(list)

    def run(self) -> None:
        kept_open = self._season() if self._with_ours else None
        raw = floors.connect(self._folder / "floor.db")
        works: dict[str, Callable[[Turn], None]] = {
            OURS: lambda turn: ours.stepped(self._folder / OURS, self._steps, turn),
            LANGGRAPH: lambda turn: langgraph.growth(self._folder / "threads.db", self._steps, turn),
        }
        runs = {name: Stepper(works[name]) for name in self._databases}
        fresh: Stepper | None = None
        for step in range(1, self._steps):
            at = next((at for at, steps in self.windows.items() if step in steps), 0)
            if step in (1, self._steps // 2):
                self._weigh()
            if at > AT[0] and fresh is None and self._with_ours:
                fresh = self._begin_fresh()
            turns: dict[str, Contender] = {name: stepper.step for name, stepper in runs.items()}
            if at:
                turns[FLOOR] = lambda: _timed_commit(raw)
            if fresh:
                turns[FRESH] = fresh.step
            for name in in_turn(turns, step):
                self.costs[name, at].append(turns[name]())
            if fresh and step + 1 not in self.windows[at]:
                fresh.finish()
                fresh = None
        self._weigh()
        for stepper in runs.values():
            stepper.finish()
        raw.close()
        if kept_open:
            kept_open.close()

    def _season(self) -> sqlite3.Connection:
        """Young runs, not young files: while a write-ahead log still grows, every commit to it costs more. The log is
        removed with the last connection, so one is held on to.
        """
        home = self._folder / FRESH
        ours.stepped(home, 1, _no_wait)
        held = sqlite3.connect(_database(home))
        held.execute("SELECT count(*) FROM sqlite_master").fetchone()
        ours.stepped(home, SEASONING, _no_wait)
        return held

    def _begin_fresh(self) -> Stepper:
        stepper = Stepper(lambda turn: ours.stepped(self._folder / FRESH, YOUNG + WIDTH + 1, turn))
        for _ in range(YOUNG):
            stepper.step()
        return stepper

    def _weigh(self) -> None:
        for name, database in self._databases.items():
            self.bytes[name].append(_logical_size(database()))

    def cost(self, side: str, at: int) -> float | None:
        seen = self.costs.get((side, at))
        return statistics.median(seen) * 1000 if seen else None

    def bend(self, side: str) -> float | None:
        """Bytes of the second half over bytes of the first: 1 is a straight line."""
        if side not in self.bytes:
            return None
        first, half, last = self.bytes[side]
        return (last - half) / (half - first)

    def megabytes(self, side: str) -> float | None:
        return self.bytes[side][-1] / 2**20 if side in self.bytes else None


def window(at: int, last: int) -> range:
    """Steps around `at`, wholly inside the run, none of them the very first."""
    begin = max(YOUNG, min(at - WIDTH // 2, last - WIDTH))
    return range(begin, begin + WIDTH)


def measure(options: Options) -> list[Row]:
    steps = 1_000 if options.quick else AT[-1]
    if options.quick:
        progress(f"    --quick: {steps:,} steps instead of {AT[-1]:,}")
    with options.scratch() as folder:
        race = Race(folder, options, steps)
        race.run()
    return [*(_step_row(race, at, steps) for at in race.windows), _bytes_row(race, steps)]


def _step_row(race: Race, at: int, steps: int) -> Row:
    last = at == steps
    return Row(
        workload="W5",
        what=f"step {at:,}",
        unit="ms",
        ours=race.cost(OURS, at),
        floor=race.cost(FLOOR, at),
        peers={LANGGRAPH: race.cost(LANGGRAPH, at)},
        score=ratio(race.cost(OURS, at), race.cost(FRESH, at)) if last else None,
        target=FLAT if last else None,
        of=f"× step {AT[0]}",
    )


def _bytes_row(race: Race, steps: int) -> Row:
    return Row(
        workload="W5",
        what=f"database after {steps:,}",
        unit="MB",
        ours=race.megabytes(OURS),
        floor=steps * len(floors.ROW) / 2**20,
        peers={LANGGRAPH: race.megabytes(LANGGRAPH)},
        score=race.bend(OURS),
        target=LINEAR,
        of="2nd half ÷ 1st",
    )


def _no_wait() -> None:
    return None


def _timed_commit(raw: sqlite3.Connection) -> float:
    begun = time.perf_counter()
    floors.commit(raw)
    return time.perf_counter() - begun


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
