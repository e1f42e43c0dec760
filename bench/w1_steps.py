"""W1: the overhead of a durable step. 200 trivial steps, one after the other; per step, against one commit of 1 KB."""

from __future__ import annotations

import itertools

from bench import floors, ours, peers
from bench.harness import FLOOR, OURS, PEER, Contender, Options, Row, medians, ratio

TITLE = "200 sequential trivial steps"
STEPS = 200
TARGET = 1.5


def measure(options: Options) -> list[Row]:
    with options.scratch() as folder:
        fresh = (folder / str(number) for number in itertools.count())
        contenders: dict[str, Contender] = {
            OURS: lambda: ours.steps(next(fresh), STEPS),
            FLOOR: lambda: floors.steps(next(fresh), STEPS),
            PEER: lambda: peers.steps(next(fresh), STEPS),
        }
        found = medians(options.chosen(contenders), options.samples(9, 3), 1000 / STEPS)
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
