"""Where the runs of a home have their folders: a workflow may put them outside of it, and agents must not see them."""

from __future__ import annotations

from reconvene.core.facts.events import Forked, Imported, RunStarted
from reconvene.ports import EventLog, IndexRow

_MOST = 1000  # runs, the newest first


class RunFolders:
    """Looks each run up once."""

    def __init__(self, log: EventLog) -> None:
        self._log = log
        self._found: dict[str, str] = {}

    def __call__(self) -> list[str]:
        for row in self._log.index(limit=_MOST):
            if row.run not in self._found:
                self._found[row.run] = self._folder(row)
        return [folder for folder in self._found.values() if folder]

    def _folder(self, row: IndexRow) -> str:
        """A fork's log begins as that of the run that it came from, and an imported one names its folder here last."""
        for limit in (0,) if '"imported":true' in row.doc else (1, 0):
            events = [event for _, event in self._log.read(row.run, 0, limit)]
            own = [one.workspace for one in events if isinstance(one, RunStarted | Forked) and one.run == row.run]
            here = [one.workspace for one in events if isinstance(one, Imported)]
            if own or here:
                return (here or own)[-1]
        return ""
