"""A decision that is being prepared on a page: what was typed, what was chosen, and the notes that go with it.

Kept on the desk, so that a page that is closed, stale or refused loses nothing. Notes are no remarks yet: they become
some when they are sent, with the decision or before.

A draft is of one checkpoint, and two pages may have it open. A page says up to which change it knows the draft. What it
sends in the place of something newer does not overwrite that: it is kept beside, in a draft of that page alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from msgspec import Struct, ValidationError, field, json
from msgspec.structs import replace

from reconvene.errors import Conflict, Refused

if TYPE_CHECKING:
    from reconvene.desk_ports import Desk

_TRIES = 20
_BESIDE = "~"  # between a checkpoint's id and the page that kept something beside its draft
MOST_NOTES = 100
Field = str | list[str]


class Note(Struct, frozen=True, omit_defaults=True):
    """Something that is to be said. `kind`, `target` and `level` "": as the run's reader reads it."""

    id: str
    text: str
    kind: str = ""
    target: str = ""
    path: str = ""  # these four: lines of a file, in the version that was shown
    version: str = ""
    first: int = 0
    last: int = 0
    level: str = ""

    @property
    def about(self) -> str:
        """`plan.md:3-5`, "" where it is about no file."""
        lines = f"{self.first}-{self.last}" if self.last > self.first else str(self.first or "")
        return f"{self.path}:{lines}" if self.path else ""


class Prepared(Struct, frozen=True, omit_defaults=True):
    option: str = ""
    fields: dict[str, Field] = field(default_factory=dict)  # as they were typed
    words: str = ""  # in the box, not yet a note
    notes: tuple[Note, ...] = ()
    made: int = 0  # notes so far: their ids are never given out again
    changed: dict[str, int] = field(default_factory=dict)  # "words", "notes", a field: the change that last touched it

    @property
    def noted(self) -> int:
        """Which change made the notes what they are."""
        return self.changed.get("notes", 0)

    @property
    def is_empty(self) -> bool:
        return not (self.words.strip() or self.notes or self.option or any(_said(one) for one in self.fields.values()))

    def with_note(self, note: Note) -> Prepared:
        if len(self.notes) >= MOST_NOTES:
            raise Refused(f"There are {MOST_NOTES} notes already.", hint="Send them now, then go on.")
        kept = (*self.notes, replace(note, id=f"n{self.made + 1}"))
        return replace(self, notes=kept, made=self.made + 1)

    def without(self, id: str) -> Prepared:
        return replace(self, notes=tuple(one for one in self.notes if one.id != id))


class Typed(Struct, frozen=True):
    """What a page sends of its forms. `seen`: the change of the draft up to which it knows it. `noted`: the change that
    made the notes what it shows."""

    page: str = ""
    seen: int = 0
    option: str = ""
    words: str | None = None  # None: it has no such box
    fields: dict[str, Field] | None = None
    noted: int = 0


class Kept(NamedTuple):
    """`seen`: up to which change the page knows the draft now. `elsewhere`: words of another page in the draft, which
    this page does not show. `same_notes`: the page shows the notes that there are."""

    draft: Prepared
    seen: int = 0
    elsewhere: str = ""
    same_notes: bool = True


def prepared(desk: Desk, person: str, run: str, checkpoint: str) -> Kept:
    found = desk.draft(person, run, checkpoint)
    return Kept(_read(found.doc), found.revision)


Edited = Callable[[tuple[Note, ...]], tuple[Note, ...]]


def keep(desk: Desk, person: str, run: str, checkpoint: str, typed: Typed, edited: Edited, now: str) -> Kept:
    """What a page sent, in the draft; or beside it, where another page changed the same since. `edited`: the notes as
    they stand on the page, where they are those that there are."""
    beside, same = Prepared(), True

    def made(before: Prepared) -> Prepared:
        nonlocal beside, same
        after, beside = _merged(before, typed)
        same = before.noted == typed.noted
        return replace(after, notes=edited(before.notes)) if same else after

    after = change(desk, person, run, checkpoint, made, now)
    _put_beside(desk, person, run, f"{checkpoint}{_BESIDE}{typed.page}", beside, now)
    shown = typed.words is None or typed.words == after.draft.words
    fields = typed.fields or {}
    shown = shown and all(fields.get(name, "") == value for name, value in after.draft.fields.items() if fields)
    return Kept(after.draft, after.seen if shown else typed.seen, "" if shown else after.draft.words, same)


def change(desk: Desk, person: str, run: str, checkpoint: str, made: Callable[[Prepared], Prepared], now: str) -> Kept:
    """On what is kept now, whichever page changed it last."""
    for _ in range(_TRIES):
        kept = desk.draft(person, run, checkpoint)
        before = _read(kept.doc)
        after = made(before)
        if after == before:
            return Kept(before, kept.revision)
        after = replace(after, changed={**after.changed, **dict.fromkeys(_touched(before, after), kept.revision + 1)})
        try:
            done = desk.keep_draft(person, run, checkpoint, json.encode(after).decode(), kept.revision, now)
        except Conflict:
            continue
        return Kept(after, done.revision)
    raise Conflict("Another page of yours keeps changing what is prepared here.", hint="Try again.")


