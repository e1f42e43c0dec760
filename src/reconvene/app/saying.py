"""Several remarks of one person in one append: all of them are on record, or none is."""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.app.commits import note
from reconvene.app.engine import Engine
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.commands import AddRemark
from reconvene.core.facts.state import RunState
from reconvene.core.person import permitted
from reconvene.ports import Request


def say(
    engine: Engine, run: str, remarks: Sequence[AddRemark], actor: Actor | None = None, request: Request | None = None
) -> RunState:
    """`actor`: for whom. `request`: that this carries out."""
    session = engine.session(run, actor)
    for one in remarks:
        permitted.require(session.actor, one)
    session.do_all([engine.discretion.said(session.book.workflow, one) for one in remarks], request=request)
    note(engine.log, engine.history(), run, session.state.seq)
    return session.state
