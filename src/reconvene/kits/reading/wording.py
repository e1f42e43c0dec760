"""Words as they can be compared: content words cut to a stem, which way a statement points, and what it negates.

Pure. The words are those of the text's language. Knows nothing of remarks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

from reconvene.kits.reading.tongues import Tongue

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_NEGATION_REACH = 4


class Wording(Struct, frozen=True):
    stems: frozenset[str]  # content words
    head: str  # the first of them: mostly what the sentence is about
    negated: frozenset[str]  # stems within reach of a negation
    directions: Mapping[str, frozenset[int]]  # axis → +1 and/or −1, negation counted in


def read(text: str, tongue: Tongue) -> Wording:
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
    return Wording(
        frozenset(stems), head, frozenset(negated), {axis: frozenset(ways) for axis, ways in directions.items()}
    )


def opposed(one: Wording, two: Wording) -> bool:
    """Whether they point opposite ways on an axis. A text that points both ways opposes nothing."""
    for axis, ways in one.directions.items():
        others = two.directions.get(axis, frozenset())
        if len(ways) == 1 and len(others) == 1 and ways != others:
            return True
    return False


def points(word: str, tongue: Tongue) -> bool:
    """Whether a stem says a direction, and therefore not what a sentence is about."""
    return word in tongue.points
