"""Which figure a text puts in the place of which: "X, not Y", "not Y but X", "from X to Y", "X (previously Y)".

Linear: a sentence's figures are found once, and only the few words on either side of each are looked at.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from msgspec import Struct

from reconvene.kits.reading import tongues
from reconvene.kits.reading.quantities import DATE, Figure, aligned, change, comparable, figures_in

_Role = Literal["denied", "reported", "earlier", "stated", "plain"]

_WINDOW = 48  # how far before or behind a figure its cue may stand
_WEAK_WORDS = r"(?:\W{1,3}(?:[^\W\d_]{1,14}\W{1,3}){0,3})?\W{0,3}$"
# "850 is wrong", "the 4 years in your text are out of date".
_DENIED_AFTER = r"^\W{0,3}<<denied_after>>"
_PLAINLY = r"(?:<<plainly>>\W{1,3}|[=:]\s?)(?:<<nearly>>\W{1,3}){0,2}$"
# "Replace “850M” with “$900M”".
_REPLACES = "<<replaces>>" + _WEAK_WORDS
_REPLACED_BY = r"^\W{0,4}(?:[^\W\d_]{1,14}\W{1,3}){0,3}<<replaced_by>>" + _WEAK_WORDS
_ARROW = re.compile(r"\s*(?:→|->|=>|⇒)\s*")
_SENTENCE_END = re.compile(r"[.!?](?=\s|$)|[;\n。！？]")

# For `asserted`: a clause ends at ; : or a new line, at a comma outside a number, at a full stop, at "but".
_CLAUSE_END = r"(?=;|:|\n|,(?!\d)|\.(?:\s|$)|[!?)—–]|<<but>>|$)"
_FIGURE = r"(?<!\S)[^\s,;\d]{0,6}\d[\d.,]{0,30}[^\s,;.)]{0,12}(?:\s(?:<<scales>>|<<percent>>)\b)?"
_DENIALS = (
    rf"<<denied_clause>>[^;\n]*?{_CLAUSE_END}",
    rf"<<reported_clause>>[^;\n]*?{_CLAUSE_END}",
    rf"{_FIGURE}\s<<denied_figure>>[^;\n]*?{_CLAUSE_END}",
)
_FROM_TO = rf"<<from>>\s[^;\n.]{{0,40}}?{_FIGURE}\s(?P<to><<to>>)\s(?=\D{{0,12}}\d)"


class Correction(Struct, frozen=True):
    """One figure in the place of another, both in the base of their unit; the texts are as the person wrote them."""

    now: float
    was: float
    unit: str
    now_text: str = ""
    was_text: str = ""

    @property
    def change(self) -> float:
        """Relative to what it was: 0.2 is 20 %."""
        return change(self.was, self.now)


class Stated(Struct, frozen=True):
    """A figure that a text gives as so: "revenue is $900M"."""

    figure: Figure
    plainly: bool  # with "is", "now", "should be" or the like right in front


class _Sentence(Struct, frozen=True):
    start: int
    end: int
    figures: tuple[Figure, ...]


def corrections_in(text: str) -> tuple[Correction, ...]:
    """Every figure that the text replaces, in the order of the text."""
    found: list[Correction] = []
    before: tuple[tuple[Figure, _Role], ...] = ()
    for sentence in _sentences(text):
        roles = _roles(text, sentence)
        pairs = list(_pairs(roles)) or list(_across(before, roles))
        found.extend(pairs)
        before = () if pairs else roles
    return tuple(found)


def stated_in(text: str) -> tuple[Stated, ...]:
    """Every figure the text neither denies nor replaces; years are not counted."""
    plainly = tongues.of(text).pattern(_PLAINLY)
    found: list[Stated] = []
    for sentence in _sentences(text):
        roles = _roles(text, sentence)
        # "Sales were 640": where nothing is put in its place, what was is what is said.
        counted = ("stated", "plain") if len(roles) > 1 else ("stated", "plain", "earlier")
        for figure, role in roles:
            if role in counted and figure.unit != DATE:
                before = text[max(sentence.start, figure.start - _WINDOW) : figure.start]
                found.append(Stated(figure, bool(plainly.search(before))))
    return tuple(found)


def asserted(text: str) -> str:
    """The text without what it denies or replaces: "Revenue is $900M, not $850M" keeps only the 900."""
    tongue = tongues.of(text)
    text = tongue.pattern(_FROM_TO).sub(r"\g<to> ", text.replace("’", "'"))
    for denied in _DENIALS:
        text = tongue.pattern(denied).sub(" ", text)
    return text


def _sentences(text: str) -> Iterator[_Sentence]:
    figures = figures_in(text)
    start, index = 0, 0
    ends = [match.end() for match in _SENTENCE_END.finditer(text)]
    for end in [*ends, len(text)]:
        first = index
        while index < len(figures) and figures[index].start < end:
            index += 1
        if index > first:
            yield _Sentence(start, end, figures[first:index])
        start = end


def _roles(text: str, sentence: _Sentence) -> tuple[tuple[Figure, _Role], ...]:
    figures = sentence.figures
    roles: list[_Role] = []
    tongue = tongues.of(text)
    for index, figure in enumerate(figures):
        after_last = figures[index - 1].end if index else sentence.start
        before_next = figures[index + 1].start if index + 1 < len(figures) else sentence.end
        before = text[max(after_last, figure.start - _WINDOW) : figure.start]
        behind = text[figure.end : min(before_next, figure.end + _WINDOW)]
        roles.append(_role(before, behind, tongue))
    # "Yield was 7.4 rather than 7.1": the strongest cue of a sentence decides, the weaker ones replace nothing.
    strongest = next((role for role in _REPLACED if role in roles), None)
    roles = ["stated" if role in _REPLACED and role != strongest else role for role in roles]
    for index in range(len(figures) - 1):
        between = text[figures[index].end : figures[index + 1].start]
        before = text[max(sentence.start, figures[index].start - _WINDOW) : figures[index].start]
        if (len(between) < 12 and _ARROW.fullmatch(between)) or _is_replaced(before, between, tongue):
            roles[index], roles[index + 1] = "denied", "stated"
    return tuple(zip(figures, roles))


def _is_replaced(before: str, between: str, tongue: tongues.Tongue) -> bool:
    asked = len(between) <= _WINDOW and tongue.pattern(_REPLACES).search(before)
    return bool(asked and tongue.pattern(_REPLACED_BY).search(between))


def _role(before: str, behind: str, tongue: tongues.Tongue) -> _Role:
    """What the words next to a figure say of it. The cue nearest to the figure wins: "not 850 but 900"."""
    cues = [(found.start(), role) for cue, role in _BEFORE if (found := tongue.pattern(cue).search(before))]
    nearest = max(cues)[1] if cues else "plain"
    return "denied" if nearest != "denied" and tongue.pattern(_DENIED_AFTER).search(behind) else nearest


_REPLACED: tuple[_Role, ...] = ("denied", "reported", "earlier")
_BEFORE: tuple[tuple[str, _Role], ...] = (
    # "not $850M", "instead of the 850": this figure is the one replaced, whatever else is said.
    ("<<denied_before>>" + _WEAK_WORDS, "denied"),
    # "we wrote 29", "you have 2.1%", "the report says 11".
    ("<<reported_before>>" + _WEAK_WORDS, "reported"),
    ("<<earlier_before>>" + _WEAK_WORDS, "earlier"),
    ("<<stated_before>>" + _WEAK_WORDS, "stated"),
)


def _pairs(roles: tuple[tuple[Figure, _Role], ...]) -> Iterator[Correction]:
    taken: set[int] = set()
    for index, (figure, role) in enumerate(roles):
        if role not in _REPLACED:
            continue
        # What replaces it mostly stands right before ("900, not 850"), else right behind ("not 850 but 900").
        beside = (index + 1, index - 1) if role == "earlier" else (index - 1, index + 1)
        for other in beside:
            if 0 <= other < len(roles) and other not in taken and _fits(figure, role, roles[other]):
                taken.add(other)
                yield correction(figure, roles[other][0])
                break


def _across(before: tuple[tuple[Figure, _Role], ...], roles: tuple[tuple[Figure, _Role], ...]) -> Iterator[Correction]:
    """ "It isn't $850M. It is $900M": one figure each, one of them denied."""
    if len(before) != 1 or len(roles) != 1:
        return
    (one,), (two,) = before, roles
    for was, now in ((one, two), (two, one)):
        if was[1] in ("denied", "reported") and _fits(*was, now):
            yield correction(was[0], now[0])
            return


def _fits(was: Figure, role: _Role, other: tuple[Figure, _Role]) -> bool:
    # A mere "was" replaces nothing unless the other figure is said to be so now: "5 were sick, 7 on leave".
    ready = other[1] == "stated" or (other[1] == "plain" and role != "earlier")
    return ready and comparable(was, other[0])


def correction(was: Figure, now: Figure) -> Correction:
    old, new = aligned(was, now)
    unit = now.unit if now.unit and now.unit != DATE else was.unit
    return Correction(new, old, unit, now.text, was.text)
