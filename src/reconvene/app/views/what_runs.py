"""What driving a run would start, ask and write, a line each: for a person to read before they accept it. Pure."""

from __future__ import annotations

import shlex
from collections.abc import Iterator

from reconvene.app.project_work import project_path
from reconvene.core.definition.workflow import Agent, every_phase
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import RunState
from reconvene.core.shown.settled_agents import settled_agents


def what_runs(state: RunState, book: Book, home: str) -> tuple[str, ...]:
    return tuple(_lines(state, book, home))


def _lines(state: RunState, book: Book, home: str) -> Iterator[str]:
    for agent in settled_agents(state, book):
        yield from _of_agent(agent)
    for phase in every_phase(book.workflow):
        if phase.check is not None and phase.check.script:
            yield f"the check of {phase.id} runs: {shlex.join(phase.check.script)}"
    for kit in book.workflow.kits:
        yield f"it loads the kit {kit}"
    if project := state.record.project.path if state.record.project else project_path(state, book):
        yield f"agents work in the project {project}"
    if not f"{state.workspace}/".startswith(f"{home}/"):
        yield f"it writes files below {state.workspace}"


def _of_agent(agent: Agent) -> Iterator[str]:
    sees = f" (and sees {', '.join(agent.env)})" if agent.env else ""
    match agent.kind:
        case "command":
            yield f"{agent.name} runs: {agent.command_line or shlex.join(agent.command)}{sees}"
        case "python":
            yield f"{agent.name} calls: {agent.python}" + (f" in {agent.beside}" if agent.beside else "")
        case "model":
            key = agent.options.get("api_key_env")
            where = f" at {agent.options['base_url']}" if agent.options.get("base_url") else ""
            yield f"{agent.name} asks: {agent.model}{where}" + (f" with the key in {key}" if key else "")
