"""W1: the overhead of a durable step. 200 trivial steps, one after the other; per step, against one commit of 1 KB.

The runs take turns fifty steps at a time, so that a busy disk hits everybody alike. A step lasts from one call of its
agent to the next, so that opening and closing do not count.
"""

from __future__ import annotations

import statistics
from collections.abc import Callable
from pathlib import Path

from bench import floors, ours
from bench import peer_burr as burr
from bench import peer_langgraph as langgraph
from bench.harness import BURR, FLOOR, LANGGRAPH, OURS, PEERS, Options, Row, in_turn, ratio
from bench.stepper import Stepper, Turn

TITLE = "200 sequential trivial steps"
STEPS = 200
SLICE = 50
TARGETS = {FLOOR: 1.5, LANGGRAPH: 0.45, BURR: 0.85}
IN_WAL = "Burr in WAL mode"  # beside it too, for who would set it up so

Work = Callable[[Path, int, Turn], None]


def measure(options: Options) -> list[Row]:
    chosen: dict[str, Work] = options.chosen(
        {OURS: ours.stepped, FLOOR: floors.stepped, LANGGRAPH: langgraph.stepped, BURR: burr.stepped}
    )
    if BURR in chosen:
        chosen[IN_WAL] = burr.stepped_in_wal
    taken: dict[str, list[float]] = {name: [] for name in chosen}
    with options.scratch() as folder:
        for sample in range(options.samples(15, 4)):
            _race(chosen, folder / str(sample), sample, taken)
    found = {name: statistics.median(costs) * 1000 / SLICE for name, costs in taken.items()}
    rows = [_row(found, beside) for beside in TARGETS if beside in options.sides]
    if IN_WAL in found:
        peers = {BURR: found[IN_WAL]}
        rows.append(Row("W1", f"the same, beside {IN_WAL}", "ms", found.get(OURS), found.get(FLOOR), peers))
    return rows


def _race(works: dict[str, Work], folder: Path, sample: int, taken: dict[str, list[float]]) -> None:
    """One fresh run of each, in turns."""
    folder.mkdir()
    runs = {name: Stepper(_at(work, folder / name), SLICE) for name, work in works.items()}
    for turn in range(STEPS // SLICE):
        for name in in_turn(runs, sample + turn):
            taken[name].append(runs[name].step())
    for run in runs.values():
        run.finish()


def _at(work: Work, place: Path) -> Callable[[Turn], None]:
    return lambda turn: work(place, STEPS + 1, turn)


def _row(found: dict[str, float], beside: str) -> Row:
    """The same figures for each of them; the score is ours over theirs."""
    return Row(
        workload="W1",
        what="durable step" if beside == FLOOR else f"the same, beside {PEERS[beside]}",
        unit="ms",
        ours=found.get(OURS),
        floor=found.get(FLOOR),
        peers=found,
        score=ratio(found.get(OURS), found.get(beside)),
        target=TARGETS[beside],
        of=f"× {PEERS.get(beside, beside)}",
    )
