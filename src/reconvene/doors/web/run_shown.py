"""What the page of a run shows, put together: its heading, its picture, its agents, its rounds. Reads, never writes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.app import as_of, queries
from reconvene.app.views import projections, written
from reconvene.app.views.aim import aim
from reconvene.app.views.all_rounds import Round, Tried, rounds
from reconvene.app.views.phase_marks import phase_marks
from reconvene.core.definition.workflow import every_phase
from reconvene.core.facts import events as e
from reconvene.doors.shared.harmless import one_line
from reconvene.doors.web.drawn_rounds import Timeline, timeline
from reconvene.doors.web.drawn_workflow import Picture, picture

if TYPE_CHECKING:
    from reconvene.app.as_of import Moment
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Child, RunInFull
    from reconvene.app.views.written import Attempt
    from reconvene.core.facts.round import TaskAt

_GOAL = 220
_ENDED = ("completed", "failed", "aborted")
_SAID = 12  # of what people said and decided, the latest


class Worker(Struct, frozen=True):
    """An agent of the round in front. `state`: at work, done, missing, asks you, held, waits for its provider."""

    agent: str
    state: str
    attempts: int
    step: int
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0
    says: str = ""
    why: str = ""
    serial: int = 0


class Told(Struct, frozen=True):
    """Something that a person said or decided."""

    at: str
    what: str  # decision, remark
    text: str
    note: str
    by: str


class Page(Struct, frozen=True):
    run: RunInFull
    seq: int
    head: int
    at: str  # of the event shown
    goal: str
    heading: str
    picture: Picture
    workers: tuple[Worker, ...]
    rounds: tuple[Round, ...]
    timeline: Timeline
    told: tuple[Told, ...]
    versions: dict[str, int]
    driven: bool
    children: tuple[Child, ...] = ()
    source: str = ""  # the run that it was forked from

    @property
    def is_now(self) -> bool:
        return self.seq == self.head


def run_page(engine: Engine, run: str, seq: int = 0) -> Page:
    then = as_of.moment(engine, run, seq)
    shown = projections.in_full(then.state, then.book)
    events = then.events
    every = rounds(events)
    attempts = written.attempts(events, then.book)
    workers = _workers(then, every, attempts)
    decided = [event for event in events if isinstance(event, e.DecisionRecorded)]
    return Page(
        run=shown,
        seq=then.seq,
        head=then.head,
        at=then.log[-1][1].at,
        goal=one_line(aim(then.state, then.book), _GOAL),
        heading=_heading(then, shown, workers),
        picture=picture(phase_marks(then.book.workflow, then.state, events, every)),
        workers=workers,
        rounds=every,
        timeline=timeline(every, decided, _at_work(then)),
        told=_told(shown),
        versions=_times_written(events),
        driven=then.is_now and shown.status == "running" and run in engine.log.driven(),
        children=queries.children(engine, then.state),
        source=next((one.source for one in reversed(events) if isinstance(one, e.Forked) and one.run == run), ""),
    )


def _heading(then: Moment, shown: RunInFull, workers: Sequence[Worker]) -> str:
    if shown.status in _ENDED:
        outcome = f": {one_line(shown.outcome, 60)}" if shown.outcome not in ("", shown.status) else ""
        return f"The run has {'failed' if shown.status == 'failed' else f'been {shown.status}'}{outcome}."
    where = _where(then, shown)
    if shown.checkpoint is not None:
        return one_line(shown.checkpoint.question or shown.checkpoint.prompt, 240)
    if shown.status == "paused" and then.state.left:
        return f"{where}: its process had to end. A server or a worker takes it up again."
    if shown.status == "paused":
        return f"{where}: paused."
    if shown.status == "queued":
        return "It is in the queue."
    if shown.provider is not None:
        return f"{where}: it waits for {one_line(shown.provider.model, 60)}."
    names = [one_line(one.agent.replace("_", " "), 40) for one in workers if one.state == "at work"]
    few = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    return f"{where}: {few} at work." if names else f"{where}."


def _where(then: Moment, shown: RunInFull) -> str:
    titles = {phase.id: phase.title or phase.id.replace("_", " ") for phase in every_phase(then.book.workflow)}
    if shown.phase is None:
        return "Before the first phase"
    title = one_line(titles.get(shown.phase, shown.phase), 60)
    title = title[:1].upper() + title[1:]
    return f"{title}, round {shown.round}" if shown.round else title


def _times_written(events: Sequence[e.AnyEvent]) -> dict[str, int]:
    """How often each file was left otherwise than before."""
    last, times = dict[str, str](), dict[str, int]()
    for event in events:
        for file in event.files if isinstance(event, e.StepClosed | e.FilesRendered | e.FilesEdited) else ():
            if last.get(file.path) != file.digest:
                last[file.path] = file.digest
                times[file.path] = times.get(file.path, 0) + 1
    return times


# --- agents ---


def _workers(then: Moment, every: Sequence[Round], attempts: Sequence[Attempt]) -> tuple[Worker, ...]:
    """Of the last round in which somebody works or worked: whoever works first, then in the order of their steps."""
    last = next((one for one in reversed(every) if one.agents or one.tried), None)
    if last is None:
        return ()
    cost = {(one.step, one.agent, one.attempt): one.cost for one in last.tried}
    found: dict[tuple[int, str], Worker] = {}
    for one in (one for one in attempts if one.serial == last.serial):
        before = found.get((one.step, one.agent))
        spent = cost.get((one.step, one.agent, one.attempt), 0.0)
        text = then.book.text(one.output) if one.output else ""
        found[one.step, one.agent] = Worker(
            one.agent,
            {"accepted": "done", "forced": "done"}.get(one.verdict, one.verdict),
            one.attempt,
            one.step,
            round((before.seconds if before else 0.0) + one.seconds, 1),
            (before.tokens if before else 0) + one.tokens,
            (before.cost if before else 0.0) + spent,
            " ".join(written.first_lines(text)) if text else "",
            one.why,
            last.serial,
        )
    for task, step in _open_tasks(then):
        if task.status != "done":
            before = found.get((step, task.agent))
            state = {"open": "at work", "ask": "asks you", "suspended": "asks you"}.get(task.status, task.status)
            state = "waits for its provider" if task.parked is not None else state
            found[step, task.agent] = Worker(
                task.agent,
                state,
                task.attempt,
                step,
                before.seconds if before else 0.0,
                before.tokens if before else 0,
                before.cost if before else 0.0,
                why=task.parked.why if task.parked is not None else task.why or task.reason,
                serial=last.serial,
            )
    return tuple(sorted(found.values(), key=lambda one: (one.state != "at work", -one.step)))


def _open_tasks(then: Moment) -> list[tuple[TaskAt, int]]:
    """Of the step that is open, each with its number."""
    world = then.state.world
    round_ = world.top.round if world.cursor and not then.state.ended else None
    step = round_.open if round_ is not None else None
    return [(step.tasks[agent], step.index) for agent in step.order] if step is not None else []


def _at_work(then: Moment) -> list[Tried]:
    return [
        Tried(task.agent, step, task.attempt, "at work", then.state.updated)
        for task, step in _open_tasks(then)
        if task.status == "open"
    ]


def _told(shown: RunInFull) -> tuple[Told, ...]:
    made = (*shown.decisions, *shown.settled)
    rows = [Told(one.timestamp, "decision", one.option, one.phase, one.by) for one in made]
    rows += [Told(one.at, "remark", one.text or one.path, f"{one.kind}, {one.level}", one.by) for one in shown.remarks]
    return tuple(sorted(rows, key=lambda one: one.at)[-_SAID:])
