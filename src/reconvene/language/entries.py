"""Comments on entries of a list, such as to-dos: where the entry stands now, and where it changed.

A list may be replaced as a whole by the next one. So an entry is followed by its id: in the list itself, and in the
lists that were kept of it. What is in neither is lost. Knows no format: the kit whose list it is reads it. Pure.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from msgspec import Struct

from reconvene.language.following import Place


class ListEntry(Struct, frozen=True):
    """An entry of a list in a file: what makes it itself, the lines on which it stands, and what it says."""

    id: str
    first: int
    last: int
    says: str


Entries = Callable[[str], Sequence[ListEntry]]  # text of the list → what is in it; nothing where it cannot be read


class Listed(Struct, frozen=True):
    """A version of the list, or of one that was kept."""

    path: str
    text: str


def commented_on(read: Entries, lines: Place, seen: str) -> ListEntry | None:
    """The one entry to which these lines belong; None where they belong to several, or to none."""
    touched = [one for one in read(seen) if one.first <= lines.last and lines.first <= one.last]
    inside = touched and touched[0].first <= lines.first and lines.last <= touched[0].last
    return touched[0] if len(touched) == 1 and inside else None


def place_in(read: Entries, entry: ListEntry, text: str) -> Place | None:
    """Where the entry with this id stands; `same`: it says the same."""
    now = _by_id(read, entry.id, text)
    return Place(now.first, now.last, now.says == entry.says) if now is not None else None


def kept_in(read: Entries, entry: ListEntry, kept: Iterable[Listed]) -> tuple[Listed, Place] | None:
    """The first of these lists that has it. `kept`: since the comment, oldest first; later ones may have another entry
    with this id."""
    found = ((one, place_in(read, entry, one.text)) for one in kept)
    return next(((one, place) for one, place in found if place is not None), None)


def changes(read: Entries, entry: ListEntry, path: str, versions: Sequence[Listed]) -> Iterator[int]:
    """Which of the versions, in the order in which they were written, gave the entry another text while it lived on.
    Where a list with the entry was kept in between, the next list has entries of its own. Nothing where it says in the
    end what it said at first."""
    says, ended, found = entry.says, False, list[int]()
    for at, version in enumerate(versions):
        now = _by_id(read, entry.id, version.text)
        if version.path != path:
            ended = ended or (now is not None and now.says == says)
        elif now is None or (ended and now.says != says):
            break
        elif now.says != says:
            found.append(at)
            says = now.says
        else:
            ended = False
    yield from found if says != entry.says else ()


def _by_id(read: Entries, name: str, text: str) -> ListEntry | None:
    return next((one for one in read(text) if one.id == name), None)
