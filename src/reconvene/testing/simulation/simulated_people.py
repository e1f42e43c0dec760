"""Simulated people: they look, decide on what they saw, remark, edit files, pause, go on, and try again what failed.

What a command acknowledged is kept apart from everything that the engine records, to be held against it at the end.
"""

from __future__ import annotations

import asyncio
from random import Random
from typing import NamedTuple

from reconvene.core.facts.actors import Actor
from reconvene.core.facts.commands import AddRemark, AnswerCheckpoint, Pause, RemarkIn, WithdrawRemark
from reconvene.core.facts.events import OptionOffered
from reconvene.core.facts.state import RunState
from reconvene.core.person.attention import AGAIN, STOP
from reconvene.core.person.checkpoint import current_digest
from reconvene.errors import ReconveneError, Repeated
from reconvene.ports import Request
from reconvene.testing.simulation.simulated_world import Killed, Process, World

_ENDING = (STOP, "Abort", "Stop here")
_BACK = (AGAIN, "Again", "Back", "Take it back")


class Said(NamedTuple):
    run: str
    text: str
    by: str


class Decided(NamedTuple):
    run: str
    checkpoint: str
    option: str
    by: str


class Acknowledged:
    """What somebody was told is done."""

    def __init__(self) -> None:
        self.started: list[str] = []
        self.said: list[Said] = []
        self.withdrawn: set[tuple[str, str]] = set()  # run and text: asked for, acknowledged or not
        self.decided: list[Decided] = []
        self.requests: dict[str, str] = {}  # the mark of a request → the run


class _Seen(NamedTuple):
    checkpoint: str
    digest: str
    option: str


