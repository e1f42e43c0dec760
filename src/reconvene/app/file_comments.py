"""Comments on lines of a run's files: the remarks with an anchor, each with where its lines stand now. Never writes."""

from __future__ import annotations

from reconvene.app.engine import Engine
from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.threads import thread
from reconvene.core.facts.state import RunState
from reconvene.core.shown.anchors import standing


def comments(engine: Engine, run: str, path: str = "") -> tuple[Comment, ...]:
    """All, or those on one file, by file and by where they stand; what is outdated comes last."""
    session = engine.session(run)
    if not has_comments(session.state):
        return ()
    from reconvene.app.measures import ledger

    found = [
        thread(entry, entry.anchor, standing(session.state, session.book, entry.anchor))
        for entry in ledger(engine, run)
        if entry.anchor is not None and path in ("", entry.anchor.path)
    ]
    return tuple(sorted(found, key=lambda one: (one.file, one.outdated, one.first, one.id)))


def open_comments(engine: Engine, run: str) -> tuple[Comment, ...]:
    """What a person should know of before they approve anything."""
    return tuple(one for one in comments(engine, run) if one.status == "open")


def has_comments(state: RunState) -> bool:
    return any(remark.anchor is not None for remark in state.record.remarks.values())
