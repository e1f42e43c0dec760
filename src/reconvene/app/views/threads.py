"""A comment on lines of a file as a thread: open, applied, answered or declined.

Made of what the ledger knows of the remark and of where its lines stand now. Pure."""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.app.views.comment_rows import Comment, Reply
from reconvene.app.views.remark_lives import Entry
from reconvene.core.facts.events import Anchor
from reconvene.core.shown.anchors import Standing


def thread(entry: Entry, anchor: Anchor, now: Standing) -> Comment:
    replies = tuple(Reply(one.agent, one.how, one.reason) for one in entry.standing.values() if one.how != "silent")
    changed = tuple(dict.fromkeys(one.agent for one in entry.reflected if one.by == "changed"))
    place = now.place
    return Comment(
        id=entry.id,
        file=now.path or anchor.path,
        status=_status(entry, replies, changed),
        text=entry.text,
        quote=anchor.quote,
        first=place.first if place else 0,
        last=place.last if place else 0,
        outdated=place is None,
        now=now.text if place and not place.same else "",
        lines=anchor.name,
        heading=anchor.heading,
        kind=entry.kind,
        by=entry.by,
        at=entry.at,
        phase=entry.phase,
        round=entry.n,
        replies=replies,
        changed_by=changed,
        shown_to=entry.delivered.agents,
        user=entry.user,
        proved=entry.proved,
    )


def _status(entry: Entry, replies: Sequence[Reply], changed: Sequence[str]) -> str:
    """Who says that they did not act on it did not, whatever else they changed. What is only claimed is open."""
    said = {reply.how for reply in replies}
    if said == {"declined"}:
        return "declined"
    return "applied" if changed else "open" if entry.open else "answered"
