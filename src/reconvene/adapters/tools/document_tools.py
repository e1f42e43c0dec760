"""`documents`: those of the attempt and of folders that it was given, read in parts that can be cited.

Only looks. What a document is made of is read elsewhere, in a process of its own.
"""

from __future__ import annotations

import os
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol

from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.attempt_tree import AttemptTree
from reconvene.adapters.tools.offered import (
    Arguments,
    Brought,
    Offered,
    ToolFailed,
    flag,
    in_thread,
    takes,
    text,
    word,
)
from reconvene.errors import UserError
from reconvene.language.counting import counted
from reconvene.material_ports import FOLDER, Document, Documents, Folder, Part
from reconvene.ports import Assignment
from reconvene.tool_ports import ToolInfo, ToolResult
from reconvene.wire import shown_documents

MOST_LISTED = 500
MOST_HITS = 100
MOST_SEARCHED = 100  # documents in one search
_SEARCH_SECONDS = 120.0
_KEPT = 20  # documents that are not read again
NAMES = ("list_documents", "read_document", "search_documents")
_NAME = text("The document, as list_documents names it.", "report.pdf", least=1, most=1000)


class DocumentFolders(Protocol):
    """Folders of documents that an agent may read beside its own, by the options of its entry `documents`."""

    def __call__(self, assignment: Assignment, options: Mapping[str, object]) -> Mapping[str, Folder]: ...


def brought(
    reader: Documents | None, given: Sequence[Document], folders: Mapping[str, Folder], tree: AttemptTree
) -> Brought:
    """`given`: those that the run was given, as they were read then."""
    if reader is None:
        return Brought(left_out=dict.fromkeys(NAMES, "nothing reads documents here"))
    looking = _Looking(reader, given, folders, tree)
    reading = takes(
        "name",
        name=_NAME,
        place=text("From which place on, as it is shown in brackets. From the beginning if you leave it out.", "p. 3"),
    )
    searching = takes(
        "text",
        text=text("What to look for, exactly as it is: no pattern.", "net debt", least=1, most=1000),
        name=text("Only in this document.", "report.pdf", most=1000),
        exact_case=flag("Whether capital and small letters are different."),
    )
    return Brought(
        (
            _offered(NAMES[0], "Lists the documents that you may read, with their sizes.", takes(), looking.listed),
            _offered(
                NAMES[1],
                "Reads a document (text, Markdown, CSV, HTML, PDF, DOCX, XLSX) in parts. Before each part stands its "
                "place in brackets: cite it. What does not fit is said, with the place to go on from.",
                reading,
                looking.read,
            ),
            _offered(NAMES[2], "Finds a text in the documents, and says at which places.", searching, looking.search),
        )
    )


def _offered(name: str, about: str, schema: dict[str, object], function: Callable[[Arguments], ToolResult]) -> Offered:
    async def carry_out(arguments: Arguments) -> ToolResult:
        return await in_thread(function, arguments)

    return Offered(ToolInfo(name, "documents", about, schema), carry_out)


