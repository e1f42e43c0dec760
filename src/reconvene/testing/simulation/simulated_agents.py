"""Simulated agents: they take time, fail, act on the world outside, and answer late. What they really did is kept,
apart from everything that the engine records."""

from __future__ import annotations

import asyncio
from random import Random
from typing import TYPE_CHECKING, NamedTuple

from reconvene.adapters.agents.as_answer import from_result
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import AttemptEnded, RemarkAdded, RemarkWithdrawn, StepStarted, Usage
from reconvene.core.facts.ids import parse_task
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Listener

if TYPE_CHECKING:
    from reconvene.testing.simulation.simulated_world import Process, World


class Call(NamedTuple):
    run: str
    task: str
    attempt: int
    prompt: str


class Outside:
    """What happened, whoever knows of it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []
        self.acted: dict[tuple[str, str], int] = {}  # run and task → how often its agent acted on the world
        self.given: dict[tuple[str, str, int], list[str]] = {}  # run, task, attempt → the texts of its answers


class SimulatedAgents:
    """ports.AgentRunner of one process."""

    def __init__(self, process: Process, outside: Outside) -> None:
        self._process = process
        self._outside = outside

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        process, world = self._process, self._process.world
        name, attempt = assignment.agent.name, assignment.attempt
        process.step(f"a call of {name}")
        process.note(f"call {assignment.run} {assignment.task} attempt {attempt}")
        _check_call(world, assignment)
        self._outside.calls.append(Call(assignment.run, assignment.task, attempt, assignment.whole))
        random = Random(f"{world.seed} {assignment.run} {assignment.task} {attempt} {len(self._outside.calls)}")
        if world.faults.strikes("failing provider"):
            await asyncio.sleep(random.uniform(0, 0.3))
            raise AgentError("The provider is overloaded.", outcome="transport")
        try:
            await asyncio.sleep(random.uniform(0.02, 1.0))
            if assignment.agent.effects:
                process.step(f"an act of {name}")
                self._act(assignment)
                process.step(f"an act of {name}, which is done")
            slow = world.faults.strikes("slow agent")
            await asyncio.sleep(random.uniform(3, 12) if slow else random.uniform(0.0, 0.6))
        except asyncio.CancelledError:
            if not process.alive and assignment.agent.effects and world.faults.strikes("agent outlives"):
                self._act_later(assignment, random.uniform(0, 3))
            raise
        process.step(f"an answer of {name}")
        if world.faults.strikes("failing agent"):
            raise AgentError(f"{name} broke.", outcome="other", retryable=True)
        text = f"{name} on {assignment.task}, attempt {attempt}, call {len(self._outside.calls)}."
        self._outside.given.setdefault((assignment.run, assignment.task, attempt), []).append(text)
        files = {path: f"{text}\n".encode() for path in assignment.writes if "*" not in path}
        return from_result(assignment, {"text": text, "files": files}, Usage(model="simulated", requests=1))

    def _act(self, assignment: Assignment) -> None:
        key = assignment.run, assignment.task
        self._outside.acted[key] = self._outside.acted.get(key, 0) + 1
        self._process.note(f"act {assignment.run} {assignment.task} attempt {assignment.attempt}")

    def _act_later(self, assignment: Assignment, seconds: float) -> None:
        """Its program goes on without the process that started it."""
        key = (assignment.run, assignment.task, assignment.attempt)
        if key in self._outside.given or self._has_acted(assignment):
            return
        self._process.world.loop.call_later(seconds, self._act, assignment)

    def _has_acted(self, assignment: Assignment) -> bool:
        return bool(self._outside.acted.get((assignment.run, assignment.task)))

    async def window(self, agent: Agent) -> int:
        return 0

    async def close(self) -> None:
        """Nothing is held."""


def _check_call(world: World, assignment: Assignment) -> None:
    """Against the log as it is on disk: what is on record is not made again, and what was said before the step began,
    and not taken back since, is shown to its agents."""
    serial, step, _ = parse_task(assignment.task)
    said: dict[int, str] = {}
    shown: dict[int, str] = {}
    for _, event in world.disk.read(assignment.run):
        match event:
            case RemarkAdded():
                said[event.number] = event.text
            case RemarkWithdrawn():
                said.pop(event.number, None)
                shown.pop(event.number, None)
            case StepStarted() if (event.serial, event.step) == (serial, step):
                shown = dict(said)
            case AttemptEnded(verdict="accepted") if event.task == assignment.task:
                if event.attempt == assignment.attempt:
                    world.violated(f"{assignment.task} attempt {event.attempt} is on record, and is made again")
    for text in shown.values():
        if text not in assignment.whole:
            world.violated(f"{assignment.task} was not shown {text!r}, which was said before its step began")
