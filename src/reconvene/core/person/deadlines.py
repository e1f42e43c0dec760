"""The deadline of a checkpoint and the reminder before it: when something is due, and what then follows.

Time is that of the log, which never goes back. Where both have passed, because nobody looked for a while, nobody is
reminded any more: what the deadline says is done. A pause does not stop the clock. What a deadline decides is then on
record, and no agent works before somebody resumes the run.
"""

from __future__ import annotations

from reconvene.core.facts import events as e
from reconvene.core.facts.state import RunState
from reconvene.core.working.transaction import Transaction


def next_due(state: RunState) -> str:
    """When something follows though nobody does anything; "" = never."""
    pending = state.world.pending
    if state.ended or state.world.open is None or not pending.deadline or pending.passed:
        return ""
    return pending.reminder if pending.reminder and not pending.reminded else pending.deadline


def has_passed(state: RunState, now: str) -> bool:
    """The deadline, with nothing on record that followed."""
    return bool(next_due(state)) and now >= state.world.pending.deadline


def remind(tx: Transaction, point: e.CheckpointOpened) -> None:
    tx.emit(e.CheckpointReminded(at=tx.now, checkpoint=point.id, deadline=tx.state.world.pending.deadline))


def escalate(tx: Transaction, point: e.CheckpointOpened, why: str = "") -> None:
    """`why`: what the deadline should have done cannot be."""
    deadline = tx.state.world.pending.deadline
    if point.late_who:
        tx.emit(e.CheckpointEscalated(at=tx.now, checkpoint=point.id, deadline=deadline, who=point.late_who))
    else:
        tx.emit(e.CheckpointOverdue(at=tx.now, checkpoint=point.id, deadline=deadline, why=why))
