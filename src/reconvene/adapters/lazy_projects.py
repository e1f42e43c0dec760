"""The person's projects, loaded when a run first works in one: most never do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.adapters.project import GitProjects
    from reconvene.ports import AgentRunner, Answer, Assignment, Listener, ProjectWork


class LazyProjects:
    """ports.Projects."""

    def __init__(self, home: str, environ: Mapping[str, str]) -> None:
        self._home = home
        self._environ = environ

    @cached_property
    def _projects(self) -> GitProjects:
        from reconvene.adapters.project import GitProjects

        return GitProjects(self._home, self._environ)

    async def run(self, runner: AgentRunner, assignment: Assignment, listener: Listener) -> Answer:
        return await self._projects.run(runner, assignment, listener)

    def unfit(self, path: str) -> str:
        return self._projects.unfit(path)

    def files(self, work: ProjectWork, names: Sequence[str]) -> str:
        return self._projects.files(work, names)

    def publish(self, run: str, path: str, branch: str, commit: str, *, create: bool = True) -> str:
        return self._projects.publish(run, path, branch, commit, create=create)

    def close(self, run: str) -> None:
        self._projects.close(run)
