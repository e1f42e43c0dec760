"""What a run's kits bring for any door: views, which are rows about a run, and the values that trackers keep in it.

Never writes. A tracker's values are those that a workflow's `track.into` names, each wherever the run keeps one.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import msgspec

from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views.all_rounds import Round
from reconvene.core import kit_finder
from reconvene.core.extensions import View
from reconvene.core.working import tracking
from reconvene.core.working.tracking import Kept, kept
from reconvene.errors import UserError
from reconvene.language.closest import closest


class Offered(NamedTuple):
    kit: str
    name: str
    view: View

    def to_json(self) -> dict[str, object]:
        return {"kit": self.kit, "name": self.name, "help": self.view.help}


class Views(NamedTuple):
    offered: list[Offered]
    without: dict[str, str]  # kit of the run that cannot be had → why


def views(engine: Engine, run: str) -> Views:
    """Of the kits that the run's workflow names, and of those whose trackers it uses."""
    book = engine.session(run).book
    found = Views([], {})
    for name in dict.fromkeys((*book.workflow.kits, *tracking.tracked(book).values())):
        try:
            found.offered.extend(Offered(name, view, it) for view, it in kit_finder.kit(name).views.items())
        except UserError as error:
            found.without[name] = error.message
    return found


def find(engine: Engine, run: str, name: str) -> Offered:
    """By its name, or by KIT.NAME where two kits of the run have one of that name."""
    known = views(engine, run)
    meant = [one for one in known.offered if name in (one.name, f"{one.kit}.{one.name}")]
    if len(meant) == 1:
        return meant[0]
    if meant:
        full = " and ".join(f"{one.kit}.{one.name}" for one in meant)
        raise UserError(f"{run} has two views {name!r}: {full}.", hint="Give the name of the kit, too.")
    near = closest(name, [one.name for one in known.offered], 1)
    missing = "".join(f" {why}" for why in known.without.values())
    hint = f"Did you mean {near[0]}?" if near else f"reconvene view {run} lists them."
    raise UserError(f"No kit of {run} brings a view {name!r}.{missing}", hint=hint)


def rows(engine: Engine, run: str, offered: Offered) -> list[object]:
    """What the view says, as plain data."""
    session = engine.session(run)
    return [msgspec.to_builtins(row) for row in offered.view.rows(session.state, session.book)]


# --- what trackers keep ---


def kept_by(engine: Engine, run: str, kit: str) -> list[Kept]:
    """All that a run follows with this kit, each wherever it is kept; none where it follows nothing yet."""
    session = engine.session(run)
    return list(kept(session.state, session.book, kit))


def tracked(engine: Engine, run: str, kit: str, where: str = "") -> Kept:
    """What a run follows with this kit; `where` says which, where it follows several. Value None: nothing yet."""
    session = engine.session(run)
    names = tuple(name for name, owner in tracking.tracked(session.book).items() if owner == kit)
    others = sorted(set(tracking.tracked(session.book).values()))
    if not names and others:
        raise UserError(
            f"{run} follows no {kit}: it tracks with the kit {', '.join(others)}.",
            hint=f"reconvene view {run} lists what that shows.",
        )
    if not names:
        raise UserError(
            f"{run} follows no {kit}: no phase of its workflow {session.state.name} says `track`.",
            hint=f"The workflow language page explains it under {kit.capitalize()}; spec-refinement is a workflow that "
            "does.",
        )
    found = kept(session.state, session.book, kit)
    if where:
        found = [one for one in found if one.where == where] or _unknown(run, kit, where, found)
    if len(found) > 1:
        places = ", ".join(one.where for one in found)
        raise UserError(
            f"{run} follows {kit} in {len(found)} places: {places}.", hint=f"Name one: --at {found[0].where}"
        )
    return found[0] if found else Kept(names[0], None)


def _unknown(run: str, kit: str, where: str, found: list[Kept]) -> list[Kept]:
    known = ", ".join(one.where for one in found) or "nowhere yet"
    raise UserError(f"{run} follows no {kit} in {where!r}.", hint=f"It does so in: {known}")


def facts(session: Session, one: Round) -> Mapping[str, object] | None:
    """What one try of a round did to a tracker's value: as that try left it, also where it was rolled back."""
    kits = tracking.tracked(session.book)
    left = [(write.ref, name) for write in one.values if (name := write.key.rpartition(":")[2]) in kits]
    if not left:
        return None
    ref, name = left[-1]
    if kit_finder.find(kits[name]) is None:  # the round is told without it
        return None
    return kit_finder.tracker(kits[name]).facts(session.book.load(ref), one.n)
