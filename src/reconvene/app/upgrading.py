"""Go on with another workflow: whether it fits what a run has on record, what it changes, and doing it.

What is on record must mean the same in both: phases keep their ids, their order and what is inside them; a round that
is under way keeps the steps that have begun; values keep where they live; trackers keep their kit. Whatever lies ahead
may change. Where something does not fit, an earlier checkpoint may be one at which it does: that can be forked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import NamedTuple

from reconvene.app import run_values
from reconvene.app.engine import Engine
from reconvene.app.session import book_for, state_after
from reconvene.core.definition.bindings import fitting
from reconvene.core.definition.run_inputs import complete_inputs
from reconvene.core.definition.workflow import Phase, Workflow
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.book import Book, to_json
from reconvene.core.facts.commands import Pinned, Upgrade
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import EMPTY, RunState, World
from reconvene.core.working.tracking import tracked
from reconvene.errors import Problem, Refused, WorkflowError
from reconvene.language.expressions import ExpressionError
from reconvene.wire.pins import pin

_SAME_VALUE = {"file": "text"}  # inputs of these types have a value of that type


class DoesNotFit(WorkflowError):
    """What is on record does not fit the workflow. `fork`: the event of a checkpoint at which it does; 0 = none."""

    def __init__(self, problems: list[Problem], *, fork: int, hint: str) -> None:
        super().__init__(problems, hint=hint)
        self.fork = fork


class Fitting(NamedTuple):
    """A workflow that fits a run at the checkpoint where it stands, or at its end."""

    run: str
    before: Workflow
    command: Upgrade
    blobs: dict[str, bytes]
    passed: tuple[str, ...] = ()  # phases that are new, and at whose place the run is past

    @property
    def is_same(self) -> bool:
        return self.command.before == self.command.pinned.digest


def fit(
    engine: Engine,
    run: str,
    workflow: Workflow,
    given: Mapping[str, object] | None = None,
    *,
    drop: Collection[str] = (),
    named: str = "",
    by: str = "",
    door: str = "",
) -> Fitting:
    """How the run would go on with this workflow; Refused or DoesNotFit where it cannot. Nothing is recorded.

    given: inputs that the run does not have. drop: values on record that the workflow need not have any more. named:
    how a person names the workflow, for the next command to type."""
    session = engine.session(run)
    state, book = session.state, session.book
    _require_rest(state)
    pinned = pin(workflow)
    digest = digest_of(pinned)
    point = state.world.open
    at = point.id if point else ""
    if digest == state.workflow:
        command = Upgrade(digest, at, Pinned(digest, workflow), state.inputs, state.settings)
        return Fitting(run, book.workflow, command, {})
    engine.discretion.refuse(workflow, pinned, ())
    if problems := list(_misfits(state, book, workflow, drop)):
        raise _no_fit(engine, run, workflow, problems, named or workflow.file)
    inputs, settings = _given(engine, state, book, workflow, given or {})
    blobs = {digest_of(data): data for data in (pinned, inputs, settings)}
    held = [bound.binding for bound in state.record.bindings.values()]
    kept = {one.agent for one in fitting(workflow, held)}
    command = Upgrade(
        state.workflow,
        at,
        Pinned(digest, workflow),
        digest_of(inputs),
        digest_of(settings),
        dict(_moved(book, workflow)),
        tuple(sorted(one.agent for one in held if one.agent not in kept)),
        by,
        door,
        tuple(name for name in _gone(state, workflow) if name in drop),
    )
    return Fitting(run, book.workflow, command, blobs, tuple(_passed(state, book, workflow)))


def upgrade(engine: Engine, found: Fitting, *, driving: bool = False, actor: Actor | None = None) -> RunState:
    """On record, at once. Whoever decides on what was shown before is told that it has changed."""
    engine.scan(found.run, by=found.command.by, door=found.command.door, actor=actor)
    return engine.submit(found.run, found.command, found.blobs, driving=driving, actor=actor)


def _require_rest(state: RunState) -> None:
    if state.ended or state.world.open is not None:
        return
    stands = f"waits for {state.awaits.model}" if state.awaits is not None else f"is {state.status}"
    why = f"Run {state.run} {stands}: its workflow can be changed at a checkpoint, or when the run has ended."
    if state.place:
        raise Refused(why, hint=f"It has not begun: reconvene queue drop {state.run}, and start one with the new file.")
    raise Refused(why, hint=f"reconvene resume {state.run} goes on to the next checkpoint")


def _given(
    engine: Engine, state: RunState, book: Book, workflow: Workflow, given: Mapping[str, object]
) -> tuple[bytes, bytes]:
    """What the run was given, completed for the new workflow. What it has stays as it was settled at the start."""
    had, chosen = book.object(state.inputs), book.object(state.settings)
    for name in given:
        if had.get(name) is not None:
            raise Refused(f"Run {state.run} was given {name!r} at its start, and that stays.")
    kept = {name: had[name] for name in had if name in workflow.inputs}
    inputs = complete_inputs(workflow, kept | dict(given))
    fresh = [name for name, spec in workflow.inputs.items() if spec.type == "project" and name not in kept]
    inputs |= {name: run_values.project_folder(name, inputs[name]) for name in fresh if inputs[name] is not None}
    known = {name: chosen[name] for name in chosen if name in workflow.settings}
    try:
        settings = run_values.settings(workflow, known, inputs, engine.surroundings)
    except ExpressionError as error:
        raise Refused(f"A setting of {workflow.name} failed: {error}.") from None
    secrets = engine.discretion.of(workflow)
    return to_json(secrets.blank_in({**had, **inputs})), to_json(secrets.blank_in({**chosen, **settings}))


def _moved(book: Book, workflow: Workflow) -> Iterator[tuple[str, tuple[int, ...]]]:
    """For each phase (and the run) whose phases stand elsewhere now: the new place of each, and of the end."""
    new = Book(workflow, book.read)
    for name in ("", *book.nodes):
        if name and name not in new.nodes:
            continue
        old, now = [one.id for one in book.children(name)], [one.id for one in new.children(name)]
        places = tuple(_place(old, now, index) for index in range(len(old) + 1))
        if places != tuple(range(len(old) + 1)):
            yield name, places


def _place(old: list[str], now: list[str], index: int) -> int:
    """Where the phase at this position is now; where it is gone, right after those that had been before it."""
    if index < len(old) and old[index] in now:
        return now.index(old[index])
    return 1 + max((now.index(one) for one in old[:index] if one in now), default=-1)


def _passed(state: RunState, book: Book, workflow: Workflow) -> Iterator[str]:
    new = Book(workflow, book.read)
    for frame in state.world.cursor:
        if frame.phase and not book.phase(frame.phase).phases:
            continue
        old, now = [one.id for one in book.children(frame.phase)], [one.id for one in new.children(frame.phase)]
        yield from (one for one in now[: _place(old, now, frame.child)] if one not in book.nodes)


# --- what does not fit ---


def _no_fit(engine: Engine, run: str, workflow: Workflow, problems: list[Problem], named: str) -> DoesNotFit:
    gone = _gone(engine.load(run), workflow)
    if gone and len(problems) == len(gone):  # that is all
        words = " ".join(f"--drop {name}" for name in gone)
        return DoesNotFit(
            problems,
            fork=0,
            hint=f"Name it as before. Or, if nothing needs what is there: reconvene upgrade {run} --to {named} {words}",
        )
    fork = _fitting_fork(engine, run, workflow)
    if not fork:
        hint = f"No checkpoint of {run} fits it. Start anew: reconvene run {named}"
    else:
        number = 1
        while engine.log.head(f"{run}-fork-{number}"):
            number += 1
        hint = (
            f"It fits at an earlier checkpoint. Fork the run there: reconvene fork {run} --at {fork}; then: "
            f"reconvene upgrade {run}-fork-{number} --to {named}"
        )
    return DoesNotFit(problems, fork=fork, hint=hint)


def _fitting_fork(engine: Engine, run: str, workflow: Workflow) -> int:
    """The event that opened the latest checkpoint at which the workflow fits; 0 = there is none."""
    state, found = EMPTY, 0
    for seq, event in engine.log.read(run):
        state = state_after(run, state, seq, event)
        point = state.world.open
        if point is not None and event is point:
            book = book_for(engine.log, state.workflow, run)
            if next(_misfits(state, book, workflow, _gone(state, workflow)), None) is None:
                found = seq
    return found


def _gone(state: RunState, workflow: Workflow) -> list[str]:
    """The values on record that the workflow has no name for: nothing that it says could show them any more."""
    return [name for name in _names(state) if name not in workflow.names]


def _names(state: RunState) -> list[str]:
    return sorted({key.rpartition(":")[2] for world in _worlds(state) for key in world.values})


def _misfits(state: RunState, book: Book, workflow: Workflow, drop: Collection[str]) -> Iterator[Problem]:
    new = Book(workflow, book.read)
    yield from _phases(state, book, new)
    yield from _steps(state, book, new)
    yield from _checkpoints(state, new)
    yield from _values(state, book, new, drop)
    yield from _inputs(state, book, workflow)


def _problem(new: Book, line: int, message: str, record: str) -> Problem:
    return Problem(new.workflow.file or new.workflow.name, line, f"{message}; on record: {record}")


def _worlds(state: RunState) -> list[World]:
    """As it is, and as it was before each round that can still be undone."""
    return [state.world, *state.marks.values()]


def _phases(state: RunState, book: Book, new: Book) -> Iterator[Problem]:
    record = _entered(state)
    for name, told in record.items():
        old, now = book.nodes[name], new.nodes.get(name)
        if now is None:
            line = new.nodes[old.parent].phase.line if old.parent in new.nodes else 0
            yield _problem(new, line, f"there is no phase '{name}'", told)
        elif now.parent != old.parent:
            inside = f"inside '{now.parent}'" if now.parent else "a phase of the run itself"
            yield _problem(new, now.phase.line, f"phase '{name}' is {inside}", f"{told}, as {_inside(old.parent)}")
        elif (kind := _kind(now.phase)) != (was := _kind(old.phase)):
            yield _problem(new, now.phase.line, f"phase '{name}' has {kind}", f"{told}, with {was}")
    for name in ("", *record):
        if not name or (name in book.nodes and name in new.nodes):
            yield from _order(book, new, name, record)


def _inside(parent: str) -> str:
    return f"a part of '{parent}'" if parent else "a phase of the run itself"


def _entered(state: RunState) -> dict[str, str]:
    """The phases on record, with what there is of each, in words."""
    names: dict[str, str] = {}
    for world in _worlds(state):
        for name in (*world.counts, *(visit.phase for visit in world.visits.values())):
            rounds = world.rounds.get(name, 0)
            names.setdefault(name, f"{rounds} round{'s' * (rounds != 1)}" if rounds else "it was entered")
    for decision in state.record.decisions.values():
        if decision.phase:
            names[decision.phase] = f"{names.get(decision.phase, 'a round')}, decided “{decision.option}”"
    return names


def _kind(phase: Phase) -> str:
    inside = "phases inside it" if phase.phases else "steps of its own"
    return f"{inside}, once for each '{phase.each.key}'" if phase.each else inside


def _order(book: Book, new: Book, name: str, record: Mapping[str, str]) -> Iterator[Problem]:
    """Of the phases on record, those beside each other come in the same order."""
    old = [one.id for one in book.children(name) if one.id in record]
    now = [one.id for one in new.children(name) if one.id in record]
    both = [one for one in old if one in now]
    if (found := [one for one in now if one in both]) != both:
        line = new.phase(found[0]).line
        yield _problem(new, line, f"the phases come in the order {', '.join(found)}", f"the order {', '.join(both)}")


def _steps(state: RunState, book: Book, new: Book) -> Iterator[Problem]:
    """A round under way keeps the steps that have begun, with their agents and outputs."""
    frame = state.world.top
    if frame.round is None or frame.stage != "round" or not frame.phase or frame.phase not in new.nodes:
        return
    begun = frame.round.step + (frame.round.open is not None)
    old, now = book.phase(frame.phase), new.phase(frame.phase)
    for index, step in enumerate(old.steps[:begun]):
        at_work = frame.round.open.order if frame.round.open is not None and frame.round.open.index == index else ()
        whom = ", ".join(step.agents or at_work) or step.agents_expr
        told = f"step {index + 1} of round {frame.round.n} has begun, with {whom}"
        if index >= len(now.steps):
            yield _problem(new, now.line, f"phase '{frame.phase}' has no step {index + 1}", told)
            continue
        other = now.steps[index]
        where = f"step {index + 1} of phase '{frame.phase}'"
        if (other.agents, other.agents_expr) != (step.agents, step.agents_expr):
            who = ", ".join(other.agents) or other.agents_expr
            yield _problem(new, other.line, f"{where} is for {who}", told)
        elif (other.output, other.place) != (step.output, step.place):
            what = f"gives '{other.output}'" if other.output != step.output else "works elsewhere"
            yield _problem(new, other.line, f"{where} {what}", told)
    for agent in frame.round.open.order if frame.round.open else ():
        if agent not in new.workflow.agents:
            yield _problem(new, now.line, f"there is no agent '{agent}'", f"it works in round {frame.round.n}")


def _checkpoints(state: RunState, new: Book) -> Iterator[Problem]:
    point = state.world.open
    visited = {visit.phase: "a person was asked there" for world in _worlds(state) for visit in world.visits.values()}
    if point is not None and not point.attention and point.phase:
        visited[point.phase] = f"checkpoint {point.id} is open there"
    for name, told in visited.items():
        if name in new.nodes and new.phase(name).checkpoint is None:
            yield _problem(new, new.phase(name).line, f"phase '{name}' has no checkpoint", told)


def _values(state: RunState, book: Book, new: Book, drop: Collection[str]) -> Iterator[Problem]:
    was, now = book.workflow.names, new.workflow.names
    kits, others = tracked(book), tracked(new)
    for name in _names(state):
        lives = was.get(name, "")
        if name not in now and name not in drop and name not in kits:
            yield _problem(new, 0, f"there is no value '{name}'", "it has one, which nothing would see any more")
        if name in now and now[name] != lives:
            line = new.phase(now[name]).line if now[name] else 0
            message = f"'{name}' is {_lives(now[name])}"
            yield _problem(new, line, message, f"it has a value, and is {_lives(lives)}")
        if kits.get(name) != others.get(name) and (name in kits or name in now):
            line = next((node.phase.line for node in new.nodes.values() if _into(node.phase) == name), 0)
            yield _problem(new, line, f"'{name}' is {_kept(others.get(name))}", f"it is {_kept(kits.get(name))}")


def _into(phase: Phase) -> str:
    return phase.track.into if phase.track else ""


def _lives(phase: str) -> str:
    return f"one value for each item of '{phase}'" if phase else "one value of the whole run"


def _kept(kit: str | None) -> str:
    return f"kept by a tracker of the kit '{kit}'" if kit else "kept by no tracker"


def _inputs(state: RunState, book: Book, workflow: Workflow) -> Iterator[Problem]:
    had = book.object(state.inputs)
    for name, spec in workflow.inputs.items():
        old = book.workflow.inputs.get(name)
        if old is None or had.get(name) is None:
            continue
        was, now = (_SAME_VALUE.get(kind, kind) for kind in (old.type, spec.type))
        if was != now:
            yield Problem(workflow.file, 0, f"the input '{name}' is a {spec.type}; on record: it is a {old.type}")
