"""Comments on lines of files, in lines of text: where each stands, what it says, what became of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.who import told as by_whom
from reconvene.doors.shared.harmless import one_line

if TYPE_CHECKING:
    from reconvene.core.facts.state import RunState

_MOST_OPEN = 6
_LONGEST = 120  # characters of a quote
_SIGNS = {"open": "○", "applied": "✓", "answered": "✓", "declined": "✗"}
_UNRECORDED = "as it is on disk, with changes that your next review or decision takes"


def where(one: Comment) -> str:
    """`line 12`, `lines 12 to 14`, `outdated, was line 12`"""
    first, _, last = one.lines.rpartition(":")[2].partition("-")
    if one.outdated:
        return "outdated, was " + (f"lines {first} to {last}" if last else f"line {first}")
    return f"line {one.first}" if one.first == one.last else f"lines {one.first} to {one.last}"


def fate(one: Comment) -> Iterator[str]:
    """What became of it, a line each; nothing where nothing did."""
    if one.changed_by:
        yield f"changed by {one_line(', '.join(one.changed_by))}"
    for reply in one.replies:
        verb = " declines" if reply.how == "declined" else ""
        yield f"{one_line(reply.agent)}{verb}: {one_line(reply.text, _LONGEST) or 'acted on it'}"


def whole(comments: Sequence[Comment]) -> Iterator[str]:
    """Every comment with its file, its lines and what became of it."""
    file = ""
    for one in comments:
        if one.file != file:
            file = one.file
            yield one_line(file) + (f" ({_UNRECORDED})" if one.unrecorded else "")
        who = f" ({by_whom(one.by, one.user)})" if one.by else ""
        yield f"  {_SIGNS[one.status]} {one.id} {where(one)}, {one.status}: {one_line(one.text)}{who}"
        yield f"      {'was' if one.outdated or one.now or one.unrecorded else 'on'}: {quoted(one.quote)}"
        if one.now:
            yield f"      is: {quoted(one.now)}"
        yield from (f"      {line}" for line in fate(one))


def to_comment_on(state: RunState) -> tuple[list[str], list[str]]:
    """The files that the open checkpoint shows, and the others."""
    point, files = state.world.open, state.world.files
    shown = [path for path in (point.show_files if point else ()) if path in files]
    return shown, sorted(path for path in files if path not in shown)


def still_open(comments: Sequence[Comment], command: str) -> list[str]:
    """For a checkpoint, before anything is approved: the open ones, a line each. `command` lists all."""
    lines = [
        f"{one.id} {one_line(one.file)} {where(one)}, {quoted(one.quote, 40)}: {one_line(one.text, 160)}"
        for one in comments[:_MOST_OPEN]
    ]
    more = len(comments) - _MOST_OPEN
    changed = dict.fromkeys(one_line(one.file) for one in comments if one.unrecorded)
    return [
        *lines,
        *([f"… and {more} more: {command}"] if more > 0 else []),
        *(f"({file}: {_UNRECORDED})" for file in changed),
    ]


def quoted(text: str, width: int = _LONGEST) -> str:
    return f"“{one_line(text, width)}”"
