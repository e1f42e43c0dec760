"""Where the runs of a home have their folders: a workflow may put them outside of it, and agents must not see them."""

from __future__ import annotations

from reconvene.core.facts.events import Forked, RunStarted
from reconvene.ports import EventLog

_MOST = 1000  # runs, the newest first


class RunFolders:
    """Looks each run up once."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._found: dict[str, str] = {}

    def __call__(self) -> list[str]:
        for row in self._log.index(limit=_MOST):
            if row.run not in self._found:
                self._found[row.run] = self._folder(row.run)
        return [folder for folder in self._found.values() if folder]

    def _folder(self, run: str) -> str:
        """A fork's log begins as that of the run that it came from."""
        for limit in (1, 0):
            for _, event in self._log.read(run, 0, limit):
                if isinstance(event, RunStarted | Forked) and event.run == run:
                    return event.workspace
        return ""
