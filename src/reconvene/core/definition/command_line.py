"""Who really runs an agent whose command the run's settings name. Pure: no shell and no process is involved."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

from msgspec.structs import replace

from reconvene.core.definition.workflow import Agent
from reconvene.errors import ReconveneError, UserError
from reconvene.language import templates


def settled(agent: Agent, settings: Mapping[str, object], inputs: Mapping[str, object]) -> Agent:
    """The agent with its command filled in; as a model where that is empty and the workflow says so."""
    if not agent.command_line:
        return agent
    try:
        words = shlex.split(templates.render(agent.command_line, {"settings": settings, "inputs": inputs}))
    except (ReconveneError, ValueError) as error:
        raise UserError(f"the command of {agent.name}, `{agent.command_line}`, is no command line: {error}") from None
    if words:
        return replace(agent, command=tuple(words))
    if agent.or_model:
        return replace(agent, kind="model")
    raise UserError(
        f"{agent.name} has no command: `{agent.command_line}` is empty in this run",
        hint="start a new run and name one with --set",
    )
