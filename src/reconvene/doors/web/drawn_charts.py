"""Charts: open gaps round by round, and minutes of rounds. Only measures; templates draw."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import floor, log10

from msgspec import Struct

_LEFT, _TOP, _FOOT = 34, 14, 24
_HIGH = 150
_BAR, _GAP = 44, 18


class Piece(Struct, frozen=True):
    """A part of a bar."""

    y: float
    height: float
    name: str
    value: float


class Column(Struct, frozen=True):
    x: float
    width: float
    label: str
    total: str
    pieces: tuple[Piece, ...]
    top: float


class Chart(Struct, frozen=True):
    width: int
    height: int
    base: float  # where bars stand
    columns: tuple[Column, ...]
    lines: tuple[tuple[float, str], ...]  # across, each with its label
    names: tuple[str, ...]
    told: str


def stacked(
    rows: Sequence[tuple[str, Mapping[str, float]]], names: Sequence[str], unit: str = "", digits: int = 0
) -> Chart:
    """A column for each row, made of its named values, the first at the bottom."""
    most = max((sum(values.values()) for _, values in rows), default=0.0) or 1.0
    step, columns = _step(most, whole=not digits), list[Column]()
    top = step * -(-most // step)
    base, x = float(_TOP + _HIGH), float(_LEFT)
    for label, values in rows:
        y, pieces = base, list[Piece]()
        for name in names:
            height = _HIGH * values.get(name, 0.0) / top
            if height:
                y -= height
                pieces.append(Piece(round(y, 1), round(height, 1), name, values[name]))
        columns.append(Column(x, _BAR, label, f"{sum(values.values()):.{digits}f}", tuple(pieces), round(y, 1)))
        x += _BAR + _GAP
    count = round(top / step)
    lines = tuple((round(base - _HIGH * n / count, 1), f"{step * n:g}") for n in range(count + 1))
    told = "; ".join(f"{one.label}: {one.total}{unit}" for one in columns)
    return Chart(int(x) + 10, _TOP + _HIGH + _FOOT, base, tuple(columns), lines, tuple(names), told)


def _step(most: float, whole: bool) -> float:
    """Between two lines: 1, 2 or 5 times a power of ten, so that there are at most six."""
    size = 10.0 ** floor(log10(most / 4))
    step = next(size * times for times in (1, 2, 5, 10) if size * times * 6 >= most)
    return max(step, 1.0) if whole else step
