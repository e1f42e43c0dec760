"""Text and Markdown, in parts of a few lines. Also how bytes become text, for all that is text."""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterator
from typing import BinaryIO

from reconvene.adapters.documents.gathering import LINES, PART, Gathering, Request, Unreadable

_BOMS = (  # the longer ones first
    (codecs.BOM_UTF32_LE, "utf-32-le"),
    (codecs.BOM_UTF32_BE, "utf-32-be"),
    (codecs.BOM_UTF8, "utf-8"),
    (codecs.BOM_UTF16_LE, "utf-16-le"),
    (codecs.BOM_UTF16_BE, "utf-16-be"),
)
_NO_TEXT = re.compile("[\x00-\x06\x0e-\x1a\x1c-\x1f\x7f\x81\x8d\x8f\x90\x9d\ufffd]")
_HEADING = re.compile(r"#{1,6} ")


def read(file: BinaryIO, request: Request, gathering: Gathering) -> None:
    add_lines(text_of(file, request, gathering), gathering)


def add_lines(text: str, gathering: Gathering) -> None:
    for first, lines in _chunks(text.split("\n")):
        if len(lines) == 1 and len(lines[0]) > PART:
            for at in range(0, len(lines[0]), PART):
                piece = lines[0][at : at + PART]
                if not gathering.add(f"line {first}, characters {at + 1}-{at + len(piece)}", piece):
                    return
        elif not gathering.add(place(first, first + len(lines) - 1), "\n".join(lines)):
            return


def place(first: int, last: int) -> str:
    return f"line {first}" if first == last else f"lines {first}-{last}"


def text_of(file: BinaryIO, request: Request, gathering: Gathering) -> str:
    """As much of it as there is room for."""
    most = request.limits.characters * 4
    data = file.read(most)
    if request.size > len(data):
        gathering.note(
            f"The file has {request.size:,} bytes: only the first {len(data):,} are read. What comes later is missing."
        )
    text = decoded(data, gathering, whole=request.size <= len(data))
    return text.replace("\r\n", "\n").replace("\r", "\n")


def decoded(data: bytes, gathering: Gathering, *, whole: bool = True) -> str:
    code = next((code for bom, code in _BOMS if data.startswith(bom)), "") or _without_bom(data)
    bom = next((bom for bom, name in _BOMS if data.startswith(bom)), b"")
    data = data[len(bom) :]
    try:
        text = codecs.getincrementaldecoder(code or "utf-8")("strict").decode(data, final=whole)
    except UnicodeDecodeError:
        text = data.decode(code or "cp1252", "replace")
        if code:
            gathering.note(f"Some of it is not {code.upper()}: each such place is shown as \ufffd.")
        else:
            gathering.note("It is not UTF-8: it is read as Windows-1252, and some letters may be wrong.")
    if len(_NO_TEXT.findall(text[:100_000])) * 20 > min(len(text), 100_000):
        raise Unreadable("kind", "is no text, and nothing else that can be read", "Give it as text, PDF, DOCX or XLSX.")
    return text


def _without_bom(data: bytes) -> str:
    """UTF-16 shows in letters that have a zero in every other byte."""
    head = data[:4_096]
    half = max(1, len(head) // 2)
    if head[1::2].count(0) * 3 > half and head[::2].count(0) * 20 < half:
        return "utf-16-le"
    if head[::2].count(0) * 3 > half and head[1::2].count(0) * 20 < half:
        return "utf-16-be"
    return ""


def _chunks(lines: list[str]) -> Iterator[tuple[int, list[str]]]:
    """With the number of the first line. A heading begins a new one, if the one before is worth it."""
    first, size, kept = 1, 0, list[str]()
    for number, line in enumerate(lines, 1):
        heading = len(kept) > LINES // 2 and _HEADING.match(line)
        if kept and (len(kept) >= LINES or size + len(line) > PART or heading):
            yield first, kept
            first, size, kept = number, 0, []
        kept.append(line)
        size += len(line)
    if kept:
        yield first, kept
