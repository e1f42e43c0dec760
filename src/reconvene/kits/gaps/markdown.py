"""Markdown (or any text) as lines that know their number, their section, and whether they are an example.

Fenced code is never data: its lines are kept for numbering and marked. It must not know gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import NamedTuple

from reconvene.kits.gaps.gap_ids import plain_hyphens

_FENCE = re.compile(r"[ \t>]*(`{3,}|~{3,})[ \t]*([^`]*)$")
_HEADING = re.compile(r"[ ]{0,3}(#{1,6})(?:[ \t]|$)")
_BULLET = re.compile(r"([ \t]*)(?:[-*+•]|\d{1,4}[.)])[ \t]+(.*)$")
_CHECKBOX = re.compile(r"\[([ xX✓✔])\][ \t]+")
_FIELD = re.compile(r"[ \t]*(?:[-*+•][ \t]+)?(?:\*\*|__)?([A-Za-z][A-Za-z /-]{0,40}?)(?:\*\*|__)?[ \t]*:[ \t]*(.*)$")
_MARKUP = re.compile(r"\*\*|__|`|(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_LONG = 4_000  # a line longer than this is cut for matching: nobody writes a heading of that length


class Line(NamedTuple):
    number: int  # from 1, as an editor counts
    text: str
    code: bool


class Section(NamedTuple):
    level: int
    title: str
    start: int  # the heading's line
    end: int  # last line before the next heading of this level or above
    lines: tuple[Line, ...]  # the body, sections below included

    @property
    def filled(self) -> str:
        """Which lines it is, down to the last one that says something."""
        said = [line.number for line in self.lines if line.text.strip().strip("-")]
        return span(self.start, said[-1] if said else self.start)


class Bullet(NamedTuple):
    indent: int
    text: str
    checked: bool | None  # None = no checkbox


def read(text: str) -> list[Line]:
    raw = plain_hyphens(text.replace("\r\n", "\n").replace("\r", "\n")).replace("\0", "").split("\n")
    code = _fenced(raw)
    return [Line(number, line[:_LONG], number in code) for number, line in enumerate(raw, 1)]


def _fenced(raw: list[str]) -> set[int]:
    """Numbers of the lines inside (and of) code fences. A fence that never closes hides nothing but itself."""
    marks = [(number, found[1], found[2].strip()) for number, line in enumerate(raw, 1) if (found := _fence(line))]
    inside: set[int] = set()
    wrapped = _wrapper(raw, marks)
    if wrapped:
        inside |= {marks[0][0], marks[-1][0]}
        marks = marks[1:-1]
    at = 0
    hopeless = {"`": 1_000_000, "~": 1_000_000}  # a fence at least this long has no closing one further down
    while at < len(marks):
        start, fence, _ = marks[at]
        closing = None
        if len(fence) < hopeless[fence[0]]:
            later = range(at + 1, len(marks))
            closing = next((i for i in later if marks[i][1].startswith(fence) and not marks[i][2]), None)
        if closing is None:
            hopeless[fence[0]] = min(hopeless[fence[0]], len(fence))
            inside.add(start)
            at += 1
        else:
            inside.update(range(start, marks[closing][0] + 1))
            at = closing + 1
    return inside


def _fence(line: str) -> re.Match[str] | None:
    return _FENCE.match(line[:200]) if "```" in line or "~~~" in line else None


def _wrapper(raw: list[str], marks: list[tuple[int, str, str]]) -> bool:
    """Models like to wrap the whole answer in one fence: that fence is packing, not an example."""
    if len(marks) < 2 or len(marks) % 2 or marks[0][2].lower() not in ("", "markdown", "md") or marks[-1][2]:
        return False
    filled = [number for number, line in enumerate(raw, 1) if line.strip()]
    if filled[0] != marks[0][0] or filled[-1] != marks[-1][0]:
        return False
    # The fences between must pair up among themselves, else the first one closes early and is an example after all.
    return len(marks) == 2 or (bool(marks[1][2]) and marks[0][2].lower() in ("markdown", "md"))


def sections(lines: list[Line]) -> list[Section]:
    heads = [(line, found) for line in lines if (found := heading(line))]
    made: list[Section] = []
    ends: list[int] = [lines[-1].number if lines else 0] * len(heads)
    open_at: list[int] = []
    for index, (line, (level, _)) in enumerate(heads):
        while open_at and heads[open_at[-1]][1][0] >= level:
            ends[open_at.pop()] = line.number - 1
        open_at.append(index)
    for (line, (level, title)), end in zip(heads, ends):
        first = line.number - lines[0].number + 1
        made.append(Section(level, title, line.number, end, tuple(lines[first : end - lines[0].number + 1])))
    return made


def trimmed(part: Section) -> Section:
    """Without what follows a rule below its last heading: a closing line of the whole text, not of this section."""
    heads = [line.number for line in part.lines if heading(line)]
    last = heads[-1] if heads else part.start
    for at, line in enumerate(part.lines):
        if line.number > last and not line.code and line.text.strip() and is_rule(line.text):
            return part._replace(end=line.number - 1, lines=part.lines[:at])
    return part


def within(spans: Iterable[tuple[int, int]], numbers: Iterable[int]) -> set[int]:
    """Those of the line numbers that lie in a span (first, last). One walk down both, however many there are."""
    found: set[int] = set()
    ahead = sorted(spans, reverse=True)
    reach = 0
    for number in sorted(numbers):
        while ahead and ahead[-1][0] <= number:
            reach = max(reach, ahead.pop()[1])
        if number <= reach:
            found.add(number)
    return found


def heading(line: Line) -> tuple[int, str] | None:
    if line.code or "#" not in line.text:
        return None
    found = _HEADING.match(line.text)
    return (len(found[1]), bare(line.text[found.end() :].rstrip().rstrip("#"))) if found else None


def bullet(line: Line) -> Bullet | None:
    if line.code or not (found := _BULLET.match(line.text)) or is_rule(line.text):
        return None
    text = found[2]
    box = _CHECKBOX.match(text)
    checked = box[1] != " " if box else None
    indent = len(found[1].replace("\t", "    "))
    return Bullet(indent, text[box.end() :] if box else text, checked)


def is_rule(text: str) -> bool:
    """`---` and the like; a blank line is one too, to whom it makes no difference."""
    return not text.strip(" \t*_-")


def field(text: str) -> tuple[str, str] | None:
    """`**Gap:** No recovery` → ("gap", "No recovery"). Also `- Severity: HIGH`, `**Severity**: HIGH`."""
    plain = re.sub(r"(\*\*|__)([^*_:]{1,42}):\1", r"\1\2\1:", text[:_LONG], count=1)
    found = _FIELD.match(plain)
    return (" ".join(found[1].lower().split()), found[2].strip()) if found else None


def field_like(text: str) -> bool:
    """A line that opens with a key in bold, or with one of few words before its colon."""
    return bool(
        re.match(
            r"[ \t]*(?:\*\*|__)?[A-Z][\w/-]{0,30}(?: [\w/-]{1,20}){0,3}(?: \([^()]{1,20}\))?(?:\*\*|__)?:(?:\*\*"
            r"|__)?[ \t]+\S",
            text,
        )
    )


def cells(line: Line) -> list[str] | None:
    """The cells of a table's row; None for a line that is none."""
    text = line.text.strip()
    if line.code or not text.startswith("|") or text.count("|") < 2:
        return None
    return [cell.replace("\\|", "|").strip() for cell in re.split(r"(?<!\\)\|", text.strip("|"))]


