"""For a moment, only what is quick for certain: while a person waits for a decision to be on disk.

What a workflow says (templates beyond look-ups, expressions, schemas) and what a kit does may take long, or fail.
Whoever is about to do such a thing asks `may_take_time` first. In a hurry that raises, and whoever was in a hurry does
it later.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar


class TakesTime(BaseException):
    """Not now. No Exception: nobody on the way may take it for a failure of the workflow."""


_in_a_hurry = ContextVar("in_a_hurry", default=False)


@contextmanager
def in_a_hurry() -> Iterator[None]:
    """Inside, what may take time raises TakesTime."""
    token = _in_a_hurry.set(True)
    try:
        yield
    finally:
        _in_a_hurry.reset(token)


def may_take_time() -> None:
    """Before everything that might."""
    if _in_a_hurry.get():
        raise TakesTime
