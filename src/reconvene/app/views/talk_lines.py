"""The talk between agents and a person as people read it: each entry in a line or a paragraph. Pure."""

from __future__ import annotations

from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState, TalkEntry
from reconvene.core.shown.conversation import changes

_CALLED = ("title", "text", "name", "question", "id")  # what an item of a list is called, the best first
_CLIPPED = 70  # characters of an item in a list
_SAID = ("reply", "message", "summary", "reasoning", "text")  # where an output speaks to the person


def told(state: RunState, book: Book, entry: TalkEntry) -> str:
    """One entry, in a line or a paragraph."""
    match entry.kind:
        case "output":
            return gist(book.load(entry.ref)) if entry.ref else ""
        case "remark":
            return state.record.remarks[entry.number].text
        case "answer":
            return "\n".join(changes(state, book, entry))
        case "decision":
            return entry.text
        case "back":
            return f"came back from {entry.text}"
        case "undone":
            return f"took round {entry.n} back"


def gist(value: object) -> str:
    """What an output says to a person: its own words for them, or what there is in it."""
    if isinstance(value, dict):
        said = next((value[key] for key in _SAID if isinstance(value.get(key), str) and value[key].strip()), "")
        lists = [(name, part) for name, part in value.items() if isinstance(part, list) and part]
        parts = [("" if name == "list" else f"{name}: ") + _listed(part) for name, part in lists]
        return str(said).strip() or "; ".join(parts) or ", ".join(str(name) for name in value)
    if isinstance(value, list):
        return _listed(value)
    paragraphs = [part.strip() for part in str(value).split("\n\n") if part.strip() and not part.startswith("#")]
    return paragraphs[0] if paragraphs else str(value).strip()


def _listed(items: list[object]) -> str:
    """`(1) Which store? (2) Who may read it?`: each by what it is called, clipped."""
    return " ".join(f"({number}) {_called(item)}" for number, item in enumerate(items, 1)) or "nothing"


def _called(item: object) -> str:
    if isinstance(item, dict):
        item = next((item[key] for key in _CALLED if isinstance(item.get(key), str) and item[key].strip()), "…")
    text = " ".join(str(item).split())
    return text if len(text) <= _CLIPPED else text[: _CLIPPED - 1].rstrip() + "…"
