"""Whom a checkpoint may be handed over to: people and teams of the home who may decide. Where nobody is set up,
whoever hands it over stays among those who decide."""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.core.facts.named_people import TEAM
from reconvene.errors import UserError
from reconvene.people_wiring import deciders

ALONE = "Nobody else is set up here, so there is nobody to hand it over to."
_ADD = "reconvene people add NAME --role decider"


def offered(home: str) -> tuple[str, ...]:
    """Names, and teams as team:NAME; () where nobody is set up."""
    known = deciders(home) or ()
    return (
        *sorted(one for one in known if not one.startswith(TEAM)),
        *sorted(one for one in known if one.startswith(TEAM)),
    )


def require_deciders(home: str, who: Sequence[str], me: str) -> None:
    """Nobody is asked who could not decide. `me`: who hands it over."""
    known = deciders(home)
    if known is None:
        if me not in who:  # it would wait for names that nobody here can prove
            raise UserError(f"{ALONE} Nothing was changed.", hint=f"add people first: {_ADD}")
        return
    for one in who:
        if one not in known:
            what = "nobody in it may decide" if one.startswith(TEAM) else "may not decide here"
            hint = f"who may: {', '.join(offered(home))}; see: reconvene people"
            raise UserError(f"{one}: {what}. Nothing was changed.", hint=hint)
