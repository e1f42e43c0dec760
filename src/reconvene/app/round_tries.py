"""The rounds of a run and how the tries of one differ, read from its log. Never writes.

The bytes of a round that was rolled back are in the log whatever became of its folder, so a comparison always works.
"""

from __future__ import annotations

import re

from msgspec.structs import replace

from reconvene.app import kit_views
from reconvene.app.engine import Engine
from reconvene.app.views import all_rounds as folding
from reconvene.app.views import comparison
from reconvene.app.views.all_rounds import Round
from reconvene.app.views.comparison import Comparison
from reconvene.app.views.written import item_titles
from reconvene.errors import UserError

_NAMED = re.compile(r"(?P<serial>[Rr])?(?P<number>\d{1,9})")


def rounds(engine: Engine, run: str) -> tuple[Round, ...]:
    """Every round in order, those that were rolled back included."""
    events = [event for _, event in engine.log.read(run)]
    titles = item_titles(events, engine.session(run).book)
    return tuple(replace(one, item=titles.get(one.serial, "")) for one in folding.rounds(events))


def compare(engine: Engine, run: str, which: str, phase: str = "") -> Comparison:
    """The tries of one round: `which` is its number in its phase ("2"), or the serial of any of its tries ("R7")."""
    found = rounds(engine, run)
    session = engine.session(run)
    one = _chosen(found, run, which, phase)
    return comparison.compare(
        found, one, engine.log.artefact, session.book.object, lambda each: kit_views.facts(session, each)
    )


def _chosen(found: tuple[Round, ...], run: str, which: str, phase: str) -> Round:
    named = _NAMED.fullmatch(which.strip())
    if named is None:
        raise UserError(
            f"{which!r} is not a round.", hint=f"Write its number, as reconvene rounds {run} lists it: 2, or R7"
        )
    number = int(named["number"])
    if named["serial"]:
        fitting = [one for one in found if one.serial == number]
    else:
        fitting = [one for one in found if one.n == number and phase in ("", one.phase)]
    if not fitting:
        of_phase = f" of {phase}" if phase else ""
        raise UserError(f"{run} has no round {which}{of_phase}.", hint=f"reconvene rounds {run}")
    return _tried_again(fitting, found, run, which)


def _tried_again(fitting: list[Round], found: tuple[Round, ...], run: str, which: str) -> Round:
    """The one round among these that was rolled back."""
    again = {one.place: one for one in fitting if any(each.undone for each in folding.tries_of(found, one))}
    if not again:
        undone = dict.fromkeys(f"{one.phase} {one.n}" for one in found if one.undone)
        hint = f"Rolled back were: {', '.join(undone)}" if undone else f"No round of {run} was."
        raise UserError(f"Round {which} was not rolled back: there is nothing to compare it with.", hint=hint)
    if len(again) > 1:
        serials = ", ".join(f"R{one.serial} ({one.place})" for one in again.values())
        raise UserError(
            f"Round {which} was rolled back in {len(again)} places.",
            hint=f"Name the phase with --phase, or one of {serials}",
        )
    return next(iter(again.values()))