class Row(NamedTuple):
    line: int
    cells: dict[str, str]  # by the column's name in lower case
    first: str


def rows(lines: Sequence[Line]) -> Iterator[Row]:
    """Rows of every table; one without a header has the columns 0, 1, …"""
    for is_table, group in groupby(((line, cells(line)) for line in lines), key=lambda pair: pair[1] is not None):
        if not is_table:
            continue
        table = [(line.number, found) for line, found in group if found is not None]
        header = [bare(cell).lower() for cell in table[0][1]] if len(table) > 1 and _is_divider(table[1][1]) else None
        for number, found in table[1:] if header else table:
            if not _is_divider(found):
                names = header or [str(at) for at in range(len(found))]
                yield Row(number, dict(zip(names, found)), found[0])


def _is_divider(row: list[str]) -> bool:
    return all(not cell.strip(":-") for cell in row) and any("-" in cell for cell in row)


def bare(text: str) -> str:
    """Without emphasis and code marks, blanks tidied."""
    return " ".join(_MARKUP.sub("", text).split())


def prose(lines: Iterable[Line]) -> str:
    """What is said, without the examples."""
    return "\n".join(line.text for line in lines if not line.code)


def span(start: int, end: int) -> str:
    return str(start) if end <= start else f"{start}–{end}"


def at_lines(where: str, lines: str) -> str:
    """`where`, with the lines if they are known."""
    return f"{where}, line{'s' if '–' in lines else ''} {lines}" if lines else where


def clip(text: str, most: int) -> str:
    tidy = " ".join(text.split())
    return tidy if len(tidy) <= most else tidy[: most - 1].rstrip() + "…"
