"""Which version of a checkpoint a decision is about: the one that is named, or the last that was shown to who decides.

Every door notes what it showed whole, and to whom; lists do not count. A door that takes a decision asks `meant`, and
hands the version on with it: the engine refuses it where somebody else changed what is open since.
"""

from __future__ import annotations

from collections.abc import Iterable

from msgspec import Struct

from reconvene.app.engine import Engine
from reconvene.app.shown_versions import Version, stale, versions
from reconvene.app.views import projections
from reconvene.app.views.difference import where
from reconvene.app.views.read_model import LATEST, Checkpoint
from reconvene.core.facts.state import RunState
from reconvene.errors import Refused, StaleDecision, UserError
from reconvene.showing_ports import Showing, Viewer

FEWEST = 4  # characters of a version that people type
_ONLY = "it was only printed by a `decide` in a script, which does not count as seen"


class Meant(Struct, frozen=True):
    point: Checkpoint  # what can be chosen
    version: str
    is_open: bool = True
    source: str = ""


class NotShown(Refused):
    """Nothing of what is open was shown to who decides. `now` is its version."""

    def __init__(self, message: str, now: str) -> None:
        super().__init__(message)
        self.now = now


def short(version: str, known: Iterable[str]) -> str:
    """The beginning by which people name it: no other known one begins so."""
    others = {one for one in known if one != version}
    size = FEWEST
    while size < len(version) and any(one.startswith(version[:size]) for one in others):
        size += 1
    return version[:size]


def meant(engine: Engine, shown: list[Showing], to: Viewer, run: str, at: str = "", *, latest: bool = False) -> Meant:
    """`shown`: what doors showed of this run. Refused, StaleDecision or NotShown where there is no such version, or
    where it cannot be what is decided now."""
    state = engine.load(run)
    point = projections.checkpoint(state)
    own = [one for one in shown if one.to.user == to.user and one.to.name in ("", to.name)]
    seen = [one.version for one in own if not one.after_decide]
    if latest and point is not None:
        return Meant(point, point.digest, source=LATEST)
    if at:
        return _of(state, point, _named(engine, state, at.strip().casefold(), [one.version for one in shown]))
    last = seen[-1] if seen else ""
    if point is not None and last == point.digest:
        return Meant(point, last)
    by_decide = point is not None and any(one.version == point.digest for one in own)
    found = versions(engine.log, run, last) if last else []
    if point is None:
        then = found[-1].state.world.open if found else None
        if then is None or then.id not in state.record.decided:
            raise Refused(
                f"{run} is {state.status}; there is no checkpoint to decide", hint=f"see: reconvene show {run}"
            )
        return _of(state, None, found[-1])
    if not found:
        who = to.name or to.user
        only = _ONLY if by_decide else f"it was not shown to {who} yet"
        raise NotShown(f"nothing was decided: {where(state)} of {run} is open, and {only}", point.digest)
    before = found[-1].state
    if before.world.open is not None and before.world.open.id == point.id:
        return Meant(point, last)  # the engine knows whether others changed it since
    raise _moved_on(engine, before, state, by_decide=by_decide)


def _of(state: RunState, point: Checkpoint | None, version: Version) -> Meant:
    then = projections.checkpoint(version.state)
    assert then is not None
    is_open = point is not None and point.id == then.id
    return Meant(point if point is not None and is_open else then, version.digest, is_open)


def _named(engine: Engine, state: RunState, at: str, shown: list[str]) -> Version:
    """The version that begins so: among those that were shown, else among all that the log tells of."""
    if len(at) < FEWEST:
        raise UserError(f"--at {at} is too short", hint=f"give at least {FEWEST} characters of the version")
    point = projections.checkpoint(state)
    known = {one for one in shown if one.startswith(at)}
    if known == {point.digest if point else ""}:
        return Version(next(iter(known)), state)
    found = versions(engine.log, state.run, at)
    if len(found) == 1:
        return found[0]
    if found:
        names = ", ".join(one.digest[: len(at) + FEWEST] for one in found)
        raise UserError(f"--at {at} may be {names}", hint="give more of it")
    raise UserError(
        f"no checkpoint of {state.run} had a version that begins with {at}",
        hint=f"see what is open, and its version: reconvene show {state.run}",
    )


def _moved_on(engine: Engine, before: RunState, after: RunState, *, by_decide: bool) -> StaleDecision:
    only = f" ({_ONLY})" if by_decide else ""
    message = (
        f"nothing was decided: you saw {where(before)} of {before.run} last, and another one is open{only}; since then:"
    )
    return stale(message, before, after, engine.session(after.run).book)
