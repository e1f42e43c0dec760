"""What is alike: the names that a word may have been meant for, and the lines that two texts share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import ModuleType


def closest(word: str, known: Iterable[str], count: int = 1) -> list[str]:
    """Nearest first; empty where none is near."""
    found: list[str] = _difflib().get_close_matches(word, list(known), n=count)
    return found


def opcodes(old: Sequence[str], new: Sequence[str]) -> list[tuple[str, int, int, int, int]]:
    """What stayed and what changed, as `difflib` says it."""
    return list(_difflib().SequenceMatcher(None, old, new).get_opcodes())


def _difflib() -> ModuleType:
    """Loaded where a word is not known or a file was changed: a decision needs neither, and has to be quick."""
    import difflib

    return difflib
