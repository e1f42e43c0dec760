"""What a run knows about the gaps it follows, read from its values. Never writes.

The values are those that a workflow's `track.into` names, each in every place where the run keeps one.
"""

from __future__ import annotations

import difflib
from typing import NamedTuple

from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.core import scope, tracking
from reconvene.core.gaps.book import Book, opened
from reconvene.core.looking_back import gap_lives
from reconvene.core.looking_back.comparison import GapFacts
from reconvene.core.looking_back.gap_lives import Life
from reconvene.core.looking_back.rounds import Round
from reconvene.errors import UserError


class Tracked(NamedTuple):
    """One value that holds gaps. `known` False: nothing has been written into it yet."""

    place: str  # "gaps", or "batches[b2]:gaps" where each item has its own
    book: Book
    known: bool


def gaps(engine: Engine, run: str, place: str = "") -> Tracked:
    """The gaps that a run follows; `place` says which, where it follows several."""
    session = engine.session(run)
    names = tracking.tracked(session.book)
    if not names:
        raise UserError(
            f"{run} follows no gaps: no phase of its workflow {session.state.name} says `track`.",
            hint="The workflow language page explains it under Gaps; spec-refinement is a workflow that does.",
        )
    found = _values(session, names)
    if place:
        found = [one for one in found if one.place == place] or _unknown(run, place, found)
    if len(found) > 1:
        places = ", ".join(one.place for one in found)
        raise UserError(
            f"{run} follows gaps in {len(found)} places: {places}.", hint=f"Name one: --at {found[0].place}"
        )
    return found[0] if found else Tracked(names[0], Book(), known=False)


def _values(session: Session, names: tuple[str, ...]) -> list[Tracked]:
    found: list[Tracked] = []
    for key, value in sorted(session.state.world.values.items()):
        where, _, name = key.rpartition(":")
        if name in names:
            loaded = scope.load_value(session.book, value)
            found.append(Tracked(f"{where}:{name}" if where else name, opened(loaded), loaded is not None))
    return found


def _unknown(run: str, place: str, found: list[Tracked]) -> list[Tracked]:
    known = ", ".join(one.place for one in found) or "nowhere yet"
    raise UserError(f"{run} follows no gaps in {place!r}.", hint=f"It does so in: {known}")


def life(tracked: Tracked, run: str, name: str) -> Life:
    gap = gap_lives.find(tracked.book, name)
    if gap is None:
        near = difflib.get_close_matches(name.upper(), tracked.book.gaps, n=1, cutoff=0.5)
        hint = f"Did you mean {near[0]}?" if near else f"reconvene gaps {run} lists them all"
        raise UserError(f"{run} knows no gap {name!r}.", hint=hint)
    return gap_lives.life_of(tracked.book, gap)


def facts(session: Session, one: Round) -> GapFacts | None:
    """What one try of a round did to the gaps: from the value as that try left it, also where it was rolled back."""
    names = tracking.tracked(session.book)
    left = [write.ref for write in one.values if write.key.rpartition(":")[2] in names]
    if not left:
        return None
    return gap_lives.facts_of(opened(session.book.load(left[-1])), one.n)
