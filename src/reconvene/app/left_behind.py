"""What a process that died left at work for a run: ended before anybody else works, or asked about.

Whoever holds the run's lease may ask for it. An agent that acts on the world is not ended before the person has decided
what becomes of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from datetime import UTC, datetime

from reconvene.core.facts.ids import parse_task
from reconvene.core.facts.round import TaskAt
from reconvene.core.facts.state import RunState
from reconvene.ports import AgentRunner
from reconvene.sandbox_ports import Left, Leftovers


def leftovers_of(runner: AgentRunner) -> Leftovers | None:
    """None: whoever runs these agents leaves nothing behind."""
    return getattr(runner, "leftovers", None)


def end_own(runner: AgentRunner) -> None:
    """At once, all that this process has started for agents."""
    if (leftovers := leftovers_of(runner)) is not None:
        leftovers.end_own()


async def settled(runner: AgentRunner, state: RunState, claim: str) -> list[Left]:
    """All is ended but what a person still has to decide about. Others go on meanwhile: it may take seconds."""
    leftovers = leftovers_of(runner)
    if leftovers is None or not leftovers.possible():
        return []
    return await asyncio.to_thread(settle, runner, state, claim)


def settle(runner: AgentRunner, state: RunState, claim: str = "") -> list[Left]:
    leftovers = leftovers_of(runner)
    found = leftovers.of(state.run) if leftovers is not None else []
    if not found or leftovers is None:
        return []
    asked = [left for left in found if _in_question(state, left, claim)]
    leftovers.end(left for left in found if left not in asked)
    return asked


def awaited(state: RunState, left: Iterable[Left]) -> list[Left]:
    """Those for whose end the person wants to wait: they were asked, and are not asked any more."""
    if state.world.open is not None or state.world.trouble:
        return []
    return [one for one in left if (task := _task(state, one)) is not None and task.status == "ask"]


def told(left: Left) -> str:
    since = datetime.fromtimestamp(left.since, UTC).astimezone()
    return f"process {left.pid} since {since:%H:%M:%S on %Y-%m-%d} ({left.command})"


def _in_question(state: RunState, left: Left, claim: str) -> bool:
    task = _task(state, left)
    if task is None or task.attempt != left.attempt:
        return False
    return task.status == "ask" or (task.status == "open" and task.claim not in ("", claim))


def _task(state: RunState, left: Left) -> TaskAt | None:
    if state.ended or not state.world.cursor:
        return None
    serial, index, agent = parse_task(left.task)
    round_ = state.world.top.round
    if round_ is None or round_.serial != serial or round_.open is None or round_.open.index != index:
        return None
    return round_.open.tasks.get(agent)
