"""The run's work in the person's project as it is there now: which files differ, and what stands on its branch.

The log says which commit counts. Where the branch holds more, somebody else put it there, and a decision is not about
it. A project that cannot be read is said nothing about.
"""

from __future__ import annotations

import shlex
from typing import TYPE_CHECKING

from msgspec.structs import replace

from reconvene.errors import ReconveneError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Project
    from reconvene.core.facts.state import RunState

_MOST = 100  # names that are shown to programs


def looked_at(engine: Engine, state: RunState, project: Project | None) -> Project | None:
    """With the names of changed files, and how many commits of others are on the branch."""
    known = state.record.project
    if project is None or known is None or engine.projects is None:
        return project
    try:
        found = engine.projects.look(project.path, project.branch, known.base, project.commit)
    except ReconveneError:
        return project
    merge = f"git -C {shlex.quote(project.path)} merge {project.commit[:12]}"
    names = found.changed[:_MOST]
    return replace(project, merge=merge, changed=names, files=len(found.changed), tip=found.tip, added=found.added)


def difference(engine: Engine, state: RunState, old: str, new: str) -> str:
    """Between two commits of the run's own, as a unified diff; "" = where it began."""
    known = state.record.project
    if known is None or engine.projects is None or (old or known.base) == (new or known.base):
        return ""
    try:
        return engine.projects.compare(known.path, old or known.base, new or known.base)
    except ReconveneError as error:
        return f"\\ the project cannot be read: {error.message}\n"
