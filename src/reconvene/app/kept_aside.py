"""Files that were not taken because they hold a secret: which there are, and taking one on a person's word."""

from __future__ import annotations

from reconvene.app import one_edit
from reconvene.app.engine import Engine
from reconvene.core.facts.actors import Actor
from reconvene.errors import Refused, UserError
from reconvene.language.closest import closest


def paths(engine: Engine, run: str) -> list[str]:
    aside = engine.discretion.aside
    return aside.paths(run) if aside is not None else []


def content(engine: Engine, run: str, path: str) -> bytes:
    aside = engine.discretion.aside
    data = aside.read(run, path) if aside is not None else None
    if data is not None:
        return data
    there = paths(engine, run)
    near = closest(path, there, 1) or there[:3]
    hint = f"There is {', '.join(near)}." if near else "Nothing is kept aside of this run."
    raise UserError(f"No file {path!r} of {run} is kept aside.", hint=hint)


def take(engine: Engine, run: str, path: str, *, by: str = "", door: str = "", actor: Actor | None = None) -> None:
    """The file becomes part of the run, as an edit of this person. From then on the log holds it, secret and all."""
    data = content(engine, run, path)
    if engine.load(run).record.project is not None:
        problem = f"{path} was written in the project, and its branch belongs to the agents."
        raise Refused(problem, hint=f"Take it to a place of your own: reconvene take {run} {path} --to FILE")
    one_edit.record(engine, run, path, data, by=by, door=door, actor=actor)
    assert engine.discretion.aside is not None
    engine.discretion.aside.drop(run, path)
