"""An output in short: what its agent says of it, else how it begins."""

from __future__ import annotations

import re

from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Read, Ref
from reconvene.language.late_patterns import late

_SECTION = late(r"^#{1,4}\s*Summary\s*$(.*?)(?=^#{1,4}\s|\Z)", re.MULTILINE | re.DOTALL | re.IGNORECASE)


def summary_of(book: Book, read: Read) -> str:
    """The agent's own summary: its `summary` field, its "## Summary" section, or its first paragraph."""
    assert read.ref is not None
    loaded = book.load(read.ref)
    if isinstance(loaded, dict) and isinstance(loaded.get("summary"), str):
        return str(loaded["summary"])
    return summary_in(book.text(read.ref.digest))


def stated_summary(book: Book, ref: Ref) -> str:
    """What its author calls the summary; "" where there is none."""
    loaded = book.load(ref)
    summary = loaded.get("summary") if isinstance(loaded, dict) else None
    return summary if isinstance(summary, str) else _section(book.text(ref.digest))


def summary_in(text: str) -> str:
    if section := _section(text):
        return section
    paragraphs = [
        part.strip() for part in re.split(r"\n\s*\n", text) if part.strip() and not part.lstrip().startswith("#")
    ]
    return (paragraphs[0] if paragraphs else text.strip())[:2000]


def _section(text: str) -> str:
    section = _SECTION.search(text) if "summary" in text.lower() else None
    return section[1].strip() if section else ""
