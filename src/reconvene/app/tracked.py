"""The values that trackers of kits keep in a run. Never writes.

They are those that a workflow's `track.into` names, each wherever the run keeps one.
"""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views.all_rounds import Round
from reconvene.core import kit_finder
from reconvene.core.working import tracking
from reconvene.core.working.tracking import Kept, kept
from reconvene.errors import UserError


def tracked(engine: Engine, run: str, kit: str, where: str = "") -> Kept:
    """What a run follows with this kit; `where` says which, where it follows several. Value None: nothing yet."""
    session = engine.session(run)
    names = tuple(name for name, owner in tracking.tracked(session.book).items() if owner == kit)
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
