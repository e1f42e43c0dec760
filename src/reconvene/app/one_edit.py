"""One file of a run as a person wants it: recorded as their edit, brought to the folder, and told to the agents."""

from __future__ import annotations

from reconvene.app.edit_command import edit_of
from reconvene.app.engine import Engine
from reconvene.core.facts.actors import Actor
from reconvene.core.facts.commands import RecordEdits


def record(
    engine: Engine, run: str, path: str, data: bytes, *, by: str = "", door: str = "", actor: Actor | None = None
) -> None:
    session = engine.session(run)
    old = session.state.world.files.get(path)
    edit = edit_of(path, session.book.read(old.digest) if old else None, data)
    engine.submit(run, RecordEdits((edit.command,), by, door), edit.contents, actor=actor)
