"""Which messages follow from an append, and to whom they go. Pure but for what the store knows of a run.

A message is made where people must act or where a run is over: a checkpoint opened and still open at the end of the
append, a deadline that is near or past, an end. What is told of an event was true when it was recorded.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Sequence

from reconvene.app.views import projections
from reconvene.core.facts.events import (
    AnyEvent,
    CheckpointAssigned,
    CheckpointEscalated,
    CheckpointOpened,
    CheckpointOverdue,
    CheckpointReminded,
    DecisionRecorded,
    RunEnded,
)
from reconvene.core.facts.state import RunState
from reconvene.language.plain_text import one_line
from reconvene.message_ports import Message, Notice, Outbox

_ASKS = 300  # characters of a question
_NAME = 120  # of names: of a run, a workflow, a phase
_OF_DEADLINES = (CheckpointReminded, CheckpointEscalated, CheckpointOverdue)
_TELLING = (CheckpointOpened, CheckpointAssigned, *_OF_DEADLINES, DecisionRecorded, RunEnded)


def messages_of(outbox: Outbox, state: RunState, events: Sequence[AnyEvent]) -> list[Message]:
    """`state`: after the events. Most appends have none, and cost a look at their types."""
    if not any(isinstance(event, _TELLING) for event in events):
        return []
    told = {notice.kind: notice for notice in _notices(state, events)}.values()  # the last of a kind says it all
    return [Message(_new_id(), to, notice) for notice in told for to in _receivers(outbox, state, notice)]


def _notices(state: RunState, events: Iterable[AnyEvent]) -> Iterator[Notice]:
    point = state.world.open
    now_open = point.id if point is not None else ""
    for event in events:
        match event:
            case CheckpointOpened(id=id) | CheckpointAssigned(checkpoint=id) if id == now_open:
                yield _of_checkpoint(state)
            case CheckpointReminded() | CheckpointEscalated() | CheckpointOverdue() if event.checkpoint == now_open:
                yield _of_checkpoint(state)._replace(kind="deadline")
            case DecisionRecorded(late=True):
                taken = f"Nobody decided in time, and the deadline took: {event.option}"
                yield _notice(state, "deadline", asks=one_line(taken, _ASKS), checkpoint=event.checkpoint)
            case RunEnded() if state.ended:
                yield _of_end(state)


def _of_checkpoint(state: RunState) -> Notice:
    point = projections.checkpoint(state)
    assert point is not None
    asks = one_line(point.question or point.prompt, _ASKS)
    notice = _notice(state, "attention" if point.attention else "waiting", asks=asks, checkpoint=point.id)
    return notice._replace(since=point.opened, deadline=point.deadline, who=point.who)


def _of_end(state: RunState) -> Notice:
    parts = dict.fromkeys([state.ended, state.outcome, state.why])
    how = ": ".join(one_line(part) for part in parts if part)
    return _notice(state, "failed" if state.ended == "failed" else "ended", asks=one_line(how, _ASKS))


def _notice(state: RunState, kind: str, *, asks: str, checkpoint: str = "") -> Notice:
    frame = state.world.top if state.world.cursor else None
    return Notice(
        kind,
        state.run,
        one_line(state.name, _NAME),
        state.seq,
        state.updated,
        asks=asks,
        phase=one_line(frame.phase, _NAME) if frame is not None and frame.phase else "",
        title=one_line(state.title, _NAME),
        checkpoint=checkpoint,
        since=state.started,
    )


def _receivers(outbox: Outbox, state: RunState, notice: Notice) -> list[str]:
    """Each once, in the order in which the settings name them."""
    routes = outbox.routes()
    names = [
        *routes.everybody,
        *routes.workflows.get(state.name, ()),
        *(to for who in (*notice.who, state.by) for to in routes.of_person(who)),
        *outbox.followers(state.run),
        *(outbox.followers(state.parent) if state.parent else ()),
    ]
    return [to for to in dict.fromkeys(names) if routes.wants(to, notice.kind)]


def _new_id() -> str:
    return f"msg_{os.urandom(9).hex()}"
