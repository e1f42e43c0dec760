"""What an agent's output takes for granted, and whether something a person said speaks against it.

An output states its assumptions in a section of that name; a statement contradicts one when both are
about the same thing and their figures lie far apart, or one denies what the other says, or they point opposite ways.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconvene.kits.reading import tongues
from reconvene.kits.reading.figures import corrections_in, stated_in
from reconvene.kits.reading.quantities import DATE, HARD_UNITS, PERCENT, Figure, aligned, change, comparable, figures_in
from reconvene.kits.reading.relative import Relative, relative_in
from reconvene.kits.reading.rules import disagrees
from reconvene.kits.reading.splitting import sentences

THRESHOLD = 0.2  # the change of a figure beyond which it matters
_LONGEST = 20_000  # of a statement; more is a document, and its head is compared
_ROUNDING = 1e-9

_HEADING = re.compile(r"\s{0,3}(?P<level>#{1,6})\s+(?P<title>\S.*)")
_LONGEST_TITLE = 100
_BOLD_TITLE = re.compile(r"\s{0,3}(?:\*\*|__)(?P<title>[^*_\n]{1,60}?):?(?:\*\*|__):?\s*$")
_ABOUT = r"(?:[\d.)\s]*)(?:[\w-]+\s){0,3}<<assumption_title>>(?:\s[\w\s-]{0,40})?"
_ITEM = re.compile(r"\s*(?:[-*+•–—]|\d{1,3}[.)])\s+(?:\[[ xX]\]\s+)?")
_RULE = re.compile(r"\s{0,3}(?:[-=*_]\s?){3,}$")
_FENCE = re.compile(r"\s{0,3}(?:```|~~~)")
_EMPHASIS = re.compile(r"\*\*|__|`")


class Contradiction(Struct, frozen=True):
    agent: str
    assumption: str
    how: str  # in plain words: what stands against what


def assumptions_in(output: str) -> tuple[str, ...]:
    """The items of every `## Assumptions` section, as plain text."""
    found: list[str] = []
    level = 0  # of the section being read; 0 = none
    fresh = True
    fenced = False
    tongue = tongues.everything()  # the heading may be in another language than the text
    about, nothing = tongue.pattern(_ABOUT), tongue.words("no_assumption")
    for line in output.splitlines():
        if _FENCE.match(line):
            fenced = not fenced
            continue
        if fenced:
            continue
        title = _titled(line)
        if title:
            meant = len(title[1]) <= _LONGEST_TITLE and bool(about.fullmatch(title[1]))
            level = title[0] if meant else (level if level and title[0] > level else 0)
            fresh = True
        elif level and (not line.strip() or _RULE.match(line)):
            fresh = True
        elif level:
            _collect(found, line, fresh)
            fresh = False
    plain = (" ".join(_EMPHASIS.sub("", item).split()) for item in found)
    return tuple(item for item in plain if item.strip(" .").casefold() not in nothing and item)


def contradicted(text: str, assumptions: Mapping[str, tuple[str, ...]]) -> Contradiction | None:
    """The first assumption that the text speaks against, in the order given."""
    if not any(assumptions.values()):
        return None
    said = _said(text[:_LONGEST])
    for agent, items in assumptions.items():
        for item in items:
            if how := _against(said, item):
                return Contradiction(agent, item, how)
    return None


def _titled(line: str) -> tuple[int, str] | None:
    if heading := _HEADING.match(line):
        return len(heading["level"]), _EMPHASIS.sub("", heading["title"]).strip(" \t:#")
    if bold := _BOLD_TITLE.match(line):
        return 7, bold["title"].strip()
    return None


def _collect(found: list[str], line: str, fresh: bool) -> None:
    item = _ITEM.match(line)
    if item:
        found.append(line[item.end() :])
    elif fresh or not found:
        found.append(line.strip())
    else:
        found[-1] += " " + line.strip()


_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NEGATION_REACH = 4
_DISTINCT = 7  # letters of a stem that hardly two subjects share
_MEASURES = ("days", "g", "W", "Wh")  # what is measured in them, they do not say


class _Wording(Struct, frozen=True):
    stems: frozenset[str]  # content words
    head: str  # the first of them: mostly what the sentence is about
    negated: frozenset[str]  # stems within reach of a negation
    directions: Mapping[str, frozenset[int]]  # axis → +1 and/or −1, negation counted in


def _read(text: str, tongue: tongues.Tongue) -> _Wording:
    """One statement's words. Linear in its length."""
    stems: set[str] = set()
    negated: set[str] = set()
    directions: dict[str, set[int]] = {}
    head, reach = "", 0
    endings = tuple(tongue.words("negation_endings"))
    negations, empty = tongue.words("negations"), tongue.words("stop", "faint")
    for match in _WORD.finditer(text):
        word = match[0].casefold().replace("’", "'")
        denies = word in negations or (bool(endings) and word.endswith(endings))
        reach = _NEGATION_REACH + 1 if denies else max(0, reach - 1)
        short = tongue.stem(word)
        for axis, way in tongue.points.get(short, ()):
            directions.setdefault(axis, set()).add(-way if reach else way)
        if denies or word in empty or (len(word) < 3 and word.isascii()) or word.isdigit():
            continue
        head = head or short
        stems.add(short)
        if reach:
            negated.add(short)
    pointing = {axis: frozenset(ways) for axis, ways in directions.items()}
    return _Wording(frozenset(stems), head, frozenset(negated), pointing)


