"""A person says who carries agents out: checked against the workflow, then on record. Nothing here moves the run."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.definition.bindings import EVERYONE, Binding, carried_out, combined, expanded
from reconvene.core.facts import events as e
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused


def bind(tx: Transaction, bindings: tuple[Binding, ...], by: str, door: str) -> None:
    """What holds already is not said again."""
    if not bindings:
        return
    wanted = expanded(tx.book.workflow, bindings)
    held = {name: at.binding for name, at in tx.state.record.bindings.items()}
    after = combined(held, wanted)
    if any(one.agent == EVERYONE and not one.fallback for one in wanted):
        _require_somebody(tx, after)
    if after != held:
        tx.emit(e.AgentsBound(at=tx.now, bindings=wanted, by=by, door=door))


def _require_somebody(tx: Transaction, held: Mapping[str, Binding]) -> None:
    """A model for everyone, where every agent is bound to something else, would change nothing."""
    agents = [carried_out(agent, held) for agent in tx.book.workflow.agents.values()]
    if not any(agent.kind == "model" or agent.or_model for agent in agents):
        told = ", ".join(f"{name} ({one.who})" for name, one in held.items() if name != EVERYONE)
        first = next(name for name in held if name != EVERYONE)
        raise Refused(
            f"no agent is carried out by a model here; bound to something else: {told}",
            hint=f"name one: --model {first}={held[EVERYONE].model}",
        )
