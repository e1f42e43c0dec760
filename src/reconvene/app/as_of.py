"""A run as it was after one of its events. Folded from the log; never writes."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.app.engine import Engine
from reconvene.app.session import book_for, fold
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.state import RunState
from reconvene.errors import UserError


class Moment(NamedTuple):
    """A run after the event `seq`, and what had happened up to it. `head`: its last event today."""

    run: str
    seq: int
    head: int
    state: RunState
    book: Book
    log: list[tuple[int, AnyEvent]]

    @property
    def events(self) -> list[AnyEvent]:
        return [event for _, event in self.log]

    @property
    def is_now(self) -> bool:
        return self.seq == self.head


def moment(engine: Engine, run: str, seq: int = 0) -> Moment:
    """After this event; 0 = now."""
    session = engine.session(run)
    head = session.state.seq
    if seq < 0 or seq > head:
        raise UserError(f"Run {run} has no event {seq}: its last one is {head}.", hint=f"reconvene log {run}")
    log = [(number, event) for number, event in engine.log.read(run) if number <= (seq or head)]
    if seq in (0, head):
        return Moment(run, head, head, session.state, session.book, log)
    state = fold(run, log)
    book = session.book if state.workflow == session.state.workflow else book_for(engine.log, state.workflow, run)
    return Moment(run, seq, head, state, book, log)
