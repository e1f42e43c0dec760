"""What a driver may begin: only tasks that are on record as taken up by it.

Whoever takes the run up after a crash sees by that what may have been begun, and asks where it acts on the world.
"""

from __future__ import annotations

from reconvene.app.session import Session
from reconvene.core.facts.commands import Claim
from reconvene.core.facts.state import RunState
from reconvene.core.run.plan import RunTask, Work, work


def own_work(session: Session, claim: str, by: str, door: str) -> list[Work]:
    """What another process recorded meanwhile belongs to nobody yet, and is taken up first. Once another driver has
    taken tasks up, nothing more is begun here."""
    effects = work(session.state, session.book)
    claims = {_claim_of(session.state, one) for one in effects if isinstance(one, RunTask)}
    if "" in claims and claims <= {"", claim}:
        session.submit([Claim(by, door)], {}, claim)
        effects = work(session.state, session.book)
    return [one for one in effects if not isinstance(one, RunTask) or _claim_of(session.state, one) == claim]


def _claim_of(state: RunState, effect: RunTask) -> str:
    """Which driver has taken up this task, which is open; "" = none has."""
    step = state.world.top.round.open if state.world.top.round else None
    return step.tasks[effect.agent].claim if step is not None else ""
