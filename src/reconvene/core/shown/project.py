"""The person's project as the run knows it: where its branch stands, and what the items under way have changed.

Pure: commits are names here. Whatever looks at a disk or runs git is an effect, and lives in an adapter.
"""

from __future__ import annotations

from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Read
from reconvene.core.facts.state import RunState
from reconvene.core.shown import scope

READ_WORDS = ("project.diff", "project.files", "project.branch")
_MOST_FILES = 50


def path_of(state: RunState, book: Book) -> str:
    """The folder the run was given, "" where it was given none."""
    given = book.object(state.inputs)
    names = [name for name, spec in book.workflow.inputs.items() if spec.type == "project"]
    return next((str(given[name]) for name in names if given.get(name)), "")


def beginnings(state: RunState) -> tuple[str, ...]:
    """The commits at which the run ("") and the items under way began, outermost first, each once."""
    items = [frame.item.head for frame in state.world.cursor if frame.item is not None]
    return tuple(dict.fromkeys(["", *items]))


def reads(state: RunState, book: Book, word: str) -> Read:
    """What one of READ_WORDS stands for in the step that begins."""
    project = state.record.project
    match word:
        case "project.diff":
            items = [frame.item.head for frame in state.world.cursor if frame.item is not None]
            since = items[-1] if items else ""
            if since == state.world.head or since not in state.world.diffs:
                return Read(word, "project", None, "no changes")
            return Read(word, "value", state.world.diffs[since])
        case "project.branch" if project is not None and project.branch:
            at = state.world.head or project.base
            return Read(word, "project", None, f"{project.branch}, at {at[:12] or 'no commit yet'}")
        case "project.branch":
            return Read(word, "project", None, "not begun")
        case _:
            return Read(word, "project", None, "no files are named")


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


def title(state: RunState, book: Book) -> str:
    """What the work in hand is called: the item's title, or the phase's."""
    frame = state.world.top
    inner = next((one for one in reversed(state.world.cursor) if one.item is not None), None)
    item = scope.item_view(book, inner) if inner is not None else None
    if isinstance(item, dict):
        for key in ("title", "name", "text", "value", "key"):
            if isinstance(item.get(key), str) and str(item[key]).strip():
                return str(item[key])
    return book.phase(frame.phase).title or frame.phase
