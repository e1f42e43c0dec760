"""An answer that is made from the record, without a model."""

from __future__ import annotations

from msgspec import Struct

from reconvene.app.views.companion_talk import Proposed


class Told(Struct, frozen=True):
    """`text` holds its citations in brackets. `facts`: the figures in it, for scripts."""

    text: str
    facts: dict[str, object] = {}
    proposals: tuple[Proposed, ...] = ()


def event(number: int) -> str:
    return f" [event {number}]" if number else ""


def short(text: str, most: int = 300) -> str:
    """On one line."""
    line = " ".join(text.split())
    return line if len(line) <= most else line[: most - 1] + "…"
