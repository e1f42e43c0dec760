"""One packaged workflow played through the real engine: real log, real files, the recorded agents it ships with."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

import reconvene
from reconvene.app import queries
from reconvene.core.commands import AnswerCheckpoint
from reconvene.core.events import CheckpointOpened
from reconvene.core.feedback import parse_remark
from reconvene.core.state import RunState
from reconvene.wire.workflow import load_workflow
from reconvene.wiring import open_engine

WORKFLOWS = Path(reconvene.__file__).parent / "workflows"


class Table:
    """A run and the person in front of it."""

    def __init__(self, home: Path, name: str | Path, inputs: Mapping[str, object] | None = None) -> None:
        self.engine = open_engine(home)
        self.run = self.engine.start(load_workflow(WORKFLOWS / name), inputs, by="ann")
        self.state: RunState = self.engine.drive_sync(self.run)

    @property
    def open(self) -> CheckpointOpened:
        assert self.state.world.open is not None, f"the run is {self.state.status}"
        assert not self.state.world.open.attention, self.state.world.open.prompt
        return self.state.world.open

    def decide(self, option: str, *said: str) -> Table:
        remarks = tuple(parse_remark(text) for text in said)
        self.engine.submit(self.run, AnswerCheckpoint(self.open.id, option, {}, remarks, by="ann"))
        self.state = self.engine.drive_sync(self.run)
        return self

    def file(self, path: str) -> str:
        """As it lies in the workspace, and as the log has it: the same."""
        recorded = queries.file(self.engine, self.run, path)
        assert (Path(self.state.workspace) / path).read_bytes() == recorded
        return recorded.decode()

    @property
    def files(self) -> list[str]:
        return sorted(self.state.world.files)

    @property
    def context(self) -> dict[str, object]:
        shown = queries.show(self.engine, self.run)
        assert shown["failures"] == []
        assert shown["errors"] == []
        context = shown["context"]
        assert isinstance(context, dict)
        return context

    @property
    def counts(self) -> dict[str, int]:
        phases = self.context["phases"]
        assert isinstance(phases, dict)
        return dict(phases["iteration_counts"])

    @property
    def decisions(self) -> list[tuple[str, ...]]:
        """(phase, decision, what else the record of the checkpoint holds), without who and when."""
        rows = self.context["checkpoints"]
        assert isinstance(rows, list)
        return [
            (row["phase"], row["decision"], *(str(row[key]) for key in ("target", "skipped", "feedback") if key in row))
            for row in rows
        ]


Sit = Callable[..., Table]


@pytest.fixture
def sit(tmp_path: Path) -> Iterator[Sit]:
    """Start a packaged workflow and drive it to its first stop."""
    tables: list[Table] = []

    def start(name: str | Path, inputs: Mapping[str, object] | None = None) -> Table:
        tables.append(Table(tmp_path / f"home-{len(tables)}", name, inputs))
        return tables[-1]

    yield start
    for table in tables:
        asyncio.run(table.engine.close())
