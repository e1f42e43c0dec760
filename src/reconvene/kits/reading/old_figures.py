"""Where a text still says a figure that the person replaced, and not the one that is right, in the same paragraph.

A row of a table and an entry of a list are paragraphs of their own. An amount of money is found by itself, unless the
same amount also stands for something else; any other figure only where its sentence names the subject, too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from msgspec import Struct

from reconvene.kits.reading import tongues
from reconvene.kits.reading.fact_sheet import Fact, equal, is_amount
from reconvene.kits.reading.quantities import Figure, figures_in
from reconvene.kits.reading.splitting import sentences
from reconvene.kits.reading.terms import content

_OWN_LINE = re.compile(r"\s*(?:\||[-*+•]\s|\d{1,3}[.)]\s|#)")
_FENCE = re.compile(r"\s*(?:```|~~~)")
_SHOWN = 120  # characters of a line that are quoted
_ENOUGH = 2  # words of the subject that a sentence must share, where there are so many


class OldFigure(Struct, frozen=True):
    line: int  # counted from 1
    quoted: str
    old: str
    fact: Fact


class _Paragraph(Struct, frozen=True):
    line: int
    lines: tuple[str, ...]
    heading: str

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def old_figures(text: str, sheet: Sequence[Fact], documents: Sequence[str] = ()) -> Iterator[OldFigure]:
    """In the order of the text. `documents`: what else the figures may stand for."""
    replaced = [fact for fact in sheet if fact.now is not None and fact.was]
    if not replaced:
        return
    alone = {at: _stands_alone(fact, sheet, documents) for at, fact in enumerate(replaced)}
    for paragraph in _paragraphs(text):
        every = figures_in(paragraph.text)
        figures = [one for one in every if one.low is None]
        for at, fact in enumerate(replaced):
            assert fact.now is not None
            if any(_says(one, fact.now) for one in every):
                continue
            for figure in figures:
                if any(equal(figure, was) for was in fact.was) and (alone[at] or _about(paragraph, figure, fact)):
                    yield _found(paragraph, figure, fact)
                    break


def _says(one: Figure, now: Figure) -> bool:
    """As it is, or as an end of a range."""
    return equal(one, now) or (one.unit == now.unit and now.value in (one.low, one.high))


def _stands_alone(fact: Fact, sheet: Sequence[Fact], documents: Sequence[str]) -> bool:
    """Whether what was replaced is an amount that nothing else has."""
    if not all(map(is_amount, fact.was)):
        return False
    others = [other.now for other in sheet if other is not fact and other.now is not None]
    if any(equal(one, was) for one in others for was in fact.was):
        return False
    tongue = tongues.of(fact.text)
    for line in (line for document in documents for line in document.splitlines()):
        stands = any(equal(one, was) for one in figures_in(line) for was in fact.was)
        if stands and not fact.subject & set(content(line, tongue)):
            return False
    return True


def _about(paragraph: _Paragraph, figure: Figure, fact: Fact) -> bool:
    """Whether the sentence with the figure, below its heading, names the subject."""
    tongue = tongues.of(fact.text)
    enough = min(_ENOUGH, len(fact.subject)) or 1
    for sentence in sentences(paragraph.text):
        if any(equal(one, figure) for one in figures_in(sentence.text)):
            words = set(content(f"{paragraph.heading} {sentence.text}", tongue))
            if len(words & fact.subject) >= (1 if is_amount(figure) else enough):
                return True
    return False


def _found(paragraph: _Paragraph, figure: Figure, fact: Fact) -> OldFigure:
    before = paragraph.text[: figure.start].count("\n")
    line = paragraph.lines[before].strip()
    quoted = line if len(line) <= _SHOWN else line[: _SHOWN - 1] + "…"
    return OldFigure(paragraph.line + before, quoted, figure.text.strip(), fact)


def _paragraphs(text: str) -> Iterator[_Paragraph]:
    """Without code."""
    start, lines, heading, code = 0, list[str](), "", False
    for number, line in enumerate([*text.splitlines(), ""], 1):
        if _FENCE.match(line):
            code = not code
        if (not line.strip() or _OWN_LINE.match(line) or _FENCE.match(line)) and lines:
            yield _Paragraph(start, tuple(lines), heading)
            lines = []
        if line.startswith("#"):
            heading = line.lstrip("# ")
        if line.strip() and not code and not _FENCE.match(line):
            start = start if lines else number
            lines.append(line)
