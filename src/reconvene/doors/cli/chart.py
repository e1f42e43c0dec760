"""A small chart of open gaps per round, by severity: a row of blocks for each round, in a given width.

Draws with shades where the screen can show them, with plain characters where it cannot or should not.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator, Mapping, Sequence

SHADES = "█▓▒░"
PLAIN = "#=+."


def marks() -> str:
    """What stands for each severity, the gravest first. NO_COLOR and TERM=dumb ask for plain characters."""
    if os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb":
        return PLAIN
    try:
        SHADES.encode(sys.stdout.encoding or "ascii")
    except (UnicodeEncodeError, LookupError):
        return PLAIN
    return SHADES


def draw(rows: Sequence[tuple[str, Mapping[str, int]]], names: Sequence[str], width: int, signs: str) -> Iterator[str]:
    """A line per row: its label, its blocks, its total and what that is made of; then what the blocks mean."""
    if not rows:
        return
    most = max(sum(counts.values()) for _, counts in rows)
    tails = [_tail(counts, names) for _, counts in rows]
    label = max(len(name) for name, _ in rows)
    room = max(10, min(width - label - max(map(len, tails)) - 6, 60))
    for (name, counts), tail in zip(rows, tails):
        blocks = "".join(sign * cells for sign, cells in zip(signs, _cells([counts[one] for one in names], most, room)))
        yield f"  {name:<{label}}  {blocks:<{min(room, max(most, 1))}}  {tail}".rstrip()
    yield f"  {'':<{label}}  " + "  ".join(f"{sign} {name.lower()}" for sign, name in zip(signs, names))


def _tail(counts: Mapping[str, int], names: Sequence[str]) -> str:
    made_of = ", ".join(f"{counts[name]} {name.lower()}" for name in names if counts[name])
    return f"{sum(counts.values())}" + (f": {made_of}" if made_of else "")


def _cells(counts: Sequence[int], most: int, room: int) -> list[int]:
    """One cell for each gap while they fit; then to scale, and whatever there is shows."""
    if most <= room:
        return list(counts)
    return [max(1, count * room // most) if count else 0 for count in counts]
