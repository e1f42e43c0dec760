"""Folds logs that come from the store. Where one does not hold together it says so: which run, which event.

The core raises a Bug where an event breaks the table. In a stored log the reason is damage, and a person must act.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.evolve import evolve
from reconvene.core.facts.state import EMPTY, RunState
from reconvene.errors import Bug, StoreError


def fold(run: str, events: Iterable[tuple[int, AnyEvent]], state: RunState = EMPTY) -> RunState:
    for seq, event in events:
        state = step(run, state, seq, event)
    return state


def step(run: str, state: RunState, seq: int, event: AnyEvent) -> RunState:
    """The state after this event, which follows the state."""
    if seq != state.seq + 1:
        raise _broken(run, seq, f"it follows event {state.seq}")
    try:
        return evolve(state, event)
    except (Bug, LookupError, AttributeError, TypeError, ValueError) as error:
        name = type(event).__name__
        why = error.message if isinstance(error, Bug) else f"{name} does not fit what happened before it"
        raise _broken(run, seq, why) from error


def _broken(run: str, seq: int, why: str) -> StoreError:
    return StoreError(
        f"The log of run {run} does not hold together at event {seq}: {why.rstrip('.')}. The store is damaged.",
        hint=f"Restore it from a backup. reconvene log {run} still shows the events.",
    )
