"""A new run that shares another's log up to an event at which it was at rest."""

from __future__ import annotations

import os

from reconvene.app import stored
from reconvene.app.new_runs import NewRuns
from reconvene.app.session import book_for, index_row
from reconvene.core.facts.events import AnyEvent, Forked
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.core.paths import why_no_run_id
from reconvene.errors import Conflict, UserError
from reconvene.ports import Append, Clock, EventLog


def fork(log: EventLog, clock: Clock, new_runs: NewRuns, run: str, at: int, by: str, door: str) -> str:
    """A new run with this one's log up to `at` (0 = all of it): remarks travel, open work starts anew."""
    events = log.read(run)
    if not events:
        raise UserError(f"There is no run {run!r}.")
    if at < 0 or at > events[-1][0]:
        raise UserError(
            f"Run {run} has events 1 to {events[-1][0]}; {at} is not one of them.", hint=f"reconvene log {run}"
        )
    prefix, state = _rest_point(run, events[: at or len(events)])
    if not prefix:
        raise UserError(f"Nothing had been started at event {at} of {run}.", hint=f"reconvene log {run}")
    book_for(log, state.workflow, run)  # refuses what nobody could drive, before anything is written
    number = 1
    while True:
        new = f"{run}-fork-{number}"
        if why := why_no_run_id(new):
            raise UserError(f"{run} cannot be forked: the id {new!r} {why}.")
        folder = os.path.join(os.path.dirname(state.workspace), new)
        if not log.head(new) and new_runs.occupied(new, folder):
            number += 1
            continue
        forked = Forked(
            at=max(clock.now(), state.updated),
            run=new,
            source=run,
            source_seq=len(prefix),
            workspace=folder,
            by=by,
            door=door,
        )
        try:
            log.append(new, 0, Append([*prefix, forked], row=index_row(evolve(state, forked))))
            return new
        except Conflict:
            number += 1


def _rest_point(run: str, events: list[tuple[int, AnyEvent]]) -> tuple[list[AnyEvent], RunState]:
    """The longest prefix after which the run was at rest: waiting for a person, for agents, or ended."""
    state, best, at_best = EMPTY, 0, EMPTY
    for seq, event in events:
        state = stored.step(run, state, seq, event)
        step = state.world.top.round.open if state.world.cursor and state.world.top.round else None
        if state.world.open is not None or (step is not None and step.open > 0):
            best, at_best = seq, state
    return [event for _, event in events[:best]], at_best
