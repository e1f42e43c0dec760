"""A run at a stop, and the person in front of it: reads, decides, looks. Knows no workflow and starts nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import Self

import reconvene
from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.core.facts.events import CheckpointOpened
from reconvene.core.facts.state import RunState
from reconvene.kits.reading.feedback import parse_remark

WORKFLOWS = Path(reconvene.__file__).parent / "workflows"


class Seat:
    def __init__(self, engine: Engine, run: str) -> None:
        """Drives a run that was just started to its first stop."""
        self.engine = engine
        self.run = run
        self.state: RunState = engine.drive_sync(run)

    def close(self) -> None:
        asyncio.run(self.engine.close())

    def decide(self, option: str, *said: str, **fields: object) -> Self:
        return self.answer(option, fields, *said)

    def answer(self, option: str, fields: Mapping[str, object], *said: str, at: CheckpointOpened | None = None) -> Self:
        remarks = tuple(parse_remark(text) for text in said)
        command = AnswerCheckpoint((at or self.open).id, option, dict(fields), remarks, by="ann")
        self.engine.submit(self.run, command)
        self.state = self.engine.drive_sync(self.run)
        return self

    @property
    def phase(self) -> str:
        return self.state.world.top.phase

    @property
    def point(self) -> CheckpointOpened:
        """Whatever the person is asked."""
        assert self.state.world.open is not None, f"the run is {self.state.status} {self.state.outcome}"
        return self.state.world.open

    @property
    def open(self) -> CheckpointOpened:
        """A question of the workflow, none of the engine's own."""
        assert not self.point.attention, self.point.prompt
        return self.point

    @property
    def offered(self) -> list[str]:
        return [option.label for option in self.point.options if option.available]

    def file(self, path: str) -> str:
        """As it lies in the workspace, and as the log has it: the same."""
        recorded = queries.file(self.engine, self.run, path)
        assert (Path(self.state.workspace) / path).read_bytes() == recorded
        return recorded.decode()
