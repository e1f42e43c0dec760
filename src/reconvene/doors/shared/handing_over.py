"""Whom a checkpoint may be handed over to."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing

from reconvene.core.facts.named_people import TEAM
from reconvene.errors import UserError
from reconvene.people_wiring import are_set_up, open_people


def require_deciders(home: str, who: Sequence[str]) -> None:
    """Where people are set up: nobody is asked who could not decide."""
    if not are_set_up(home):
        return
    with closing(open_people(home)) as people:
        everyone = people.everyone()
    deciders = {one.name for one in everyone if one.actor().may("decider")}
    teams = {f"{TEAM}{team}" for one in everyone if one.name in deciders for team in one.teams}
    for one in who if everyone else ():
        if one not in deciders | teams:
            what = "nobody in it may decide" if one.startswith(TEAM) else "may not decide here"
            known = ", ".join(sorted(deciders | teams))
            raise UserError(f"{one}: {what}. Nothing was changed.", hint=f"who may: {known}; see: reconvene people")
