"""An output in short: what its agent says of it, else how it begins."""

from __future__ import annotations

import re

from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Read


def summary_of(book: Book, read: Read) -> str:
    """The agent's own summary: its `summary` field, its "## Summary" section, or its first paragraph."""
    assert read.ref is not None
    loaded = book.load(read.ref)
    if isinstance(loaded, dict) and isinstance(loaded.get("summary"), str):
        return str(loaded["summary"])
    return summary_in(book.text(read.ref.digest))


def summary_in(text: str) -> str:
    section = re.search(r"^#{1,4}\s*Summary\s*$(.*?)(?=^#{1,4}\s|\Z)", text, re.MULTILINE | re.DOTALL | re.IGNORECASE)
    if section and section[1].strip():
        return section[1].strip()
    paragraphs = [
        part.strip() for part in re.split(r"\n\s*\n", text) if part.strip() and not part.lstrip().startswith("#")
    ]
    return (paragraphs[0] if paragraphs else text.strip())[:2000]
