"""Deleting a run: its log, the contents that no other run names, its history and its files. What stays is its id, its
head, who did it and when.

The log goes first, and with it everything is decided. What a crash leaves of the rest goes when the run is deleted
again, but for the files in its folder: only the log knew which they are. Files that a person changed stay.
"""

from __future__ import annotations

from typing import NamedTuple

import msgspec

from reconvene.app.engine import Engine
from reconvene.app.references import named_by
from reconvene.app.session import Leases, Session
from reconvene.app.signing import sealing
from reconvene.app.tombstones import Tombstone, left_of, link_of
from reconvene.chain_ports import Deleted, Unneeded
from reconvene.core.facts.actors import Actor
from reconvene.core.person.permitted import require_role
from reconvene.errors import Busy, ReconveneError, StoreError, UserError
from reconvene.ports import EventLog


class Done(NamedTuple):
    left: Deleted
    stayed: list[str]  # files that a person changed
    folder: str


def delete(engine: Engine, run: str, *, by: str = "", door: str = "", actor: Actor | None = None) -> Done:
    log, actor = engine.log, actor or engine.actor
    require_role(actor, "admin", "to delete a run")
    gone = left_of(log, run)
    if gone is not None:
        _clear(engine, run, None)
        return Done(gone, [], "")
    with Leases(log).held(run) as held:
        if not held:
            raise Busy(f"Another process is driving run {run}.", hint=f"Stop it first: reconvene pause {run}")
        session = _session(engine, run)
        name = session.state.name if session is not None else ""
        doc = msgspec.json.encode(Tombstone(engine.now(), by, actor.user, door, name)).decode()
        head, value = log.head(run), (log.chain(run) or [(0, b"")])[-1][1]
        seal = sealing(engine.signer, actor)[1](link_of(run, head, value, doc)) if engine.signer is not None else b""
        left = Deleted(run, head, value, doc, seal)
        log.delete(left, lambda: _unneeded(log, run))
        stayed = _clear(engine, run, session)
    return Done(left, stayed, session.state.workspace if session is not None else "")


def _session(engine: Engine, run: str) -> Session | None:
    """None where the log is damaged: it can be deleted all the same."""
    try:
        return engine.session(run)
    except StoreError:
        return None


def _unneeded(log: EventLog, run: str) -> Unneeded:
    """Where a log cannot be read, nobody knows what it names: then all contents stay."""
    try:
        kept = {digest for other in log.runs() if other != run for digest in _named(log, other)}
        return Unneeded(_named(log, run) - kept, kept)
    except StoreError:
        return Unneeded((), ())


def _named(log: EventLog, run: str) -> set[str]:
    return named_by(event for _, event in log.read(run))


def _clear(engine: Engine, run: str, session: Session | None) -> list[str]:
    """What is made from the log."""
    if session is not None and session.state.record.project is not None and engine.projects is not None:
        engine.projects.close(run)
    if engine.discretion.aside is not None:
        engine.discretion.aside.drop(run)
    if engine.keeping.shelf is not None:
        engine.keeping.shelf.drop(run)
    engine.history().forget(run)
    if session is None:
        return []
    try:
        return engine.files(session).clear(session)
    except ReconveneError as error:
        raise UserError(
            f"Run {run} is deleted. Its folder {session.state.workspace} is not: {error.message}", hint=error.hint
        ) from error
