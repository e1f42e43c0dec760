"""Agents behind one port: a model, a command, a Python function, a recording.

Each adapter is imported when the first agent of its kind works, so that nobody pays for a library that is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from reconvene.adapters.agents.unkept import Open
from reconvene.errors import AgentError, ReconveneError
from reconvene.ports import Answer, Assignment, Listener
from reconvene.sandbox_ports import Leftovers, Sandbox
from reconvene.tool_ports import CallsWait, ToolInfo, Turns

if TYPE_CHECKING:
    from reconvene.adapters.agents.auto import Picked
    from reconvene.adapters.agents.prompt_cache import Beginnings
    from reconvene.adapters.agents.tool_loop import Toolboxes
    from reconvene.core.definition.workflow import Agent


class Agents:
    """Runs one attempt of any agent. `say`: for a person.

    `scratch`: where command agents get their private folders, or the sandbox that has them and keeps the commands in.
    `servers`: the file in which it is kept what servers of one's own can do; "" = nowhere.
    """

    def __init__(
        self,
        scratch: str | Sandbox,
        environ: Mapping[str, str],
        say: Callable[[str], None] | None = None,
        servers: str = "",
        toolboxes: Toolboxes | None = None,
    ) -> None:
        self._sandbox = Open(scratch) if isinstance(scratch, str) else scratch
        self.leftovers: Leftovers | None = scratch if isinstance(scratch, Leftovers) else None
        self._environ = environ
        self._say = say
        self._servers = servers
        self._toolboxes = toolboxes
        self._picked: Picked | None = None
        self._beginnings: Beginnings | None = None

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        try:
            return await self._dispatch(assignment, listener)
        except (ReconveneError, CallsWait):
            raise
        except Exception as error:  # one agent's surprise must not bring a whole run down
            problem = f"Agent {assignment.agent.name!r} failed unexpectedly: {type(error).__name__}: {error}"
            raise AgentError(
                problem,
                hint="This may be a defect of reconvene: please report it.",
                for_agents="The agent failed unexpectedly.",
            ) from error

    async def _dispatch(self, assignment: Assignment, listener: Listener) -> Answer:
        match assignment.agent.kind:
            case "model":
                return await self._model(assignment, listener)
            case "command":
                from reconvene.adapters.agents import asking, command, presets

                if not assignment.bound or presets.preset(assignment.agent.command) is not None:
                    return await command.run(asking.whole(assignment), listener, self._sandbox, self._environ)
                # It is in another's place, for whom the prompt was written: the contract is told in words.
                asked = asking.in_words(assignment._replace(writes=()))
                lent = bool(assignment.folder)
                return await command.run(asked, listener, self._sandbox, self._environ, as_model=not lent)
            case "python":
                from reconvene.adapters.agents import asking, python

                if assignment.agent.sandbox == "strict":
                    problem = f"{assignment.agent.name} may only work in a sandbox, and a function shares our process."
                    raise AgentError(problem, hint="Let a command call it, or write sandbox: off.", retryable=False)
                return (await python.run(asking.whole(assignment)))._replace(sandbox="in-process")
            case "recorded":
                from reconvene.adapters.agents import asking, recorded

                asked, turns = asking.whole(assignment), assignment.turns
                if self._toolboxes is None or turns is None:
                    return await recorded.run(asked, listener, self._environ)
                from reconvene.adapters.agents import recorded_calls

                return await recorded_calls.run(asked, listener, self._environ, self._toolboxes, turns)
            case "survey":
                problem = f"{assignment.agent.name} surveys a project, and this run was given none."
                raise AgentError(problem, hint="Start a run with --input project=FOLDER.", retryable=False)
            case kind:
                assert_never(kind)

    async def tools(self, assignment: Assignment) -> tuple[ToolInfo, ...]:
        if self._toolboxes is None:
            return ()
        async with self._toolboxes.open(assignment, {}, lambda _: None) as box:
            return box.tools()

    async def window(self, agent: Agent) -> int:
        if agent.kind != "model" and "window" not in agent.options:
            return 0
        from reconvene.adapters.agents.windows import window_of

        try:
            picked = await self._pick() if _is_open(agent) else None
        except AgentError:  # said when the agent is to work
            return 0
        return window_of(agent, picked.model if picked else "")

    async def close(self) -> None:
        """Nothing outlives an attempt but the folder that they were in."""
        self._sandbox.close()

    async def _model(self, assignment: Assignment, listener: Listener) -> Answer:
        agent = assignment.agent
        if _is_open(agent):
            picked = await self._pick()
            if picked.kind == "command":
                return await self._stand_in(assignment, listener, picked.command)
            assignment = assignment._replace(agent=replace(agent, model=picked.model))
        from reconvene.adapters.agents import model, prompt_cache, schema_support

        if assignment.agent.tools and assignment.turns is not None:
            return await self._with_tools(assignment, assignment.turns, listener)
        self._beginnings = self._beginnings or prompt_cache.Beginnings()
        with schema_support.kept_in(self._servers):
            return await model.run(assignment, listener, self._environ, self._beginnings)

    async def _with_tools(self, assignment: Assignment, turns: Turns, listener: Listener) -> Answer:
        from reconvene.adapters.agents import tool_loop

        if self._toolboxes is None:
            raise AgentError(f"Agent {assignment.agent.name!r} needs tools, and there are none here.", retryable=False)
        return await tool_loop.run(assignment, listener, self._environ, self._toolboxes, turns)

    async def _stand_in(self, assignment: Assignment, listener: Listener, argv: tuple[str, ...]) -> Answer:
        """A command-line agent in a model's place: asked in words for what a model would be asked for."""
        from reconvene.adapters.agents import asking, command

        asked = asking.in_words(assignment._replace(agent=replace(assignment.agent, command=argv)))
        return await command.run(asked, listener, self._sandbox, self._environ, as_model=True)

    async def _pick(self) -> Picked:
        if self._picked is None:
            import asyncio

            from reconvene.adapters.agents import auto

            picked = await asyncio.to_thread(auto.pick, self._environ)
            if picked is None:
                raise auto.nothing_found()
            if self._picked is None:  # several agents may have looked at the same time
                self._picked = picked
                if self._say:
                    self._say(f"model auto → {picked.name} ({picked.why})")
        return self._picked


def _is_open(agent: Agent) -> bool:
    """Whether its model is still to be looked for. With a base_url of its own, "auto" leaves nothing to find."""
    return agent.kind == "model" and agent.model == "auto" and not agent.options.get("base_url")
