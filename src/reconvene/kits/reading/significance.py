"""Whether a remark is minor or major: a recommendation with its reason, for the person to follow or not.

The rules: a figure that changes by more than 20 %, a new strategic factor, a revelation that changes the
game, and whatever speaks against an assumption the agents work with are major; smaller figures, clarifications and
refinements are minor. What the person calls small is small, unless it speaks against an assumption.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Literal

from msgspec import Struct

from reconvene.kits.reading import tongues
from reconvene.kits.reading.assumptions import THRESHOLD, contradicted, until
from reconvene.kits.reading.figures import Correction, correction, corrections_in
from reconvene.kits.reading.quantities import DATE, HARD_UNITS, figures_in
from reconvene.kits.reading.relative import Relative, relative_in

Level = Literal["minor", "major"]

_ROUNDING = 1e-9
_HEAD = 4000
_QUOTED = 160
_SMALL, _GAME_CHANGING, _OPEN_DISPUTE = "<<small>>", "<<game_changing>>", "<<open_dispute>>"


class Assessment(Struct, frozen=True):
    level: Level
    rule: str  # which rule, in a few words
    reason: str  # for the person: why, in a sentence


_NEW_FACTOR = "new strategic factor"
_BY_KIND: dict[str, tuple[Level, str, str]] = {
    "strategic shift": ("major", _NEW_FACTOR, "a decision or a change of direction that nobody has analysed yet"),
    "new context": ("major", _NEW_FACTOR, "something new that nobody has analysed yet"),
    "missing factor": ("major", _NEW_FACTOR, "a factor that nobody has looked at yet"),
    "reaction": ("minor", "reaction", "it comments on what was found and brings no new fact"),
    "correction": (
        "minor",
        "correction without a large figure",
        "it corrects a fact that no stated assumption rests on",
    ),
    "clarification": ("minor", "clarification", "it makes something more precise without changing the direction"),
    "comment": ("minor", "refinement", "it brings no new figure, factor or decision"),
}


def assess(
    kind: str, text: str, assumptions: Mapping[str, tuple[str, ...]] | None = None, *, was: str = "", now: str = ""
) -> Assessment:
    """How much a remark matters. `assumptions`: who works on which; `was`/`now`: values given apart from the text."""
    if found := contradicted(text, assumptions or {}):
        quoted = found.assumption if len(found.assumption) <= _QUOTED else found.assumption[: _QUOTED - 1] + "…"
        reason = f"it speaks against an assumption of {found.agent}: “{quoted}” ({found.how})"
        return Assessment("major", "contradicts an assumption", reason)
    given = corrections_in(f"{now}, not {was}") if was and now else ()
    head = text[:_HEAD]
    if replaced := given + corrections_in(head):
        if any(one.unit == DATE for one in replaced) and until(head):
            why = f"{replaced[0].was_text} → {replaced[0].now_text} moves the date up to which something holds"
            return Assessment("major", "another date", why)
        return _figures(replaced)
    if off := relative_in(head):
        return _off(off)
    if kind == "correction" and (two := _two_figures(head)):
        return _figures(two)
    if kind not in ("clarification", "reaction") and (sign := _found(_GAME_CHANGING, head)):
        reason = f"“{sign[0]}” can change the direction of the whole analysis"
        return Assessment("major", "game-changing revelation", reason)
    if kind != "strategic shift" and (trifle := _found("<<trifle>>", head)):
        return Assessment("minor", "trifle", f"“{trifle[0]}”: no strategy rests on it")
    if kind != "strategic shift" and (small := _found(_SMALL, head)):
        return Assessment("minor", "small by your own words", f"you call it small yourself: “{small[0]}”")
    if kind == "reaction" and _found(_OPEN_DISPUTE, head):
        reason = "you contradict what was found, so the work rests on it no more"
        return Assessment("major", "disputes a finding", reason)
    return Assessment(*_BY_KIND.get(kind, _BY_KIND["comment"]))


def _found(cue: str, text: str) -> re.Match[str] | None:
    return tongues.of(text).pattern(cue).search(text)


def _figures(replaced: tuple[Correction, ...]) -> Assessment:
    largest = max(replaced, key=lambda correction: correction.change)
    step = f"{largest.was_text} → {largest.now_text}"
    if largest.change == float("inf"):
        return Assessment("major", "figure changes by more than 20 %", f"{step} is a change from nothing")
    share = f"{largest.change * 100:.1f}".rstrip("0").rstrip(".") + " %"
    if largest.change > THRESHOLD + _ROUNDING:
        return Assessment("major", "figure changes by more than 20 %", f"{step} is a change of {share}, above 20 %")
    return Assessment("minor", "figure changes by 20 % or less", f"{step} is a change of {share}, not above 20 %")


def _off(off: Relative) -> Assessment:
    """A known figure is off by so much. Points of a share weigh by the share; who knows it is asked before."""
    if off.points:
        return Assessment(
            "minor", "some points of a share", f"“{off.text}”: no share is known that it would change much"
        )
    if off.share > THRESHOLD + _ROUNDING:
        return Assessment("major", "figure changes by more than 20 %", f"“{off.text}” is a change above 20 %")
    return Assessment("minor", "figure changes by 20 % or less", f"“{off.text}” is a change not above 20 %")


def _two_figures(text: str) -> tuple[Correction, ...]:
    """A correction that names exactly two figures of one unit sets one against the other, whatever its words are."""
    found = figures_in(text)
    if len(found) != 2 or found[0].unit != found[1].unit or found[0].unit not in HARD_UNITS:
        return ()
    now, was = found
    return (correction(was, now),)
