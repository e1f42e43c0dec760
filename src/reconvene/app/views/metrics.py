"""How well the checkpoints serve the person, measured from the log: rounds, minutes, iteration, closure, cost.

A pure fold. Every stretch of time between two events belongs to exactly one of: the person (a checkpoint is open), a
pause, an idle run (nobody drove it: what lies before a takeover), or the agents. A round's wall time is what its agents
took, from its start to its checkpoint, so that a night in between is not the agents' fault.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TypeGuard

from immutables import Map
from msgspec import Struct, convert

from reconvene.app.views import targets
from reconvene.app.views.estimates import seconds_between
from reconvene.app.views.ledger import Ledger
from reconvene.app.views.targets import Reading
from reconvene.core.definition.workflow import Again, Continue, End, Goto
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import used

_MOST_BARS = 20  # rounds drawn: the latest


class RoundTime(Struct, frozen=True):
    run: str
    phase: str
    n: int
    minutes: float
    extra: bool = False


class PhaseRounds(Struct, frozen=True):
    """Rounds run in one entry of a phase (and one item of it): the workflow's own, and those added."""

    run: str
    place: str
    standard: int
    extra: int

    @property
    def rounds(self) -> int:
        return self.standard + self.extra


class Metrics(Struct, frozen=True):
    """Of one run, or of several together: lists are joined and sums added, so that averages are over all rounds."""

    runs: tuple[str, ...] = ()
    phases: tuple[PhaseRounds, ...] = ()
    rounds: tuple[RoundTime, ...] = ()
    decisions: int = 0  # checkpoints decided, attention not counted
    iterations: int = 0  # of them, decided for another round
    to_approval: tuple[int, ...] = ()  # rounds run when a phase was approved
    completeness: tuple[str, ...] = ()  # the answers: yes | partly | no
    wait_minutes: float = 0.0  # agents at work, the person waiting
    review_minutes: tuple[float, ...] = ()  # per decision, attention included
    paused_minutes: float = 0.0
    idle_minutes: float = 0.0
    remarks: int = 0
    judged_remarks: int = 0  # of them, those of a run whose ledger was given
    open_remarks: int = 0
    tasks: int = 0
    attempts: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0  # USD, as far as known
    calls: int = 0  # attempts that used something, recordings not counted
    unpriced: int = 0  # of them, those whose price is not known
    unpriced_tokens: int = 0
    deliverables: int = 0  # files that agents wrote in phases since closed

    @property
    def rounds_per_phase(self) -> float | None:
        return _mean([phase.rounds for phase in self.phases])

    @property
    def minutes_per_round(self) -> float | None:
        return _mean([round_.minutes for round_ in self.rounds])

    @property
    def iteration_rate(self) -> float | None:
        return self.iterations / self.decisions if self.decisions else None

    @property
    def rounds_to_approval(self) -> float | None:
        return _mean(self.to_approval)

    @property
    def ledger_closure(self) -> float | None:
        return 1 - self.open_remarks / self.judged_remarks if self.judged_remarks else None

    @property
    def cost_per_deliverable(self) -> float | None:
        return self.cost / self.deliverables if self.deliverables and self.cost else None

    @property
    def success(self) -> tuple[Reading, ...]:
        """The four success measures against their targets."""
        return (
            targets.completeness(self.completeness),
            targets.rounds_per_phase([phase.rounds for phase in self.phases]),
            targets.minutes_per_round([round_.minutes for round_ in self.rounds]),
            targets.iteration_rate(self.iterations, self.decisions),
        )

    def lines(self, width: int = 72) -> list[str]:
        return list(_lines(self, width))

    def shown(self) -> MetricsShown:
        return convert(self, MetricsShown, from_attributes=True)


class MetricsShown(Metrics, frozen=True, kw_only=True):
    """The same as doors show it: with the averages and rates that follow from it, and the measures of success."""

    rounds_per_phase: float | None
    minutes_per_round: float | None
    iteration_rate: float | None
    rounds_to_approval: float | None
    ledger_closure: float | None
    cost_per_deliverable: float | None
    success: tuple[Reading, ...]


def _mean(values: Sequence[float]) -> float | None:
    return sum(values) / len(values) if values else None


def measure(events: Iterable[e.AnyEvent], ledger: Ledger | None = None, completeness: object = None) -> Metrics:
    """`completeness`: the person's answer to "did they capture everything?", from wherever the workflow asks it."""
    fold = Fold()
    for event in events:
        fold.take(event)
    return fold.close(ledger, completeness)


def aggregate(runs: Iterable[Metrics]) -> Metrics:
    """Several runs as one: every field is a sum or a list."""
    total = Metrics()
    for one in runs:
        joined = {name: getattr(total, name) + getattr(one, name) for name in Metrics.__struct_fields__}
        total = Metrics(**joined)
    return total


# --- the fold ---


