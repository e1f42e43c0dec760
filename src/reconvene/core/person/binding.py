"""A person says who carries agents out: checked against the workflow, then on record. Nothing here moves the run."""

from __future__ import annotations

from reconvene.core.definition.bindings import Binding, combined, expanded
from reconvene.core.facts import events as e
from reconvene.core.working.transaction import Transaction


def bind(tx: Transaction, bindings: tuple[Binding, ...], by: str, door: str) -> None:
    """What holds already is not said again."""
    if not bindings:
        return
    wanted = expanded(tx.book.workflow, bindings)
    held = {name: at.binding for name, at in tx.state.record.bindings.items()}
    if combined(held, wanted) != held:
        tx.emit(e.AgentsBound(at=tx.now, bindings=wanted, by=by, door=door))
