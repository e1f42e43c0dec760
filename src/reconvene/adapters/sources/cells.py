"""Rows of a result within their limits: how many, how many bytes, how long one cell; what was cut is said."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Sequence

from reconvene.material_ports import Cell, QueryLimits, Rows

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f\ud800-\udfff]")
_SHOWN = 32  # bytes of a blob
_LARGEST = 2**63


class Taking:
    """add() until it says that it is enough."""

    def __init__(self, columns: Sequence[str], limit: int, limits: QueryLimits) -> None:
        self._columns = tuple(clean(str(name))[:200] for name in columns)
        self._limit = limit
        self._limits = limits
        self._room = limits.bytes
        self._rows: list[tuple[Cell, ...]] = []
        self._notes: dict[str, None] = {}

    def add(self, row: Iterable[object]) -> bool:
        """False: no more is wanted, and this one was not taken."""
        if len(self._rows) >= self._limit:
            self.note(f"There are more rows: only the first {self._limit:,} are given.")
            return False
        cells = tuple(self._cell(value, at) for at, value in enumerate(row))
        size = sum(len(cell.encode("utf-8")) if isinstance(cell, str) else 8 for cell in cells)
        if size > self._room:
            most = f"{self._limits.bytes:,} bytes"
            self.note(f"There are more rows: only the first {len(self._rows):,} fit into {most}.")
            return False
        self._room -= size
        self._rows.append(cells)
        return True

    def note(self, text: str) -> None:
        self._notes[text] = None

    def rows(self) -> Rows:
        return Rows(self._columns, tuple(self._rows), tuple(self._notes))

    def _cell(self, value: object, at: int) -> Cell:
        cell = as_cell(value)
        if isinstance(cell, str):
            cell = clean(cell)
            if len(cell) > self._limits.cell:
                name = self._columns[at] if at < len(self._columns) else str(at + 1)
                self.note(f"Cut to {self._limits.cell:,} characters: values of {name}.")
                cell = cell[: self._limits.cell] + "…"
        return cell


def as_cell(value: object) -> Cell:
    match value:
        case None | bool() | str():
            return value
        case int():
            return value if -_LARGEST <= value < _LARGEST else str(value)
        case float():
            return value if math.isfinite(value) else str(value)
        case bytes() | bytearray() | memoryview():
            data = bytes(value)
            return f"{len(data)} bytes: {data[:_SHOWN].hex()}{'…' if len(data) > _SHOWN else ''}"
        case dict() | list() | tuple():
            return json.dumps(value, default=str, ensure_ascii=False)
        case _:
            return str(value)


def clean(text: str) -> str:
    return _CONTROL.sub("\ufffd", text)
