"""Reads one document, in a box: it comes as the standard input, and what was read goes to the standard output.

What it is, its bytes say; its name only decides between sorts of text.
"""

from __future__ import annotations

import hashlib
import io
import logging
import os
import sys
from collections.abc import Callable
from importlib import import_module
from typing import BinaryIO, cast

import msgspec

from reconvene.adapters.documents import sniffing
from reconvene.adapters.documents.gathering import Failed, Gathering, Read, Request, Unreadable

_ROOM = "reconvene.adapters.documents"
_READERS = {
    "application/pdf": "pdf_files",
    sniffing.DOCX: "word_files",
    sniffing.XLSX: "sheet_files",
    "text/html": "html_files",
    "text/csv": "csv_files",
    "text/markdown": "text_files",
    "text/plain": "text_files",
}
_CUT = frozenset(("text/csv", "text/markdown", "text/plain"))  # read from the start, as far as there is room


def main(words: list[str]) -> None:
    logging.disable(logging.CRITICAL)
    sys.setrecursionlimit(2_000)
    request = msgspec.json.decode(words[0], type=Request)
    try:
        with os.fdopen(0, "rb", closefd=False) as file:
            answer: Read | Failed = read(file, request)
    except Unreadable as error:
        answer = error.failed
    except ModuleNotFoundError as error:
        answer = Failed("library", str(error.name))
    except RecursionError:
        answer = Failed("damaged", "is nested too deeply to be read")
    sys.stdout.buffer.write(msgspec.json.encode(answer))
    sys.stdout.buffer.flush()


def read(file: BinaryIO, request: Request) -> Read:
    digest = _digest(file)
    gathering = Gathering(request.limits)
    if not request.size:
        gathering.note("The file is empty.")
        return Read(sniffing.of_name(request.suffix), digest, (), gathering.notes())
    found = sniffing.media(file, request.suffix)
    if found.note:
        gathering.note(found.note)
    if found.media not in _CUT and request.size > request.limits.bytes:
        most = request.limits.bytes // (1024 * 1024)
        raise Unreadable("too_large", f"is larger than {most} MB", "Give the part that matters, or a text of it.")
    file.seek(0)
    reader: Callable[[BinaryIO, Request, Gathering], None] = import_module(f"{_ROOM}.{_READERS[found.media]}").read
    reader(file, request, gathering)
    if not gathering.parts and not gathering.notes():
        gathering.note("There is no text in it.")
    return Read(found.media, digest, tuple(gathering.parts), gathering.notes())


def _digest(file: BinaryIO) -> str:
    """As core/facts/ids.py makes it, without holding the bytes."""
    file.seek(0)
    return hashlib.file_digest(cast("io.BufferedReader", file), "sha256").hexdigest()[:32]
