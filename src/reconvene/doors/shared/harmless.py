"""Words that others wrote, made harmless: no escape sequence, control character or direction override is left in them.

Imports nothing heavy, so that a list of runs is shown at once.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconvene.language.plain_text import UNSEEN, clean, one_line

__all__ = ["UNSEEN", "clean", "nearest", "one_line"]


def nearest(word: str, known: Iterable[str]) -> str:
    """`did you mean …?`, or what there is."""
    from reconvene.language.closest import closest

    names = [clean(name) for name in known]
    if near := closest(word, names, 1, cutoff=0.5):
        return f"did you mean {near[0]}?"
    return f"there is: {', '.join(names)}" if names else ""
