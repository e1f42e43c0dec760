"""What a run has cost so far, whether a limit of cost still lets an agent begin, and how that is said to people.

Prices are in USD. Where the price of a call is not known, its tokens are counted instead, and that is said.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce

from msgspec import Struct

from reconvene.core.facts.book import Book
from reconvene.core.facts.rows import Spent
from reconvene.core.facts.state import RunState

TOTAL = "cost"


class CostLimit(Struct, frozen=True):
    """A limit of cost, and what was spent of it. `name`: "cost", or "cost.NAME" of an agent or a group."""

    name: str
    size: float  # as the workflow says, or a person; 0 = there is none
    allowed: float  # with what a person added
    spent: Spent

    @property
    def raises(self) -> int:
        """How often its size must be added before anything is left. Agents that were at work may have gone beyond."""
        return max(1, math.floor((self.spent.cost - self.allowed) / self.size) + 1)

    def sentence(self, phase: str) -> str:
        after = self.allowed + self.raises * self.size
        return (
            f"limit {self.name} ({dollars(self.allowed)}) is reached at {phase}: {said(self.spent)}. "
            f"“Raise the limit” allows {dollars(after)} in all"
        )


def reached(state: RunState, book: Book, agent: str, unrecorded: float = 0.0) -> CostLimit | None:
    """The limit that keeps this agent from beginning. `unrecorded`: USD that have been spent and are not on record."""
    limits = book.workflow.limits
    if not limits.cost and not limits.costs and not state.record.ceiling:
        return None
    names = [agent, *book.groups_of.get(agent, ())]
    for name in (TOTAL, *(f"{TOTAL}.{name}" for name in names if name in limits.costs)):
        found = _limit(state, book, name)
        if found.size and found.spent.cost + unrecorded >= found.allowed:
            return found
    return None


def budgets(state: RunState, book: Book) -> list[CostLimit]:
    """The whole run's first, then those of agents and groups that have a limit."""
    return [_limit(state, book, name) for name in (TOTAL, *(f"{TOTAL}.{one}" for one in book.workflow.limits.costs))]


def _limit(state: RunState, book: Book, name: str) -> CostLimit:
    limits, spent = book.workflow.limits, state.record.spent
    who = name.removeprefix(f"{TOTAL}.")
    size = (state.record.ceiling or limits.cost) if name == TOTAL else limits.costs[who]
    agents: Iterable[str] = spent if name == TOTAL else book.workflow.groups.get(who, (who,))
    allowed = size * (1 + state.record.grants.get(name, 0)) + state.record.funds.get(name, 0.0)
    used = reduce(Spent.plus, (spent[agent] for agent in agents if agent in spent), Spent())
    return CostLimit(name, size, allowed, used)


def dollars(amount: float) -> str:
    """Cents, and more digits where the amount is smaller than that."""
    if amount >= 0.01 or not amount:
        return f"${amount:,.2f}"
    return f"${amount:.4f}" if amount >= 0.0001 else "<$0.0001"


def said(spent: Spent) -> str:
    """ "$1.20 spent; cost known for 12 of 20 calls; 48,000 tokens without a price"."""
    parts = [f"{dollars(spent.cost)} spent"]
    if spent.unpriced:
        parts.append(f"cost known for {spent.calls - spent.unpriced} of {spent.calls} call{'s' * (spent.calls != 1)}")
        parts.append(f"{spent.tokens:,} tokens without a price")
    return "; ".join(parts)
