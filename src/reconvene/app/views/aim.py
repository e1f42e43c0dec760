"""What a run is about, in a line: after a week nobody remembers. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState

_USUAL = (  # inputs that say what is to be done
    *("focal_question", "question", "goal", "description", "instructions", "task", "topic", "feature", "request"),
    *("brief", "idea", "subject"),
)


def aim(state: RunState, book: Book) -> str:
    """Its title; else what somebody typed, rather than what a file holds; "" where it was given nothing of the sort."""
    if state.title:
        return state.title
    given = book.object(state.inputs) if state.inputs else {}
    return next((line for name in _in_order(book) if (line := _beginning(given.get(name)))), "")


def _in_order(book: Book) -> Iterator[str]:
    for sort in ("text", "file"):
        names = [name for name, spec in book.workflow.inputs.items() if spec.type == sort]
        yield from (name for name in _USUAL if name in names)
        yield from names


def _beginning(value: object) -> str:
    """Its heading, else its first paragraph; without the marks of a heading, a quotation or emphasis."""
    lines = [line.strip() for line in value.strip().split("\n")] if isinstance(value, str) else []
    until = 1 if lines and lines[0].startswith("#") else lines.index("") if "" in lines else len(lines)
    return " ".join(lines[:until]).lstrip("#>*_ ").rstrip("#*_ ")
