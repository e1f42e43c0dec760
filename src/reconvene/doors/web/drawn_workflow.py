"""The picture of a workflow: boxes from left to right, groups around their phases. Only measures; a template draws."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reconvene.app.views.phase_marks import PhaseMark, RoundMark
from reconvene.doors.shared.harmless import one_line

_BOX, _TOP, _GAP, _PAD = 66, 14, 14, 12
_LETTER = 7.7  # px of a bold letter, on average
_LONGEST = 34  # letters of a title or a note
_LEAST = 118
_DOT = 16
_HEAD = 22  # of a group
_BEGIN = 14.0  # of a row
_WIDE = 1210


class Dot(Struct, frozen=True):
    x: float
    y: float
    mark: RoundMark


class Box(Struct, frozen=True):
    """`rim`: it stands around others."""

    x: float
    y: float
    width: float
    height: float
    title: str
    note: str
    mark: PhaseMark
    dots: tuple[Dot, ...] = ()
    rim: bool = False


class Picture(Struct, frozen=True):
    width: int
    height: int
    boxes: tuple[Box, ...]
    arrows: tuple[tuple[float, float], ...]  # where each begins
    told: str  # the same in words


def picture(marks: Sequence[PhaseMark]) -> Picture:
    boxes, arrows = list[Box](), list[tuple[float, float]]()
    y, width = float(_TOP), 0.0
    for row in _rows(marks):
        if boxes:
            arrows.append((0.0, y + _BOX / 2))
        depth = _depth(row)
        width = max(width, _row(row, _BEGIN, y, depth, boxes, arrows))
        y += _BOX + depth * (_HEAD + _PAD) + _GAP
    return Picture(int(width) + 4, int(y), tuple(boxes), tuple(arrows), "; ".join(map(_words, marks)))


def _rows(marks: Sequence[PhaseMark]) -> list[list[PhaseMark]]:
    """So many phases a row as fit."""
    rows, x = list[list[PhaseMark]](), 0.0
    for one in marks:
        width = _row([one], 0.0, 0.0, _depth([one]), [], [])
        if not rows or x + _GAP + width > _WIDE:
            rows.append([])
            x = 0.0
        rows[-1].append(one)
        x += _GAP + width
    return rows


def _depth(marks: Sequence[PhaseMark]) -> int:
    return max((1 + _depth(one.phases) for one in marks if one.phases), default=0)


def _row(
    marks: Sequence[PhaseMark], x: float, y: float, depth: int, boxes: list[Box], arrows: list[tuple[float, float]]
) -> float:
    """Draws a row from here on; where it ends."""
    height = _BOX + depth * (_HEAD + _PAD)
    for number, one in enumerate(marks):
        if number:
            arrows.append((x + 3, y + height / 2))
            x += _GAP
        title, note = one_line(one.title, _LONGEST), one_line(one.note, _LONGEST)
        if one.phases:
            at = len(boxes)
            inside = _row(one.phases, x + _PAD, y + _HEAD, _depth(one.phases), boxes, arrows)
            width = max(inside + _PAD - x, 2 * _PAD + _LETTER * (len(title) + len(note) + 2))
            boxes.insert(at, Box(x, y, width, height, title, note, one, rim=True))
        else:
            dots = tuple(Dot(x + 18 + _DOT * n, y + height - 13, dot) for n, dot in enumerate(one.rounds))
            letters = max(len(title), len(note)) * _LETTER + 2 * _PAD
            width = max(_LEAST, letters, 18 + _DOT * len(dots) + 2 * _PAD)
            boxes.append(Box(x, y, width, height, title, note, one, dots))
        x += width
    return x


def _words(one: PhaseMark) -> str:
    note = f" ({one_line(one.note)})" if one.note else ""
    inner = f": {', '.join(map(_words, one.phases))}" if one.phases else ""
    return f"{one_line(one.title)} {one.state}{note}{inner}"
