"""What a fork has of the run that it was forked from, and what it has not. Pure: the events of both."""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import fold
from reconvene.language.counting import counted


class SharedPast(Struct, frozen=True):
    """`event`: the last one that both have. `later`: so many events of the source came after it."""

    source: str
    event: int
    files: int
    remarks: int
    decisions: int
    drafts: int  # places with answers so far
    allowed: int  # calls of tools that are not asked about any more
    bindings: tuple[str, ...]  # agents with a binding of their own in the fork
    later: int = 0
    bound_later: bool = False  # these are the source's bindings of today, and not those of that event

    def lines(self) -> list[str]:
        """As a person is told."""
        has = [
            counted(self.event, "event"),
            counted(self.files, "file"),
            counted(self.remarks, "remark"),
            counted(self.decisions, "decision"),
            *([counted(self.drafts, "draft")] if self.drafts else []),
            *([counted(self.allowed, "allowed call")] if self.allowed else []),
        ]
        told = [f"shared: {', '.join(has)}, as of event {self.event} of {self.source}"]
        if self.bindings:
            who = ", ".join(one or "every agent" for one in self.bindings)
            when = "as it is today" if self.bound_later else "as of that event"
            told.append(f"shared: who carries out {who}, {when}")
        rest = [f"what came later in {self.source} ({counted(self.later, 'event')})"] if self.later else []
        told.append("not shared: " + ", ".join([*rest, "its folder and branch", "runs that it started", "signatures"]))
        return told


def shared_past(events: Sequence[tuple[int, e.AnyEvent]], head: int) -> SharedPast | None:
    """Of a fork, by its own log; None where it is none. `head`: the last event of its source now, 0 = it is gone."""
    at = next((place for place in range(len(events) - 1, -1, -1) if isinstance(events[place][1], e.Forked)), None)
    if at is None:
        return None
    forked = events[at][1]
    assert isinstance(forked, e.Forked)
    then = fold(event for _, event in events[:at])
    bound = next((event for _, event in events[at + 1 : at + 2] if isinstance(event, e.AgentsBound)), None)
    names = [one.agent for one in bound.bindings] if bound is not None else list(then.record.bindings)
    return SharedPast(
        forked.source,
        forked.source_seq,
        len(then.world.files),
        len(then.record.remarks) - len(then.record.withdrawn),
        len(then.record.decisions),
        len(then.record.drafts),
        len(then.record.allowed),
        tuple(sorted(names)),
        max(head - forked.source_seq, 0),
        bound is not None,
    )
