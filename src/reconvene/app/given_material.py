"""What a run was given to work from, for agents with tools: documents, and where its sources of data are."""

from __future__ import annotations

import msgspec

from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.material_ports import Document, SourceAt


def documents(state: RunState, book: Book) -> tuple[Document, ...]:
    return tuple(msgspec.convert(one, Document) for one in _given(state, book, "documents"))


def sources(state: RunState, book: Book) -> tuple[SourceAt, ...]:
    return tuple(msgspec.convert(one, SourceAt) for one in _given(state, book, "sources"))


def _given(state: RunState, book: Book, kind: str) -> list[object]:
    names = [name for name, spec in book.workflow.inputs.items() if spec.type == kind]
    if not names:
        return []
    inputs = book.object(state.inputs)
    return [one for name in names if isinstance(found := inputs.get(name), list) for one in found]