class _Looking:
    """A document that the run was given is called by its name, one of a folder that was given FOLDER:NAME, one of the
    attempt's own by its path."""

    def __init__(
        self, reader: Documents, given: Sequence[Document], folders: Mapping[str, Folder], tree: AttemptTree
    ) -> None:
        self._reader = reader
        self._given = {one.name: one for one in given}
        self._folders = folders
        self._tree = tree
        self._kept: OrderedDict[tuple[str, object], Document] = OrderedDict()

    def listed(self, arguments: Arguments) -> ToolResult:
        lines = [f"{name} ({size})" for name, size in self._all()]
        notes = [f"[{name}: {note}]" for name, folder in self._folders.items() for note in folder.list().notes]
        notes += [f"[{name}: {note}]" for name, one in self._given.items() for note in one.notes]
        if len(lines) > MOST_LISTED:
            lines[MOST_LISTED:] = [f"[cut: {len(lines) - MOST_LISTED:,} more documents are not shown]"]
        return ToolResult(cutting.printable("\n".join([*lines, *notes[:MOST_LISTED]])) or "There are no documents.")

    def read(self, arguments: Arguments) -> ToolResult:
        name, wanted = word(arguments, "name"), word(arguments, "place").strip().strip("[]")
        found = self._document(name)
        first = 0
        if wanted:
            places = [part.place for part in found.parts]
            if wanted not in places:
                raise ToolFailed(f"{name} has no place {wanted!r}. {_some(places)}")
            first = places.index(wanted)
        head = f"[{name}: {found.media}, {counted(len(found.parts), 'part')}]"
        return ToolResult(_shown([head, *(f"[note: {note}]" for note in found.notes)], found.parts[first:]))

    def search(self, arguments: Arguments) -> ToolResult:
        wanted, only = word(arguments, "text"), word(arguments, "name")
        fold: Callable[[str], str] = str if arguments.get("exact_case") else str.casefold
        names = [only] if only else [name for name, _ in self._all()]
        until, hits, notes = time.monotonic() + _SEARCH_SECONDS, list[str](), list[str]()
        for at, name in enumerate(names):
            if at >= MOST_SEARCHED or time.monotonic() > until or len(hits) > MOST_HITS:
                notes.append(f"[cut: {counted(len(names) - at, 'document')} from {name} on were not searched]")
                break
            try:
                parts = self._document(name).parts
            except (UserError, ToolFailed) as error:
                notes.append(f"[not searched: {name}: {error}]")
                continue
            hits += [hit for part in parts for hit in _hits(name, part, wanted, fold)]
        if len(hits) > MOST_HITS:
            hits[MOST_HITS:] = ["[cut: there are more places; look for something longer, or in one document]"]
        lines = hits or [f"No document holds {wanted[:200]!r}."]
        return ToolResult(cutting.start_of(cutting.printable("\n".join([*lines, *notes])), "look for something longer"))

    def _all(self) -> list[tuple[str, str]]:
        """Their names and sizes. Of what the person gave, only the text is kept: that is what is measured."""
        own = [(found.path, counted(found.size, "byte")) for found in self._tree.all() if not found.what]
        given = [
            (f"{name}:{entry.name}", counted(entry.size, "byte"))
            for name, folder in self._folders.items()
            for entry in folder.list().entries
        ]
        read = {name: one.parts for name, one in self._given.items() if one.media != FOLDER}
        texts = [
            (name, f"{counted(sum(len(part.text) for part in parts), 'character')} of text")
            for name, parts in read.items()
        ]
        return [*texts, *(one for one in own if one[0] not in self._given), *given]

    def _document(self, name: str) -> Document:
        if name in self._given:
            return self._given[name]
        label, colon, inner = name.partition(":")
        if colon and label in self._folders:
            return self._remembered((name, None), lambda: self._folders[label].read(inner))
        path = self._tree.named(name)
        there = self._tree.look(path)
        if there is None or there.what:
            raise ToolFailed(f"There is no document {name}. list_documents names them.")
        stamp = os.lstat(os.path.join(self._tree.root, path)).st_mtime_ns, there.size
        return self._remembered((name, stamp), lambda: self._reader.read(path, within=self._tree.root))

    def _remembered(self, key: tuple[str, object], read: Callable[[], Document]) -> Document:
        if key not in self._kept:
            self._kept[key] = read()
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return self._kept[key]


def _shown(head: list[str], parts: tuple[Part, ...]) -> str:
    lines, room = head, cutting.MOST - 1_000 - sum(map(len, head))
    for at, part in enumerate(parts):
        text = shown_documents.body(cutting.printable(part.text), part.head)
        if len(text) > room and at:
            lines.append(f"[cut: {counted(len(parts) - at, 'more part')}; go on with place {part.place!r}]")
            break
        room -= len(text) + len(part.place) + 4
        lines.append(
            f"[{part.place}]\n{cutting.start_of(text, 'search_documents finds passages in it', max(room, 1_000))}"
        )
    return "\n".join(lines)


def _hits(name: str, part: Part, wanted: str, fold: Callable[[str], str]) -> Iterator[str]:
    for line in cutting.lines(part.text):
        if fold(wanted) in fold(line):
            yield f"{name} [{part.place}]: {cutting.line(line.strip(), 300)}"


def _some(places: list[str]) -> str:
    if not places:
        return "It has no text."
    return f"It has {', '.join(places[:20])}{f' … {places[-1]}' if len(places) > 20 else ''}."
