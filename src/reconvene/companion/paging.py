"""Answers of at most 25 kB: texts by lines, lists by rows. What is not shown is said, and how to have it shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from msgspec import Struct

from reconvene.companion.tool_scope import Answer

BYTES = 25_000  # of an answer, all of it
_ROOM = 23_000  # for what is shown; the rest is for its head and for what is said of the cut
_HEAD = 1_500  # of the head


class Page(Struct, frozen=True):
    text: str
    first: int  # line
    last: int
    of: int
    rest: str = ""  # what to say of the rest, "" where there is none


def within(text: str, most: int = _ROOM) -> str:
    """The beginning of a text that takes no more than so many bytes."""
    data = text.encode("utf-8", "replace")
    return text if len(data) <= most else data[: most - 3].decode("utf-8", "ignore") + "…"


def number(arguments: Mapping[str, object], name: str, default: int) -> int:
    value = arguments.get(name, default)
    return int(value) if isinstance(value, int | float) else default  # JSON knows 3 as 3.0, too


def words(arguments: Mapping[str, object], name: str) -> str:
    return str(arguments.get(name) or "")


def page(text: str, arguments: Mapping[str, object], *, numbered: bool = False) -> Page:
    """The lines that `from_line`, `from_character` and `lines` ask for, as far as they fit."""
    lines = text.removesuffix("\n").split("\n")
    of, first, begin = len(lines), number(arguments, "from_line", 1), number(arguments, "from_character", 1)
    if first > of:
        return Page("", first, first - 1, of, f"There is no line {first}: it has {of} lines.")
    shown, left, last = list[str](), _ROOM, min(of, first + number(arguments, "lines", of) - 1)
    for at in range(first, last + 1):
        mark, start = f"{at:>6}  " if numbered else "", begin - 1 if at == first else 0
        line = f"{mark}{lines[at - 1][start:]}"
        size = len(line.encode("utf-8", "replace")) + 1
        if size > left and shown:
            return Page("\n".join(shown), first, at - 1, of, f"Cut: go on with from_line={at}.")
        if size > left:
            part = within(line, left).removesuffix("…")
            on = start + len(part) - len(mark) + 1
            return Page(part, first, at, of, f"Cut in line {at}: go on with from_line={at}, from_character={on}.")
        shown.append(line)
        left -= size
    rest = f"{of - last} more lines: go on with from_line={last + 1}." if last < of else ""
    return Page("\n".join(shown), first, last, of, rest)


def paged(head: str, text: str, arguments: Mapping[str, object], cite: str) -> Answer:
    shown = page(text, arguments)
    return Answer("\n".join(filter(None, (within(head, _HEAD), shown.text, shown.rest))), (cite,))


def listed(head: str, lines: Sequence[str], most: int, on: Callable[[int], str], cites: Sequence[str] = ()) -> Answer:
    """As many as fit, and no more than `most`. `on`: given how many are shown, the argument that shows the next."""
    shown, left = list[str](), _ROOM
    for line in lines:
        cut = within(line, _ROOM)
        size = len(cut.encode("utf-8", "replace")) + 1
        if len(shown) == most or size > left:
            break
        shown.append(cut)
        left -= size
    more = len(lines) - len(shown)
    rest = f"{more} more: go on with {on(len(shown))}." if more else ""
    return Answer("\n".join(filter(None, (within(head, _HEAD), *shown, rest))), tuple(cites[: len(shown)]))
