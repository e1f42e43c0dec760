"""One run on a real engine: real SQLite, a real folder; scripted agents where a test gives some, else real ones."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from reconvene.app import as_sent
from reconvene.app.engine import Engine
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.events import AttemptEnded, CheckpointOpened
from reconvene.core.facts.state import RunState
from reconvene.testing.scripted import Reply, ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

Replies = Mapping[str, Sequence[Reply] | Reply]
_Event = TypeVar("_Event")


class Stage:
    """`other()` gives a second process's view of the same run: nothing is shared but what is on disk."""

    def __init__(self, home: Path, text: str, replies: Replies | None = None, run: str = "") -> None:
        self.home = home
        self.text = text
        self.agents = ScriptedAgents(replies or {})
        self.engine: Engine = open_engine(home, runner=self.agents if replies is not None else None)
        self.run = run or self.engine.start(parse_workflow(text), by="ann")
        self._scripted = replies is not None

    def other(self, replies: Replies | None = None, run: str = "") -> Stage:
        stage = Stage(self.home, self.text, replies if replies is not None else {}, run or self.run)
        if replies is None:
            stage.agents = self.agents
            stage.engine = open_engine(self.home, runner=self.agents if self._scripted else None)
        return stage

    # --- doing ---

    def drive(self) -> RunState:
        return asyncio.run(self.engine.drive(self.run, by="ann", door="test"))

    def answer(self, option: str, *said: str, digest: str = "", checkpoint: str = "") -> RunState:
        """Record a decision without driving on."""
        remarks = tuple(RemarkIn(text) for text in said)
        command = AnswerCheckpoint(checkpoint, option, remarks=remarks, digest=digest, by="ann", door="test")
        return self.engine.submit(self.run, command)

    def decide(self, option: str, *said: str, digest: str = "") -> RunState:
        self.answer(option, *said, digest=digest)
        return self.drive()

    def write(self, path: str, text: str) -> None:
        """What a person does in an editor."""
        place = self.folder / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, encoding="utf-8")

    # --- looking ---

    @property
    def state(self) -> RunState:
        return self.engine.load(self.run)

    @property
    def folder(self) -> Path:
        return Path(self.state.workspace)

    def read(self, path: str) -> str:
        return (self.folder / path).read_text(encoding="utf-8")

    @property
    def point(self) -> CheckpointOpened:
        point = self.state.world.open
        assert point is not None, f"{self.run} is {self.state.status}"
        return point

    @property
    def labels(self) -> list[str]:
        return [option.label for option in self.point.options if option.available]

    def events(self, kind: type[_Event]) -> list[_Event]:
        return [event for _, event in self.engine.log.read(self.run) if isinstance(event, kind)]

    def seqs(self, kind: type[object]) -> list[int]:
        return [seq for seq, event in self.engine.log.read(self.run) if isinstance(event, kind)]

    def attempts(self, task: str) -> list[AttemptEnded]:
        return [event for event in self.events(AttemptEnded) if event.task == task]

    def verdicts(self, task: str) -> list[str]:
        return [attempt.verdict for attempt in self.attempts(task)]

    def asked(self, task: str, attempt: int = 1) -> str:
        """The request of one attempt, as the store keeps it."""
        found = next(ended for ended in self.attempts(task) if ended.attempt == attempt)
        return as_sent.whole(found, self.engine.log.artefact).decode()

    def kept(self, digest: str) -> str:
        return self.engine.log.artefact(digest).decode()
