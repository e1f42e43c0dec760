"""state → effects still to do. Evaluates nothing: after a crash the same call names exactly the rest."""

from __future__ import annotations

from msgspec import Struct

from reconvene.core.facts.book import Book
from reconvene.core.facts.ids import task_id
from reconvene.core.facts.state import RunState, children_of
from reconvene.core.working.steps import at_work


class RunTask(Struct, frozen=True):
    """Let an agent work."""

    task: str
    agent: str
    attempt: int


class RunCheck(Struct, frozen=True):
    """Let a gap-check script look at the phase."""

    serial: int


class StartChild(Struct, frozen=True):
    """Make a run that a decision started. Not its own work: due at an open checkpoint too, and after the end."""

    key: str


class FollowUp(Struct, frozen=True):
    """Go on from a decision that is on record while what follows from it is not."""


Work = RunTask | RunCheck
Effect = Work | StartChild | FollowUp


def plan(state: RunState, book: Book) -> list[Effect]:
    found = work(state, book)
    return [*unmade_children(state), *found, *([FollowUp()] if not found and _moves(state) else [])]


def _moves(state: RunState) -> bool:
    """Whether the run goes on by itself where nobody has work: not at a stop, and not after its end."""
    return bool(state.world.cursor) and not _stands(state)


def _stands(state: RunState) -> bool:
    return bool(state.ended or state.paused or state.place) or state.awaits is not None or state.world.open is not None


def unmade_children(state: RunState) -> list[StartChild]:
    if state.paused or not state.record.children:
        return []
    return [StartChild(one.child.key) for one in children_of(state) if not one.run]


def work(state: RunState, book: Book) -> list[Work]:
    """What agents and scripts have to do."""
    world = state.world
    if not _moves(state):
        return []
    frame = world.top
    round_ = frame.round
    if round_ is not None and round_.open is not None:
        step = round_.open
        return [
            RunTask(task_id(round_.serial, step.index, task.agent), task.agent, task.attempt)
            for task in at_work(step, book.phase(frame.phase))
            if task.parked is None
        ]
    if frame.stage == "closed" and round_ is not None and round_.last and frame.checked != round_.serial:
        check = book.phase(frame.phase).check
        if check is not None and check.script:
            return [RunCheck(round_.serial)]
    return []
