"""A figure said relative to a known one: "35 % higher than you have", "about 8 % too low", "double what you quote".

How much that is follows from the words alone, save for points of a share, which need the share.
"""

from __future__ import annotations

import re

from msgspec import Struct

from reconvene.kits.reading import tongues
from reconvene.kits.reading.quantities import PERCENT, POINTS, Figure, figures_in

_BEHIND = (
    r"^\W{0,3}(?:(?P<points><<points_of_share>>)\W{1,3})?(?:[^\W\d_]{1,12}\W{1,3}){0,2}?"
    r"(?P<way><<more_than_known>>|<<less_than_known>>)\b"
)
_FRACTION = rf"\b(?P<fraction><<fractions>>)\b(?P<behind>{_BEHIND[1:]})?"
_REACH = 40
_WHOLE = 0.5  # "double", "half": they need no "higher" where they are said of a known figure


class Relative(Struct, frozen=True):
    """`share`: 0.35 = 35 %; `points` of a share in per cent instead, where that is what was said."""

    share: float
    points: float
    text: str
    start: int
    end: int


def relative_in(text: str) -> Relative | None:
    """The first change against what is known; None where a text names none, or one against an earlier time."""
    tongue = tongues.of(text)
    if tongue.pattern("<<than_before>>").search(text):
        return None
    for figure in figures_in(text):
        if found := _of(figure, text, tongue):
            return found
    for match in tongue.pattern(_FRACTION).finditer(text):
        share = tongue.fractions[match["fraction"].casefold()]
        if match["behind"] or (share >= _WHOLE and tongue.pattern("<<as_known>>").search(text)):
            return Relative(share, 0.0, match[0].strip(), match.start(), match.end())
    return None


def _of(figure: Figure, text: str, tongue: tongues.Tongue) -> Relative | None:
    behind = text[figure.end : figure.end + _REACH]
    counted = bool(re.match(tongue.pattern("<<points_of_share>>"), figure.unit)) if figure.unit else False
    match = tongue.pattern(_BEHIND).search(behind)
    if not match or not (figure.unit in (PERCENT, POINTS) or counted or match["points"]):
        return None
    points = figure.unit == POINTS or counted or bool(match["points"])
    size = abs(figure.value)
    said = text[figure.start : figure.end + match.end()]
    return Relative(0.0 if points else size / 100, size if points else 0.0, said, figure.start, figure.end)
