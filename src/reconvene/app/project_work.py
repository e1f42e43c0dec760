"""What work in the person's project is about: which folder, since when, which files, how it is called. Pure."""

from __future__ import annotations

from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.shown import scope

_MOST_FILES = 50


def project_path(state: RunState, book: Book) -> str:
    """The folder the run was given, "" where it was given none."""
    inputs = book.object(state.inputs)
    names = [name for name, spec in book.workflow.inputs.items() if spec.type == "project"]
    return next((str(inputs[name]) for name in names if inputs.get(name)), "")


def beginnings(state: RunState) -> tuple[str, ...]:
    """The commits at which the run ("") and the items under way began, outermost first, each once."""
    items = [frame.item.head for frame in state.world.cursor if frame.item is not None]
    return tuple(dict.fromkeys(["", *items]))


def named_files(state: RunState, book: Book) -> tuple[str, ...]:
    """The files that the item in hand names."""
    inner = next((frame for frame in reversed(state.world.cursor) if frame.item is not None), None)
    item = scope.item_view(book, inner) if inner is not None else None
    files = item.get("files") if isinstance(item, dict) else None
    names = [_name(file) for file in files] if isinstance(files, list) else []
    return tuple(dict.fromkeys(name for name in names if name))[:_MOST_FILES]


def _name(file: object) -> str:
    if isinstance(file, dict):
        file = file.get("path") or file.get("name")
    return file if isinstance(file, str) else ""


def work_title(state: RunState, book: Book) -> str:
    """What the work in hand is called: the item's title, or the phase's."""
    frame = state.world.top
    inner = next((one for one in reversed(state.world.cursor) if one.item is not None), None)
    item = scope.item_view(book, inner) if inner is not None else None
    if isinstance(item, dict):
        for key in ("title", "name", "text", "value", "key"):
            if isinstance(item.get(key), str) and str(item[key]).strip():
                return str(item[key])
    return book.phase(frame.phase).title or frame.phase
