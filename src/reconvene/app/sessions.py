"""The last few runs that this process had in hand, so that none is folded again from the beginning.

Only states are shared, and they never change: whoever opens a run gets a session of their own.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconvene.app.session import Session, snapshot_of
from reconvene.core.facts.state import RunState
from reconvene.ports import Clock, EventLog

_KEPT = 8  # runs


class Sessions:
    def __init__(self, log: EventLog, clock: Clock) -> None:
        self._log = log
        self._clock = clock
        self._newest: dict[str, Session] = {}
        self._first: dict[str, RunState] = {}  # as each was when it came into hand, or when its history last caught up

    def open(self, run: str) -> Session:
        known = self._newest.get(run)
        session = known.again() if known is not None else Session.load(self._log, self._clock, run)
        self.keep(session)
        return session

    def keep(self, session: Session) -> None:
        """The newest known of its run from now on, with all that is appended through it."""
        run = session.run
        self._newest.pop(run, None)
        self._newest[run] = session
        self._first.setdefault(run, session.state)
        if len(self._newest) > _KEPT:
            oldest = next(iter(self._newest))
            del self._newest[oldest], self._first[oldest]

    def earlier(self, run: str) -> Iterator[RunState]:
        """States of the run that the history may go on from, newest first."""
        if run in self._first:
            yield self._first[run]
        yield snapshot_of(self._log, run)

    def caught_up(self, run: str) -> None:
        """The history has all that was known of the run before."""
        if run in self._newest:
            self._first[run] = self._newest[run].state
