"""Beginnings of prompts that a provider caches only where it is asked to.

Anthropic writes a beginning into its cache when a request says where it ends, and takes more for it than for tokens
that are only read. Others are read from there once the reply to the first has begun. So the agents of a step that begin
alike let one of them go first.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from hashlib import sha256
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.ports import Assignment

_ASKED = ("anthropic",)  # providers that want to be told
_FEWEST = 4_096  # characters; what is shorter is not cached by any of their models
_LONGEST_WAIT = 15.0  # seconds; then it is cheaper to go on than to wait


def boundary(assignment: Assignment, provider: str) -> int:
    """Where in the prompt the cached part ends; 0 = nothing is to be cached."""
    return assignment.shared if provider in _ASKED and assignment.shared >= _FEWEST else 0


class Beginnings:
    """Which beginnings are on their way into a cache."""

    def __init__(self) -> None:
        self._begun: dict[str, asyncio.Event] = {}

    @asynccontextmanager
    async def turn(self, assignment: Assignment, provider: str) -> AsyncIterator[Callable[[], None]]:
        """The first goes at once, and calls what it is given when its reply begins. The others wait for that."""
        end = boundary(assignment, provider)
        if not end:
            yield lambda: None
            return
        known = f"{assignment.agent.model}\n{assignment.system}\n{assignment.prompt[:end]}"
        key = sha256(known.encode("utf-8", "surrogatepass")).hexdigest()
        if (first := self._begun.get(key)) is not None:
            with suppress(TimeoutError):
                await asyncio.wait_for(first.wait(), _LONGEST_WAIT)
            yield lambda: None
            return
        begun = self._begun[key] = asyncio.Event()
        try:
            yield begun.set
        finally:  # where it failed, nobody waits for it
            begun.set()
