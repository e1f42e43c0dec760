"""A run is planned anew: at any stop it goes back to the phase that its workflow names with `replan`.

What was accepted stays. What was under way is given up, and stays on record. What the person says with it is a remark
like any other, so whoever plans is told.
"""

from __future__ import annotations

from reconvene.core.definition.workflow import Goto
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.ids import task_id
from reconvene.core.facts.state import RunState
from reconvene.core.person import approving
from reconvene.core.person.deciding import written
from reconvene.core.person.remarking import add_remarks
from reconvene.core.working import acting
from reconvene.core.working.moves import make_move, move_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused, StaleDecision


def where(state: RunState, book: Book) -> Goto:
    """The phase that is done anew. Refused where the run cannot be planned anew now."""
    spec, run = book.workflow.replan, state.run
    if spec is None:
        hint = f"reconvene rollback {run} does its last round anew"
        raise Refused(f"{book.workflow.name} says nothing of planning anew: it has no `replan`.", hint=hint)
    if not state.world.counts.get(spec.phase):
        hint = f"reconvene show {run}"
        raise Refused(f"Run {run} has not come to {spec.phase} yet: there is no plan to make anew.", hint=hint)
    if not (state.ended or state.paused or state.awaits is not None or state.world.open is not None):
        hint = f"reconvene pause {run}, then give the command again"
        raise Refused(f"Run {run} is {state.status}: it is planned anew when it stands still.", hint=hint)
    around, phase = {frame.phase for frame in state.world.cursor}, spec.phase
    while book.nodes[phase].parent not in around:  # a phase around it is over: that one is done anew
        phase = book.nodes[phase].parent
    return Goto(phase, rerun=True)


def replan(tx: Transaction, command: c.Replan) -> None:
    state, spec = tx.state, tx.book.workflow.replan
    move = where(state, tx.book)
    assert spec is not None
    point = state.world.open
    if command.checkpoint != (point.id if point else ""):
        message = f"Run {state.run} has moved on since you looked at it. Nothing was changed."
        raise StaleDecision(message, hint=f"reconvene show {state.run}, then give the command again")
    approving.require_one_of_them(tx)
    twice = acting.again(state, tx.book, move)
    acting.require_told(twice, command.told)
    if refused := move_refused(tx, move):
        raise Refused(f"{move.target} cannot be done anew: {refused}.")
    if state.ended:
        _reopen(tx, move, command)
    add_remarks(tx, command.remarks, command.by, command.door)
    tx.emit(
        e.Replanned(
            at=tx.now,
            phase=tx.frame.phase,
            target=move.target,
            checkpoint=command.checkpoint,
            tasks=tuple(_given_up(tx)),
            acts=twice,
            by=command.by,
            door=command.door,
        )
    )
    if values := written(tx, (), {}, spec.set, command.by):
        tx.emit(e.ValuesSet(at=tx.now, values=values))
    make_move(tx, move)


def _reopen(tx: Transaction, move: Goto, command: c.Replan) -> None:
    tx.emit(
        e.RunReopened(
            at=tx.now,
            status=tx.state.ended,  # type: ignore[arg-type]
            outcome=tx.state.outcome,
            phase=move.target,
            by=command.by,
            door=command.door,
        )
    )


def _given_up(tx: Transaction) -> list[str]:
    round_ = tx.frame.round
    step = round_.open if round_ is not None else None
    if round_ is None or step is None:
        return []
    return [task_id(round_.serial, step.index, name) for name in step.order if step.tasks[name].status != "done"]
