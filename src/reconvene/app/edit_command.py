"""A person's edit of one file as part of a command: what differs, in which figures, and the contents that it names."""

from __future__ import annotations

from typing import NamedTuple

from reconvene.app.line_diff import changed_figures, diff_summary, unified_diff
from reconvene.core.facts.commands import ChangedFigures, EditIn
from reconvene.core.facts.ids import digest_of


class Edit(NamedTuple):
    command: EditIn
    contents: dict[str, bytes]


def edit_of(path: str, old: bytes | None, new: bytes | None, *, before: str = "", base: str | None = None) -> Edit:
    """None = not there. `before`: its name then, where it has another one now. `base`: as in EditIn."""
    diff = unified_diff(path, old, new, before=before)
    contents = {digest_of(data): data for data in (diff.encode(), new) if data is not None}
    digest = digest_of(new) if new is not None else ""
    figures = tuple(ChangedFigures(*one) for one in changed_figures(old, new))
    summary, size = diff_summary(diff), len(new or b"")
    return Edit(EditIn(path, digest, size, digest_of(diff.encode()), summary, base, before, figures), contents)
