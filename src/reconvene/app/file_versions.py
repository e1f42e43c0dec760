"""The versions that files of a run had, from its log."""

from __future__ import annotations

from msgspec import Struct

from reconvene.app.engine import Engine
from reconvene.app.session import state_after
from reconvene.core.facts.state import EMPTY, FileVersion


class Version(Struct, frozen=True, omit_defaults=True):
    """A file as it was from this event on. `digest` "": it was taken away."""

    path: str
    seq: int
    digest: str
    size: int
    by: str
    at: str
    phase: str = ""
    person: bool = False  # a person wrote it


def versions(engine: Engine, run: str, path: str = "") -> list[Version]:
    """Of one file, or of all; oldest first."""
    found: list[Version] = []
    state = EMPTY
    for seq, event in engine.log.read(run):
        before, state = state, state_after(run, state, seq, event)
        if state.world.files is before.world.files:
            continue
        names = [path] if path else sorted({*before.world.files, *state.world.files})
        for name in names:
            was, now = before.world.files.get(name), state.world.files.get(name)
            if (was.digest if was else "") != (now.digest if now else ""):
                found.append(_version(name, seq, now, event.at))
    return found


def _version(path: str, seq: int, now: FileVersion | None, at: str) -> Version:
    if now is None:
        return Version(path, seq, "", 0, "", at)
    return Version(path, seq, now.digest, now.size, now.by, now.at, now.phase, now.person)


def version_of(engine: Engine, run: str, path: str, digest: str) -> Version | None:
    """The one with this digest; None where the file never was so. The log is read only for one that is not the
    newest."""
    now = engine.load(run).world.files.get(path)
    if now is not None and now.digest == digest:
        return _version(path, 0, now, now.at)
    return next((one for one in versions(engine, run, path) if one.digest and one.digest == digest), None)
