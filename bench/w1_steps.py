"""W1: the overhead of a durable step. 200 trivial steps, one after the other; per step, against one commit of 1 KB.

Whole runs take turns. A step lasts from one call of its agent to the next, so that opening and closing do not count.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable
from pathlib import Path

from bench import floors, ours, peers
from bench.harness import FLOOR, OURS, PEER, Contender, Options, Row, medians, ratio
from bench.stepper import Turn

TITLE = "200 sequential trivial steps"
STEPS = 200
TARGET = 1.5

Work = Callable[[Path, int, Turn], None]


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        works: dict[str, Work] = {OURS: ours.stepped, FLOOR: floors.stepped, PEER: peers.stepped}
        contenders = {name: _contender(work, folder / name) for name, work in options.chosen(works).items()}
        found = medians(contenders, options.samples(15, 4), 1000)
    return [
        Row(
            workload="W1",
            what="durable step",
            unit="ms",
            ours=found.get(OURS),
            floor=found.get(FLOOR),
            peer=found.get(PEER),
            score=ratio(found.get(OURS), found.get(FLOOR)),
            target=TARGET,
            of="× floor",
        )
    ]


def _contender(work: Work, folder: Path) -> Contender:
    folder.mkdir()
    places = (folder / str(number) for number in itertools.count())
    return lambda: _per_step(work, next(places))


def _per_step(work: Work, place: Path) -> float:
    begun: list[float] = []
    work(place, STEPS + 1, lambda: begun.append(time.perf_counter()))
    assert len(begun) > STEPS
    return (begun[STEPS] - begun[0]) / STEPS
