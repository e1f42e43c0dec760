"""Which option of a checkpoint is meant: by its label, or in one menu with the checkpoint's questions.

The menu finds both by number, by letter or by name. Asks nothing, decides nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Literal

from msgspec import Struct

from reconvene.app.views.read_model import Checkpoint, Field, Option
from reconvene.doors.shared.harmless import clean, nearest, one_line
from reconvene.errors import Refused
from reconvene.language.closest import closest
from reconvene.language.late_patterns import late

Kind = Literal["choice", "field", "option", "extra"]
_USUAL = {"done": "d", "discuss": "t", "back": "b", "choose": "c"}  # words of many menus: the same letter in each
_NUMBERED = late(r"(?:answer|question|option|number)?\s*(?:question\s*)?#?(\d+)\.?", re.IGNORECASE)


def match_option(checkpoint: Checkpoint, wanted: str) -> Option:
    """By its label: exact, then whatever the case, then a unique beginning; or by its number."""
    options = checkpoint.options
    numbered = on_offer(options)
    word = wanted.strip()
    folded = word.casefold()
    tests: tuple[Callable[[str], bool], ...] = (
        lambda label: label == wanted,
        lambda label: label.strip().casefold() == folded,
        lambda label: bool(folded) and label.strip().casefold().startswith(folded),
    )
    for test in tests:
        for among in (numbered, options):  # what is hidden here is no reason to doubt what is meant
            found = [option for option in among if test(option.label)]
            if checkpoint.attention:  # "Try again", not "Try again with another model"
                found = [one for one in found if not any(one.label.startswith(f"{less.label} ") for less in found)]
            if len(found) == 1:
                return found[0]
    if word.isdecimal() and 1 <= int(word) <= len(numbered):
        return numbered[int(word) - 1]
    meant = [clean(option.label) for option in numbered if tests[-1](option.label)]
    why = f"may be {' or '.join(f'“{label}”' for label in meant)}" if len(meant) > 1 else "is not offered here"
    near = [] if meant else closest(folded, [option.label.casefold() for option in numbered])
    said = next((f"did you mean “{clean(one.label)}”? " for one in numbered if [one.label.casefold()] == near), "")
    raise Refused(f"option {wanted!r} {why}", hint=f"{said}the options are: " + "; ".join(listed(numbered)))


def on_offer(options: Iterable[Option]) -> list[Option]:
    """Those that a person is shown: what cannot be chosen here, and needs no word about it, is left out."""
    return [option for option in options if option.offered]


def listed(options: Iterable[Option]) -> list[str]:
    """Each option with its number and, where it cannot be taken, why."""
    return [
        f"{number}. {clean(option.label)}"
        + ("" if option.available else f" (not available: {clean(option.why_not or 'not now')})")
        for number, option in enumerate(options, 1)
    ]


def fields_of(checkpoint: Checkpoint, option: Option | None) -> dict[str, Field]:
    """Everything that may be filled in, by id."""
    return {field.id: field for field in (*checkpoint.fields, *(option.fields if option else ()))}


def recommended(checkpoint: Checkpoint) -> Option | None:
    """The option that is recommended, else the first that can be chosen, else the first. Never one that has agents act
    on the world again; where only the end is left beside those, none."""
    free = [option for option in checkpoint.options if option.available] or list(checkpoint.options)
    if any(option.acts for option in free):
        free = [option for option in free if not option.acts and not option.ends]
    return next((option for option in free if option.recommend), free[0] if free else None)


# --- the menu of a checkpoint that asks questions ---


class Entry(Struct, frozen=True):
    """One line of the menu. `key` is what it stands for: an answer, a field's or an option's index, an extra's word."""

    kind: Kind
    key: int | str
    name: str
    letter: str = ""
    number: int = 0
    why_not: str = ""


class Menu(Struct, frozen=True):
    entries: tuple[Entry, ...]

    @property
    def options(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == "option"]

    @property
    def fields(self) -> list[Entry]:
        return [entry for entry in self.entries if entry.kind == "field"]

    @property
    def choices(self) -> list[Entry]:
        """Where one choice is all that is asked: its answers, each of which also decides."""
        return [entry for entry in self.entries if entry.kind == "choice"]

    @property
    def left(self) -> str:
        """What can still be done, in words."""
        return ", ".join(entry.name for entry in self.options if not entry.why_not)


def build(checkpoint: Checkpoint, extras: Sequence[tuple[str, str]]) -> Menu:
    """Questions and options share one count; options and extras have letters, the options' come first. Where one choice
    is all that is asked, what can be chosen stands before it."""
    fields, options = checkpoint.fields, checkpoint.options
    labels = [option.label for option in on_offer(options)]
    letters = _letters([*labels, *(title for _, title in extras)])
    only = fields[0] if len(fields) == 1 and fields[0].type == "choice" and recommended(checkpoint) else None
    named = zip(only.options, only.titles or only.options) if only else ()
    entries = [Entry("choice", value, one_line(title), "", n) for n, (value, title) in enumerate(named, 1)]
    entries += [
        Entry("field", index, field.id, "", n) for n, (index, field) in enumerate(enumerate(fields), len(entries) + 1)
    ]
    shown = [(index, option) for index, option in enumerate(options) if option.offered]
    for number, (index, option) in enumerate(shown, len(entries) + 1):
        entries.append(_option(index, option, next(letters), number))
    entries += [Entry("extra", word, title, next(letters)) for word, title in extras]
    return Menu(tuple(entries))


def _option(index: int, option: Option, letter: str, number: int) -> Entry:
    why_not = "" if option.available else one_line(option.why_not or "not now")
    return Entry("option", index, one_line(option.label), letter, number, why_not)


def _letters(names: Iterable[str]) -> Iterator[str]:
    """A letter for each name that no other has: its usual one, the first of a word, any of it, or whatever is left.

    The usual letters are never given to anything else, so that a habit is safe in the next menu."""
    usual = set(_USUAL.values())
    taken: set[str] = set()

    def free(name: str) -> str:
        folded = [char for char in name.casefold() if "a" <= char <= "z" or char == " "]
        words = "".join(folded).split()
        own = _USUAL.get(words[0], "") if words else ""
        if own and own not in taken:
            return own
        wanted = [word[0] for word in words] + [char for word in words for char in word]
        rest = [*wanted, *"abcdefghijklmnopqrstuvwxyz"]
        return next((char for char in rest if char not in taken and char not in usual), "")

    for name in names:
        letter = free(name)
        taken.add(letter)
        yield letter


# --- what a typed word means ---


def find(menu: Menu, typed: str) -> Entry | str:
    """The entry that is meant; or why none is, in words for the person."""
    word = " ".join(typed.split()).casefold()
    if numbered := _NUMBERED.fullmatch(word):
        for entry in menu.entries:
            if entry.number == int(numbered[1]):
                return entry
        return f"there is no {numbered[1]} here"
    if len(word) == 1:
        for entry in menu.entries:
            if entry.letter == word:
                return entry
    for test in (str.__eq__, str.startswith):
        found = [entry for entry in menu.entries if test(entry.name.casefold(), word)]
        if len(found) == 1:
            return found[0]
        if found:
            return f"“{typed.strip()}” may be {' or '.join(entry.name for entry in found)}"
    names = [entry.name for entry in menu.entries if entry.kind != "field"]
    return f"“{one_line(typed, 40)}” is nothing here; {nearest(word, names)}"
