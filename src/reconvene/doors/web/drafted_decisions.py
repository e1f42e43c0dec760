"""A decision that is being prepared on a page: what was typed, what was chosen, and the notes that go with it.

Kept on the desk, so that a page that is closed, stale or refused loses nothing. Notes are no remarks yet: they become
some when they are sent, with the decision or before.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from msgspec import Struct, ValidationError, field, json
from msgspec.structs import replace

from reconvene.doors.http.acts import Said
from reconvene.errors import Conflict, Refused

if TYPE_CHECKING:
    from reconvene.desk_ports import Desk

_TRIES = 20
MOST_NOTES = 100


class Note(Struct, frozen=True, omit_defaults=True):
    """Something that is to be said. `kind` and `target` "": as the run's reader reads it."""

    id: str
    text: str
    kind: str = ""
    target: str = ""
    path: str = ""  # these four: lines of a file, in the version that was shown
    version: str = ""
    first: int = 0
    last: int = 0

    @property
    def about(self) -> str:
        """`plan.md:3-5`, "" where it is about no file."""
        lines = f"{self.first}-{self.last}" if self.last > self.first else str(self.first or "")
        return f"{self.path}:{lines}" if self.path else ""

    def said(self) -> Said:
        return Said(
            self.text, self.kind, self.target,
            path=self.path, version=self.version, first=self.first, last=self.last,
        )  # fmt: skip


class Prepared(Struct, frozen=True, omit_defaults=True):
    option: str = ""
    fields: dict[str, str | list[str]] = field(default_factory=dict)  # as they were typed
    words: str = ""  # in the box, not yet a note
    notes: tuple[Note, ...] = ()
    made: int = 0  # notes so far: their ids are never given out again

    def with_note(self, note: Note) -> Prepared:
        if len(self.notes) >= MOST_NOTES:
            raise Refused(f"There are {MOST_NOTES} notes already.", hint="Send them now, then go on.")
        kept = (*self.notes, replace(note, id=f"n{self.made + 1}"))
        return replace(self, notes=kept, made=self.made + 1, words="")

    def with_changed(self, id: str, **changes: str) -> Prepared:
        return replace(self, notes=tuple(replace(one, **changes) if one.id == id else one for one in self.notes))

    def without(self, id: str) -> Prepared:
        return replace(self, notes=tuple(one for one in self.notes if one.id != id))


def prepared(desk: Desk, person: str, run: str, checkpoint: str) -> Prepared:
    return _read(desk.draft(person, run, checkpoint).doc)


def change(
    desk: Desk, person: str, run: str, checkpoint: str, made: Callable[[Prepared], Prepared], now: str
) -> Prepared:
    """On what is kept now, whichever page changed it last."""
    for _ in range(_TRIES):
        kept = desk.draft(person, run, checkpoint)
        after = made(_read(kept.doc))
        try:
            desk.keep_draft(person, run, checkpoint, json.encode(after).decode(), kept.revision, now)
        except Conflict:
            continue
        return after
    raise Conflict("Another page of yours keeps changing what is prepared here.", hint="Try again.")


def _read(doc: str) -> Prepared:
    try:
        return json.decode(doc, type=Prepared) if doc else Prepared()
    except ValidationError:  # of another release: what cannot be read is not shown as something else
        return Prepared()
