"""Text in passages that can be cited: along headings and paragraphs, with the lines where they stand. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import NamedTuple

from reconvene.language.late_patterns import late
from reconvene.search_ports import Cut

USUAL = 800  # characters: paragraphs are put together up to here
MOST = 1_200  # of a passage
PASSAGES = 5_000  # of one content; what comes after is not found

_HEADING = late(r"(#{1,6})[ \t]+(\S.*?)[ \t#]*$")
_FENCE = late(r"\s*(```|~~~)")


class _Line(NamedTuple):
    number: int
    text: str


def cut(text: str, first: int = 1) -> list[Cut]:
    """`first`: the number of its first line."""
    return cut_numbered(enumerate(text.replace("\r\n", "\n").replace("\r", "\n").split("\n"), first))


def cut_numbered(numbered: Iterable[tuple[int, str]]) -> list[Cut]:
    found = []
    for heading, lines in _packed(_lines(numbered)):
        told = _joined(lines)
        if told:
            found.append(Cut(_place(lines[0].number, lines[-1].number), told, heading))
        if len(found) == PASSAGES:
            break
    return found


def _place(first: int, last: int) -> str:
    return f"lines {first}-{last}" if last > first else f"line {first}"


def _joined(lines: Sequence[_Line]) -> str:
    """Paragraphs with an empty line between them, as they were."""
    apart = ("\n\n" if after.number > line.number + 1 else "\n" for line, after in pairwise(lines))
    return lines[0].text + "".join(f"{gap}{line.text}" for gap, line in zip(apart, lines[1:], strict=True))


def _lines(numbered: Iterable[tuple[int, str]]) -> Iterator[_Line]:
    """A line that is longer than a passage comes in pieces, each with its number."""
    for number, line in numbered:
        while len(line) > MOST:
            end = line.rfind(" ", USUAL, MOST) + 1 or MOST
            yield _Line(number, line[:end].rstrip())
            line = line[end:]
        yield _Line(number, line)


def _packed(lines: Iterable[_Line]) -> Iterator[tuple[str, list[_Line]]]:
    """Passages with the headings above them. One ends at a heading, and where the next paragraph does not fit."""
    above: dict[int, str] = {}
    packed: list[_Line] = []
    size = 0
    for depth, title, block in _blocks(lines):
        length = sum(len(line.text) + 1 for line in block)
        titles_only = depth and all(_HEADING.match(line.text) for line in packed)
        if packed and (depth or size + length > USUAL) and not titles_only:
            yield _path(above), packed
            packed, size = [], 0
        if depth:
            above = {level: told for level, told in above.items() if level < depth} | {depth: title}
        for line in block:
            if packed and size + len(line.text) > MOST:
                yield _path(above), packed
                packed, size = [], 0
            packed.append(line)
            size += len(line.text) + 1
    if packed:
        yield _path(above), packed


def _path(above: dict[int, str]) -> str:
    return " > ".join(above[level] for level in sorted(above))


def _blocks(lines: Iterable[_Line]) -> Iterator[tuple[int, str, list[_Line]]]:
    """Paragraphs, and headings with the paragraph after them: depth of the heading (0 = none), title, lines."""
    depth, title, block, fenced = 0, "", list[_Line](), False
    for line in lines:
        heading = None if fenced else _HEADING.match(line.text)
        fenced ^= bool(_FENCE.match(line.text))
        alone = depth and len(block) == 1  # a heading that waits for its paragraph
        if heading or not line.text.strip():
            if block and (heading or not alone) and not fenced:
                yield depth, title, block
                depth, title, block = 0, "", []
            if heading:
                depth, title = len(heading[1]), heading[2]
        if line.text.strip():
            block.append(line)
    if block:
        yield depth, title, block
