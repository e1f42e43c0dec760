"""Where golden homes were recorded, and an engine on one that lies elsewhere now.

A home's log names absolute paths: the folder of a run's files, the person's project. All of them lie below PLACE. To
read a golden home nobody needs a folder of that name: the engine's ports are given the place where it was unpacked.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from msgspec.structs import replace

from reconvene.adapters.agents import Agents
from reconvene.adapters.agents.unkept import Open
from reconvene.adapters.git import GitHistory
from reconvene.adapters.project import GitProjects
from reconvene.adapters.workspace import FolderWorkspace
from reconvene.app.engine import Engine
from reconvene.app.signing import Signer
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import Usage
from reconvene.errors import AgentError
from reconvene.ports import AgentRunner, Answer, Assignment, Clock, Listener, ProjectLook, ProjectWork
from reconvene.surroundings import Machine
from reconvene.tool_ports import ToolInfo
from reconvene.tool_wiring import LateToolboxes
from reconvene.wiring import open_log

PLACE = "/tmp/reconvene-golden"
HOME = ".reconvene"
_FIRST = datetime(2026, 3, 2, 9, tzinfo=UTC)
_DATED = Path(__file__).parent / "dated"  # a git whose commits are all made at the same time
_SECONDS = 30.0  # that every recorded answer took


class Ticks:
    """A minute later at every look."""

    def __init__(self, minutes: int = 0) -> None:
        self.minutes = minutes

    def now(self) -> str:
        self.minutes += 1
        return f"{_FIRST + timedelta(minutes=self.minutes):%Y-%m-%dT%H:%M:%S}.000Z"


class Still(Ticks):
    """Stands still until somebody moves it: how often the code looks makes no difference to what it writes."""

    def now(self) -> str:
        self.minutes -= 1
        return super().now()


class OnlyRecorded:
    """The real agents, but only those that answer from the recording in the home: no model, no command.

    Their calls of tools are made, without a sandbox: what keeps programs in is another thing on every machine. How long
    an answer took is not measured: it would be another time in every run.
    """

    def __init__(self, folder: Path) -> None:
        environ = environment(folder)
        toolboxes = LateToolboxes(Open(tempfile.gettempdir()), environ, list)
        self._agents = Agents(os.devnull, environ, toolboxes=toolboxes)
        self._folder = folder

    async def run(self, assignment: Assignment, listener: Listener) -> Answer:
        if assignment.agent.kind == "command" and assignment.project is not None and not assignment.project.place:
            return _suite(assignment)
        if assignment.agent.kind not in ("recorded", "survey"):
            raise AgentError(f"{assignment.agent.name} is no recording, and nothing else is asked.", retryable=False)
        answer = await self._agents.run(self._here(assignment), listener)
        return answer._replace(usage=replace(answer.usage, seconds=_SECONDS))

    async def tools(self, assignment: Assignment) -> tuple[ToolInfo, ...]:
        return await self._agents.tools(self._here(assignment))

    def _here(self, assignment: Assignment) -> Assignment:
        """With the sources of data where they lie now."""
        there = (replace(one, address=moved(one.address, self._folder)) for one in assignment.sources)
        return assignment._replace(sources=tuple(there))

    async def window(self, agent: Agent) -> int:
        return await self._agents.window(agent)

    async def close(self) -> None:
        await self._agents.close()


def _suite(assignment: Assignment) -> Answer:
    """The tests of a project, as if they had been run: what a suite prints says how long it took, which is never the
    same. The command `false` fails."""
    *_, command, mark = assignment.agent.command
    printed = "Ran 3 tests in 0.001s\n\nOK\n" if command != "false" else ""
    said = f"{printed}\n{mark} {int(command == 'false')}\n".encode()
    return Answer("", None, False, {}, (), Usage(seconds=_SECONDS), b"", said)


class _Moved(GitProjects):
    """The person's project, where it lies now; the log goes on to name the place where it lay."""

    def __init__(self, folder: Path, environ: dict[str, str]) -> None:
        super().__init__(str(folder / HOME), environ)
        self._folder = folder

    async def run(self, runner: AgentRunner, assignment: Assignment, listener: Listener) -> Answer:
        work = assignment.project
        assert work is not None
        there = work._replace(path=moved(work.path, self._folder))
        answer = await super().run(runner, assignment._replace(project=there), listener)
        done = answer.project
        return answer._replace(project=done and done._replace(path=work.path))

    def unfit(self, path: str) -> str:
        return super().unfit(moved(path, self._folder))

    def files(self, work: ProjectWork, names: Sequence[str]) -> str:
        return super().files(work._replace(path=moved(work.path, self._folder)), names)

    def look(self, path: str, branch: str, base: str, commit: str) -> ProjectLook:
        """Not where a home was made, and so not where it is unpacked: the two are compared."""
        raise AgentError("The project of a golden home is not looked at.", retryable=False)

    def publish(self, run: str, path: str, branch: str, commit: str, *, create: bool = True) -> str:
        return super().publish(run, moved(path, self._folder), branch, commit, create=create)


def moved(path: str, folder: Path) -> str:
    """A recorded path, as it is after its home was unpacked into this folder."""
    inside = path == PLACE or path.startswith(PLACE + "/")
    return str(folder) + path.removeprefix(PLACE) if inside else path


def environment(folder: Path) -> dict[str, str]:
    """Nothing of the machine's but where programs are: no name, no key, no configuration of the person's."""
    path = f"{_DATED}{os.pathsep}{os.environ.get('PATH', os.defpath)}"
    return {"PATH": path, "HOME": str(folder / HOME), "RECONVENE_DEMO_SPEED": "0"}


def open_golden(folder: Path, clock: Clock, runner: AgentRunner | None = None, signer: Signer | None = None) -> Engine:
    """An engine on the home that was unpacked into this folder."""
    home, environ = folder / HOME, environment(folder)

    def workspace_for(run: str, recorded: str) -> FolderWorkspace:
        return FolderWorkspace(moved(recorded, folder), str(home / "manifests" / f"{run}.json"))

    return Engine(
        open_log(home),
        clock,
        runner or OnlyRecorded(folder),
        workspace_for,
        lambda: GitHistory(str(home / "history.git")),
        f"{PLACE}/{HOME}",
        projects=_Moved(folder, environ),
        surroundings=Machine({}),
        signer=signer,
    )
