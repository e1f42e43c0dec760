"""One tiny real call to whatever agents are done by: does it answer, how fast, for how much? Nothing of it is recorded.

Bounded in time and in tokens. Knows the port of agents, and no provider.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.ports import AgentRunner, Assignment, Progress

PROMPT = "Reply with the word OK and nothing else.\n"
SECONDS = 60.0  # that one call may take
TOKENS = 200  # of its reply: room for a model that thinks first
_AT_ONCE = 4
_SHOWN = 60


class Trial(NamedTuple):
    """What came of one call."""

    ok: bool
    seconds: float = 0.0
    tokens: int = 0
    cost: float = 0.0  # USD, 0 where it is not known
    reply: str = ""  # its beginning
    problem: str = ""
    hint: str = ""


async def try_all(runner: AgentRunner, agents: Sequence[Agent]) -> list[Trial]:
    """In the order given, a few at a time. Never raises: a failure is an answer."""
    slots = asyncio.Semaphore(_AT_ONCE)

    async def one(agent: Agent) -> Trial:
        async with slots:
            return await _try(runner, agent)

    return list(await asyncio.gather(*map(one, agents)))


async def _try(runner: AgentRunner, agent: Agent) -> Trial:
    began = time.monotonic()
    work = Assignment("trial", f"R1/0/{agent.name}", 1, _bounded(agent), PROMPT, {}, (), None)
    try:
        answer = await runner.run(work, _ignore)
    except AgentError as error:
        seconds = round(time.monotonic() - began, 1)
        if error.outcome == "length":
            return Trial(True, seconds, reply=f"(more than {TOKENS} tokens)")  # it was asked, and it answers
        return Trial(False, seconds, problem=error.message, hint=error.hint)
    usage, seconds = answer.usage, round(time.monotonic() - began, 1)
    tokens, text = usage.input_tokens + usage.output_tokens, " ".join(answer.text.split())
    if not text:
        return Trial(False, seconds, tokens, usage.cost, problem="it replied with nothing")
    shown = text if len(text) <= _SHOWN else text[: _SHOWN - 1] + "…"
    return Trial(True, seconds, tokens, usage.cost, shown)


def _bounded(agent: Agent) -> Agent:
    """Without gates, contract and retries: only whether it answers counts."""
    options = {**agent.options, "max_tokens": TOKENS} if agent.kind == "model" else agent.options
    return replace(
        agent, timeout=min(agent.timeout, SECONDS), options=options, schema=None, gates=(), retries=0, prompt=""
    )


def _ignore(progress: Progress) -> None:
    return None
