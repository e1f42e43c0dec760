"""Keeps standard output for what this program says itself: what agents print while they work goes to standard error.

A Python agent's `print`, a thread of its own, or a program that it starts would otherwise get into the middle of what a
script reads. On a terminal both are the same, and nothing is done.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stdout, suppress
from typing import TextIO


@contextmanager
def for_us_only(*, drawn: bool) -> Iterator[None]:
    """While this lasts, nobody writes to standard output. `drawn`: something is drawn there, so it stays as it is."""
    ours = sys.stdout
    if drawn or ours is None or sys.stderr is None:
        yield
        return
    ours.flush()
    with redirect_stdout(sys.stderr), _elsewhere(ours):
        yield


@contextmanager
def _elsewhere(ours: TextIO) -> Iterator[None]:
    """The file descriptor as well: other programs and libraries in C know no other."""
    try:
        number, other = ours.fileno(), sys.stderr.fileno()
        kept = os.dup(number)
    except (OSError, ValueError):  # no real files, as in tests
        yield
        return
    try:
        with suppress(OSError):
            os.dup2(other, number)
        yield
    finally:
        os.dup2(kept, number)
        os.close(kept)