class Person:
    def __init__(self, world: World, name: str, acknowledged: Acknowledged) -> None:
        self._world = world
        self._name = name
        self._known = acknowledged
        self._random = Random(f"{name} {world.seed}")
        self._seen: dict[str, _Seen] = {}
        self._said = 0
        self._at: Process | None = None  # whose engine they use
        self._again: tuple[str, AddRemark, Request] | None = None  # failed: to be tried once more, as it was

    async def live(self) -> None:
        while True:
            await asyncio.sleep(self._random.expovariate(1 / 1.2))
            self.act()

    def act(self) -> None:
        """One command, as a process of its own."""
        runs = self._world.disk.runs()
        if not runs:
            return
        process = self._at if self._at is not None and self._at.alive else self._world.process(self._name)
        stays = self._random.random() < 0.7  # a service that goes on, else a command
        self._at = process if stays else None
        goes_on = False
        try:
            goes_on = self._do(process, self._random.choice(runs))
        except Killed:
            pass
        except ReconveneError as error:
            process.note(f"is told {type(error).__name__}: {error.message}")
        finally:
            if not goes_on and not stays:
                process.end()

    def _do(self, process: Process, run: str) -> bool:
        """Whether the process works on."""
        if self._world.closing:
            return self._finish(process, run)
        if self._again is not None and self._random.random() < 0.7:
            self._try_again(process, *self._again)
            return False
        draw = self._random.random()
        if draw < 0.50:
            return self._decide(process, run)
        if draw < 0.68:
            self._remark(process, run)
        elif draw < 0.80:
            self._edit(process, run)
        elif draw < 0.85:
            process.engine.scan(run, by=self._name, door="simulated")
        elif draw < 0.90:
            self._withdraw(process, run)
        elif draw < 0.94:
            now = self._random.random() < 0.5
            process.engine.submit(run, Pause(self._name, "simulated", now), actor=self._actor)
            process.note(f"paused {run}")
        else:
            return self._drive(process, run)
        return False

    @property
    def _actor(self) -> Actor:
        return Actor(self._name)

    # --- what they do ---

    def _look(self, process: Process, run: str) -> RunState:
        state = process.engine.load(run)
        point = state.world.open
        if point is not None:
            options = [option for option in point.options if option.available]
            self._seen[run] = _Seen(point.id, current_digest(state), self._choice(options))
        return state

    def _choice(self, options: list[OptionOffered]) -> str:
        labels = [option.label for option in options if not option.fields]
        forward = [label for label in labels if label not in (*_ENDING, *_BACK)] or labels
        if self._world.closing:
            return forward[0]
        draw = self._random.random()
        if draw < 0.02:
            return self._random.choice(labels)
        not_ending = [label for label in labels if label not in _ENDING] or labels
        return self._random.choice(forward if draw < 0.6 else not_ending)

    def _decide(self, process: Process, run: str) -> bool:
        """On what they saw a while ago, or just now."""
        if run not in self._seen or self._random.random() < 0.6:
            if self._look(process, run).world.open is None:
                return False
            if self._random.random() < 0.3:
                return False  # they think about it
        seen = self._seen[run]
        remarks = (RemarkIn(self._words()),) if self._random.random() < 0.3 else ()
        command = AnswerCheckpoint(
            seen.checkpoint, seen.option, {}, remarks, seen.digest, by=self._name, door="simulated"
        )
        driving = self._random.random() < 0.4
        process.engine.submit(run, command, driving=driving, actor=self._actor)
        process.note(f"decided {run} {seen.checkpoint} {seen.option!r}")
        self._known.decided.append(Decided(run, seen.checkpoint, seen.option, self._name))
        self._known.said += [Said(run, remark.text, self._name) for remark in remarks]
        return driving and self._drive(process, run)

    def _drive(self, process: Process, run: str, *, at_once: bool = False) -> bool:
        async def drive() -> None:
            await process.engine.drive(run, by=self._name, door="simulated", at_once=at_once)
            process.engine.commit_history(run)

        process.spawn(drive(), last=process is not self._at)
        return True

    def _words(self) -> str:
        self._said += 1
        return f"{self._name} says their word number {self._said}."

    def _remark(self, process: Process, run: str) -> None:
        request = Request(f"{self._name}{self._said:06d}".encode().hex(), process.now())
        self._try_again(process, run, AddRemark(RemarkIn(self._words()), self._name, "simulated"), request)

    def _try_again(self, process: Process, run: str, command: AddRemark, request: Request) -> None:
        """The same request until it is known to be carried out: it is, once."""
        self._again = run, command, request
        try:
            process.engine.submit(run, command, actor=self._actor, request=request)
        except Repeated:
            process.note("it was carried out before")
        except ReconveneError as error:
            if "ended" in error.message or "is over" in error.message or "completed" in error.message:
                self._again = None
            raise
        self._again = None
        process.note(f"said {command.remark.text!r} in {run}")
        self._known.said.append(Said(run, command.remark.text, self._name))
        self._known.requests[request.mark] = run

    def _withdraw(self, process: Process, run: str) -> None:
        mine = [one for one in self._look(process, run).record.remarks.values() if one.by == self._name and one.text]
        if not mine:
            return
        remark = self._random.choice(mine)
        self._known.withdrawn.add((run, remark.text))
        process.engine.submit(run, WithdrawRemark(remark.id, self._name, "simulated"), actor=self._actor)
        process.note(f"took {remark.id} back in {run}")

    def _edit(self, process: Process, run: str) -> None:
        state = process.engine.load(run)
        folder = self._world.folders.get(state.workspace)
        if folder is None or not folder.files:
            return
        path = self._random.choice([*sorted(folder.files), "mine.md"])
        data = None if self._random.random() < 0.15 else self._words().encode()
        folder.edit(path, data)
        process.note(f"edits {path} of {run}")

    def _finish(self, process: Process, run: str) -> bool:
        """Whatever waits for a person is decided; what they paused goes on."""
        state = self._look(process, run)
        if state.ended:
            return False
        if state.world.open is not None:
            seen = self._seen[run]
            command = AnswerCheckpoint(
                seen.checkpoint, seen.option, digest=seen.digest, by=self._name, door="simulated"
            )
            process.engine.submit(run, command, actor=self._actor)
            process.note(f"decided {run} {seen.checkpoint} {seen.option!r}")
            self._known.decided.append(Decided(run, seen.checkpoint, seen.option, self._name))
            return False
        return self._drive(process, run, at_once=True) if state.paused or state.awaits is not None else False
