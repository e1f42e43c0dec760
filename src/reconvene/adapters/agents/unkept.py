"""The sandbox that is none: programs are started as they are, in a folder that is given."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from reconvene.errors import AgentError
from reconvene.sandbox_ports import Kept, Start


class Open:
    """Nothing is kept from a program."""

    def __init__(self, scratch: str) -> None:
        self._scratch = scratch

    def scratch(self) -> str:
        return self._scratch

    @contextmanager
    def keep(self, start: Start) -> Iterator[Kept]:
        if start.read_only:
            problem = f"A program of {start.agent.name} may only read, and nothing here keeps it from writing."
            raise AgentError(problem, retryable=False)
        yield Kept(start.argv, start.env, "off")

    def close(self) -> None:
        return None
