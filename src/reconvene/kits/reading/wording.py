"""Words as they can be compared: content words cut to a stem, which way a statement points, and what it negates.

Pure and small on purpose: a light stemmer and a short list of opposites, no dictionary. Knows nothing of remarks.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from msgspec import Struct

_WORD = re.compile(r"[^\W_]+(?:['’][^\W_]+)?")
_EMPTY = frozenset(
    "the a an and or but if of in on at to for from by with as is are was were be been being am do does did has have"
    " had"
    " will would shall should can could may might must it its this that these those there here he she they them their"
    " we us"
    " our ours you your i my me his her which who whom what when where why how than then so such very quite just also"
    " too"
    " only about around roughly approximately at least most more less some any all each every both per over under"
    " into onto"
    " out up down off again yet still already now today yesterday tomorrow soon next last year years month months"
    " week weeks"
    " day days time one two three four five six seven eight nine ten new assume assumes assumed assumption expect"
    " expected"
    " stay stays keep keeps remain remains continue continues not no never none yes please percent cent per"
    " der die das und oder aber ein eine einer ist sind war wird werden hat haben wir ihr sie es nicht kein keine im"
    " in von"
    " zu mit auf für".split()
)
_NEGATIONS = frozenset(
    "not no never none nobody nothing neither nor without cannot hardly unlikely nicht kein keine nie".split()
)
_NEGATION_REACH = 4

# Opposites, by stem. Each axis: what points one way, what points the other.
_AXES: Mapping[str, tuple[str, str]] = {
    "more or less": (
        "grow grew rise rose increase expand climb gain improve recover strengthen accelerate double higher more up"
        " strong stronger surge boom better",
        "fall fell shrink shrank decline drop decrease contract lose lost worsen weaken slow halve lower less down"
        " weak weaker collapse slump cut reduce worse",
    ),
    "goes on or ends": (
        "stay keep remain continue last hold persist extend renew survive stable open launch start begin keeps"
        " maintain",
        "end stop close cease expire cancel scrap abandon terminate leave left quit withdraw discontinue drop retire"
        " lapse"
        " revoke lose shut closure closed abolish",
    ),
    "allowed or not": (
        "allow approve legal grant authorise authorize available",
        "ban banned forbid forbidden prohibit reject refuse illegal block deny revoke unavailable",
    ),
    "enough or not": ("enough sufficient ample plenty secure reliable certain", "shortage scarce lack insufficient"
    " short unreliable"),
    "early or late": ("early earlier ahead fast quick quickly rapid soon", "late later delay delayed behind slow"
    " slowly"),
}  # fmt: skip


class Wording(Struct, frozen=True):
    stems: frozenset[str]  # content words
    head: str  # the first of them: mostly what the sentence is about
    negated: frozenset[str]  # stems within reach of a negation
    directions: Mapping[str, frozenset[int]]  # axis → +1 and/or −1, negation counted in


def stem(word: str) -> str:
    """ "growing", "grows", "growth's" → one form. Light: wrong now and then, the same way on both sides."""
    word = re.sub(r"['’]s?$", "", word.casefold())
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    for ending in ("ing", "edly", "ed", "ly", "es", "s"):
        if word.endswith(ending) and len(word) - len(ending) >= 3 and not (ending == "s" and word.endswith("ss")):
            word = word[: -len(ending)]
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "aeiouls":
        word = word[:-1]
    return word[:-1] if len(word) > 3 and word.endswith("e") else word


def read(text: str) -> Wording:
    """One statement's words. Linear in its length."""
    stems: set[str] = set()
    negated: set[str] = set()
    directions: dict[str, set[int]] = {}
    head, reach = "", 0
    for match in _WORD.finditer(text):
        word = match[0].casefold().replace("’", "'")
        reach = _NEGATION_REACH + 1 if word in _NEGATIONS or word.endswith("n't") else max(0, reach - 1)
        short = stem(word)
        for axis, way in _POINTS.get(short, ()):
            directions.setdefault(axis, set()).add(-way if reach else way)
        if word in _EMPTY or word.endswith("n't") or (len(word) < 3 and word.isascii()) or word.isdigit():
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


def points(word: str) -> bool:
    """Whether a stem says a direction, and therefore not what a sentence is about."""
    return word in _POINTS


def _points() -> dict[str, tuple[tuple[str, int], ...]]:
    found: dict[str, tuple[tuple[str, int], ...]] = {}
    for axis, (one, other) in _AXES.items():
        for way, words in ((1, one), (-1, other)):
            for word in words.split():
                found[stem(word)] = (*found.get(stem(word), ()), (axis, way))
    return found


_POINTS = _points()
