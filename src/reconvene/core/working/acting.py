"""Agents that act on the world (`effects: true`), and what would have them act again.

A round, an item or a phase that the workflow plans is work of its own. Whatever has work done anew that was begun
before is named to the person first, and stands in what is recorded of their word.
"""

from __future__ import annotations

from collections.abc import Iterator

from reconvene.core.definition.workflow import Again, Continue, Goto, Move, Phase
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.errors import Refused


def again(state: RunState, book: Book, move: Move | None, *, undo: bool = False) -> tuple[str, ...]:
    """Who was begun before and acts again with this move. `undo`: the round in front is taken back first."""
    world, phases = state.world, list[Phase]()
    chosen: tuple[str, ...] = ()
    match move:
        case Again(agents=agents):
            phases, chosen = [book.phase(world.top.phase)] if world.top.phase else [], () if undo else agents
        case Goto(target=target, rerun=True) if target in book.nodes:
            node = book.nodes[target]
            until = next((one.child for one in world.cursor if one.phase == node.parent), node.position)
            phases = list(book.children(node.parent)[node.position : max(until, node.position) + 1])
        case Continue() if not undo and world.visit < len(world.visits) - 1:  # back at an earlier checkpoint
            phases = [one for frame in world.cursor[:-1] for one in book.children(frame.phase)[frame.child + 1 :]]
    named = dict.fromkeys(name for phase in phases for name in _agents(phase, book))
    return tuple(
        name
        for name in named
        if book.workflow.agents[name].effects
        and state.record.calls.get(name)
        and (not chosen or name in chosen or book.workflow.agents[name].always)
    )


def tried_again(state: RunState, book: Book) -> tuple[str, ...]:
    """Who acts again where a person has what is in trouble tried once more."""
    frame, agents = state.world.top, book.workflow.agents
    checked = frame.stage == "closed" and frame.round is not None and frame.checked == frame.round.serial
    found: list[str] = []
    for trouble in state.world.trouble:
        if trouble.kind in ("doubt", "rejected", "conflict", "acting"):
            found += [name for name in trouble.agents if agents[name].effects]
        elif trouble.kind in ("check", "escalated") and checked:
            found += again(state, book, Goto(frame.phase, rerun=True))
    return tuple(dict.fromkeys(found))


def named(agents: tuple[str, ...]) -> str:
    """`a and b act on the world`"""
    *first, last = agents
    return f"{', '.join(first)} and {last} act on the world" if first else f"{last} acts on the world"


def require_told(agents: tuple[str, ...], told: tuple[str, ...]) -> None:
    """Nobody has what acts on the world done again without having been told who acts."""
    if fresh := tuple(name for name in agents if name not in told):
        raise Refused(f"Nothing was done: {named(fresh)}, and would act again. Nobody was told so.", hint="--run-again")


def _agents(phase: Phase, book: Book) -> Iterator[str]:
    for step in phase.steps:
        yield from book.workflow.agents if step.agents_expr else step.agents
    for child in phase.phases:
        yield from _agents(child, book)
