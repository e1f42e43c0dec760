"""W1: the overhead of a durable step. 200 trivial steps, one after the other; per step, against one commit of 1 KB.

Runs take turns fifty steps at a time: fine enough that a busy disk hits everybody alike, coarse enough that what
happens only now and then (a snapshot, a checkpoint of the write-ahead log) is part of what is measured.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

from bench import floors, ours, peers
from bench.harness import FLOOR, OURS, PEER, Contender, Options, Row, medians, ratio
from bench.stepper import Stepper, Turn

TITLE = "200 sequential trivial steps"
STEPS, SLICE = 200, 50
TARGET = 1.5

Work = Callable[[Path, int, Turn], None]


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        works: dict[str, Work] = {OURS: ours.stepped, FLOOR: floors.stepped, PEER: peers.stepped}
        contenders = {name: _contender(work, folder / name) for name, work in options.chosen(works).items()}
        found = medians(contenders, options.samples(15, 4) * STEPS // SLICE, 1000)
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
    slices = _slices(work, folder)
    return lambda: next(slices)


def _slices(work: Work, folder: Path) -> Iterator[float]:
    """Seconds per step, slice after slice, run after run."""
    for number in itertools.count():
        stepper = _begun(work, folder / str(number))
        for done in range(SLICE, STEPS + 1, SLICE):
            taken = sum(stepper.step() for _ in range(SLICE)) / SLICE
            if done == STEPS:
                stepper.finish()
            yield taken


def _begun(work: Work, place: Path) -> Stepper:
    """Waiting before its first step. One step more than is measured: a step lasts from one turn to the next."""
    return Stepper(lambda turn: work(place, STEPS + 1, turn))
