"""Output that may be heard by nobody: whoever read it is gone, and the process goes on all the same.

A worker outlives the server that started it for as long as its agents finish what they are at. A line that nobody reads
any more must not break into that: neither into an agent's work, nor into the order to stop.
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO


class HeardOrNot(io.TextIOBase):
    """Writes to a stream as long as somebody reads it, and to nothing from then on."""

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream

    def write(self, text: str) -> int:
        try:
            return self._stream.write(text)
        except BrokenPipeError:
            self._nobody()
            return len(text)

    def flush(self) -> None:
        try:
            self._stream.flush()
        except BrokenPipeError:
            self._nobody()

    def fileno(self) -> int:
        return self._stream.fileno()

    def isatty(self) -> bool:
        return self._stream.isatty()

    def _nobody(self) -> None:
        """What is still in the buffer goes nowhere, too, and what programs that are started write to it."""
        nothing = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nothing, self._stream.fileno())
        os.close(nothing)
        self._stream.flush()


@contextmanager
def errors_heard_or_not() -> Iterator[None]:
    """The same for standard error, while this lasts."""
    before = sys.stderr
    if before is not None:
        sys.stderr = HeardOrNot(before)
    try:
        yield
    finally:
        sys.stderr = before
