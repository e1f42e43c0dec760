"""What a person said is right: each figure and each statement, with what it replaced. A later word replaces an earlier.

The remarks are the authority. The sheet only puts their last word on each subject together. What a figure replaced is
what the remark says it was; where it does not say, what the documents say of the same subject.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from msgspec import Struct
from msgspec.structs import replace

from reconvene.core.extensions import Asked
from reconvene.kits.reading import tongues
from reconvene.kits.reading.figures import corrections_in, stated_in
from reconvene.kits.reading.quantities import HARD_UNITS, Figure, aligned, comparable, figures_in
from reconvene.kits.reading.terms import content, telling

_STATEMENTS = ("correction", "clarification", "new context", "strategic shift")
_CORRECTION = "correction"
_LONGEST = 2000  # characters of a remark that figures are looked for in
_NEARLY = 1e-9


class Fact(Struct, frozen=True):
    """`ids`: the remarks that made it, the last one last. `text`: the words of the last. `now` None: a statement."""

    ids: tuple[str, ...]
    text: str
    now: Figure | None = None
    was: tuple[Figure, ...] = ()
    subject: frozenset[str] = frozenset()  # stems

    @property
    def value(self) -> str:
        return self.now.text.strip() if self.now is not None else ""

    @property
    def replaced(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(figure.text.strip() for figure in self.was))


class _Said(Struct, frozen=True):
    now: Figure
    was: Figure | None = None


def fact_sheet(remarks: Sequence[Asked], documents: Sequence[str] = ()) -> tuple[Fact, ...]:
    """In the order in which each subject first came up."""
    sheet: list[Fact] = []
    for remark in remarks:
        text = remark.text[:_LONGEST]
        subject = frozenset(telling(text) or content(text))
        figures = list(_figures(remark, text, subject, documents))
        for one in figures:
            _enter(sheet, Fact((remark.id,), remark.text, one.now, (one.was,) if one.was else (), subject))
        if not figures and remark.kind in _STATEMENTS:
            sheet.append(Fact((remark.id,), remark.text, subject=subject))
    return tuple(sheet)


def equal(one: Figure, other: Figure) -> bool:
    """The same amount of the same unit."""
    return one.unit == other.unit and abs(one.value - other.value) <= _NEARLY * max(abs(one.value), abs(other.value))


def _figures(remark: Asked, text: str, subject: frozenset[str], documents: Sequence[str]) -> Iterator[_Said]:
    """The figures that a remark puts in the place of others."""
    told = [(remark.was, remark.now)] if remark.was and remark.now else []
    told += [(one.was_text, one.now_text) for one in corrections_in(text)]
    found: list[_Said] = []
    for was, now in dict.fromkeys(told):
        old, new = figures_in(was), figures_in(now)
        if old and new and not any(equal(new[0], one.now) for one in found):
            found.append(_like(old[0], new[0]))
    if not found and remark.kind == _CORRECTION:
        for stated in stated_in(text):
            if before := _known(stated.figure, subject, documents, text):
                found.append(_Said(stated.figure, before))
    yield from found


def _like(was: Figure, now: Figure) -> _Said:
    """ "£150M, not 100": the bare figure is of the unit and the size of the other."""
    if not comparable(was, now):
        return _Said(now, was)
    old, new = aligned(was, now)
    unit = now.unit or was.unit
    return _Said(replace(now, value=new, unit=unit), replace(was, value=old, unit=was.unit or unit))


def _known(figure: Figure, subject: frozenset[str], documents: Iterable[str], text: str) -> Figure | None:
    """What the documents say of the same subject, in the line that shares most words with the remark."""
    tongue = tongues.of(text)
    best, found = 0, None
    for line in (line for document in documents for line in document.splitlines()):
        shared = len(subject & set(content(line, tongue)))
        if shared <= best:
            continue
        alike = [one for one in figures_in(line) if one.unit == figure.unit]
        if alike and not any(equal(one, figure) for one in alike):
            best, found = shared, alike[0]
    return found


def _enter(sheet: list[Fact], fact: Fact) -> None:
    for at, earlier in enumerate(sheet):
        if _same_subject(earlier, fact):
            olds = [*earlier.was, *((earlier.now,) if earlier.now else ()), *fact.was]
            was = tuple(one for one in _distinct(olds) if fact.now is None or not equal(one, fact.now))
            subject = earlier.subject & fact.subject or fact.subject
            sheet[at] = replace(fact, ids=(*earlier.ids, *fact.ids), was=was, subject=subject)
            return
    was = tuple(one for one in fact.was if fact.now is None or not equal(one, fact.now))
    sheet.append(replace(fact, was=was))


def _same_subject(earlier: Fact, fact: Fact) -> bool:
    """A figure that replaces the value of before, or what that replaced, in words that they share."""
    if earlier.now is None or fact.now is None or not earlier.subject & fact.subject:
        return False
    known = (earlier.now, *earlier.was)
    return any(equal(one, other) for one in fact.was for other in known)


def _distinct(figures: Iterable[Figure]) -> Iterator[Figure]:
    seen: list[Figure] = []
    for one in figures:
        if not any(equal(one, other) for other in seen):
            seen.append(one)
            yield one


def is_amount(figure: Figure) -> bool:
    """Money: an amount that hardly ever stands for something else by chance."""
    return figure.unit in HARD_UNITS and figure.unit not in ("%", "pp")
