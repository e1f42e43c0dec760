"""W4: ten thousand parked runs. Time to park one, bytes per run, listing the inbox, resuming a hundred at random.

Everybody parks in turns of a hundred. Nothing is held between them: the list and the resumes use newly opened stores.
"""

from __future__ import annotations

import asyncio
import random
import statistics
import time
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from bench import floors, ours
from bench import peer_langgraph as langgraph
from bench.harness import FLOOR, LANGGRAPH, OURS, Options, Row, interleave, progress

TITLE = "10,000 parked runs"
RUNS, TURN, RESUMED = 10_000, 100, 100
INBOX_MS, KB_PER_RUN = 50.0, 8.0


class Side(Protocol):
    """One contender. `park` and `resume` return seconds per run."""

    def park(self, count: int) -> float: ...

    def reopen(self) -> int:
        """Close everything, weigh what is left on disk, open it anew."""

    def inbox(self) -> float: ...

    def resume(self, chosen: list[int]) -> float: ...

    def close(self) -> None: ...


class Ours:
    def __init__(self, folder: Path) -> None:
        self._home = folder / "ours"
        self._made = ours.workflow(ours.REVIEW)
        self._runs: list[str] = []
        self._open()

    def _open(self) -> None:
        from reconvene.wiring import open_engine

        self._engine = open_engine(str(self._home))

    def park(self, count: int) -> float:
        async def parked() -> None:
            for _ in range(count):
                self._runs.append(await ours.park(self._engine, self._made))

        begun = time.perf_counter()
        asyncio.run(parked())
        return (time.perf_counter() - begun) / count

    def reopen(self) -> int:
        self.close()
        size = _size(self._home)
        self._open()
        return size

    def inbox(self) -> float:
        begun = time.perf_counter()
        waiting = self._engine.log.index(status="waiting")
        taken = time.perf_counter() - begun
        assert len(waiting) == len(self._runs)
        return taken

    def resume(self, chosen: list[int]) -> float:
        async def resumed() -> None:
            for number in chosen:
                await ours.answer(self._engine, self._runs[number])

        begun = time.perf_counter()
        asyncio.run(resumed())
        return (time.perf_counter() - begun) / len(chosen)

    def close(self) -> None:
        asyncio.run(self._engine.close())


class Floor:
    """Parking is three commits (started, worked, waiting), resuming two; the inbox is a table of its own."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "floor" / "log.db"
        self._path.parent.mkdir()
        self._parked = 0
        self._open()

    def _open(self) -> None:
        self._db = floors.connect(self._path)
        self._db.execute("CREATE INDEX IF NOT EXISTS log_by_run ON log (run)")
        self._db.execute("CREATE TABLE IF NOT EXISTS inbox (run TEXT PRIMARY KEY, status TEXT, doc TEXT)")

    def park(self, count: int) -> float:
        begun = time.perf_counter()
        for number in range(self._parked, self._parked + count):
            floors.commit(self._db, run=str(number))
            floors.commit(self._db, run=str(number))
            self._db.execute("INSERT INTO inbox VALUES (?, 'waiting', ?)", (str(number), "x" * 400))
        self._parked += count
        return (time.perf_counter() - begun) / count

    def reopen(self) -> int:
        self.close()
        size = _size(self._path.parent)
        self._open()
        return size

    def inbox(self) -> float:
        begun = time.perf_counter()
        self._db.execute("SELECT * FROM inbox WHERE status = 'waiting'").fetchall()
        return time.perf_counter() - begun

    def resume(self, chosen: list[int]) -> float:
        begun = time.perf_counter()
        for number in chosen:
            self._db.execute("SELECT data FROM log WHERE run = ? ORDER BY seq LIMIT 2", (str(number),)).fetchall()
            floors.commit(self._db, run=str(number))
            floors.commit(self._db, 2, run=str(number))
        return (time.perf_counter() - begun) / len(chosen)

    def close(self) -> None:
        self._db.close()


class LangGraph:
    def __init__(self, folder: Path) -> None:
        self._path = folder / "langgraph" / "threads.db"
        self._path.parent.mkdir()
        self._parked = 0
        self._open()

    def _open(self) -> None:
        self._keeper = langgraph.saver(self._path)
        self._graph = langgraph.review_graph(self._keeper)

    def park(self, count: int) -> float:
        begun = time.perf_counter()
        for number in range(self._parked, self._parked + count):
            langgraph.park(self._graph, str(number))
        self._parked += count
        return (time.perf_counter() - begun) / count

    def reopen(self) -> int:
        self.close()
        size = _size(self._path.parent)
        self._open()
        return size

    def inbox(self) -> float:
        begun = time.perf_counter()
        waiting = langgraph.inbox(self._keeper)
        taken = time.perf_counter() - begun
        assert len(waiting) == self._parked
        return taken

    def resume(self, chosen: list[int]) -> float:
        begun = time.perf_counter()
        for number in chosen:
            langgraph.answer(self._graph, str(number))
        return (time.perf_counter() - begun) / len(chosen)

    def close(self) -> None:
        self._keeper.conn.close()


def measure(options: Options) -> list[Row]:
    runs = 500 if options.quick else RUNS
    if options.quick:
        progress(f"    --quick: {runs} runs instead of {RUNS}")
    with options.scratch() as folder:
        kinds: dict[str, Callable[[Path], Side]] = {OURS: Ours, FLOOR: Floor, LANGGRAPH: LangGraph}
        sides = {name: kind(folder) for name, kind in options.chosen(kinds).items()}
        parked = interleave({name: _parking(side) for name, side in sides.items()}, runs // TURN)
        size = {name: [side.reopen() / runs] for name, side in sides.items()}
        listed = {name: [side.inbox() for _ in range(3 if name == LANGGRAPH else 9)] for name, side in sides.items()}
        chosen = random.Random(7).sample(range(runs), RESUMED)
        turns = [chosen[begin : begin + 10] for begin in range(0, RESUMED, 10)]
        resumed: dict[str, list[float]] = {name: [] for name in sides}
        for turn in turns:
            for name, side in sides.items():
                resumed[name].append(side.resume(turn))
        for side in sides.values():
            side.close()
    return [
        _row("park one run", "ms", parked, 1000),
        _row("bytes per parked run", "KB", size, 1 / 1024, KB_PER_RUN),
        _row(f"inbox of {runs:,}", "ms", listed, 1000, INBOX_MS),
        _row("resume one of them", "ms", resumed, 1000),
    ]


def _parking(side: Side) -> Callable[[], float]:
    return lambda: side.park(TURN)


def _row(what: str, unit: str, taken: dict[str, list[float]], scale: float, target: float | None = None) -> Row:
    found = {name: statistics.median(values) * scale for name, values in taken.items()}
    return Row(
        workload="W4",
        what=what,
        unit=unit,
        ours=found.get(OURS),
        floor=found.get(FLOOR),
        peers=found,
        score=found.get(OURS),
        target=target,
        of=unit,
    )


def _size(folder: Path) -> int:
    """Everything a run leaves behind: database, workspace, history."""
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())
