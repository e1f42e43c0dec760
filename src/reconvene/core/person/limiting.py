"""A person says what a run may cost, and which tools ask first: checked against the workflow, then on record.

Tools can only be made to ask more: what asks by the workflow goes on to ask.
"""

from __future__ import annotations

import math

from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import SetLimits
from reconvene.core.person.approving import require_one_of_them
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused


def tools_of(book: Book) -> tuple[str, ...]:
    """The tools that agents of the workflow use, as it calls them."""
    return tuple(dict.fromkeys(tool.name for agent in book.workflow.agents.values() for tool in agent.tools))


def set_limits(tx: Transaction, command: SetLimits) -> None:
    """What holds already is not said again. While others are asked, it is theirs to say, or an admin's."""
    if tx.actor.role not in ("", "admin"):
        require_one_of_them(tx)
    if not math.isfinite(command.cost) or command.cost < 0:
        raise Refused(f"A run cannot cost {command.cost}.", hint="Give USD, such as 2.50; 0 = as the workflow says.")
    known = tools_of(tx.book)
    if unknown := [name for name in command.ask if name not in known]:
        raise Refused(f"No agent here uses {unknown[0]!r}.", hint=f"There is: {', '.join(known) or 'no tool'}.")
    ask = tuple(name for name in known if name in command.ask)
    record = tx.state.record
    if (command.cost, ask) != (record.ceiling, record.ask_first):
        tx.emit(e.LimitsSet(at=tx.now, cost=command.cost, ask=ask, by=command.by, door=command.door))
