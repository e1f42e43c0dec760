"""What a person changed in the files of a run, as a command."""

from __future__ import annotations

from msgspec import Struct


class ChangedFigures(Struct, frozen=True):
    """A line in which a person changed figures by hand: the words before and after, and the line as it is now."""

    was: str
    now: str
    line: str


class EditIn(Struct, frozen=True):
    path: str
    digest: str  # "" = deleted
    size: int
    diff: str  # digest of the unified diff
    summary: str  # "+3 −1 lines", for the remark
    base: str | None = (
        None  # of what it was made: refused where the file is another by now; None = of whatever is there
    )
    renamed: str = ""  # its name before, which is gone
    figures: tuple[ChangedFigures, ...] = ()


class RecordEdits(Struct, frozen=True):
    """found: while these worked, and nobody says that it was them (None = somebody does)."""

    edits: tuple[EditIn, ...]
    by: str = ""
    door: str = ""
    found: tuple[str, ...] | None = None
