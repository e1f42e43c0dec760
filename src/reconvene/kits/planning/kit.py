"""What this kit brings: the to-dos of a run as fields, and gates that send back a list that cannot be worked off, and a
document without the sections, or the shape, that it must have."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reconvene.core.extensions import Judged, Kit, ListFile, Objection, View
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.errors import KitFailed
from reconvene.kits.planning.document_shape import shape
from reconvene.kits.planning.todos import FILE, KEPT, Todo, WrongList, entries, read


def _listed(state: RunState, book: Book) -> tuple[Todo, ...]:
    file = state.world.files.get(FILE)
    return read(book.text(file.digest)) if file is not None else ()


def every_todo(state: RunState, book: Book) -> list[dict[str, object]]:
    """Of the list as it is now, a person's edits included. A list that cannot be read is a person's to mend."""
    try:
        return [msgspec.to_builtins(todo) for todo in _listed(state, book)]
    except WrongList as error:
        raise _Unusable(str(error)) from error


def open_todos(state: RunState, book: Book) -> list[dict[str, object]]:
    return [todo for todo in every_todo(state, book) if not todo["done"]]


class _Unusable(KitFailed):
    """The person's to mend, not the kit's maker's."""

    def __init__(self, why: str) -> None:
        super().__init__("planning", "to-do list", why)
        self.message = f"the to-dos cannot be worked off: {why}. Correct {FILE}, then try again"
        self.file = FILE
        self.args = (self.message,)


def todo_list(judged: Judged) -> Objection | None:
    """Of an output that wrote the list: whether it can be worked off."""
    for name, text in zip(judged.about, judged.documents):
        if name == FILE and name in judged.files:
            try:
                todos = read(text)
            except WrongList as error:
                return Objection("WRONG_FORMAT", f"{error}.")
            if not todos and judged.options.get("some", True):
                return Objection("NO_TODOS", f"{FILE} holds no to-do. Say what is to be done next, step by step.")
    return None


def sections(judged: Judged) -> Objection | None:
    """Of an output that wrote a document: whether the headings that the workflow names are in it."""
    wanted = judged.options.get("headings")
    names = [str(one) for one in wanted] if isinstance(wanted, list) else []
    for name, text in zip(judged.about, judged.documents):
        there = {line.lstrip("# ").strip().casefold() for line in text.splitlines() if line.startswith("#")}
        missing = [one for one in names if not any(heading.startswith(one.casefold()) for heading in there)]
        if name in judged.files and missing:
            return Objection("WRONG_FORMAT", f"{name} lacks the heading {', '.join(missing)}.")
    return None


def _rows(state: RunState, book: Book) -> Sequence[object]:
    try:
        return _listed(state, book)
    except WrongList as error:
        return [{"id": "!", "text": str(error)}]


KIT = Kit(
    "planning",
    gates={"todos": todo_list, "sections": sections, "shape": shape},
    fields={"todos": open_todos, "list": every_todo},
    views={"todos": View("The to-dos of the phase at work.", _rows)},
    asks={
        "todos": f"{FILE} is not a list of to-dos, each with an id of its own and a text",
        "sections": "{about} lacks one of the headings that the task names",
    },
    list=ListFile(FILE, KEPT, entries),
)
