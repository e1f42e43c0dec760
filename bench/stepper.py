"""Runs that take one step when told to, so that several can take turns step by step. Knows no engine."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable

Turn = Callable[[], None]


class Stepper:
    """A run in a thread of its own. `work` is given a function that its agent must call in every step.

    `every`: how many steps it takes at a time.
    """

    def __init__(self, work: Callable[[Turn], None], every: int = 1) -> None:
        self._every, self._taken = every, -1
        self._go, self._here = threading.Semaphore(0), threading.Semaphore(0)
        self._left, self._cost = 0.0, 0.0
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._live, args=(work,), daemon=True)
        self._thread.start()
        self._arrived()

    def _live(self, work: Callable[[Turn], None]) -> None:
        try:
            work(self._turn)
        except BaseException as failure:
            self._failure = failure
        finally:
            self._here.release()

    def _turn(self) -> None:
        """Inside the agent: stop here until told to go on. Stamped on this side, so that waking up is not counted."""
        self._taken += 1
        if self._taken % self._every:
            return
        self._cost = time.perf_counter() - self._left
        self._here.release()
        self._go.acquire()
        self._left = time.perf_counter()

    def _arrived(self) -> None:
        self._here.acquire()
        if self._failure is not None:
            raise self._failure

    def step(self) -> float:
        """From leaving the agent to entering it again, in seconds; over `every` steps."""
        self._go.release()
        self._arrived()
        return self._cost

    def finish(self) -> None:
        """After the last step."""
        self.step()
        self._thread.join()
