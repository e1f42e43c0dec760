"""Which known names a word may have been meant for. `difflib` is loaded only where a word is not known."""

from __future__ import annotations

from collections.abc import Iterable


def closest(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Nearest first; empty where none is near."""
    import difflib

    return difflib.get_close_matches(word, list(known), n=count)
