"""How long a model may take: to be reached, to begin, between two tokens, and for all of it.

The first token may take long: a local server loads the model first, and some models think without showing it. After
that, a pause means that something is stuck.
"""

from __future__ import annotations

from typing import NamedTuple

from reconvene.core.definition.workflow import Agent
from reconvene.errors import AgentError
from reconvene.language.times import duration

NAMES = ("connect_timeout", "first_token_timeout", "token_timeout", "timeout")


class Limits(NamedTuple):
    """In seconds; none is longer than the total."""

    connect: float = 10.0
    first_token: float = 600.0
    token: float = 120.0
    total: float = 1800.0


_DEFAULTS = Limits()


def limits(agent: Agent) -> Limits:
    """From an agent's options; its own `timeout` is the most that any of them may be."""
    total = min(agent.timeout, _option(agent, "timeout", agent.timeout))
    return Limits(
        min(total, _option(agent, "connect_timeout", _DEFAULTS.connect)),
        min(total, _option(agent, "first_token_timeout", _DEFAULTS.first_token)),
        min(total, _option(agent, "token_timeout", _DEFAULTS.token)),
        total,
    )


def _option(agent: Agent, name: str, default: float) -> float:
    given = agent.options.get(name)
    if given is None:
        return default
    seconds = 0.0 if isinstance(given, bool) else duration(given)
    if seconds <= 0:
        raise AgentError(
            f"The option `{name}: {given}` of {agent.name!r} is not a duration.",
            hint='Write seconds, or text such as "10m".',
            outcome="usage",
        )
    return seconds
