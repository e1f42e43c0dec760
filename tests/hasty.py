"""An event loop whose clock a test may put forward: what takes an hour happens when the test says so."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable

_LONGEST = 300.0  # seconds of real time for something to happen: reached only where it never does


class HastyLoop(asyncio.SelectorEventLoop):
    _ahead = 0.0

    def time(self) -> float:
        return super().time() + self._ahead

    def put_forward(self, seconds: float) -> None:
        self._ahead += seconds


async def turns(count: int) -> None:
    """As many turns of the event loop: whatever only waits for its turn has had it."""
    for _ in range(count):
        await asyncio.sleep(0)


async def until(true: Callable[[], object]) -> None:
    """While others work: look again and again until it has happened."""
    deadline = time.monotonic() + _LONGEST
    while not true():
        assert time.monotonic() < deadline, "it never happened"
        await asyncio.sleep(0.005)
