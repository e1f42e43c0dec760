"""Whom a checkpoint may be handed over to."""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.core.facts.named_people import TEAM
from reconvene.errors import UserError
from reconvene.people_wiring import deciders


def require_deciders(home: str, who: Sequence[str]) -> None:
    """Where people are set up: nobody is asked who could not decide."""
    known = deciders(home)
    for one in who if known is not None else ():
        if known is not None and one not in known:
            what = "nobody in it may decide" if one.startswith(TEAM) else "may not decide here"
            hint = f"who may: {', '.join(sorted(known))}; see: reconvene people"
            raise UserError(f"{one}: {what}. Nothing was changed.", hint=hint)
