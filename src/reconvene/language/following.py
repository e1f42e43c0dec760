"""Lines of one version of a text found again in the next: where they stand, moved or reworded, or that they are lost.

The rules, from the surest to the last:

1. The same words. Numbers and signs of lists, spaces, empty lines and where a long text is broken into lines do not
   count. Words that stood once and stand once are found, whatever changed around them. Where they stand more often, the
   lines around or the heading tell which are meant. Where they do not, the lines are lost. Lines with hardly a letter
   in them need the lines around as well.
2. Other words in the same place: beside the lines that stood around them, and alike enough. A line that stood elsewhere
   before, or that is as much like another line as like these, is not taken.

Nothing else: what is only alike and stands elsewhere is other text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from functools import lru_cache
from itertools import pairwise

from msgspec import Struct

from reconvene.language.closest import likeness
from reconvene.language.late_patterns import late

_MARKER = late(r"\s*(?:#{1,6}\s+)?(?:(?:[-*+•]|\d{1,4}(?:\.\d{1,4})*[.)]|\d{1,4}(?:\.\d{1,4})+)\s+)?")
_WORD = late(r"\w+")
_HEADING = late(r" {0,3}#{1,6}\s+\S")
_FENCE = late(r"\s*(```|~~~)")
_AROUND = 3  # lines with words on either side
_FEW_LETTERS = 4  # with fewer, the same words may well be others
_BROKEN_ANEW = 8  # words: so many in a row are the same text wherever lines end
_BETWEEN = 0.6  # likeness, where the lines on both sides are the same
_BESIDE = 0.75  # where those on one side are, or where a text is short
_SHORT = 6  # words: with fewer, little words alone make two texts alike
_TWIN = 0.5  # something else that is so much alike may be what became of it
_FEW_WORDS = 3
_MOST_TWINS = 40
_MOST_LINES = 20_000  # beyond it only the same words are looked for


class Place(Struct, frozen=True):
    """Lines of a text, from 1. same: they say the same."""

    first: int
    last: int
    same: bool


def lines_of(text: str) -> list[str]:
    """As editors count them: only a line feed ends one."""
    lines = [line.removesuffix("\r") for line in text.split("\n")]
    return lines if lines[-1] else lines[:-1]


def is_blank(line: str) -> bool:
    return not line.strip()


def alike(one: str, other: str) -> tuple[bool, float]:
    """Whether two texts say the same, and how much they have in common."""
    return _plain(one) == _plain(other), likeness(_words(one), _words(other))


def says(text: str, lines: str) -> bool:
    """Whether these lines stand somewhere in the text, with the same words."""
    rows = _Page(lines).rows
    return bool(rows) and _stands(_Page(text), rows)


def headings_above(lines: Sequence[str]) -> list[str]:
    """Of each line the nearest heading above it, "" = none; what stands in a block of code is none."""
    found, above, fenced = list[str](), "", False
    for line in lines:
        found.append(above)
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced and _HEADING.match(line):
            above = line.strip()
    return found


def found_in(old: str, place: Place, new: str) -> Place | None:
    """Where these lines of the old text stand in the new one; None = lost."""
    before, after = _page(old), _page(new)
    rows = before.rows_in(place)
    if not rows:
        return None
    if old == new:
        return Place(place.first, place.last, same=True)
    if now := list(_occurrences(after, before.rows[rows.start : rows.stop])):
        return _one_of(now, before, rows, after)
    if (found := _broken_anew(before, rows, after)) is not None:
        return found
    return _reworded(before, rows, after) if max(len(before.rows), len(after.rows)) <= _MOST_LINES else None


def same_in(old: str, place: Place, new: str, *, moved: bool = True) -> Place | None:
    """Where the very same words stand for certain, whatever was between the two texts: they stood once and stand once
    (only with `moved`), or they stand between the same lines as before."""
    before, after = _page(old), _page(new)
    rows = before.rows_in(place)
    quote = before.rows[rows.start : rows.stop]
    now = list(_occurrences(after, quote)) if quote else []
    if not now or len(now) > len(list(_occurrences(before, quote))):
        return None
    found = now if moved and _is_only(now, before, quote) else _between(now, before, rows, after)[0]
    return after.place(range(found[0], found[0] + len(quote)), same=True) if len(found) == 1 else None


class _Page:
    """A text as its lines with something in them, without what does not count."""

    def __init__(self, text: str) -> None:
        lines = lines_of(text)
        written = [(number, line) for number, line in enumerate(lines, 1) if not is_blank(line)]
        self.numbers = [number for number, _ in written]
        self.rows = [_plain(line) for _, line in written]
        self.counts = Counter(self.rows)
        above = headings_above(lines)
        self.headings = [_plain(above[number - 1]) for number in self.numbers]

    def rows_in(self, place: Place) -> range:
        inside = [at for at, number in enumerate(self.numbers) if place.first <= number <= place.last]
        return range(inside[0], inside[-1] + 1) if inside else range(0)

    def place(self, rows: range, *, same: bool) -> Place:
        return Place(self.numbers[rows.start], self.numbers[rows.stop - 1], same)

    def words(self, rows: range) -> list[str]:
        return _words(" ".join(self.rows[rows.start : rows.stop]))

    def trimmed(self, rows: range) -> range:
        """Without lines at its ends that hardly have a word in them."""
        said = [at for at in rows if _letters([self.rows[at]]) >= _FEW_LETTERS]
        return range(said[0], said[-1] + 1) if said else rows

    def above(self, at: int) -> list[str]:
        """The nearest first."""
        return self.rows[max(0, at - _AROUND) : at][::-1]

    def below(self, at: int) -> list[str]:
        return self.rows[at : at + _AROUND]


_page = lru_cache(maxsize=64)(_Page)  # a version is compared for each comment on the file


def _plain(text: str) -> str:
    return " ".join(part for line in text.split("\n") for part in line[_MARKER.match(line).end() :].split())  # type: ignore[union-attr]


def _words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


# --- the same words ---


def _one_of(now: Sequence[int], before: _Page, rows: range, after: _Page) -> Place | None:
    """Which of the places where the same words stand it is; None where nobody can tell."""
    size, quote = len(rows), before.rows[rows.start : rows.stop]
    once = list(_occurrences(before, quote))
    if len(once) > _MOST_TWINS or len(now) > _MOST_TWINS:
        return None
    mine = {at: _evidence(before, rows, after, range(at, at + size)) for at in now}
    few = len(_words(" ".join(quote))) < _FEW_WORDS
    copied = any(after.counts[row] > before.counts[row] for row in quote if few or _letters([row]) >= _FEW_LETTERS)
    stayed, inside = _between(now, before, rows, after)
    if len(stayed) == 1 and not (copied and any(mine[at] for at in now if at != stayed[0])):
        target = range(stayed[0], stayed[0] + size)
        return None if _has_twin(before, quote, after, target, inside) else after.place(target, same=True)
    if copied:
        return None  # either could be it
    if (alone := _under_its_heading(now, once, before, rows.start, after)) is not None and not few:
        return after.place(range(alone, alone + size), same=True)
    best = max(now, key=lambda at: mine[at])
    target = range(best, best + size)
    others = [mine[at] for at in now if at != best]
    others += [_evidence(before, range(at, at + size), after, target) for at in once if at != rows.start]
    if any(other >= mine[best] for other in others) or (few and not mine[best]):
        return None
    return None if _has_twin(before, quote, after, target) else after.place(target, same=True)


def _is_only(now: Sequence[int], before: _Page, quote: Sequence[str]) -> bool:
    """Whether these words stand once, and stood once. What has hardly a letter in it may well be something else."""
    return len(now) == 1 and _letters(quote) >= _FEW_LETTERS and len(list(_occurrences(before, quote))) == 1


def _between(now: Sequence[int], before: _Page, rows: range, after: _Page) -> tuple[list[int], range]:
    """Those that stand between the lines that stood around them, and what is between these."""
    gap = _gap(before, rows, after) if now else None
    inside = gap.rows if gap is not None and gap.closed else range(0)
    return [at for at in now if inside.start <= at and at + len(rows) <= inside.stop], inside


def _under_its_heading(now: Sequence[int], once: Sequence[int], before: _Page, start: int, after: _Page) -> int | None:
    """The one that stands alone under the heading, as it did."""
    heading = before.headings[start]
    if not heading or before.counts[heading] != 1 or after.counts[heading] != 1:
        return None
    then = [at for at in once if before.headings[at] == heading]
    here = [at for at in now if after.headings[at] == heading]
    return here[0] if len(then) == len(here) == 1 else None


def _has_twin(before: _Page, quote: Sequence[str], after: _Page, target: range, among: range | None = None) -> bool:
    """Whether something new is so alike that it may be what became of these lines, and the same words a copy. `among`:
    where it could stand, None = anywhere."""
    among = range(len(after.rows)) if among is None else among
    if any(after.counts[row] > 1 for row in after.rows[target.start : target.stop] if row not in before.counts):
        return True
    words = _words(" ".join(quote))
    for size in {len(target), len(quote), len(quote) + 1}:
        for at in range(among.start, among.stop - size + 1):
            part = after.rows[at : at + size]
            beside = at + size <= target.start or at >= target.stop
            if beside and _alike(words, part, _TWIN) and not _stands(before, part):
                return True
    return False


def _alike(words: Sequence[str], rows: Sequence[str], least: float) -> bool:
    other = _words(" ".join(rows))
    if len(words) >= _FEW_WORDS and f" {' '.join(words)} " in f" {' '.join(other)} ":
        return True
    both = sum((Counter(words) & Counter(other)).values())  # the most that can be in common, quickly
    return 2 * both >= least * (len(words) + len(other)) > 0 and likeness(words, other) >= least


def _stands(page: _Page, rows: Sequence[str]) -> bool:
    return next(_occurrences(page, rows), None) is not None


def _occurrences(page: _Page, quote: Sequence[str]) -> Iterator[int]:
    for at in range(len(page.rows) - len(quote) + 1):
        if page.rows[at] == quote[0] and page.rows[at : at + len(quote)] == quote:
            yield at


def _evidence(before: _Page, old: range, after: _Page, new: range) -> int:
    """How much of what stood around the one stands around the other, the nearest counting most."""
    quote = before.rows[old.start : old.stop]
    sides = (before.above(old.start), after.above(new.start)), (before.below(old.stop), after.below(new.stop))
    return sum(
        _AROUND - max(near, there.index(row))
        for here, there in sides
        for near, row in enumerate(here)
        if row in there and row not in quote and _letters([row]) >= _FEW_LETTERS
    )


def _letters(rows: Sequence[str]) -> int:
    return sum(len(word) for row in rows for word in _WORD.findall(row))


# --- the same words, with other ends of lines ---


def _broken_anew(before: _Page, rows: range, after: _Page) -> Place | None:
    """Many words in a row, wherever they stand; a few where what shares their lines now stood beside them before."""
    quote = " ".join(before.rows[rows.start : rows.stop])
    whole_before, whole = " ".join(before.rows), " ".join(after.rows)
    if whole_before.count(quote) != 1 or whole.count(quote) != 1:
        return None
    start = whole.index(quote)
    stop = start + len(quote)
    at, inside, first, last = 0, list[int](), start, stop
    for index, row in enumerate(after.rows):
        if at < stop and at + len(row) > start:
            inside.append(index)
            first, last = min(first, at), at + len(row)
        at += len(row) + 1
    ahead, behind = whole[first:start], whole[stop:last]
    if (ahead and ahead[-1] != " ") or (behind and behind[0] != " "):
        return None  # within a word
    few = len(quote.split()) < _BROKEN_ANEW
    if few and (_letters([quote]) < _FEW_LETTERS or ahead + quote + behind not in whole_before):
        return None
    target = range(inside[0], inside[-1] + 1)
    if _has_twin(before, before.rows[rows.start : rows.stop], after, target):
        return None
    return after.place(target, same=True)


# --- other words in the same place ---


class _Gap(Struct, frozen=True):
    """The lines of the new text beside those that stood around: between them, or next to the one that is known."""

    rows: range
    above: bool
    below: bool

    @property
    def closed(self) -> bool:
        return self.above and self.below

    @property
    def least(self) -> float:
        return _BETWEEN if self.closed else _BESIDE

    def fits(self, part: range, free: Sequence[int]) -> bool:
        """Where only one line is known, nothing old stands between it and the part."""
        between = range(self.rows.start, part.start) if self.above else range(part.stop, self.rows.stop)
        return self.closed or all(at in free for at in between)


def _gap(before: _Page, rows: range, after: _Page) -> _Gap | None:
    above = _where(before, rows.start - 1, after)
    below = _where(before, rows.stop, after)
    room = _room(rows)
    if above is not None and below is not None:
        return _Gap(range(above + 1, below), True, True) if above < below <= above + 1 + 2 * room else None
    if above is not None:
        return _Gap(range(above + 1, min(above + 1 + room, len(after.rows))), True, False)
    if below is not None:
        return _Gap(range(max(0, below - room), below), False, True)
    return None


def _room(rows: range) -> int:
    """How many lines these may have become."""
    return 2 * len(rows) + 1


def _reworded(before: _Page, rows: range, after: _Page) -> Place | None:
    quote = before.rows[rows.start : rows.stop]
    gap = _gap(before, rows, after)
    words = _words(" ".join(quote))
    if gap is None or not words:
        return None
    free = [at for at in gap.rows if after.rows[at] not in before.counts]
    parts = [part for part in _stretches(free, _room(rows)) if gap.fits(part, free)]
    scored = [(likeness(words, after.words(part)), -len(part), -part.start) for part in parts]
    least = gap.least if len(words) >= _SHORT else _BESIDE
    if not scored or max(scored)[0] < least:
        return None
    best = max(scored)
    part = after.trimmed(parts[scored.index(best)])
    gone = [row for row in before.counts if row not in after.counts and row not in quote]
    if any(likeness(_words(row), after.words(part)) >= best[0] for row in gone):
        return None
    return None if _has_twin(before, quote, after, part) else after.place(part, same=False)


def _where(before: _Page, at: int, after: _Page) -> int | None:
    """Where the line at this place stands now: one that stood and stands once."""
    if not 0 <= at < len(before.rows):
        return None
    row = before.rows[at]
    once = before.counts[row] == 1 and after.counts[row] == 1 and _letters([row]) >= _FEW_LETTERS
    return after.rows.index(row) if once else None


def _stretches(free: Sequence[int], most: int) -> Iterator[range]:
    """Every run of neighbouring places, up to a length."""
    starts = [0, *(at + 1 for at, (one, two) in enumerate(pairwise(free)) if two != one + 1)] if free else []
    for start, stop in pairwise([*starts, len(free)]):
        for first in range(start, stop):
            for last in range(first, min(first + most, stop)):
                yield range(free[first], free[last] + 1)
