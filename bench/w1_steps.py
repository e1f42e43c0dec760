"""W1: the overhead of a durable step. 200 trivial steps, one after the other; per step, against one commit of 1 KB.

Whole runs take turns. A step lasts from one call of its agent to the next, so that opening and closing do not count.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

from bench import floors, ours
from bench import peer_burr as burr
from bench import peer_langgraph as langgraph
from bench.harness import BURR, FLOOR, LANGGRAPH, OURS, PEERS, Contender, Options, Row, medians, ratio
from bench.stepper import Turn

TITLE = "200 sequential trivial steps"
STEPS = 200
TARGETS = {FLOOR: 1.5, LANGGRAPH: 0.45, BURR: 0.85}

Work = Callable[[Path, int, Turn], None]


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        works: dict[str, Work] = {
            OURS: ours.stepped,
            FLOOR: floors.stepped,
            LANGGRAPH: langgraph.stepped,
            BURR: burr.stepped,
        }
        contenders = {name: _contender(work, folder / name) for name, work in options.chosen(works).items()}
        found = medians(contenders, options.samples(15, 4), 1000)
    return [_row(found, beside) for beside in TARGETS if beside in options.sides]


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


def _contender(work: Work, folder: Path) -> Contender:
    folder.mkdir()
    places = (folder / str(number) for number in itertools.count())
    return lambda: _per_step(work, next(places))


def _per_step(work: Work, place: Path) -> float:
    begun: list[float] = []
    work(place, STEPS + 1, lambda: begun.append(time.perf_counter()))
    assert len(begun) > STEPS
    return (begun[STEPS] - begun[0]) / STEPS
