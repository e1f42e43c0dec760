"""What two logs of the same run have in common, however often the process died on the way."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import msgspec

from reconvene.core.facts.events import AnyEvent, AttemptEnded, TasksClaimed

# Times, who claimed what, the number of the attempt, and what each attempt cost and was asked.
_PASSING = ("at", "claim", "attempt", "usage", "prompt", "asked", "reply", "workspace")


def shape(events: Iterable[AnyEvent]) -> list[dict[str, object]]:
    """Without attempts in doubt, claims and times; parallel agents in one order."""
    story: list[dict[str, object]] = []
    step: list[dict[str, object]] = []
    for event in events:
        if isinstance(event, TasksClaimed) or (isinstance(event, AttemptEnded) and event.verdict == "doubt"):
            continue
        told = _plain(event)
        if isinstance(event, AttemptEnded):
            step.append(told)
            continue
        story += sorted(step, key=lambda one: str(one["task"]))
        step = []
        story.append(told)
    return story + step


def _plain(event: AnyEvent) -> dict[str, object]:
    told = dict(msgspec.to_builtins(event))
    return {name: value for name, value in told.items() if name not in _PASSING}


def attempts(events: Sequence[AnyEvent], verdict: str) -> set[str]:
    """task#attempt of every attempt that ended so."""
    return {
        f"{event.task}#{event.attempt}"
        for event in events
        if isinstance(event, AttemptEnded) and event.verdict == verdict
    }


def tasks(names: Iterable[str]) -> set[str]:
    return {name.rpartition("#")[0] for name in names}