class _Round:
    def __init__(self, event: e.RoundStarted, place: str) -> None:
        self.event = event
        self.place = place
        self.seconds = 0.0
        self.worked = False  # a group's own round runs no agents: its phases do
        self.closed = False
        self.shown = False  # before the person: what follows is no longer its time


class Fold:
    """`rounds`: by serial, where each took place and how long its agents took, so far where it is under way."""

    def __init__(self) -> None:
        self.run = ""
        self._last = ""
        self._open: e.CheckpointOpened | None = None
        self._paused = False
        self._items: dict[str, str] = {}  # scope → item under way
        self.rounds: dict[int, _Round] = {}
        self._current: _Round | None = None
        self._files: Map[str, str] = Map()  # path → scope in which an agent wrote it
        self._marks: dict[int, Map[str, str]] = {}
        self._closed: set[str] = set()
        self._wait = self._pause = self._idle = 0.0
        self._reviews: list[float] = []
        self._approved: list[int] = []
        self.decisions = self.iterations = self.remarks = self.tasks = self.attempts = 0
        self.tokens_in = self.tokens_out = 0
        self.cost = 0.0
        self.calls = 0
        self.unpriced = 0
        self.unpriced_tokens = 0

    def take(self, event: e.AnyEvent) -> None:
        self._pass_time(event)
        match event:
            case e.RunStarted() | e.Forked():
                self.run = event.run
            case e.ItemStarted():
                self._items[event.scope] = event.key
            case e.ItemDone():
                self._items.pop(event.scope, None)
            case e.RoundStarted():
                key = self._items.get(event.scope)
                self._current = _Round(event, f"{event.scope}[{key}]" if key else event.scope)
                self.rounds[event.serial] = self._current
                self._marks[event.serial] = self._files
            case e.StepStarted():
                if event.serial in self.rounds:
                    self.rounds[event.serial].worked = True
                self.tasks += len(event.tasks)
            case e.AttemptEnded() | e.LateOutputArchived():
                self._spend(event)
            case e.StepClosed():
                self._write(event)
            case e.CheckpointOpened():
                self._open = event
                self._reviews.append(0.0)
                if not event.attention:
                    self._show(event.serial)
            case e.RoundClosed():
                if event.serial in self.rounds:
                    self.rounds[event.serial].closed = True
            case e.CheckpointSkipped():
                self._show(event.serial)
            case e.DecisionRecorded():
                self._decided(event)
            case e.RoundUndone():
                self._undone(event)
            case e.Replanned():
                self.decisions += self._open is not None
                self.iterations += self._open is not None
                self._open, self._paused = None, False
            case e.PhaseClosed():
                self._closed.add(event.scope)
            case e.RemarkAdded():
                self.remarks += 1
            case e.RemarkWithdrawn():
                self.remarks -= 1
            case e.Paused():
                self._paused = True
            case e.Resumed():
                self._paused = False
            case e.RunEnded():
                self._open, self._current = None, None
                if event.status == "completed":
                    self._closed.update(self._files.values())
            case _:
                pass  # moves nothing that is measured

    def _pass_time(self, event: e.AnyEvent) -> None:
        """The time since the event before belongs to whoever held the run until now."""
        seconds = seconds_between(self._last, event.at) if self._last else 0.0
        self._last = event.at
        if self._open is not None:
            self._reviews[-1] += seconds
        elif self._paused:
            self._pause += seconds
        elif _takes_over(event):
            self._idle += seconds
        elif self._current is not None:
            self._wait += seconds
            if not self._current.shown:
                self._current.seconds += seconds

    def _spend(self, event: e.AttemptEnded | e.LateOutputArchived) -> None:
        usage, spent = event.usage, used(event)
        self.attempts += not _in_doubt(event) or event.output is None  # one whose output waits is counted when judged
        self.calls += spent.calls
        self.unpriced += spent.unpriced
        self.unpriced_tokens += spent.tokens
        self.tokens_in += usage.input_tokens
        self.tokens_out += usage.output_tokens
        self.cost += usage.cost

    def _write(self, event: e.StepClosed) -> None:
        scope = self.rounds[event.serial].event.scope if event.serial in self.rounds else ""
        for file in event.files:
            if file.digest:
                self._files = self._files.set(file.path, scope)
            elif file.path in self._files:
                self._files = self._files.delete(file.path)

    def _show(self, serial: int) -> None:
        """This round's work is done and before the person."""
        if serial in self.rounds:
            self.rounds[serial].shown = True

    def _decided(self, event: e.DecisionRecorded) -> None:
        self._open = None
        if event.attention:
            return
        self.decisions += 1
        self.iterations += isinstance(event.move, Again) or (isinstance(event.move, Goto) and event.move.rerun)
        if isinstance(event.move, Continue | End) and event.serial in self.rounds:
            place = self.rounds[event.serial].place
            rounds = sum(one.place == place and one.worked for one in self.rounds.values())
            self._approved += [rounds] if rounds else []

    def _undone(self, event: e.RoundUndone) -> None:
        if self._open is not None and not event.dropped:  # rolled back without a decision: the round runs again
            self.decisions += 1
            self.iterations += 1
        self._open = None
        self._files = self._marks.get(event.serial, self._files)

    def close(self, ledger: Ledger | None, completeness: object) -> Metrics:
        worked = [one for one in self.rounds.values() if one.worked]
        extra: dict[str, list[bool]] = {}  # of each place, whether its rounds were added
        for one in worked:
            extra.setdefault(one.place, []).append(one.event.extra)
        answer = _answered(completeness)
        return Metrics(
            runs=(self.run,),
            phases=tuple(PhaseRounds(self.run, at, was.count(False), was.count(True)) for at, was in extra.items()),
            rounds=tuple(
                RoundTime(self.run, one.event.phase, one.event.n, round(one.seconds / 60, 3), one.event.extra)
                for one in worked
                if one.shown or one.closed
            ),
            decisions=self.decisions,
            iterations=self.iterations,
            to_approval=tuple(self._approved),
            completeness=(answer,) if answer else (),
            wait_minutes=round(self._wait / 60, 3),
            review_minutes=tuple(round(seconds / 60, 3) for seconds in self._reviews),
            paused_minutes=round(self._pause / 60, 3),
            idle_minutes=round(self._idle / 60, 3),
            remarks=self.remarks,
            judged_remarks=len(ledger) if ledger is not None else 0,
            open_remarks=len(ledger.open) if ledger is not None else 0,
            tasks=self.tasks,
            attempts=self.attempts,
            input_tokens=self.tokens_in,
            output_tokens=self.tokens_out,
            cost=self.cost,
            calls=self.calls,
            unpriced=self.unpriced,
            unpriced_tokens=self.unpriced_tokens,
            deliverables=sum(scope in self._closed for scope in self._files.values()),
        )


