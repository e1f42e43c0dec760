"""CSV, in parts of a few records, each with the header. Places count the file's own lines."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from typing import BinaryIO, NamedTuple

from reconvene.adapters.documents.gathering import LINES, PART, Gathering, Request
from reconvene.adapters.documents.text_files import add_lines, place, text_of

_DELIMITERS = {",": "a comma", ";": "a semicolon", "\t": "a tab", "|": "a bar"}
_FIELD = 100_000  # characters


class _Record(NamedTuple):
    first: int
    last: int
    fields: int


def read(file: BinaryIO, request: Request, gathering: Gathering) -> None:
    text = text_of(file, request, gathering)
    lines = text.split("\n")
    start = 1 if lines[0].lower().startswith("sep=") else 0
    delimiter = _delimiter(lines[start:])
    try:
        records = list(_records(lines, start, delimiter, request.limits.rows + 1))
    except csv.Error:
        gathering.note("A quotation mark is never closed, or a field is far too long: it is read as plain lines.")
        add_lines(text, gathering)
        return
    if not records:
        return
    gathering.note(f"Fields are separated by {_DELIMITERS[delimiter]}.")
    if len(records) > request.limits.rows + 1:
        records.pop()
        gathering.note(f"Only the first {request.limits.rows:,} rows are read.")
    header, rows = records[0], records[1:]
    for record in rows:
        if record.fields != header.fields:
            gathering.found("These lines have more or fewer fields than the header: {}.", str(record.first))
    _add(lines, header, rows, gathering)


def _delimiter(lines: list[str]) -> str:
    """What stands most often in the header, outside of quotation marks."""
    header = next((line for line in lines if line.strip()), "")
    bare = "".join(header.split('"')[::2])
    return max(_DELIMITERS, key=lambda delimiter: (bare.count(delimiter), delimiter == ","))


def _records(lines: list[str], start: int, delimiter: str, most: int) -> Iterator[_Record]:
    csv.field_size_limit(_FIELD)
    reader = csv.reader((line + "\n" for line in lines[start:]), delimiter=delimiter)
    before = 0
    for fields in reader:
        first, before = start + before + 1, reader.line_num
        if fields:
            yield _Record(first, start + before, len(fields))
            most -= 1
            if most < 0:
                return


def _add(lines: list[str], header: _Record, rows: list[_Record], gathering: Gathering) -> None:
    top = _raw(lines, header.first, header.last)
    held, size = [header], len(top)
    for record in rows:
        length = sum(map(len, lines[record.first - 1 : record.last]))
        if held and (len(held) >= LINES or size + length > PART):
            if not _part(lines, held, header, top, gathering):
                return
            held, size = [], len(top)
        held.append(record)
        size += length
    if held:
        _part(lines, held, header, top, gathering)


def _part(lines: list[str], held: list[_Record], header: _Record, top: str, gathering: Gathering) -> bool:
    """All lines from its first record to its last: also those between records that are empty."""
    first, last = held[0].first, held[-1].last
    body = _raw(lines, first, last)
    if held[0] is header:
        return gathering.add(place(first, last), body)
    return gathering.add(place(first, last), f"{top}\n{body}", header.last - header.first + 1)


def _raw(lines: list[str], first: int, last: int) -> str:
    return "\n".join(lines[first - 1 : last])