def _opposed(one: _Wording, two: _Wording) -> bool:
    """Whether they point opposite ways on an axis. A text that points both ways opposes nothing."""
    pairs = ((one.directions[axis], ways) for axis, ways in two.directions.items() if axis in one.directions)
    return any(len(mine) == len(theirs) == 1 and mine != theirs for mine, theirs in pairs)


class _Said(Struct, frozen=True):
    tongue: tongues.Tongue
    whole: _Wording
    parts: tuple[_Wording, ...]  # sentence by sentence: a negation says nothing of the next sentence
    figures: tuple[Figure, ...]
    dates: tuple[Figure, ...]  # up to which something holds
    replaced: tuple[float, ...]
    off: Relative | None  # by how much a known figure is
    disputes: bool
    denied: bool  # "not us": what is said of us


def _said(text: str) -> _Said:
    tongue = tongues.of(text)
    denied = bool(tongue.pattern("<<not_ours>>").search(text))
    parts = tuple(_read(sentence.text, tongue) for sentence in sentences(text))
    if denied:
        parts = tuple(replace(part, negated=part.stems) for part in parts)
    replaced = tuple(correction.was for correction in corrections_in(text))
    off = relative_in(text)
    figures = tuple(stated.figure for stated in stated_in(text) if off is None or stated.figure.start != off.start)
    return _Said(
        tongue, _read(text, tongue), parts, figures, until(text), replaced, off, disagrees(text), denied
    )  # fmt: skip


def until(text: str) -> tuple[Figure, ...]:
    """The years up to which a text says that something holds: there a few years make all the difference."""
    if not tongues.of(text).pattern("<<holds_until>>").search(text):
        return ()
    return tuple(figure for figure in figures_in(text) if figure.unit == DATE)


def _against(said: _Said, assumption: str) -> str:
    """How the text speaks against the assumption; "" if it does not."""
    taken = _read(assumption, tongues.of(assumption, said.tongue))
    shared = said.whole.stems & taken.stems
    topics = {word for word in shared if word not in said.tongue.points}
    about = len(topics) >= 2 or taken.head in topics or (bool(topics) and len(shared) >= 2)
    if far := _far_apart(said, assumption, about):
        return far
    if not about and not (said.denied and any(len(word) >= _DISTINCT for word in topics)):
        return ""
    if said.off is not None:
        return _far_off(said.off, assumption)
    if later := _other_date(said, assumption):
        return later
    if said.disputes and len(shared) >= 2:
        return "you dispute it"
    if said.replaced:
        return ""  # its "not" belongs to the figure it replaces
    for part in said.parts:
        denied = (part.negated ^ taken.negated) & part.stems & taken.stems
        if denied and (said.denied or len(topics) + len(denied - topics) >= 2):
            return "one says what the other denies"
        if _opposed(part, taken):
            return "they point opposite ways"
    return ""


def _far_off(off: Relative, assumption: str) -> str:
    """Points of a share, by the share that the assumption names."""
    shares = [stated.figure for stated in stated_in(assumption) if stated.figure.unit == PERCENT]
    if off.points and shares and abs(shares[0].value) * THRESHOLD + _ROUNDING < off.points:
        return f"it rests on {shares[0].text}, you say {off.text}"
    return ""


def _other_date(said: _Said, assumption: str) -> str:
    """Both say up to when something holds, and it is not the same year."""
    taken = until(assumption)
    years = {figure.value for figure in said.dates}
    if not taken or not years or years <= {figure.value for figure in taken}:
        return ""
    other = next(figure for figure in said.dates if all(figure.value != one.value for one in taken))
    return f"it rests on {taken[0].text}, you say {other.text}"


def _far_apart(said: _Said, assumption: str, about: bool) -> str:
    """Figures of one unit, none of them within reach of the other's. What both count says what they are about."""
    for taken in (stated.figure for stated in stated_in(assumption)):
        for figure in said.figures:
            if not taken.unit or taken.unit != figure.unit or not comparable(taken, figure):
                continue
            if not about and (figure.unit in HARD_UNITS or figure.unit in _MEASURES):
                continue
            was, now = aligned(taken, figure)
            if said.replaced and not any(change(was, value) < 0.05 for value in said.replaced):
                continue  # the correction is of another figure
            if change(was, now) > THRESHOLD + _ROUNDING:
                return f"it rests on {taken.text}, you say {figure.text}"
    return ""
