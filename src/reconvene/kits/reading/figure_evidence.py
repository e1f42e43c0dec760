"""Whether a corrected figure was put in the place of the old one, wherever that stood.

The old value is what the remark says it was; where it does not say, what stood where the new value stands now.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Protocol

from msgspec import Struct

from reconvene.core.extensions import Asked, Spot
from reconvene.kits.reading import tongues
from reconvene.kits.reading.compared_texts import Change, Sentence, key_of
from reconvene.kits.reading.figures import corrections_in, stated_in
from reconvene.kits.reading.quantities import DATE, HARD_UNITS, Figure, aligned, comparable, figures_in
from reconvene.kits.reading.spelled_numbers import spelled_in
from reconvene.kits.reading.splitting import sentences as sentences_of
from reconvene.kits.reading.terms import content, telling

_CLAUSE = r"[;,:()—–]\s+|\s+<<clause>>\s+"
_MOST_CLAIMS = 2  # words about remarks: a sentence with so many speaks of the remark, and not of its subject
_NUMBER = re.compile(r"(?<![\w-])\d[\d.,]*")


class Place(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def sentence(self) -> Sentence: ...
    @property
    def around(self) -> str: ...
    @property
    def new(self) -> bool: ...
    @property
    def spot(self) -> Spot: ...


class Changed(Protocol):
    @property
    def path(self) -> str: ...
    @property
    def change(self) -> Change: ...
    @property
    def spot(self) -> Spot: ...


class Standing(Struct, frozen=True):
    """`evidence`: where new values are newly stated. `against`: where old ones stand. `missing`: what is not proved."""

    evidence: tuple[Changed, ...]
    against: tuple[Place, ...]
    missing: str


class _Pair(Struct, frozen=True):
    now: Figure
    was: tuple[Figure, ...] = ()


def figure_evidence(
    remark: Asked, places: Sequence[Place], changed: Sequence[Changed], earlier: Sequence[str], tongue: tongues.Tongue
) -> Standing | None:
    """None: the remark corrects no figure. `earlier`: the sentences as they were."""
    pairs = _pairs(remark, earlier)
    if not pairs:
        return None
    subject = set(telling(remark.text, tongue))
    evidence: list[Changed] = []
    against: list[Place] = []
    missing: list[str] = []
    for pair in pairs:
        found = [one for one in changed if _states(one, pair, subject, remark.text, tongue)]
        old = pair.was or tuple(_taken_out(found, pair.now))
        evidence += [one for one in found if one not in evidence]
        for one in places:
            if one not in against and any(_stands(one, was, pair.now, subject, tongue) for was in old):
                against.append(one)
        if not found:
            missing.append(f"no sentence that changed says {pair.now.text.strip()}")
        elif old and _stood(old, earlier) and not any(_in_place(one, old, pair.now) for one in found):
            missing.append(f"nowhere does {pair.now.text.strip()} stand in the place of {old[0].text.strip()}")
        elif not old:
            missing.append(f"it says {pair.now.text.strip()}; what that replaces is not clear")
    if not missing and (rest := _rest(remark, pairs, places, tongue)):
        missing.append(f"the figure is changed; whether the rest is done, “{rest}”, a person has to say")
    return Standing(tuple(evidence), tuple(against), "; ".join(missing))


def _pairs(remark: Asked, earlier: Sequence[str]) -> list[_Pair]:
    """What the remark says is so, and was. Where its words do not say which of two figures was, the one that the agent
    wrote is."""
    found: list[_Pair] = []
    texts = [(remark.was, remark.now)] if remark.was and remark.now else []
    texts += [(one.was_text, one.now_text) for one in corrections_in(remark.text)]
    for was, now in dict.fromkeys(texts):
        new, old = figures_in(now), figures_in(was)
        if new and old and not any(_same(new[0], one.now) for one in found):
            found.append(_Pair(new[0], (old[0],)))
    if remark.kind != "correction":
        return found
    known = [one for pair in found for one in (pair.now, *pair.was)]
    alone: list[_Pair] = []
    for one in stated_in(remark.text):
        if one.figure.unit != DATE and not any(_same(one.figure, other) for other in known):
            alone.append(_Pair(one.figure))
            known.append(one.figure)
    if len(alone) == 2:
        first, second = (pair.now for pair in alone)
        stood = [any(_says(text, figure) for text in earlier) for figure in (first, second)]
        if comparable(first, second) and stood[0] != stood[1]:
            return [_Pair(second, (first,)) if stood[0] else _Pair(first, (second,))]
    return found or alone


def _same(one: Figure, other: Figure) -> bool:
    if not comparable(one, other):
        return False
    mine, theirs = aligned(one, other)
    return abs(mine - theirs) <= 1e-9 * max(abs(mine), abs(theirs), 1e-9)


def _says(text: str, figure: Figure) -> bool:
    """As what holds: neither denied nor replaced."""
    return any(_same(one.figure, figure) for one in stated_in(text))


def doubtful(key: str, remark: str, tongue: tongues.Tongue) -> bool:
    """Whether a sentence speaks of the remark and not of its subject, or says something without holding it."""
    words = set(key.split())
    own = words - set(key_of(remark).split())
    return len(tongue.words("claiming") & words) >= _MOST_CLAIMS or bool(tongue.words("doubting") & own)


def _states(one: Changed, pair: _Pair, subject: set[str], remark: str, tongue: tongues.Tongue) -> bool:
    """Whether a sentence that came says the new value as what holds, about the same thing: in the words of the remark,
    or in those of the sentence that said the old value."""
    went = [
        set(content(sentence.text, tongue))
        for sentence in one.change.gone
        if any(_same(figure, was) for was in pair.was for figure in figures_in(sentence.text))
    ]
    for sentence in one.change.come:
        held = _says(sentence.text, pair.now) and not sentence.text.rstrip(" *_)”\"").endswith("?")
        if held and not doubtful(sentence.key, remark, tongue):
            about = set(content(f"{one.change.around} {sentence.text}", tongue))
            if about & subject or any(about & words for words in went) or (went and not subject):
                return True
    return False


def _stood(old: Sequence[Figure], earlier: Sequence[str]) -> bool:
    return any(_says(text, figure) for text in earlier for figure in old)


def _in_place(one: Changed, old: Sequence[Figure], now: Figure) -> bool:
    """Whether the new value came where the old one went."""
    went = any(_same(figure, was) for was in old for figure in figures_in(one.change.was))
    return went and any(_says(sentence.text, now) for sentence in one.change.come)


def _taken_out(found: Sequence[Changed], now: Figure) -> Iterator[Figure]:
    """The values that stood where the new one stands: of its kind, and gone from there."""
    for one in found:
        left = figures_in(one.change.now)
        new = next((figure for figure in left if _same(figure, now)), now)
        for figure in figures_in(one.change.was):
            alike = figure.unit == new.unit or (figure.unit not in HARD_UNITS and new.unit not in HARD_UNITS)
            if alike and figure.unit != DATE and not any(_same(figure, other) for other in left):
                yield figure


def _stands(place: Place, was: Figure, now: Figure, subject: set[str], tongue: tongues.Tongue) -> bool:
    """Whether the sentence still says the old value; not where it is told as what was ("46, not 40", "up from 40")."""
    text = place.sentence.text
    said = [one.figure for one in stated_in(text) if _same(one.figure, was)]
    spelled = was.value in spelled_in(text)
    paired = any(_same(one, was) for each in corrections_in(text) for one in figures_in(each.was_text))
    if not (said or spelled) or (paired and _says(text, now)):
        return False
    fits = any(one.unit == was.unit or not was.unit for one in said)
    if said and not fits and _says(text, now):  # a number of something else beside the new value
        return False
    return fits or bool(set(content(f"{place.around} {text}", tongue)) & subject)


def _rest(remark: Asked, pairs: Sequence[_Pair], places: Sequence[Place], tongue: tongues.Tongue) -> str:
    """A part of the remark that is about something else, and that nothing in the text says."""
    known = [figure for pair in pairs for figure in (pair.now, *pair.was)]
    words = {stem for place in places for stem in content(place.sentence.text, tongue)}
    for sentence in sentences_of(remark.text):
        for clause in tongues.of(sentence.text).pattern(_CLAUSE).split(sentence.text):
            figures = figures_in(clause)
            others = [one for one in figures if one.unit != DATE and not any(_same(one, other) for other in known)]
            if others or (not figures and set(telling(clause, tongue)) - words):
                return clause.strip()
            if len(_NUMBER.findall(clause)) > len(figures):
                return clause.strip()
    return ""
