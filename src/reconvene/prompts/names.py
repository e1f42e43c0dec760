"""Names of files in the engine's own words: quoted where an agent could have said something with them."""

from __future__ import annotations

from reconvene.language.late_patterns import late
from reconvene.language.plain_text import quoted

_NAME = late(r"[\w./*-]{1,80}", 0)
_EDIT = late(
    r"(?:Edited|Deleted|Renamed) [\w./-]{1,80}(?: to [\w./-]{1,80})? \([^()\n]{1,80}(?:\([^()\n]{1,80}\))?\)", 0
)


def named(path: str) -> str:
    return path if _NAME.fullmatch(path) else quoted(path)


def is_plain(edit: str) -> bool:
    """Whether what is said of an edit holds nothing but plain names."""
    return _EDIT.fullmatch(edit) is not None
