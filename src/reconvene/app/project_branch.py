"""The branch of a run in the person's project, kept where the log says."""

from __future__ import annotations

from reconvene.core.facts.state import RunState
from reconvene.errors import ReconveneError
from reconvene.ports import Listener, Progress, Projects


class Branch:
    """The run's branch in the person's project: it stands where the log says, or is left alone.

    Remembers where it last put the branch, so that an append without new work costs nothing.
    """

    def __init__(self, projects: Projects | None, listener: Listener) -> None:
        self._projects = projects
        self._listener = listener
        self._at: tuple[str, str] | None = None

    def sync(self, state: RunState) -> None:
        """Whatever keeps the branch back must not keep the run back: its work is in the log, and is told of."""
        project = state.record.project
        if self._projects is None or project is None or not project.branch:
            return
        commit = state.world.head or project.base
        if not commit or self._at == (project.branch, commit):
            return
        self._at = (project.branch, commit)
        try:
            create = bool(state.world.head)  # a run that has changed nothing (any more) makes no branch
            wrong = self._projects.publish(state.run, project.path, project.branch, commit, create=create)
        except ReconveneError as error:
            wrong = error.message
        if wrong:
            self._listener(Progress(state.run, "", "project", "note", wrong))

    def leave(self, state: RunState) -> None:
        """An ended run leaves its branch to the person, and no worktree behind."""
        self.sync(state)
        if self._projects is not None and state.record.project is not None:
            self._projects.close(state.run)
