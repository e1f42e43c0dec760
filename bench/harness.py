"""How things are measured and shown: contenders take turns, medians are compared, ratios are printed.

Knows nothing of what is measured. A contender is a function that does its work once and returns the seconds it took,
its own preparation left out.
"""

from __future__ import annotations

import json
import shutil
import statistics
import sys
import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TypeVar

ROOT = Path(__file__).resolve().parents[1]

Side = TypeVar("Side")
Contender = Callable[[], float]

OURS, FLOOR, LANGGRAPH, BURR = "ours", "floor", "langgraph", "burr"
PEERS = {LANGGRAPH: "LangGraph", BURR: "Burr"}  # side → heading; also the name of the package that it needs
SIDES = (OURS, FLOOR, *PEERS)


@dataclass(frozen=True)
class Options:
    """`folder` must be on a real disk: on a memory file system a commit costs nothing and no ratio means anything."""

    folder: Path
    quick: bool = False
    sides: tuple[str, ...] = SIDES

    def samples(self, full: int, quick: int) -> int:
        return quick if self.quick else full

    def chosen(self, sides: Mapping[str, Side]) -> dict[str, Side]:
        return {name: side for name, side in sides.items() if name in self.sides}

    @contextmanager
    def scratch(self) -> Iterator[Path]:
        path = Path(tempfile.mkdtemp(dir=self.folder))
        try:
            yield path
        finally:
            shutil.rmtree(path, ignore_errors=True)


@dataclass(frozen=True)
class Row:
    """One line of the table. `score` is what `target` bounds from above; both in `of` ("× floor", "ms", "KB", …).

    `peers`: what was taken, by side; only the sides in PEERS are looked at.
    """

    workload: str
    what: str
    unit: str
    ours: float | None
    floor: float | None = None
    peers: Mapping[str, float | None] = field(default_factory=dict)
    score: float | None = None
    target: float | None = None
    of: str = ""

    @property
    def mark(self) -> str:
        if self.target is None:
            return ""
        if self.score is None:
            return "—"
        return "ok" if self.score <= self.target else "over"


def in_turn(names: Iterable[str], turn: int) -> list[str]:
    """Who goes first rotates, and every second lap is backwards: nobody always runs behind the same neighbour."""
    order = list(names)
    lap, first = divmod(turn, len(order))
    rotated = order[first:] + order[:first]
    return rotated[::-1] if lap % 2 else rotated


def interleave(contenders: Mapping[str, Contender], samples: int, warm: int = 0) -> dict[str, list[float]]:
    """`samples` turns for each, after `warm` turns that do not count."""
    for name in [*contenders] * warm:
        contenders[name]()
    taken: dict[str, list[float]] = {name: [] for name in contenders}
    for turn in range(samples):
        for name in in_turn(contenders, turn):
            taken[name].append(contenders[name]())
    return taken


def medians(contenders: Mapping[str, Contender], samples: int, scale: float = 1.0, warm: int = 0) -> dict[str, float]:
    taken = interleave(contenders, samples, warm)
    return {name: statistics.median(values) * scale for name, values in taken.items()}


def ratio(value: float | None, base: float | None) -> float | None:
    return value / base if value is not None and base else None


def progress(text: str) -> None:
    """To the error stream: the table on standard output stays clean."""
    print(text, file=sys.stderr, flush=True)


def _number(value: float | None) -> str:
    if value is None:
        return "—"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _cells(row: Row) -> tuple[str, ...]:
    return (
        row.workload,
        row.what,
        _number(row.ours),
        _number(row.floor),
        *(_number(row.peers.get(peer)) for peer in PEERS),
        row.unit,
        _number(ratio(row.ours, row.floor)),
        *(_number(ratio(row.ours, row.peers.get(peer))) for peer in PEERS),
        _number(row.score) if row.target is not None else "",
        f"≤ {row.target:g} {row.of}".rstrip() if row.target is not None else "",
        row.mark,
    )


_OVER = ("ours÷floor", *(f"÷{heading}" for heading in PEERS.values()))
HEADINGS = ("", "", "ours", "floor", *PEERS.values(), "", *_OVER, "score", "target", "")


def table(rows: Sequence[Row]) -> str:
    lines = [HEADINGS, *map(_cells, rows)]
    widths = [max(len(line[column]) for line in lines) for column in range(len(HEADINGS))]
    to_the_left = {0, 1, HEADINGS.index("", 2), len(HEADINGS) - 2, len(HEADINGS) - 1}
    shown = [
        "  ".join(
            cell.ljust(width) if column in to_the_left else cell.rjust(width)
            for column, (cell, width) in enumerate(zip(line, widths))
        ).rstrip()
        for line in lines
    ]
    return "\n".join([shown[0], "─" * max(map(len, shown)), *shown[1:]])


def as_json(rows: Sequence[Row]) -> str:
    return json.dumps([{**asdict(row), "mark": row.mark} for row in rows], indent=2)
