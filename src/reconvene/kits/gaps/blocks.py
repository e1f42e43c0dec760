"""A text as blocks: headings, list items, rows of tables and paragraphs, each with its lines and its place.

Fences and quotes are citations: nothing in them is a block, and what is struck through is not said. A line that is all
bold, or that names a list below it, is a heading below all others. It must not know gaps.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from itertools import groupby
from typing import Literal, NamedTuple

from reconvene.kits.gaps import markdown as md

_UNDERLINE = re.compile(r"[ ]{0,3}(={3,}|-{3,})[ \t]*$")
_BOLD_LINE = re.compile(r"[ ]{0,3}(?:\*\*|__)(?!\s)([^*_].{0,118}?)(?:\*\*|__)[ \t]*:?[ \t]*$")
_OPENS = re.compile(r"[ \t]*(?:\*\*|__)\S")
_KEY = re.compile(r"[ \t]*[\w-]+(?: [\w-]+)?:(?:[ \t]+\S|[ \t]*$)")
_TAG = re.compile(r"</?(?:details|div|span|p|br|b|i|strong|em|center|sub|sup|hr)\b[^<>]{0,200}/?>", re.IGNORECASE)
BOLD, LOWEST = 7, 8  # levels of lines that are all bold: with an id in them, and others


class Block(NamedTuple):
    kind: Literal["heading", "item", "row", "text"]
    text: str  # with its emphasis
    start: int
    end: int
    level: int = 0  # of a heading
    indent: int = 0
    checked: bool | None = None
    cells: tuple[tuple[str, str], ...] = ()  # (column, cell) of a row
    more: str = ""  # what of `text` stood on further lines

    @property
    def lines(self) -> str:
        return md.span(self.start, self.end)


def told(text: str, own: re.Pattern[str] | None = None) -> list[md.Line]:
    """The lines, with quotes as citations, and underlined headings as headings with a sign.

    `own`: what cannot have been said before. A quote that holds it is no citation, but a way to set something apart.
    """
    lines = [line if line.code else line._replace(text=_untagged(line.text)) for line in md.read(text)]
    said = [line for line in lines if line.text.strip() and not line.code]
    whole = bool(said) and all(_is_quote(line) for line in said)  # a quote of everything is none
    kept = {line.number for line in lines} if whole else _set_apart(lines, own)
    made: list[md.Line] = []
    for at, line in enumerate(lines):
        if _is_quote(line):
            spoken = line.number in kept
            line = line._replace(text=re.sub(r"^[ \t]*>[ ]?", "", line.text)) if spoken else line._replace(code=True)
        made.append(line)
        under = _UNDERLINE.match(line.text) if not line.code and at else None
        if under and _can_be_title(made, at - 1):
            sign = "#" if under[1][0] == "=" else "##"
            made[at - 1] = made[at - 1]._replace(text=f"{sign} {made[at - 1].text.strip()}")
            made[at] = line._replace(text="")
    return made


def _is_quote(line: md.Line) -> bool:
    return not line.code and line.text.lstrip().startswith(">")


def _set_apart(lines: list[md.Line], own: re.Pattern[str] | None) -> set[int]:
    """Numbers of the lines of quotes that are none."""
    kept: set[int] = set()
    for quoted, group in groupby(lines, key=_is_quote) if own else ():
        run = list(group)
        if quoted and any(own.search(line.text) for line in run if own):
            kept.update(line.number for line in run)
    return kept


def _untagged(text: str) -> str:
    """Without what is struck, and HTML that only folds or groups; what is seen of a folded part is its heading."""
    if "~~" in text:
        text = re.sub(r"~~[^~]{1,300}~~", "", text)
    if "<" not in text:
        return text
    text = re.sub(r"<br ?/?>", " ⏎ ", text, flags=re.IGNORECASE) if text.lstrip().startswith("|") else text
    return _TAG.sub("", re.sub(r"</?summary[^>]*>", "**", text, flags=re.IGNORECASE))


def _can_be_title(lines: list[md.Line], at: int) -> bool:
    line = lines[at]
    alone = at == 0 or not lines[at - 1].text.strip() or lines[at - 1].code
    plain = not (line.code or md.heading(line) or md.bullet(line) or md.cells(line)) and not md.is_rule(line.text)
    return alone and plain and len(line.text) < 120


def blocks(lines: Iterable[md.Line]) -> list[Block]:
    lines = list(lines)
    rows = {row.line: row for row in md.rows(lines)}
    made: list[Block] = []
    running = False  # the line above may go on here
    for line in lines:
        if line.code or not line.text.strip() or md.is_rule(line.text):
            running = False
            continue
        block = _block(line, rows)
        if block is None:
            continue
        joins = running and block.kind == "text" and not _OPENS.match(line.text) and not _is_field(line.text, made[-1])
        if joins and made[-1].kind in ("text", "item"):
            text, more = f"{made[-1].text} {line.text.strip()}", f"{made[-1].more} {line.text.strip()}".strip()
            made[-1] = made[-1]._replace(text=text, end=line.number, more=more)
        else:
            made.append(block)
        runs_on = not line.text.endswith("  ") and not (made[-1].kind == "text" and all_bold(line.text))
        running = made[-1].kind in ("text", "item") and runs_on
    return made


def _is_field(text: str, above: Block) -> bool:
    """A key and its value on a line of its own. One in lower case is a key where the line above has one, too."""
    return md.field_like(text) or bool(_KEY.match(text) and _KEY.match(above.text))


def _block(line: md.Line, rows: dict[int, md.Row]) -> Block | None:
    at = line.number
    if head := md.heading(line):
        return Block("heading", line.text.strip().lstrip("#").strip(), at, at, level=head[0])
    if md.cells(line) is not None:
        row = rows.get(at)
        return Block("row", line.text, at, at, cells=tuple(row.cells.items())) if row else None
    if item := md.bullet(line):
        return Block("item", item.text, at, at, indent=item.indent, checked=item.checked)
    indent = len(line.text) - len(line.text.lstrip())
    return Block("text", line.text.strip(), at, at, indent=indent)


def all_bold(text: str) -> str:
    """What a line says that is nothing but bold; "" for others."""
    found = _BOLD_LINE.match(text)
    return found[1].strip() if found and "**" not in found[1] else ""
