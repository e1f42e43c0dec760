"""What another round would take: minutes, calls, tokens and cost, from this run's own measurements.

Per agent the median of its last few tasks (retries included); an agent not yet measured counts as the run's median
task. Agents of one step work at the same time, so a step takes as long as its slowest, or longer where more agents wait
than may work at once; steps follow one another. Knows no clock and no prices: only what the log measured.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from statistics import median

from msgspec import Struct

from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task, task_id

LAST_TASKS = 3  # how many of an agent's tasks its estimate rests on


class Estimate(Struct, frozen=True):
    """None = not known. `measurements`: how many measured tasks this rests on; `basis` says so in words."""

    minutes: float | None
    calls: int
    tokens: int | None
    cost: float | None
    basis: str
    measurements: int
    unmeasured: tuple[str, ...] = ()  # agents that have not worked in this run yet

    def line(self) -> str:
        calls = f"{self.calls} agent call{'' if self.calls == 1 else 's'}"
        if self.minutes is None:
            return f"{calls}; {self.basis}"
        parts = ["less than a minute" if self.minutes < 1 else f"about {self.minutes:.0f} min", calls]
        if self.tokens:
            parts.append(f"about {_rounded(self.tokens)} tokens")
        if self.cost:
            parts.append(f"about ${self.cost:.2f}")
        return f"{', '.join(parts)} ({self.basis})"


def _rounded(tokens: int) -> str:
    return f"{tokens / 1e6:.1f}M" if tokens >= 1e6 else f"{tokens / 1e3:.0f}k" if tokens >= 1e4 else str(tokens)


class Task(Struct, frozen=True):
    """One measured task: all its attempts together."""

    seconds: float
    tokens: int = 0
    cost: float = 0.0


Measured = Mapping[str, Sequence[Task]]  # agent → its tasks, oldest first


def estimate(
    source: Iterable[e.AnyEvent] | Measured, agents: Sequence[str] | Sequence[Sequence[str]], *, concurrency: int = 0
) -> Estimate:
    """`agents`: those of one step, or a list per step. `concurrency` 0 = as many at once as there are."""
    measured = source if isinstance(source, Mapping) else measurements(source)
    steps = _steps(agents)
    names = [name for step in steps for name in step]
    last = {agent: tuple(tasks[-LAST_TASKS:]) for agent, tasks in measured.items() if tasks}
    everything = [task for tasks in last.values() for task in tasks]
    if not everything:
        basis = "nothing is measured in this run yet"
        return Estimate(None, len(names), None, None, basis, 0, tuple(dict.fromkeys(names)))
    typical = _middle(everything)
    expected = {name: _middle(last[name]) if name in last else typical for name in names}
    unmeasured = tuple(dict.fromkeys(name for name in names if name not in last))
    seconds = sum(_span([expected[name].seconds for name in step], concurrency) for step in steps)
    rests = sum(len(last[name]) for name in dict.fromkeys(names) if name in last) or len(everything)
    basis = f"from {rests} measured task{'' if rests == 1 else 's'} of this run"
    cost = sum(expected[name].cost for name in names)
    tokens = sum(expected[name].tokens for name in names)
    return Estimate(
        minutes=round(seconds / 60, 2),
        calls=len(names),
        tokens=tokens or None,
        cost=round(cost, 6) or None,
        basis=f"{basis}; {', '.join(unmeasured)} as the run's median" if unmeasured else basis,
        measurements=rests,
        unmeasured=unmeasured,
    )


def _steps(agents: Sequence[str] | Sequence[Sequence[str]]) -> list[list[str]]:
    single = [agent for agent in agents if isinstance(agent, str)]
    several = [list(step) for step in agents if not isinstance(step, str)]
    return ([single] if single else []) + several


def _middle(tasks: Sequence[Task]) -> Task:
    return Task(
        seconds=median(task.seconds for task in tasks),
        tokens=round(median(task.tokens for task in tasks)),
        cost=median(task.cost for task in tasks),
    )


def _span(seconds: Sequence[float], concurrency: int) -> float:
    """How long it takes until the last is done, the agents taken in turn as places become free."""
    free = [0.0] * (min(concurrency, len(seconds)) if concurrency > 0 else len(seconds))
    for one in seconds:
        heapq.heappush(free, heapq.heappop(free) + one)
    return max(free, default=0.0)


def measurements(events: Iterable[e.AnyEvent]) -> dict[str, list[Task]]:
    """Every task that was accepted, by agent, oldest first."""
    began: dict[str, str] = {}
    spent: dict[str, Task] = {}
    found: dict[str, list[Task]] = {}
    for event in events:
        match event:
            case e.StepStarted():
                for start in event.tasks:
                    began[task_id(event.serial, event.step, start.agent)] = event.at
            case e.TasksClaimed():
                began.update(dict.fromkeys(event.tasks, event.at))
            case e.AttemptEnded():
                before = spent.get(event.task, Task(0.0))
                usage = event.usage
                # An attempt in doubt ended nobody knows when: the time until it was found says nothing.
                since = event.at if event.verdict == "doubt" else began.get(event.task, event.at)
                seconds = usage.seconds or seconds_between(since, event.at)
                began[event.task] = event.at
                tokens = before.tokens + usage.input_tokens + usage.output_tokens
                task = Task(before.seconds + seconds, tokens, before.cost + usage.cost)
                spent[event.task] = task
                if event.verdict == "accepted":
                    found.setdefault(parse_task(event.task)[2], []).append(task)
            case _:
                pass  # says nothing about how long work takes
    return found


def seconds_between(earlier: str, later: str) -> float:
    """Never negative: a clock that was set back must not give time away."""
    return max(0.0, (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds())
