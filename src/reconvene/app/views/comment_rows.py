"""The read model of comments on lines of files. A part of `read_model`, in a module of its own."""

from __future__ import annotations

from msgspec import Struct


class Reply(Struct, frozen=True, omit_defaults=True):
    """What an agent says of a comment."""

    agent: str
    how: str  # addressed, declined, claimed
    text: str = ""


class Comment(Struct, frozen=True, omit_defaults=True):
    """A remark on lines of a file, and what became of it and of the lines.

    status: open; applied (an agent that was shown it changed the lines); answered (an agent speaks of it, and the lines
    are as they were); declined. outdated: the lines are lost, and `quote` is what they were."""

    id: str
    file: str
    status: str
    text: str
    quote: str  # the lines as the person saw them
    first: int = 0  # where they stand now, with the next; 0 = outdated
    last: int = 0
    outdated: bool = False
    now: str = ""  # what stands there, where that is something else
    lines: str = ""  # as they were named: plan.md:3-5
    unrecorded: bool = False  # the file in the workspace has changes that are not on record; `first` counts them
    heading: str = ""  # the nearest above them then
    kind: str = ""
    by: str = ""
    at: str = ""
    phase: str = ""
    round: int = 0
    replies: tuple[Reply, ...] = ()  # that still count, each agent's last
    changed_by: tuple[str, ...] = ()  # agents that were shown it
    shown_to: tuple[str, ...] = ()
    user: str = ""  # as of a remark
    proved: bool = False
