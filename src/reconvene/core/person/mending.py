"""A run is mended: it goes on with another workflow, or is taken up again after its end.

Whether another workflow fits a run (`app/upgrading.py`), and where a run is taken up (`app/reopening.py`), is settled
before it is asked for. What was decided stays.
"""

from __future__ import annotations

from reconvene.core import kit_finder
from reconvene.core.definition.workflow import Goto
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.person import approving
from reconvene.core.working import acting
from reconvene.core.working.moves import make_move, move_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused, StaleDecision

# --- another workflow ---


def upgrade(tx: Transaction, command: c.Upgrade) -> None:
    """The same one again changes nothing."""
    state, point = tx.state, tx.state.world.open
    if state.workflow == command.pinned.digest:
        return
    stands = bool(state.ended) or point is not None
    if not stands or (state.workflow, point.id if point else "") != (command.before, command.checkpoint):
        raise StaleDecision(
            f"Run {state.run} has moved on since the workflow was compared with it. Nothing was changed.",
            hint=f"reconvene show {state.run}, then give the command again",
        )
    approving.require_one_of_them(tx)
    kit_finder.require(command.pinned.workflow)
    tx.emit(
        e.WorkflowUpgraded(
            at=tx.now,
            before=command.before,
            workflow=command.pinned.digest,
            name=command.pinned.workflow.name,
            inputs=command.inputs,
            settings=command.settings,
            rounds=state.record.rounds,
            moved=command.moved,
            unbound=command.unbound,
            dropped=command.dropped,
            by=command.by,
            door=command.door,
        )
    )
    tx.go_on_with(command.pinned.workflow)


# --- after the end ---


def reopen(tx: Transaction, command: c.Reopen) -> bool:
    """Whether a checkpoint is to open, at which what the person says with it belongs."""
    state = tx.state
    if not state.ended or len(state.record.reopened) != command.before:
        raise Refused(
            f"Run {state.run} is {state.status}: only a run that has ended is reopened.",
            hint=f"reconvene show {state.run}",
        )
    move = Goto(command.phase, rerun=True)
    twice = acting.again(state, tx.book, move) if command.rerun else ()
    acting.require_told(twice, command.told)
    tx.emit(
        e.RunReopened(
            at=tx.now,
            status=state.ended,  # type: ignore[arg-type]
            outcome=state.outcome,
            phase=command.phase,
            visit=command.visit,
            grants=command.grants,
            acts=twice,
            by=command.by,
            door=command.door,
        )
    )
    if command.rerun:
        if refused := move_refused(tx, move):
            raise Refused(f"{command.phase} cannot be done anew: {refused}.", hint="add --grant entries=1")
        make_move(tx, move)
    return command.visit >= 0
