"""W2: agents that work at the same time. 7 × 50 ms × 10 rounds, and 200 × 50 ms; against the sleep itself.

The floor sleeps too, and commits the outputs of a round together.
"""

from __future__ import annotations

import itertools

from bench import floors, ours
from bench import peer_langgraph as langgraph
from bench.agents import SLEEP
from bench.harness import FLOOR, LANGGRAPH, OURS, Contender, Options, Row, medians, ratio

TITLE = "fan-out: 7 agents × 50 ms × 10 rounds, 200 agents × 50 ms"


def measure(options: Options) -> list[Row]:
    return [_one(options, agents=7, rounds=10, target=1.25), _one(options, agents=200, rounds=1, target=2.0)]


def _one(options: Options, agents: int, rounds: int, target: float) -> Row:
    with options.scratch() as folder:
        fresh = (folder / str(number) for number in itertools.count())
        contenders: dict[str, Contender] = {
            OURS: lambda: ours.fanout(next(fresh), agents, rounds),
            FLOOR: lambda: floors.fanout(next(fresh), agents, rounds, SLEEP),
            LANGGRAPH: lambda: langgraph.fanout(next(fresh), agents, rounds, SLEEP),
        }
        found = medians(options.chosen(contenders), options.samples(7, 3), 1000 / rounds)
    return Row(
        workload="W2",
        what=f"round of {agents} agents × 50 ms",
        unit="ms",
        ours=found.get(OURS),
        floor=found.get(FLOOR),
        peers=found,
        score=ratio(found.get(OURS), SLEEP * 1000),
        target=target,
        of="× sleep",
    )
