"""Answers of at most 25 kB: texts by numbered lines, lists by rows. What is not shown is said, and how to get it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from msgspec import Struct

BYTES = 25_000  # of an answer, all of it
_ROOM = 24_000  # for what is shown; the rest is for its head and for what is said of the cut


class Page(Struct, frozen=True):
    text: str
    first: int  # line
    last: int
    rest: str = ""  # what to say of the rest, "" where there is none


class Rows(Struct, frozen=True):
    lines: tuple[str, ...]
    shown: int


def within(text: str, most: int = _ROOM) -> str:
    """The beginning of a text that takes no more than so many bytes."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[: most - 3].decode("utf-8", "ignore") + "…"


def number(arguments: Mapping[str, object], name: str, default: int) -> int:
    value = arguments.get(name, default)
    return value if isinstance(value, int) else default


def words(arguments: Mapping[str, object], name: str) -> str:
    return str(arguments.get(name) or "")


def page(text: str, arguments: Mapping[str, object], *, numbered: bool = False, room: int = _ROOM) -> Page:
    """The lines that `from_line`, `from_character` and `lines` ask for, as far as they fit."""
    lines = text.removesuffix("\n").split("\n")
    first, begin = number(arguments, "from_line", 1), number(arguments, "from_character", 1)
    most = number(arguments, "lines", len(lines))
    if first > len(lines):
        return Page("", first, first - 1, f"There are {len(lines)} lines; line {first} is not there.")
    shown, left, at = list[str](), room, first
    for at in range(first, min(first + most, len(lines) + 1)):
        mark = f"{at:>6}  " if numbered else ""
        start = begin - 1 if at == first else 0
        line = f"{mark}{lines[at - 1][start:]}"
        size = len(line.encode("utf-8", "replace")) + 1
        if size > left:
            if shown:
                return Page("\n".join(shown), first, at - 1, f"Cut: go on with from_line={at}.")
            part = within(line, left - 1)
            on = start + len(part) - len(mark)
            where = f"from_line={at}, from_character={on}" if on > begin else f"from_line={at + 1}"
            return Page(part, first, at, f"Cut in line {at}, which is long: go on with {where}.")
        shown.append(line)
        left -= size
    rest = f"{len(lines) - at} more lines: go on with from_line={at + 1}." if at < len(lines) else ""
    return Page("\n".join(shown), first, at, rest)


def rows(lines: Iterable[str], most: int, room: int = _ROOM) -> Rows:
    """As many as fit, and no more than so many. One that is larger than all the room is cut."""
    shown, left = list[str](), room
    for line in lines:
        cut = within(line, room)
        size = len(cut.encode("utf-8", "replace")) + 1
        if len(shown) == most or size > left:
            break
        shown.append(cut)
        left -= size
    return Rows(tuple(shown), len(shown))
