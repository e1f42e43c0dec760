"""Take a run up again that has ended: where it goes on, and what is added to its limits. What was decided stays.

Where a person has been asked, the checkpoint opens anew, and nothing works before they decide. A phase without a
checkpoint is done anew at once.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from reconvene.app.engine import Engine
from reconvene.core.definition.workflow import Goto
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import RemarkIn, Reopen
from reconvene.core.facts.state import RunState
from reconvene.core.working.acting import again
from reconvene.errors import Refused
from reconvene.language.closest import closest
from reconvene.ports import Request

_EXAMPLE = "Write a limit and how much is added to it, such as --grant calls=20"
_MOST = 2**31


class Place(NamedTuple):
    """Where a run goes on. visit -1 = no checkpoint opens anew."""

    phase: str
    visit: int = -1
    rerun: bool = False


def reopen(
    engine: Engine,
    run: str,
    phase: str = "",
    *,
    rerun: bool = False,
    grants: Mapping[str, float] | None = None,
    remarks: tuple[RemarkIn, ...] = (),
    by: str = "",
    door: str = "",
    driving: bool = False,
    told: tuple[str, ...] = (),
    actor: Actor | None = None,
    request: Request | None = None,
) -> RunState:
    """On record; `driving`: the caller drives the run on next. A phase of "" is where the run ended. `told`: who acts
    again, as `acting_again` says."""
    session = engine.session(run)
    state, book = session.state, session.book
    if not state.ended:
        raise Refused(
            f"Run {run} is {state.status}: only a run that has ended is reopened.", hint=f"reconvene show {run}"
        )
    added = dict(grants or {})
    _require_limits(book, added)
    place = _place(state, book, phase, rerun)
    before = len(state.record.reopened)
    command = Reopen(before, place.phase, place.visit, place.rerun, added, remarks, by, door, told)
    return engine.submit(run, command, driving=driving, actor=actor, request=request)


def acting_again(engine: Engine, run: str, phase: str = "", *, rerun: bool = False) -> tuple[str, ...]:
    """The agents with effects that would act again."""
    session = engine.session(run)
    state, book = session.state, session.book
    place = _place(state, book, phase, rerun) if state.ended else Place("")
    return again(state, book, Goto(place.phase, rerun=True)) if place.rerun else ()


def _place(state: RunState, book: Book, phase: str, rerun: bool) -> Place:
    return _named(state, book, phase, rerun) if phase else _where_it_ended(state, book, rerun)


def _where_it_ended(state: RunState, book: Book, rerun: bool) -> Place:
    """At the checkpoint where a person ended it; in the middle of what it was at; else at its last checkpoint."""
    frame, world = state.world.top, state.world
    if not frame.phase:
        chosen = book.workflow.reopen if state.ended == "completed" else ""
        last = chosen if world.counts.get(chosen) else _last_asked(state, book)
        return _named(state, book, last, rerun) if last else Place("")
    if rerun:
        return _named(state, book, frame.phase, rerun)
    if frame.stage in ("asking", "decided"):
        return Place(frame.phase, visit=world.visit)
    checked = frame.stage == "closed" and frame.round is not None and frame.checked == frame.round.serial
    return Place(frame.phase, rerun=checked)  # a check ended it: what it looked at is done anew


def _last_asked(state: RunState, book: Book) -> str:
    """The last phase in which a person was asked; where none was, the last of the run's own that was entered, if any.

    Whoever takes a run up has something to say. What follows a checkpoint may have effects, and is not done first."""
    world = state.world
    if world.visits:
        return world.visits[max(world.visits)].phase
    passed = [phase.id for phase in book.workflow.phases[: world.top.child]]
    entered = [phase for phase in passed if world.counts.get(phase) and phase not in world.skipped]
    return entered[-1] if entered else ""


def _named(state: RunState, book: Book, phase: str, rerun: bool) -> Place:
    """At the last checkpoint of this phase, or of one inside it; else the phase is done anew."""
    world = state.world
    if phase not in book.nodes:
        near = closest(phase, list(book.nodes))
        hint = f"Did you mean {near[0]}?" if near else f"Its phases: {', '.join(book.nodes)}"
        raise Refused(f"{state.name} has no phase {phase!r}.", hint=hint)
    if not world.counts.get(phase) and phase not in world.skipped:
        raise Refused(
            f"Run {state.run} has not come to {phase} yet.",
            hint=f"reconvene reopen {state.run} goes on where it ended",
        )
    visits = [number for number, visit in world.visits.items() if any(one.phase == phase for one in visit.cursor)]
    if visits and not rerun:
        return Place(world.visits[max(visits)].phase, visit=max(visits))
    parent = book.nodes[phase].parent
    if parent not in [frame.phase for frame in world.cursor]:
        raise Refused(
            f"{phase} cannot be done anew by itself: it is a part of {parent}, which is over.",
            hint=f"reconvene reopen {state.run} --phase {parent} --rerun",
        )
    return Place(phase, rerun=True)


def limits(book: Book) -> list[str]:
    """The names of the limits to which something can be added."""
    of = book.workflow.limits
    phases = [f"rounds.{name}" for name, node in book.nodes.items() if node.phase.steps]
    costs = [*(["cost"] if of.cost else []), *(f"cost.{name}" for name in of.costs)]
    return ["calls", *(f"calls.{group}" for group in of.group_calls), "rounds", *phases, *costs, "entries"]


def _require_limits(book: Book, grants: Mapping[str, float]) -> None:
    for name, more in grants.items():
        if name not in limits(book):
            hint = f"Its limits: {', '.join(limits(book))}"
            raise Refused(f"{book.workflow.name} has no limit {name!r}.", hint=hint)
        if not 0 < more < _MOST or (not name.startswith("cost") and more != int(more)):
            raise Refused(f"{more:g} cannot be added to the limit {name}.", hint=_EXAMPLE)
