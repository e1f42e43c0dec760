"""Comments on lines of a run's files: the remarks with an anchor, each with where its lines stand now. Never writes.

A person sees the file as it lies in the workspace, also where they changed it and nothing has taken the change yet. So
lines are told as they stand there. What became of a comment is told from what is on record.
"""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.threads import thread
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import RunState
from reconvene.core.shown.anchors import name_now, standing


def comments(engine: Engine, run: str, path: str = "") -> tuple[Comment, ...]:
    """All, or those on one file, by file and by where they stand; what is outdated comes last."""
    session = engine.session(run)
    state = session.state
    if not has_comments(state):
        return ()
    from reconvene.app.measures import ledger

    on_lines = [(entry, entry.anchor) for entry in ledger(engine, run) if entry.anchor is not None]
    names = {anchor.path: name_now(state, anchor.path) for _, anchor in on_lines}
    edited = _edited(engine, session, set(names.values()))
    found: list[Comment] = []
    for entry, anchor in on_lines:
        now = standing(state, session.book, anchor, entry.at, edited.get(names[anchor.path]))
        one = thread(entry, anchor, now)
        # The text is blanked when it is recorded, so it is not told before.
        found.append(replace(one, unrecorded=True, now="") if one.file in edited else one)
    found = [one for one in found if path in ("", one.file)]
    return tuple(sorted(found, key=lambda one: (one.file, one.outdated, one.first, one.id)))


def _edited(engine: Engine, session: Session, paths: set[str]) -> dict[str, str]:
    """Of these files, those that lie in the workspace with another text than the one on record. While agents work, and
    in a run that has ended, only what is on record counts."""
    if session.state.ended or session.state.status == "running":
        return {}
    files, known = engine.files(session), session.state.world.files
    there = {path: files.on_disk(path) for path in sorted(paths) if path in known}
    return {
        path: data.decode("utf-8", "replace")
        for path, data in there.items()
        if data is not None and digest_of(data) != known[path].digest
    }


def open_comments(engine: Engine, run: str) -> tuple[Comment, ...]:
    """What a person should know of before they approve anything."""
    return tuple(one for one in comments(engine, run) if one.status == "open")


def has_comments(state: RunState) -> bool:
    return any(remark.anchor is not None for remark in state.record.remarks.values())
