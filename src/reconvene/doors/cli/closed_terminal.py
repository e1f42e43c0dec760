"""A terminal that was closed while a run is driven: nobody reads there, and the run is parked in order."""

from __future__ import annotations

import errno
import os
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from reconvene.ports import Listener, Progress


def open_terminals() -> list[int]:
    """Of the standard streams, those that are at one."""
    return [number for number in (0, 1, 2) if os.isatty(number)]


def leave_closed(screens: Iterable[int]) -> None:
    """What is written to one of these that is closed goes nowhere from now on, instead of failing."""
    for number in [number for number in screens if not os.isatty(number)]:
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, number)
        os.close(nothing)


def unless_closed(listener: Listener) -> Listener:
    """Tells it what happens as long as it can be shown; the word that the terminal is closed comes a moment later."""

    def hear(progress: Progress) -> None:
        try:
            listener(progress)
        except OSError as error:
            if error.errno != errno.EIO:
                raise

    return hear
