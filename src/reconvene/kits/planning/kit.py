"""What this kit brings: the to-dos of a run as a field, and a gate that sends back a list that cannot be worked off."""

from __future__ import annotations

from collections.abc import Sequence

import msgspec

from reconvene.core.extensions import Judged, Kit, Objection, View
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.errors import KitFailed
from reconvene.kits.planning.todos import FILE, Todo, WrongList, read


def _listed(state: RunState, book: Book) -> tuple[Todo, ...]:
    file = state.world.files.get(FILE)
    return read(book.text(file.digest)) if file is not None else ()


def open_todos(state: RunState, book: Book) -> object:
    """Those of the list as it is now, a person's edits included. A list that cannot be read is a person's to mend."""
    try:
        return [msgspec.to_builtins(todo) for todo in _listed(state, book) if not todo.done]
    except WrongList as error:
        raise _Unusable(str(error)) from error


class _Unusable(KitFailed):
    """The person's to mend, not the kit's maker's."""

    def __init__(self, why: str) -> None:
        super().__init__("planning", "to-do list", why)
        self.message = f"{why}. Correct the file, then try again"
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


def _rows(state: RunState, book: Book) -> Sequence[object]:
    try:
        return _listed(state, book)
    except WrongList as error:
        return [{"id": "!", "text": str(error)}]


KIT = Kit(
    "planning",
    gates={"todos": todo_list},
    fields={"todos": open_todos},
    views={"todos": View("The to-dos of the phase at work.", _rows)},
    asks={"todos": f"{FILE} that is not a list of to-dos, each with an id of its own and a text;"},
)
