"""Who an agent is in this run: its command line filled in, and the bindings applied. The one place that settles it."""

from __future__ import annotations

from collections.abc import Iterator

from reconvene.core.definition.bindings import carried_out
from reconvene.core.definition.run_inputs import settled
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.errors import UserError


def settled_agent(state: RunState, book: Book, name: str) -> Agent:
    """UserError where its command line cannot be filled in."""
    agent, held = book.workflow.agents[name], state.record.bindings
    if agent.command_line and name not in held:
        agent = settled(agent, book.object(state.settings), book.object(state.inputs))
    return carried_out(agent, {who: at.binding for who, at in held.items()}) if held else agent


def settled_agents(state: RunState, book: Book) -> Iterator[Agent]:
    """All of them; one whose command line cannot be filled in as the workflow has it."""
    for name, agent in book.workflow.agents.items():
        try:
            yield settled_agent(state, book, name)
        except UserError:
            yield agent
