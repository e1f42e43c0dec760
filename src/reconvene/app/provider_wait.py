"""How long each task has waited for its provider, and what comes next: another try, or the run parks.

Keeps count for one driver. What is recorded of it is the log's business, how long a wait is `backoff`'s.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable

from msgspec import Struct

from reconvene.app.backoff import Chance, Park, Patience, Pause, following


class Next(Struct, frozen=True):
    """After so many failures in a row: wait, or park for so long."""

    times: int
    step: Pause | Park


def _of_the_loop() -> float:
    return asyncio.get_running_loop().time()


class ProviderWaits:
    def __init__(self, patience: Patience, chance: Chance, clock: Callable[[], float] = _of_the_loop) -> None:
        self._patience = patience
        self._chance = chance
        self._clock = clock
        self._failing: dict[str, tuple[float, int]] = {}  # task → when its provider first failed, and how often

    def after_failure(self, task: str, asked: float) -> Next:
        """Everything since the first failure counts as waiting: tries that hang, too, are time that a person waits."""
        now = self._clock()
        first, times = self._failing.get(task, (now, 0))
        self._failing[task] = (first, times + 1)
        return Next(times + 1, following(times + 1, asked, now - first, self._chance, self._patience))

    def over(self, task: str) -> None:
        self._failing.pop(task, None)
