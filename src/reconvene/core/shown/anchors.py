"""Comments on lines of a file: what is kept of the lines, and where they stand in later versions of the file.

An anchor holds the lines as the person saw them, with what stood around them. It is followed from version to version
(`following` says how), so that text that changes little by little is not lost. Where it is lost, that is said: a
comment on other text would be worse than none. Pure; contents come by digest.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from fnmatch import fnmatchcase
from functools import partial

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core import kit_finder
from reconvene.core.extensions import ListFile
from reconvene.core.facts.book import Book
from reconvene.core.facts.events import Anchor
from reconvene.core.facts.state import RunState
from reconvene.errors import StoreError, UserError
from reconvene.language.entries import Listed, commented_on, kept_in, place_in
from reconvene.language.following import Place, alike, found_in, headings_above, is_blank, lines_of, same_in

MOST_LINES = 100
_MOST_QUOTED = 10_000  # characters
_MOST_NAMED = 50
_AROUND = 3  # lines with words
_LONGEST_AROUND = 200  # characters
_LEAST_LEFT = 0.4  # of the words that were commented on: with less, however slowly it went, it is another text


class Standing(Struct, frozen=True):
    """Where commented lines stand in the file as it is now. place None: they are lost, and the comment is outdated."""

    place: Place | None = None
    text: str = ""  # of the lines there
    gone: bool = False  # the file itself is not there
    path: str = ""  # the file in which they stand, where it is another

    @property
    def same(self) -> bool:
        return self.place is not None and self.place.same


def make(path: str, version: str, text: str, first: int, last: int) -> Anchor:
    """An anchor on these lines. UserError where there are no such lines, or nothing stands there."""
    lines = lines_of(text)
    if not 1 <= first <= last <= len(lines):
        raise UserError(
            f"{path} has no line {first if first > len(lines) or first < 1 else last}: it has {_counted(len(lines))}.",
            hint=f'Name lines that are there, such as {path}:1, or words: {path}:"words that stand in a line".',
        )
    quote = "\n".join(lines[first - 1 : last])
    if all(map(is_blank, lines[first - 1 : last])):
        named = f"Line {first}" if first == last else f"What stands in lines {first} to {last}"
        raise UserError(f"{named} of {path} is empty.", hint="Comment on a line with words in it.")
    if last - first >= MOST_LINES or len(quote) > _MOST_QUOTED:
        raise UserError(
            f"That is too much of {path} for one comment: at most {MOST_LINES} lines and {_MOST_QUOTED:,} characters.",
            hint="Comment on the line that it is about.",
        )
    before = [line for line in lines[: first - 1] if not is_blank(line)][-_AROUND:]
    after = [line for line in lines[last:] if not is_blank(line)][:_AROUND]
    heading = headings_above(lines[:first])[-1][:_LONGEST_AROUND]
    return Anchor(path, version, first, last, quote, _cut(before), _cut(after), heading)


def _cut(lines: Sequence[str]) -> str:
    return "\n".join(line[:_LONGEST_AROUND] for line in lines)


def _counted(number: int) -> str:
    return f"{number} line{'s' * (number != 1)}"


def named(path: str, text: str, words: str) -> tuple[int, int]:
    """The lines in which these words stand, however they are spaced and broken. UserError unless it is one place."""
    wanted = " ".join(words.split())
    lines = lines_of(text)
    flat, starts, numbers = "", list[int](), list[int]()
    for number, line in enumerate(lines, 1):
        if not is_blank(line):
            starts.append(len(flat))
            numbers.append(number)
            flat += " ".join(line.split()) + " "
    found: list[tuple[int, int]] = []
    at = flat.find(wanted) if wanted else -1
    while at >= 0 and len(found) < _MOST_NAMED:
        first, last = bisect_right(starts, at), bisect_right(starts, at + len(wanted) - 1)
        found.append((numbers[first - 1], numbers[last - 1]))
        at = flat.find(wanted, at + len(wanted))
    places = list(dict.fromkeys(found))
    if len(places) == 1:
        return places[0]
    shown = wanted[:80]
    if not places:
        raise UserError(
            f"“{shown}” does not stand in {path}, which has {_counted(len(lines))}.",
            hint=f"Name words as they stand there, or a line: {path}:1",
        )
    several = ", ".join(str(first) for first, _ in places[:8])
    raise UserError(f"“{shown}” stands in several lines of {path}: {several}.", hint=f"Name one: {path}:{places[0][0]}")


def standing(state: RunState, book: Book, anchor: Anchor, made: str, edited: str | None = None) -> Standing:
    """Where the lines stand in the file as the run has it now; `edited`: in this text, which came after it. `made`:
    when the comment was."""
    path = name_now(state, anchor.path)
    if path != anchor.path:
        there = standing(state, book, replace(anchor, path=path), made, edited)
        return there if there.gone or there.path else replace(there, path=path)
    file = state.world.files.get(path)
    if file is None or not anchor.version:
        return Standing(gone=True)
    known = state.world.revisions.get(anchor.path, ())
    since = len(known) - known[::-1].index(anchor.version) if anchor.version in known else len(known)
    versions = (*known[since:], *((file.digest,) if known[-1:] != (file.digest,) else ()))

    def follow() -> Standing:
        own = () if edited is None else (edited,)
        return followed(anchor, _text(book, anchor.version), [*_texts(book, versions), *own])

    found = follow() if edited is not None else book.made_of(f"place of {anchor.key}", (anchor, versions), follow)
    listed = kit_finder.list_file(book.workflow.kits, anchor.path)
    seen = _text(book, anchor.version) if listed is not None else None
    entry = commented_on(listed.entries, place_of(anchor), seen) if listed is not None and seen is not None else None
    if listed is None or entry is None:
        return found
    now = edited if edited is not None else _text(book, file.digest) or ""
    place = place_in(listed.entries, entry, now)
    if place is not None and found.place is not None and found.same and _is_within(found.place, place):
        return found
    return _entry_standing(place, now, kept_in(listed.entries, entry, _kept(state, book, listed, made)))


def name_now(state: RunState, path: str) -> str:
    """Of a file that a person may have given other names since."""
    files, gone = state.world.files, state.world.gone
    seen = {path}
    while path not in files and gone.get(path) and gone[path] not in seen:
        path = gone[path]
        seen.add(path)
    return path


def _entry_standing(place: Place | None, now: str, kept: tuple[Listed, Place] | None) -> Standing:
    """In the list, else in one that was kept; with other words only where it is in none of these."""
    if kept is not None and (place is None or not place.same):
        return Standing(kept[1], _lines_at(kept[0].text, kept[1]), path=kept[0].path)
    return Standing(place, _lines_at(now, place)) if place is not None else Standing()


def _kept(state: RunState, book: Book, listed: ListFile, made: str) -> list[Listed]:
    """The lists that were kept since, oldest first."""
    files = sorted((file.at, path, file.digest) for path, file in state.world.files.items())
    later = [(path, digest) for at, path, digest in files if at >= made and fnmatchcase(path, listed.kept)]
    return [Listed(path, _text(book, digest) or "") for path, digest in later]


def place_of(anchor: Anchor) -> Place:
    return Place(anchor.first, anchor.last, same=True)


def _is_within(lines: Place, all_of: Place) -> bool:
    return all_of.first <= lines.first and lines.last <= all_of.last


def _lines_at(text: str, place: Place) -> str:
    return "\n".join(lines_of(text)[place.first - 1 : place.last])


def _texts(book: Book, versions: Sequence[str]) -> list[str]:
    return [text for version in versions if (text := _text(book, version)) is not None]


def _text(book: Book, digest: str) -> str | None:
    """None where nobody can read it any more."""
    try:
        return book.text(digest)
    except StoreError:
        return None


def followed(anchor: Anchor, seen: str | None, later: Sequence[str]) -> Standing:
    """`seen`: the version that the anchor is of; `later`: those after it, the last one as it is now."""
    *_, last = standings(anchor, seen, later)
    return last


def standings(anchor: Anchor, seen: str | None, later: Sequence[str]) -> Iterator[Standing]:
    """Where the lines stand in the version that was seen, and in each of the later ones. What was lost comes back with
    the words that were commented on, or with those that they had become."""
    old = seen if seen is not None else "\n".join(filter(None, (anchor.before, anchor.quote, anchor.after)))
    first = anchor.first if seen is not None else anchor.before.count("\n") + bool(anchor.before) + 1
    start = Place(first, first + anchor.last - anchor.first, same=True)
    known: dict[str, Place | None] = {old: start}
    last, place, lost = old, start, False  # where they were found last
    yield Standing(start, anchor.quote)
    for text in later:
        if text not in known:
            follow = partial(same_in, moved=False) if lost else found_in
            known[text] = same_in(old, start, text) or follow(last, place, text)
        found = known[text]
        lost = found is None
        if found is not None:
            last, place = text, found
        yield _standing(anchor, text, found)


def _standing(anchor: Anchor, now: str, found: Place | None) -> Standing:
    if found is None:
        return Standing()
    lines = _lines_at(now, found)
    same, left = alike(anchor.quote, lines)
    return Standing(Place(found.first, found.last, same), lines) if same or left >= _LEAST_LEFT else Standing()
