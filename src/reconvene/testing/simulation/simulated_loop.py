"""An event loop whose time is simulated: nobody sleeps, and what is due next happens at once, always in one order."""

from __future__ import annotations

import asyncio
from typing import Any


class Stuck(Exception):
    """Everybody waits, and nothing is due that could wake one of them."""


class _NoFiles:
    """In place of a selector: waiting for files takes simulated time, and finds none."""

    def __init__(self, loop: SimulatedLoop) -> None:
        self._loop = loop

    def select(self, timeout: float | None = None) -> list[object]:
        if timeout is None:
            raise Stuck
        if timeout > 0:
            self._loop.moved(timeout)
        return []


class SimulatedLoop(asyncio.BaseEventLoop):
    def __init__(self) -> None:
        super().__init__()
        self._selector = _NoFiles(self)
        self._simulated = 0.0
        self._clock_resolution = 1e-6

    def time(self) -> float:
        return self._simulated

    def moved(self, seconds: float) -> None:
        self._simulated += seconds

    def _process_events(self, events: list[object]) -> None:
        """There are none: see `_NoFiles`."""

    def _write_to_self(self) -> None:
        """Only threads need that, and there are none."""

    def run_in_executor(self, *args: Any) -> Any:  # type: ignore[override]
        raise AssertionError("a thread was wanted: what it did would not be replayed")
