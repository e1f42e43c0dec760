"""What surrounds the engine on this machine: its clock, what settings may ask about it, the person's projects, what the
settings files say, where finished work is kept."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Literal

from reconvene.home import FINISHED, file_name, settings_files
from reconvene.settings import store_wait, taken_of_agents, usual_sandbox

if TYPE_CHECKING:
    from reconvene.adapters.project import GitProjects
    from reconvene.app.unrecorded import Keeping
    from reconvene.ports import AgentRunner, Answer, Assignment, Listener, ProjectLook, ProjectWork


def keeping(home: str) -> Keeping:
    """Where what agents finished is kept until the store has it, and how much is taken of them."""
    from reconvene.adapters.finished_outputs import FinishedFiles
    from reconvene.app.unrecorded import Keeping
    from reconvene.shelf_ports import Takes

    shelf = FinishedFiles(os.path.join(home, FINISHED), file_name)
    return Keeping(shelf, store_wait(limit_from_files), Takes(*taken_of_agents(limit_from_files)))


class SystemClock:
    def __init__(self) -> None:
        self._second = 0
        self._text = ""

    def now(self) -> str:
        second, millis = divmod(time.time_ns() // 1_000_000, 1000)
        if second != self._second:
            self._second, self._text = second, time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second))
        return f"{self._text}.{millis:03d}Z"


class Machine:
    """What a run's settings may ask about where it is started."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        self._environ = environ

    def variable(self, name: str) -> str:
        return self._environ.get(name, "")

    def machine(self) -> dict[str, object]:
        import shutil

        from reconvene.adapters.agents.auto import coder, pick

        return {
            "model": pick(self._environ) is not None,
            "git": shutil.which("git", path=self._environ.get("PATH", "")) is not None,
            "coder": coder(self._environ),
        }


class LazyProjects:
    """ports.Projects, loaded when a run first works in a project: most never do."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ

    @cached_property
    def _projects(self) -> GitProjects:
        from reconvene.adapters.agents.presets import steers_any
        from reconvene.adapters.project import GitProjects

        return GitProjects(self._home, self._environ, steers_any, self._keeps)

    def _keeps(self, sandbox: str) -> bool:
        from reconvene.adapters.sandbox import levels

        wanted = usual_sandbox() if sandbox == "auto" else sandbox
        return wanted != "off" and levels.find(self._environ).name != "none"

    async def run(self, runner: AgentRunner, assignment: Assignment, listener: Listener) -> Answer:
        return await self._projects.run(runner, assignment, listener)

    def unfit(self, path: str) -> str:
        return self._projects.unfit(path)

    def files(self, work: ProjectWork, names: Sequence[str]) -> str:
        return self._projects.files(work, names)

    def publish(self, run: str, path: str, branch: str, commit: str, *, create: bool = True) -> str:
        return self._projects.publish(run, path, branch, commit, create=create)

    def look(self, path: str, branch: str, base: str, commit: str) -> ProjectLook:
        return self._projects.look(path, branch, base, commit)

    def compare(self, path: str, old: str, new: str) -> str:
        return self._projects.compare(path, old, new)

    def close(self, run: str) -> None:
        self._projects.close(run)


def from_files(name: Literal["gate_model", "feedback_model", "search_model", "companion_model", "url"]) -> str:
    """What the settings files say, the project's before the person's own; "" where they say nothing."""
    if not settings_files():
        return ""
    from reconvene.settings_file import in_force

    said = [getattr(one, name) for one in in_force()]
    return next((text for text in reversed(said) if text), "")


def limit_from_files(name: str) -> int | None:
    """The same of a limit: one of `settings.LIMITS`."""
    if not settings_files():
        return None
    from reconvene.settings_file import in_force

    said = [one.limits[name] for one in in_force() if name in one.limits]
    return said[-1] if said else None
