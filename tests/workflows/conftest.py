"""Packaged workflows played through the real engine: real log, real files, recorded or scripted agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from reconvene.app import queries
from reconvene.ports import Assignment
from reconvene.wire.workflow_file import load_workflow
from reconvene.wiring import open_engine

from .boards import Board
from .boards import Sit as Convene
from .refining import Refinement, Start
from .seats import WORKFLOWS, Seat


class Table(Seat):
    def __init__(self, home: Path, name: str | Path, inputs: Mapping[str, object] | None = None) -> None:
        engine = open_engine(home)
        super().__init__(engine, engine.start(load_workflow(WORKFLOWS / name), inputs, by="ann"))

    @property
    def files(self) -> list[str]:
        return sorted(self.state.world.files)

    @property
    def context(self) -> dict[str, object]:
        shown = queries.show(self.engine, self.run)
        assert (shown.failures, shown.errors) == ((), ())
        context = shown.context
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
        table.close()


@pytest.fixture
def start(tmp_path: Path) -> Iterator[Start]:
    """Start a spec refinement with scripted agents, and drive it to its first stop."""
    runs: list[Refinement] = []

    def begin(*args: object, **more: object) -> Refinement:
        runs.append(Refinement(tmp_path / str(len(runs)), *args, **more))  # type: ignore[arg-type]
        return runs[-1]

    yield begin
    for run in runs:
        run.close()


@pytest.fixture
def board(tmp_path: Path) -> Iterator[Convene]:
    boards: list[Board] = []

    def start(inputs: Mapping[str, object] | None = None, **replies: Callable[[Assignment], object]) -> Board:
        boards.append(Board(tmp_path / f"home-{len(boards)}" / "state", inputs, **replies))
        return boards[-1]

    yield start
    for each in boards:
        each.close()
