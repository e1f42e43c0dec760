"""Places in documents: which lines stand where, and what is found at a place as people and agents write it. Pure.

`p. 3`, `pages 1-2`, `lines 10-24`, `block 12`, `Sheet1!A1:D40`, and of a sheet also a cell or a part of a range.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from reconvene.language.late_patterns import late
from reconvene.material_ports import Document

_LINES = late(r"lines? (\d{1,9})(?:-(\d{1,9}))?(, characters .+)?")
_LINES_ASKED = late(r"(?:lines?|zeilen?|:) ?(\d{1,9})(?: ?[-–] ?(\d{1,9}))?", 2)  # re.IGNORECASE
_COUNTED = late(r"(pp?\.?|pages?|S\.|Seiten?|blocks?|footnotes?|comments?) ?([\d ,–-]{1,80})", 2)
_SPAN = late(r"(\d{1,6})(?: ?[-–] ?(\d{1,6}))?")
_CELLS = late(r"(.+)!\$?([A-Z]{1,3})\$?(\d{1,7})(?::\$?([A-Z]{1,3})\$?(\d{1,7}))?", 2)
_BAR = " | "  # between the cells of a row; in a cell, a bar has a backslash before it
_MOST = 1_000  # places that one citation names


class Standing(NamedTuple):
    """What stands at a place. `first`: the number of its first line, 0 where its lines have none. `missing`: why there
    is nothing, in words."""

    text: str = ""
    first: int = 0
    missing: str = ""


class _Range(NamedTuple):
    sheet: str
    left: int
    top: int
    right: int
    bottom: int


def numbered(document: Document) -> list[tuple[int, str]]:
    """Its lines as the file counts them, without headers that were repeated; none where places are no lines."""
    found: dict[int, str] = {}
    for part in document.parts:
        at = _LINES.fullmatch(part.place)
        if not at:
            return []
        first, last, lines = int(at[1]), int(at[2] or at[1]), part.text.split("\n")
        if at[3]:  # a piece of a line
            found[first] = found.get(first, "") + part.text
            continue
        repeated = part.head or max(0, len(lines) - (last - first + 1))
        found.update(enumerate(lines[repeated:], first))
    return sorted(found.items())


def standing(document: Document, place: str) -> Standing | None:
    """None where it is no place of such a document."""
    asked = place.strip().removeprefix(",").strip()
    if not asked:
        return Standing("\n".join(part.text for part in document.parts))
    lines = numbered(document)
    if lines and (span := _LINES_ASKED.fullmatch(asked)):
        return _of_lines(lines, int(span[1]), int(span[2] or span[1]))
    if texts := [part.text for part in document.parts if part.place == asked]:
        return Standing("\n".join(texts))
    if cells := _range(asked):
        return _of_cells(document, asked, cells)
    if counted := _COUNTED.fullmatch(asked):
        return _of_counted(document, _unit(counted[1]), counted[2])
    return None


def _of_lines(lines: list[tuple[int, str]], first: int, last: int) -> Standing:
    texts = dict(lines)
    if not texts.keys() & range(first, last + 1):
        return Standing(missing=f"has text in the lines {lines[0][0]}-{lines[-1][0]}, and none in {first}-{last}")
    last = min(last, lines[-1][0])
    return Standing("\n".join(texts.get(number, "") for number in range(first, last + 1)), first)


# --- pages, blocks and what else is counted ---


def _unit(word: str) -> str:
    told = word.lower()
    return "p." if told[0] in "ps" else told.removesuffix("s")


def _of_counted(document: Document, unit: str, numbers: str) -> Standing | None:
    places = [f"{unit} {number}" for number in _numbers(numbers)]
    texts = {part.place: part.text for part in document.parts}
    if not places or (not any(place.startswith(f"{unit} ") for place in texts) and not _noted(document, f"{unit} ")):
        return None
    there = [place for place in places if place in texts]
    if not there:
        why = dict.fromkeys(note for place in places for note in _noted(document, place))
        return Standing(missing=" ".join([f"has no text at {unit} {numbers.strip()}", *(f"({note})" for note in why)]))
    if len(places) == 1:
        return Standing(texts[places[0]])
    empty = [place for place in places if place not in texts]
    more = f" and {len(empty) - 1} more" if len(empty) > 1 else ""
    said = [f"[no text at {empty[0]}{more}]"] if empty else []
    return Standing("\n".join([*(f"[{place}]\n{texts[place]}" for place in there), *said]))


def _numbers(told: str) -> Iterator[int]:
    for span in told.split(","):
        found = _SPAN.fullmatch(span.strip())
        if found:
            first = int(found[1])
            yield from range(first, min(int(found[2] or first), first + _MOST) + 1)


def _noted(document: Document, place: str) -> list[str]:
    """The notes that name it, such as those of pages without text."""
    named = re.compile(rf"\b{re.escape(place)}(?!\d)")
    return [note for note in document.notes if named.search(note)]


# --- sheets ---


def _range(place: str) -> _Range | None:
    found = _CELLS.fullmatch(place)
    if not found:
        return None
    left, top = _column(found[2]), int(found[3])
    right, bottom = (_column(found[4]), int(found[5])) if found[4] else (left, top)
    name = found[1]
    quoted = len(name) > 1 and name[0] == name[-1] == "'"
    return _Range(name[1:-1].replace("''", "'") if quoted else name, left, top, right, bottom)


def _column(letters: str) -> int:
    number = 0
    for letter in letters.upper():
        number = number * 26 + ord(letter) - 64
    return number


def _of_cells(document: Document, asked: str, wanted: _Range) -> Standing | None:
    rows = list[str]()
    sheets = set[str]()
    for part in document.parts:
        kept = _range(part.place)
        if kept is None:
            continue
        sheets.add(kept.sheet)
        if kept.sheet != wanted.sheet:
            continue
        for number, row in enumerate(part.text.split("\n"), kept.top):
            if wanted.top <= number <= wanted.bottom:
                cells = row.split(_BAR)[wanted.left - 1 : wanted.right]
                rows += [_BAR.join(cells)] if any(cells) else []
    if not sheets:
        return None
    if wanted.sheet not in sheets:
        return Standing(missing=f"has no sheet {wanted.sheet!r} with text; it has {', '.join(sorted(sheets))}")
    text = "\n".join(rows)
    alone = (wanted.left, wanted.top) == (wanted.right, wanted.bottom)
    return Standing(text.replace("\\|", "|") if alone else text) if rows else Standing(missing=f"is empty at {asked}")
