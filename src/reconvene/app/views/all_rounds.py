"""Every round of a run in order, as the log tells it: who worked, how often, what it cost, and what became of it.

A pure fold. A round stands, is open, was rolled back (it ran again), was dropped (it did not), or was cut short by the
run's end. A rolled-back round loses nothing here: its attempts, its outputs and what the person asked to change stay on
record. Knows no workflow and reads no content; how two tries of one round differ is `comparison`'s business.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal

from msgspec import Struct, convert
from msgspec.structs import replace

from reconvene.app.views import metrics
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task

Outcome = Literal["stands", "open", "rolled back", "dropped", "cut short"]


class Tried(Struct, frozen=True):
    """One attempt of one agent."""

    agent: str
    step: int
    attempt: int
    verdict: str
    at: str
    why: str = ""
    output: e.Ref | None = None
    seconds: float = 0.0
    cost: float = 0.0


class Said(Struct, frozen=True):
    """A remark made where the round was rolled back."""

    id: str
    kind: str
    text: str
    by: str = ""


class Undone(Struct, frozen=True):
    """Who took the round back, why, and what they asked to change. `within`: an enclosing round took it along."""

    at: str
    by: str
    why: str
    option: str = ""  # the checkpoint's option, where one was chosen
    fields: str = ""  # digest of the JSON object of answers given with it
    remarks: tuple[Said, ...] = ()
    within: int = 0
    folder: str = ""  # where its files were put, "" where it had no folder of its own
    archived: tuple[e.FileOut, ...] = ()  # those that are still there
    user: str = ""  # for whom the system vouches


class RoundShown(Struct, frozen=True):
    """A round as doors show it."""

    serial: int
    phase: str
    place: str  # scope, item included: the same for every try of a round
    n: int
    name: str
    started: str
    extra: bool = False
    seconds: float = 0.0
    cost: float = 0.0
    agents: tuple[str, ...] = ()
    tried: tuple[Tried, ...] = ()
    missing: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    outcome: Outcome = "open"
    waiting: bool = False  # its checkpoint is open: it stands unless the person says otherwise
    undone: Undone | None = None
    attempts: int = 0
    rejections: int = 0
    item: str = ""  # the title of the item that it is about, where it was looked up


class Round(RoundShown, frozen=True):
    """With what it wrote."""

    versions: tuple[e.FileOut, ...] = ()  # of files, the last of each path
    values: tuple[e.ValueWrite, ...] = ()  # the last write of every name

    @property
    def rejected(self) -> tuple[Tried, ...]:
        """What a gate sent back."""
        return tuple(one for one in self.tried if one.verdict == "rejected")

    def counted(self, seconds: float) -> Round:
        return replace(
            self,
            seconds=round(seconds, 3),
            files=tuple(file.path for file in self.versions if file.digest),
            attempts=sum(one.verdict != "forced" for one in self.tried),
            rejections=len(self.rejected),
        )

    def shown(self) -> RoundShown:
        return convert(self, RoundShown, from_attributes=True)


def rounds(events: Iterable[e.AnyEvent]) -> tuple[Round, ...]:
    """In the order in which they began. A group's own rounds, in which only its phases work, are left out."""
    fold = _Fold()
    for event in events:
        fold.take(event)
    fold.close()
    found = [fold.rounds[serial] for serial in sorted(fold.rounds) if serial not in fold.groups]
    return tuple(one.counted(fold.times.rounds[one.serial].seconds) for one in found)


def tries_of(found: Sequence[Round], one: Round) -> tuple[Round, ...]:
    """Every try of the same round, oldest first."""
    return tuple(other for other in found if (other.place, other.n) == (one.place, one.n))


