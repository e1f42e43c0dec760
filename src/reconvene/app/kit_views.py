"""The views that a run's kits bring: rows about a run, for any door. Never writes."""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from reconvene.app.engine import Engine
from reconvene.core import kit_finder
from reconvene.core.extensions import View
from reconvene.core.working import tracking
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
    try:
        made: list[object] = [msgspec.to_builtins(row) for row in offered.view.rows(session.state, session.book)]
    except Exception as error:  # a kit is another's code: whatever it raises
        raise UserError(
            f"The view {offered.name!r} of the kit {offered.kit!r} failed: {type(error).__name__}: {error}.",
            hint="Tell whoever made the kit. The run is as it was.",
        ) from error
    return made
