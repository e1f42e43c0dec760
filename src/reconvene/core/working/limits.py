"""Circuit breakers: who may still be called, and the name of the limit that says no."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.core.definition.workflow import Phase
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import Frame, RunState


class Funded(NamedTuple):
    agents: tuple[str, ...]
    unfunded: tuple[str, ...]
    limit: str  # the limit that stopped the first unfunded one, "" when all are funded
    size: int


def fund(state: RunState, book: Book, agents: tuple[str, ...]) -> Funded:
    """Split agents into those the budgets still cover and the rest, in declared order."""
    limits, record = book.workflow.limits, state.record
    left = limits.calls + record.grants.get("calls", 0) - record.tasks
    group_left = {
        group: size
        + record.grants.get(f"calls.{group}", 0)
        - sum(record.calls.get(a, 0) for a in book.workflow.groups[group])
        for group, size in limits.group_calls.items()
        if group in book.workflow.groups
    }
    yes: list[str] = []
    no: list[str] = []
    limit, size = "", 0
    for agent in agents:
        groups = [group for group in book.groups_of.get(agent, ()) if group in group_left]
        spent = next((group for group in groups if group_left[group] <= 0), "")
        if left <= 0 or spent:
            no.append(agent)
            if not limit:
                limit = "calls" if left <= 0 else f"calls.{spent}"
                size = limits.calls if left <= 0 else limits.group_calls[spent]
            continue
        yes.append(agent)
        left -= 1
        for group in groups:
            group_left[group] -= 1
    return Funded(tuple(yes), tuple(no), limit, size)


def rounds_left(state: RunState, book: Book) -> int:
    return book.workflow.limits.rounds + state.record.grants.get("rounds", 0) - state.record.rounds


def again_fits(phase: Phase, frame: Frame) -> bool:
    """Rule 15: one more round, and the planned ones that remain, within max."""
    planned_left = 0 if phase.rounds.open_ended else len(phase.rounds.plan) - frame.planned
    return frame.n + 1 + max(planned_left, 0) <= phase.rounds.max


def undo_refused(state: RunState, book: Book) -> str:
    """Why the round in front cannot be undone; "" = it can."""
    frame = state.world.top
    if frame.round is None or frame.round.serial not in state.marks:
        return "a later round has begun: fork the run instead"
    if any(child.serial >= frame.round.serial for child in state.record.children.values()):
        return "a decision on it started other runs, which have a life of their own: fork the run instead"
    per_round = book.phase(frame.phase).rounds.undo
    if state.record.undone.get(f"{frame.place}/{frame.round.n}", 0) >= per_round:
        return f"limit rounds.undo ({per_round} per round) is reached: the round stands"
    if state.record.undos >= book.workflow.limits.undo:
        return f"limit undo ({book.workflow.limits.undo} per run) is reached: the round stands"
    return ""
