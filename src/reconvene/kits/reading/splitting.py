"""Where one remark ends and the next begins in a text typed in one go.

Never loses or reorders a word: blocks and sentences are slices of the text, less list markers and indents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from reconvene.kits.reading import tongues

# A text of more pieces than this is a document, not a handful of remarks.
MOST_PIECES = 400

_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_BULLET = re.compile(r"(?P<indent>[ \t]{0,12})(?:[-*+•‣▪◦·–—]|(?P<number>\d{1,3})[.)])(?:[ \t]+\[[ xX]\])?[ \t]+(?=\S)")
_ATTACHED = re.compile(r"\s{0,3}[>|]")
_WRAPPED = 50  # no editor wraps lines shorter than this
_ENDED = (".", "!", "?", ";", ":", "。", "！", "？", "…", "；", "：")
_EMOJI = "[\u2600-\u27bf\U0001f300-\U0001faff\ufe0f]"
_BOUNDARY = re.compile(rf"[.!?…]['\"”’»)\]*_]{{0,4}}\s+|;\s+|[。！？；]\s*|{_EMOJI}+\s+")
_ABBREVIATED = r"(?:<<abbreviations>>|\b[a-z])\.\s+$"


class Block(Struct):
    """A list item, a line or a paragraph. `whole`: it has an inner layout and is not cut into sentences."""

    lines: list[str]
    listed: bool = False
    whole: bool = False
    indent: int = 0
    number: int = 0  # of a numbered list's item

    @property
    def text(self) -> str:
        return "\n".join(self.lines).strip()


class Sentence(Struct, frozen=True):
    text: str
    start: int
    strong: bool = True  # it follows a full stop, not a semicolon


def blocks(text: str) -> list[Block]:
    """The text in list items and lines. Indented lines, code, quotes and wrapped lines go on with the one above."""
    found: list[Block] = []
    fenced = gap = False
    for line in text.splitlines():
        opens = bool(_FENCE.match(line))
        if fenced or opens:
            _attach(found, line)
            fenced = fenced != opens
        elif not line.strip():
            gap = True
        else:
            _take(found, line, gap)
            gap = False
    return [block for block in found if block.text]


def sentences(text: str) -> Iterator[Sentence]:
    """The text cut at sentence ends and semicolons; put together again it is the text, less the spaces between."""
    start, strong = 0, True
    abbreviated = tongues.everything().pattern(_ABBREVIATED)
    for match in _BOUNDARY.finditer(text):
        semicolon = match[0][0] in ";；"
        if not semicolon and abbreviated.search(text, max(0, match.end() - 12), match.end()):
            continue
        if piece := text[start : match.end()].strip():
            yield Sentence(piece, start, strong)
        start, strong = match.end(), not semicolon
    if piece := text[start:].strip():
        yield Sentence(piece, start, strong)


def _take(found: list[Block], line: str, gap: bool) -> None:
    last = found[-1] if found else None
    bullet = _BULLET.match(line)
    if bullet and _counts_on(found, bullet["number"]):
        indent = len(bullet["indent"].expandtabs(4))
        if last and last.listed and indent > last.indent + 1:
            _attach(found, line)  # a sub-item belongs to its item
        else:
            number = int(bullet["number"] or 0)
            found.append(Block([line[bullet.end() :]], listed=True, indent=indent, number=number))
    elif last and _ATTACHED.match(line) and not gap:
        _attach(found, line)
    elif last and (line[0].isspace() or (not gap and _goes_on(last, line))):
        last.lines.append(line.strip())
    else:
        found.append(Block([line], whole=bool(_ATTACHED.match(line))))


def _counts_on(found: list[Block], number: str | None) -> bool:
    """ "12. That is how many we have" begins no list: its number is what the person says."""
    if number is None or int(number) == 1:
        return True
    return bool(found) and found[-1].listed and int(number) == found[-1].number + 1


def _goes_on(last: Block, line: str) -> bool:
    """A line wrapped by an editor: the one above has not ended, and this one starts in small letters."""
    above = last.lines[-1].rstrip()
    if _ATTACHED.match(above):
        return True  # what follows a quotation is about it
    return len(above) >= _WRAPPED and line[0].islower() and not above.endswith(_ENDED)


def _attach(found: list[Block], line: str) -> None:
    """The line belongs to the block above, which has an inner layout then."""
    if not found:
        found.append(Block([]))
    found[-1].lines.append(line)
    found[-1].whole = True
