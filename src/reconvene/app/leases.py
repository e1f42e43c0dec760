"""Leases of runs: who may drive one, or bring its folder up to date. Knows no event."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager

from reconvene.errors import StoreError
from reconvene.ports import EventLog


def token() -> str:
    """A name that nobody else has."""
    return os.urandom(6).hex()


class Leases:
    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._unreleased: dict[str, str] = {}  # run → holder of a lease that could not be given back

    def take(self, run: str) -> str:
        """Who holds the run's lease from now on, "" while somebody else does."""
        holder = self._unreleased.get(run) or token()
        if not self._log.acquire(run, holder):
            return ""
        self._unreleased.pop(run, None)
        return holder

    def give_back(self, run: str, holder: str) -> None:
        """A store that cannot take the lease back now (full, locked) must not shut this process out later."""
        try:
            self._log.release(run, holder)
        except StoreError:
            self._unreleased[run] = holder

    @contextmanager
    def held(self, run: str) -> Iterator[bool]:
        """For the length of the block; False while somebody else holds it."""
        holder = self.take(run)
        try:
            yield bool(holder)
        finally:
            if holder:
                self.give_back(run, holder)
