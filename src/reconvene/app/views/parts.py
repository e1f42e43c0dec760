"""What of a text is no prose: its tables, its code. Which of it two texts have differently, and which figure in a cell.

Pure. Knows Markdown's tables and fences, and no more of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reconvene.language.late_patterns import late

CODE = late(r"^(```|~~~).*?(?:^\1|\Z)", re.MULTILINE | re.DOTALL)
_ROW = late(r"^\s*\|(?P<cells>.*)\|?\s*$")
_RULE = late(r"[\s|:+-]+")
_DIGIT = late(r"\d")
_MOST = 400  # rows of a text's tables that are compared


class Cell(Struct, frozen=True):
    """A cell that differs, or a row that is new or gone: the other side is empty."""

    was: str
    now: str
    value: str = ""  # of a cell: only what stands in it now

    @property
    def figure(self) -> bool:
        return bool(_DIGIT.search(self.was) or _DIGIT.search(self.now))


def cells(before: str, after: str) -> list[Cell]:
    """What differs in the tables of two texts: cells of rows that both have, then rows that only one has."""
    old, new = dict(_rows(before)), dict(_rows(after))
    changed = [
        Cell(_cell(key, name, old[key][name]), _cell(key, name, row[name]), row[name])
        for key, row in new.items()
        if key in old
        for name in row
        if name in old[key] and row[name] != old[key][name]
    ]
    fresh = [Cell("", _row(key, row)) for key, row in new.items() if key not in old]
    gone = [Cell(_row(key, row), "") for key, row in old.items() if key not in new]
    return sorted([*changed, *fresh, *gone], key=lambda cell: not cell.figure)


def told(differ: list[Cell]) -> str:
    """` (kiln, cost: £5M → £9M)`, of the first figure that differs; "" where none does."""
    first = next((cell for cell in differ if cell.value and cell.figure), None)
    return f" ({first.was} → {first.value})" if first else ""


def tables(text: str) -> list[str]:
    """Every row of its tables, heads included."""
    return [" ".join(line.split()) for line in CODE.sub("", text).split("\n") if _ROW.match(line)]


def code(text: str) -> list[str]:
    return [" ".join(found[0].split()) for found in CODE.finditer(text)]


_Row = dict[str, str]


def _rows(text: str) -> Iterator[tuple[tuple[str, int], _Row]]:
    """By its first cell, and the how manieth with it, each row as column → cell."""
    head: list[str] = []
    seen: dict[str, int] = {}
    for number, line in enumerate(CODE.sub("", text).split("\n")):
        found = _ROW.match(line)
        if not found:
            head = []
            continue
        row = [" ".join(cell.strip(" *_`").split()) for cell in found["cells"].rstrip("| ").split("|")]
        if not head:
            head = row
        elif not _RULE.fullmatch(line) and number < _MOST * 10:
            seen[row[0]] = seen.get(row[0], 0) + 1
            if sum(seen.values()) > _MOST:
                return
            yield (row[0], seen[row[0]]), dict(zip(head[1:], row[1:]))


def _cell(key: tuple[str, int], column: str, value: str) -> str:
    return f"{key[0]}, {column}: {value or '(empty)'}" if column else f"{key[0]}: {value or '(empty)'}"


def _row(key: tuple[str, int], row: _Row) -> str:
    return " | ".join([key[0], *row.values()])
