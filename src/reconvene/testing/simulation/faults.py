"""What goes wrong in a simulation, how often, and until when. Everything is drawn from the seed.

A seed has some kinds of faults and not others, each with a rate of its own: what only shows where one thing fails and
everything else works is met as well as what needs several failures.
"""

from __future__ import annotations

from random import Random

KINDS: dict[str, tuple[float, float]] = {  # the lowest and the highest rate that a seed may give it
    "crash": (0.002, 0.03),  # a process is killed at an operation
    "crash in a write": (0.01, 0.08),  # while it appends: all of it may be there afterwards, or nothing
    "power cut": (0.0002, 0.002),  # everybody is killed, and what was not synced is gone
    "failed write": (0.01, 0.1),  # refused, and nothing is written
    "unknown write": (0.005, 0.05),  # refused, and written all the same
    "disk full": (0.002, 0.02),  # for a while, whatever is written is refused
    "locked": (0.002, 0.03),  # the same for a shorter while
    "failed read": (0.0005, 0.005),
    "failed file": (0.01, 0.1),  # a file of the workspace cannot be written
    "second driver": (0.05, 0.5),  # the lease is given to a second one though the first lives
    "clock jump": (0.001, 0.02),  # of one process, forwards or backwards
    "interleaved": (0.02, 0.2),  # somebody else acts between two operations of a process
    "slow agent": (0.05, 0.4),  # it answers long after the others
    "failing agent": (0.02, 0.2),
    "failing provider": (0.02, 0.2),
    "agent outlives": (0.2, 0.9),  # the program of an agent goes on though the process that started it was killed
}


class Faults:
    def __init__(self, random: Random) -> None:
        self._random = random
        self.rates = {kind: random.uniform(*bounds) for kind, bounds in KINDS.items() if random.random() < 0.45}
        self.over = False

    def strikes(self, kind: str) -> bool:
        """Whether it happens now. What a seed lacks costs no draw, so that rates can be looked at one by one."""
        rate = 0.0 if self.over else self.rates.get(kind, 0.0)
        return rate > 0 and self._random.random() < rate

    def between(self, low: float, high: float) -> float:
        return self._random.uniform(low, high)

    def either(self) -> bool:
        return self._random.random() < 0.5