def _takes_over(event: e.AnyEvent) -> bool:
    """Somebody takes the run up again: until then nobody worked, or nobody can say who did."""
    return isinstance(event, e.TasksClaimed | e.Forked) or (_in_doubt(event) and event.output is None)


def _in_doubt(event: e.AnyEvent) -> TypeGuard[e.AttemptEnded]:
    return isinstance(event, e.AttemptEnded) and event.verdict == "doubt"


_YES = frozenset(("yes", "y", "true", "complete", "completely", "everything", "all", "1"))
_NO = frozenset(("no", "n", "false", "incomplete", "missing", "0"))


def _answered(value: object) -> str:
    """yes, no, or partly for anything in between; "" where nobody answered."""
    if value is None or value == "":
        return ""
    word = str(value).strip().casefold().partition(" ")[0].strip(",.!:;")
    return "yes" if word in _YES else "no" if word in _NO else "partly"


# --- for a terminal ---


def _lines(metrics: Metrics, width: int) -> Iterator[str]:
    yield from (reading.line() for reading in metrics.success)
    yield from _minutes_chart(metrics.rounds[-_MOST_BARS:], width)
    reviewed = sum(metrics.review_minutes)
    yield f"waited for agents {metrics.wait_minutes:.1f} min, reviewed {reviewed:.1f} min"
    if metrics.ledger_closure is not None:
        left = f", {metrics.open_remarks} open" if metrics.open_remarks else ""
        yield f"remarks {metrics.remarks}, {metrics.ledger_closure:.0%} proved or declined{left}"
    tokens = metrics.input_tokens + metrics.output_tokens
    spent = f"{metrics.tasks} agent tasks in {metrics.attempts} attempts, {tokens} tokens"
    yield spent + (f", ${metrics.cost:.2f}" if metrics.cost else "")
    if metrics.unpriced and (metrics.cost or metrics.unpriced_tokens):
        known = f"cost known for {metrics.calls - metrics.unpriced} of {metrics.calls} calls"
        yield f"{known}; {metrics.unpriced_tokens:,} tokens without a price"
    if metrics.cost_per_deliverable is not None:
        yield f"${metrics.cost_per_deliverable:.2f} for each of {metrics.deliverables} accepted deliverables"


def _minutes_chart(rounds: Sequence[RoundTime], width: int) -> Iterator[str]:
    """A bar per round, and where the target lies on the same scale."""
    if not rounds:
        return
    several = len({round_.run for round_ in rounds}) > 1
    labels = [f"{f'{one.run} ' if several else ''}{one.phase} {one.n}" for one in rounds]
    longest = max(len(label) for label in (*labels, "target"))
    room = max(10, width - longest - 14)
    most = max(targets.GOOD_MINUTES, *(one.minutes for one in rounds))
    for label, one in zip(labels, rounds, strict=True):
        yield f"  {label:<{longest}} {targets.bar(one.minutes, most, room):<{room}} {one.minutes:6.1f} min".rstrip()
    mark = min(room, max(1, round(room * targets.GOOD_MINUTES / most)))
    yield f"  {'target':<{longest}} {'┄' * (mark - 1)}│{' ' * (room - mark)} {targets.GOOD_MINUTES:6.1f} min"