class _Fold:
    def __init__(self) -> None:
        self.rounds: dict[int, Round] = {}
        self.groups: set[int] = set()
        self.times = metrics.Fold()
        self._current = 0
        self._open: e.CheckpointOpened | None = None
        self._decision: e.DecisionRecorded | None = None
        self._remarks: dict[str, list[Said]] = {}  # checkpoint → what was said there

    def take(self, event: e.AnyEvent) -> None:
        self.times.take(event)
        match event:
            case e.RoundStarted():
                self._current, place = event.serial, self.times.rounds[event.serial].place
                begun = Round(event.serial, event.phase, place, event.n, event.name, event.at, extra=event.extra)
                self.rounds[event.serial] = begun
            case e.PhaseEntered() | e.PhaseSkipped():
                self._inside(event.scope.rpartition("/")[0])
            case e.StepStarted():
                agents = (*event.unfunded, *(start.agent for start in event.tasks))
                self._add(event.serial, agents=agents)
            case e.AttemptEnded() | e.LateOutputArchived() | e.OutputForced():
                self._tried(event)
            case e.StepClosed():
                self._add(event.serial, missing=event.missing, files=event.files, values=event.values)
            case e.ValuesSet():
                self._add(self._current, values=event.values)
            case e.RoundClosed():
                self._set(event.serial, outcome="stands")
            case e.CheckpointOpened():
                self._open, self._decision = event, None
            case e.RemarkAdded():
                said = Said(event.id, event.kind, event.text, event.by)
                self._remarks.setdefault(event.checkpoint, []).append(said)
            case e.RemarkRead() | e.RemarkWithdrawn():
                self._read_again(event)
            case e.DecisionRecorded():
                self._open, self._decision = None, event
            case e.RoundUndone():
                self._undo(event)
            case e.Replanned():
                self._open = self._decision = None
                if self._current in self.rounds and self.rounds[self._current].outcome == "open":
                    self._set(self._current, outcome="cut short")
            case e.ArchivesPruned():
                self._prune(event)
            case e.RunEnded():
                self._end()
            case _:
                pass  # no round's business

    def _read_again(self, event: e.RemarkRead | e.RemarkWithdrawn) -> None:
        for said in self._remarks.values():
            at = next((at for at, one in enumerate(said) if one.id == event.id), -1)
            if at >= 0:
                said[at : at + 1] = [replace(said[at], kind=event.kind)] if isinstance(event, e.RemarkRead) else []

    def _inside(self, place: str) -> None:
        """A phase lies in `place`: the round under way there is its group's."""
        held = [one.serial for one in self.rounds.values() if one.place == place]
        if place and held:
            self.groups.add(held[-1])

    def _set(self, serial: int, **changes: object) -> None:
        if serial in self.rounds:
            self.rounds[serial] = replace(self.rounds[serial], **changes)

    def _add(
        self,
        serial: int,
        agents: tuple[str, ...] = (),
        missing: tuple[str, ...] = (),
        files: tuple[e.FileOut, ...] = (),
        values: tuple[e.ValueWrite, ...] = (),
    ) -> None:
        one = self.rounds.get(serial)
        if one is None or one.undone is not None:
            return  # what is written after an undo belongs to the next try
        self.rounds[serial] = replace(
            one,
            agents=tuple(dict.fromkeys((*one.agents, *agents))),
            missing=(*one.missing, *missing),
            versions=tuple({file.path: file for file in (*one.versions, *files)}.values()),
            values=tuple({(write.key, write.agent): write for write in (*one.values, *values)}.values()),
        )

    def _tried(self, event: e.AttemptEnded | e.LateOutputArchived | e.OutputForced) -> None:
        serial, step, agent = parse_task(event.task)
        one = self.rounds.get(serial)
        if one is None:
            return
        if isinstance(event, e.OutputForced):
            attempt = 1 + sum((tried.step, tried.agent) == (step, agent) for tried in one.tried)
            tried = Tried(agent, step, attempt, "forced", event.at, f"the output of {event.source}", event.output)
        else:
            verdict, spent = event.verdict if isinstance(event, e.AttemptEnded) else "late", event.usage
            tried = Tried(
                agent, step, event.attempt, verdict, event.at, event.why, event.output, spent.seconds, spent.cost
            )
        self.rounds[serial] = replace(one, tried=(*one.tried, tried), cost=one.cost + tried.cost)

    def _undo(self, event: e.RoundUndone) -> None:
        """Rounds begun since lie inside it, and go with it."""
        decision = self._decision if self._decision and self._decision.serial == event.serial else None
        open_here = decision.checkpoint if decision else self._open.id if self._open else ""
        checkpoint = event.checkpoint or open_here  # old logs do not say
        undone = Undone(
            event.at,
            event.by,
            event.why,
            decision.option if decision else "",
            decision.fields if decision else "",
            tuple(self._remarks.get(checkpoint, ())) if checkpoint else (),
            folder=event.folder,
            archived=event.archived,
            user=event.user,
        )
        for serial, one in self.rounds.items():
            if serial >= event.serial and one.undone is None:
                within = 0 if serial == event.serial else event.serial
                outcome: Outcome = "dropped" if event.dropped else "rolled back"
                own = undone if not within else replace(undone, within=within, folder="", archived=())
                self._set(serial, outcome=outcome, undone=own)
        self._open = self._decision = None

    def _prune(self, event: e.ArchivesPruned) -> None:
        for serial, one in self.rounds.items():
            if one.undone is not None and one.undone.archived:
                left = tuple(file for file in one.undone.archived if file.path not in event.paths)
                self._set(serial, undone=replace(one.undone, archived=left))

    def close(self) -> None:
        if self._open is not None and not self._open.attention:
            self._set(self._open.serial, waiting=True)

    def _end(self) -> None:
        self._open = None
        for serial, one in self.rounds.items():
            if one.outcome == "open":
                self._set(serial, outcome="cut short")
