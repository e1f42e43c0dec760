"""Agents behind one port: a model, a command, a Python function, a recording.

Each adapter is imported when the first agent of its kind works, so that nobody pays for a library that is not used.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from reconvene.adapters.agents.unkept import Open
from reconvene.errors import AgentError, ReconveneError
from reconvene.ports import Answer, Assignment, Listener, Sandbox

if TYPE_CHECKING:
    from reconvene.adapters.agents.auto import Picked


class Agents:
    """Runs one attempt of any agent. `say`: for a person.

    `scratch`: where command agents get their private folders, or the sandbox that has them and keeps the commands in.
    """

    def __init__(
        self, scratch: str | Sandbox, environ: Mapping[str, str], say: Callable[[str], None] | None = None
    ) -> None:
        self._sandbox = Open(scratch) if isinstance(scratch, str) else scratch
        self._environ = environ
        self._say = say
        self._picked: Picked | None = None

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        try:
            return await self._dispatch(assignment, listener)
        except ReconveneError:
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
                    return await command.run(assignment, listener, self._sandbox, self._environ)
                # It is in another's place, for whom the prompt was written: the contract is told in words.
                told = asking.compose(assignment._replace(writes=()), with_schema=True)
                lent = bool(assignment.folder)
                asked = assignment._replace(prompt=told)
                return await command.run(asked, listener, self._sandbox, self._environ, as_model=not lent)
            case "python":
                from reconvene.adapters.agents import python

                return (await python.run(assignment))._replace(sandbox="in-process")
            case "recorded":
                from reconvene.adapters.agents import recorded

                return await recorded.run(assignment, listener, self._environ)
            case "survey":
                problem = f"{assignment.agent.name} surveys a project, and this run was given none."
                raise AgentError(problem, hint="Start a run with --input project=FOLDER.", retryable=False)
            case kind:
                assert_never(kind)

    async def close(self) -> None:
        """Nothing outlives an attempt but the folder that they were in."""
        self._sandbox.close()

    async def _model(self, assignment: Assignment, listener: Listener) -> Answer:
        agent = assignment.agent
        # with a base_url of its own, "auto" leaves nothing to look for
        if agent.model == "auto" and not agent.options.get("base_url"):
            picked = await self._pick()
            if picked.kind == "command":
                return await self._stand_in(assignment, listener, picked.command)
            assignment = assignment._replace(agent=replace(agent, model=picked.model))
        from reconvene.adapters.agents import model

        return await model.run(assignment, listener, self._environ)

    async def _stand_in(self, assignment: Assignment, listener: Listener, argv: tuple[str, ...]) -> Answer:
        """A command-line agent in a model's place: asked in words for what a model would be asked for."""
        from reconvene.adapters.agents import asking, command

        asked = assignment._replace(
            agent=replace(assignment.agent, command=argv), prompt=asking.compose(assignment, with_schema=True)
        )
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
