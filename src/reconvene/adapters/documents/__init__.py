"""Documents that people give to a job, read in a process of its own each, and cut into parts that can be cited.

Markdown, text, CSV, HTML, PDF, DOCX and XLSX. This side opens the file and hands it over; it reads nothing of it. What
each format gives, and what it is guarded against, stands in its own module; docs/material.md has the whole.
"""

from __future__ import annotations

import os
import time

import msgspec

from reconvene.adapters.documents import opening
from reconvene.adapters.documents.gathering import Failed, Read, Request
from reconvene.material_ports import Bounds, Box, Document, DocumentError, Ended, Gathered, Listing, ReadLimits

_READER = "reconvene.adapters.documents.read_child"
_LARGEST = 2 * 1024**3
_INSTALL = "pip install 'reconvene[documents]'"


class DocumentReader:
    """material_ports.Documents."""

    def __init__(self, box: Box, limits: ReadLimits | None = None) -> None:
        self._box = box
        self._limits = limits or ReadLimits()

    def read(self, path: str, *, within: str = "") -> Document:
        with opening.opened(path, within) as file:
            if file.size > _LARGEST:
                raise DocumentError(
                    f"{file.name} is larger than 2 GB.", fault="too_large", hint="Give the part that matters."
                )
            request = Request(os.path.splitext(path)[1].lower()[:20], file.size, self._limits)
            words = [msgspec.json.encode(_encodable(request)).decode()]
            ended = self._box.run(_READER, words, file.handle, Bounds(self._limits.seconds, self._limits.memory))
            return _document(file.name, ended, self._limits)

    def list(self, folder: str, below: str = "") -> Listing:
        return opening.listing(folder, below, self._limits)

    def gather(self, folder: str) -> Gathered:
        walked = opening.Walked(self._limits)
        walked.through(folder)
        until = time.monotonic() + self._limits.folder_seconds
        found: list[Document] = []
        for entry in walked.files:
            if time.monotonic() > until:
                walked.leave("Left out, because reading the folder took too long", entry.name)
                continue
            try:
                found.append(self.read(entry.name, within=folder))
            except DocumentError as error:
                why = error.message.removeprefix(f"{opening.shown(entry.name)} ").removesuffix(".")
                walked.leave(f"Not read, because it {why}", entry.name)
        return Gathered(tuple(found), walked.notes())


def _encodable(request: Request) -> Request:
    """A suffix may hold anything that a file name may."""
    if request.suffix.isascii() and request.suffix.isprintable():
        return request
    return msgspec.structs.replace(request, suffix=".unknown")


def _document(name: str, ended: Ended, limits: ReadLimits) -> Document:
    match ended.cause:
        case "time":
            raise DocumentError(f"{name} was not read within {limits.seconds:g} seconds.", fault="limit", hint=_SMALLER)
        case "memory":
            raise DocumentError(f"{name} needs more memory to be read than it may have.", fault="limit", hint=_SMALLER)
        case "flood":
            raise DocumentError(f"{name} gives more text than can be taken.", fault="limit", hint=_SMALLER)
        case "crash":
            last = opening.shown(ended.said.rpartition("\n")[2])
            told = f"{name} cannot be read: the library that reads it failed{f' ({last})' if last else ''}."
            raise DocumentError(told, fault="failed", hint=_SMALLER)
    try:
        answer = msgspec.json.decode(ended.answer, type=Read | Failed)
    except msgspec.MsgspecError:
        raise DocumentError(f"{name} cannot be read: its reader gave no answer.", fault="failed") from None
    if isinstance(answer, Read):
        return Document(name, answer.media, answer.digest, answer.parts, answer.notes)
    if answer.fault == "library":
        raise DocumentError(
            f"{name} cannot be read: the library {answer.problem} is not installed.", fault="library", hint=_INSTALL
        )
    raise DocumentError(f"{name} {answer.problem}.", fault=answer.fault, hint=answer.hint)


_SMALLER = "Give the part that matters, or the same as plain text."
