"""What people are shown of a text of the workflow that cannot be filled in: never its braces, always why."""

from __future__ import annotations

import re
from collections.abc import Callable

from msgspec import Struct

from reconvene.errors import ReconveneError
from reconvene.language.late_patterns import late

_PART = late(r"\{\{-?(.*?)-?\}\}", re.DOTALL)
_LINE = late(r"line (\d+): ")
_TAGS = late(r"\{[{%#].*?[}%#]\}", re.DOTALL)


class Unfilled(Struct, frozen=True):
    text: str  # with the parts that can be filled in
    part: str  # the expression, or the line, that failed first
    why: str


def unfilled(text: str, why: str, fill: Callable[[str], str]) -> Unfilled:
    """`fill` gives a part's text, or raises. Where parts depend on each other (loops, conditions) none is shown."""
    if "{%" in text or "{#" in text:
        line = _LINE.match(why)
        at = text.splitlines()[int(line[1]) - 1 :][:1] if line else []
        first = _TAGS.search(at[0]) if at else None
        return Unfilled(f"(not shown: {_bare(why)})", first[0].strip("{}%# -") if first else "", _bare(why))
    failed: list[tuple[str, str]] = []

    def filled(found: re.Match[str]) -> str:
        try:
            return fill(found[0])
        except ReconveneError as error:
            failed.append((found[1].strip(), _bare(str(error))))
            return f"(not shown: {failed[-1][1]})"

    shown = _PART.sub(filled, text)
    part, reason = failed[0] if failed else ("", _bare(why))
    return Unfilled(shown if failed else f"(not shown: {reason})", part, reason)


def _bare(why: str) -> str:
    return _LINE.sub("", why, count=1)
