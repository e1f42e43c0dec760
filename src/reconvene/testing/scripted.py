"""Agents that say what a test tells them to, in order and at once. They obey the same contracts as the real ones."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence

from reconvene.adapters.agents.as_answer import from_result
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import Answer, Assignment, Listener

Reply = str | dict[str, object] | Answer | Exception | Callable[[Assignment], object]


class ScriptedAgents:
    """Agent name → replies, taken in order; the last one repeats.

    A reply is text, `{"text", "value", "files"}`, an Answer, an exception to raise, or a callable that is given the
    assignment and returns (or is awaited for) any of these. `calls` keeps every assignment.
    """

    def __init__(self, replies: Mapping[str, Sequence[Reply] | Reply], default: Reply | None = None) -> None:
        self.calls: list[Assignment] = []
        self.closed = False
        self._replies = {name: list(_several(given)) for name, given in replies.items()}
        self._default = default

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        self.calls.append(assignment)
        result: object = self._next(assignment.agent.name)
        if callable(result):
            result = result(assignment)
            if inspect.isawaitable(result):
                result = await result
        if isinstance(result, BaseException):
            raise result
        return from_result(assignment, result, Usage(model="scripted", requests=1))

    async def window(self, agent: Agent) -> int:
        return 0

    async def close(self) -> None:
        self.closed = True

    def of(self, agent: str) -> list[Assignment]:
        """What this agent was asked, in order."""
        return [call for call in self.calls if call.agent.name == agent]

    def _next(self, agent: str) -> Reply:
        replies = self._replies.get(agent)
        if replies:
            return replies.pop(0) if len(replies) > 1 else replies[0]
        if self._default is not None:
            return self._default
        raise AgentError(f"Nothing is scripted for the agent {agent!r}.", retryable=False)


def _several(given: Sequence[Reply] | Reply) -> Sequence[Reply]:
    """A list holds replies; anything else is the one reply. (An Answer is a tuple, but one reply all the same.)"""
    if isinstance(given, str | dict | Answer | Exception) or callable(given):
        return [given]
    return given