def note(desk: Desk, person: str, run: str, checkpoint: str, typed: Typed, made: Note, now: str) -> None:
    """The page's words become a note; they stand in no box any more."""

    def noted(before: Prepared) -> Prepared:
        same = before.words == typed.words
        return replace(before.with_note(made), words="" if same else before.words)

    change(desk, person, run, checkpoint, noted, now)
    desk.drop_draft(person, run, f"{checkpoint}{_BESIDE}{typed.page}", now)


def sent(
    desk: Desk,
    person: str,
    run: str,
    checkpoint: str,
    typed: Typed,
    now: str,
    *,
    said: bool = True,
    decided: bool = True,
) -> None:
    """`said`: the notes and the page's words were; `decided`: the option and the answers. What another page typed
    meanwhile stays."""

    def left(before: Prepared) -> Prepared:
        newer = {name for name, at in before.changed.items() if at > typed.seen}
        after = before
        if said:
            theirs = "words" in newer and before.words.strip() != (typed.words or "").strip()
            after = replace(after, notes=(), words=before.words if theirs else "")
        if decided:
            given = typed.fields or {}
            fields = {name: one for name, one in before.fields.items() if name in newer and given.get(name) != one}
            after = replace(after, option="", fields=fields)
        return after

    if said:
        desk.drop_draft(person, run, f"{checkpoint}{_BESIDE}{typed.page}", now)
    if change(desk, person, run, checkpoint, left, now).draft.is_empty:
        desk.drop_draft(person, run, checkpoint, now)


# --- what was typed and not sent ---


class Left(Struct, frozen=True):
    """A draft that is not the one of the open checkpoint, or was kept beside it. `key`: where it is kept."""

    key: str
    checkpoint: str
    draft: Prepared

    @property
    def of_other_tab(self) -> bool:
        return _BESIDE in self.key


def lefts(desk: Desk, person: str, run: str, open_now: str) -> list[Left]:
    """All that this person typed for this run and did not send, but for the draft of what is open."""
    found = list[Left]()
    for key, one in desk.drafts(person, run).items():
        draft = _read(one.doc)
        if key != open_now and not draft.is_empty:
            found.append(Left(key, key.partition(_BESIDE)[0], draft))
    return found


def taken(desk: Desk, person: str, run: str, key: str, item: str, now: str) -> None:
    """One thing of a draft is dealt with: "words", "option", the id of a note, a field; "all" = everything."""
    if item == "all":
        desk.drop_draft(person, run, key, now)
        return

    def without(before: Prepared) -> Prepared:
        after = before.without(item)
        if item == "words":
            after = replace(after, words="")
        if item in after.fields:
            after = replace(after, fields={name: one for name, one in after.fields.items() if name != item})
        alone = not (after.words.strip() or after.notes or after.fields)
        return replace(after, option="") if alone else after

    if change(desk, person, run, key, without, now).draft.is_empty:
        desk.drop_draft(person, run, key, now)


# --- two pages ---


def _merged(before: Prepared, typed: Typed) -> tuple[Prepared, Prepared]:
    """The draft, and what is kept beside it."""
    after, beside = before, Prepared()
    if typed.option:
        after = replace(after, option=typed.option)
    if typed.words is not None and typed.words != before.words:
        if before.words.strip() and before.changed.get("words", 0) > typed.seen:
            lost = typed.words.strip() and typed.words.strip() not in before.words
            beside = replace(beside, words=typed.words if lost else "")
        else:
            after = replace(after, words=typed.words)
    if typed.fields:
        fields, other = dict[str, Field](), dict[str, Field]()
        for name in dict.fromkeys((*before.fields, *typed.fields)):
            was, now = before.fields.get(name, ""), typed.fields.get(name, "")
            newer = _said(was) and was != now and before.changed.get(name, 0) > typed.seen
            fields |= {name: was if newer else now} if _said(was if newer else now) else {}
            other |= {name: now} if newer and _said(now) else {}
        after, beside = replace(after, fields=fields), replace(beside, fields=other)
    return after, beside


def _put_beside(desk: Desk, person: str, run: str, key: str, beside: Prepared, now: str) -> None:
    if beside.is_empty:
        desk.drop_draft(person, run, key, now)
    else:
        change(desk, person, run, key, lambda before: replace(beside, changed=before.changed), now)


def _touched(before: Prepared, after: Prepared) -> Iterator[str]:
    if before.words != after.words:
        yield "words"
    if before.notes != after.notes:
        yield "notes"
    for name in {*before.fields, *after.fields}:
        if before.fields.get(name) != after.fields.get(name):
            yield name


def _said(value: Field) -> bool:
    return any(one.strip() for one in ([value] if isinstance(value, str) else value))


def _read(doc: str) -> Prepared:
    try:
        return json.decode(doc, type=Prepared) if doc else Prepared()
    except ValidationError:  # of another release: what cannot be read is not shown as something else
        return Prepared()
