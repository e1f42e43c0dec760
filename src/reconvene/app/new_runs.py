"""Which id a new run gets, and which folder: both free, and neither ever outside of where runs belong.

Ids and folders come from templates of the workflow, so what comes out is checked here, whatever was checked before. A
folder that holds anything is somebody's: a new run takes another number, or is refused where there is no other.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from reconvene.core.definition.workflow import Workflow
from reconvene.core.paths import safe_path, why_no_run_id
from reconvene.errors import StoreError, UserError
from reconvene.language import templates
from reconvene.ports import Clock, EventLog, Workspace

_MOST = 1 << 20  # numbers that are looked at for a free one


class NewRuns:
    def __init__(self, log: EventLog, clock: Clock, home: str, workspace_for: Callable[[str, str], Workspace]) -> None:
        self._log = log
        self._clock = clock
        self._home = home
        self._workspace_for = workspace_for
        self._last: dict[tuple[str, ...], int] = {}  # by what makes an id: the number that was free the last time

    def free(self, workflow: Workflow) -> tuple[str, str]:
        """An unused id, with the first unused number there is by doubling and halving, and its folder."""
        year = self._clock.now()[:4] if workflow.run_id else ""
        if _id(workflow, year, 1) == _id(workflow, year, 2):
            return self._only(workflow, _id(workflow, year, 1))
        made_of = (workflow.run_id, workflow.name, year)
        low = max(self._last.get(made_of, 0) - 1, 0)  # that number may be free still
        high, step = low + 1, 1
        while self._taken(workflow, _id(workflow, year, high)):
            low, high, step = high, high + step, step * 2
            if high > _MOST:
                raise _at_fault(workflow, "run_id", f"gives no free id in {_MOST} numbers", "use {{ n }} as it is")
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self._taken(workflow, _id(workflow, year, middle)) else (low, middle)
        self._last[made_of] = high
        run = _id(workflow, year, high)
        return run, self.folder(workflow, run)

    def _only(self, workflow: Workflow, run: str) -> tuple[str, str]:
        if self._log.head(run):
            message = f"always gives {run!r}, and there is such a run already"
            raise _at_fault(workflow, "run_id", message, "add {{ n }} to it: every run needs an id of its own")
        folder = self.folder(workflow, run)
        self.require_empty(workflow, run, folder)
        return run, folder

    def _taken(self, workflow: Workflow, run: str) -> bool:
        return self._log.head(run) > 0 or self.occupied(run, self.folder(workflow, run))

    def occupied(self, run: str, folder: str) -> bool:
        return self._workspace_for(run, folder).occupied()

    def require_empty(self, workflow: Workflow, run: str, folder: str) -> None:
        if self.occupied(run, folder):
            raise UserError(
                f"Run {run} of {workflow.name} cannot start: its folder {folder} is not empty, and what is in it is "
                "not touched.",
                hint=f"Move the folder away: mv {folder} {folder}-old",
            )

    def folder(self, workflow: Workflow, run: str) -> str:
        """Where the files of this run lie: below the home, or where the workflow says, below the project's folder."""
        if why := why_no_run_id(run):
            raise UserError(f"{run!r} cannot be the id of a run: it {why}.")
        if not workflow.workspace:
            return os.path.join(self._home, "runs", run)
        try:
            relative = safe_path(templates.render(workflow.workspace, {"run": run, "name": workflow.name}))
        except UserError as error:
            message = error.message.rstrip(".")
            raise _at_fault(workflow, "workspace", f"cannot be used: {message[0].lower()}{message[1:]}") from None
        project = os.path.dirname(self._home)
        folder = os.path.join(project, relative)
        if not _inside(os.path.realpath(folder), os.path.realpath(project)):
            message = f"gives {relative!r}, which a link leads out of {project}"
            raise _at_fault(workflow, "workspace", message, "name a folder that lies in it")
        if _is_home(folder, self._home):
            message = f"gives {relative!r}, which lies in {self._home}, where the state of all runs is kept"
            raise _at_fault(workflow, "workspace", message, "name another folder, or leave 'workspace' out")
        return folder


def require_own_folder(folder: str, home: str) -> None:
    """The rules of `NewRuns.folder` once more, whenever a run's folder is used: a link may have come there since."""
    project = os.path.dirname(home)
    chosen = _inside(folder, project) and not _inside(folder, home)  # by the workflow's `workspace`
    if chosen:
        astray = not _inside(os.path.realpath(folder), os.path.realpath(project)) or _is_home(folder, home)
    else:
        astray = os.path.islink(folder)
    if astray:
        link = _first_link(folder, project) if chosen else folder
        raise StoreError(
            f"The folder {folder} of a run is not used: {link} is a link and leads to {os.path.realpath(link)}."
            " Nothing was read or written there.",
            hint=f"Move the link away: mv {link} {link}-old. Then go on with: reconvene resume",
        )


def _first_link(folder: str, above: str) -> str:
    place = above
    for name in os.path.relpath(folder, above).split(os.sep):
        place = os.path.join(place, name)
        if os.path.islink(place):
            return place
    return folder


def _is_home(folder: str, home: str) -> bool:
    """Whether the home is this folder or one above it, under whatever name (disks that ignore case, links)."""
    place, home = os.path.realpath(folder), os.path.realpath(home)
    while True:
        if place == home or (os.path.exists(place) and os.path.exists(home) and os.path.samefile(place, home)):
            return True
        if place == os.path.dirname(place):
            return _inside(home, os.path.realpath(folder))
        place = os.path.dirname(place)


def _id(workflow: Workflow, year: str, n: int) -> str:
    if not workflow.run_id:
        run = f"{workflow.name}-{n}"
    else:
        run = templates.render(workflow.run_id, {"year": year, "n": f"{n:03d}", "name": workflow.name})
    if why := why_no_run_id(run):
        raise _at_fault(workflow, "run_id" if workflow.run_id else "name", f"gives the run id {run!r}, which {why}")
    return run


def _inside(path: str, folder: str) -> bool:
    return os.path.commonpath([path, folder]) == folder


def _at_fault(workflow: Workflow, key: str, message: str, hint: str = "") -> UserError:
    """With the line of the workflow to change."""
    lines = workflow.source.split("\n")
    line = next((number for number, text in enumerate(lines, 1) if re.match(rf"""["']?{key}["']?\s*:""", text)), 0)
    place = f"{workflow.file}:{line}" if line else workflow.file or workflow.name
    hint = hint or f'Change it there, such as {key}: "{_EXAMPLES[key]}"'
    return UserError(f"{place}: '{key}' {message}.", hint=hint)


_EXAMPLES = {"run_id": "REPORT-{{ year }}-{{ n }}", "workspace": "reports/{{ run }}", "name": "report"}
