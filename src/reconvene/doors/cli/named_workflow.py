"""Which workflow file a person means: a path, the name of a packaged one, or KIT/NAME."""

from __future__ import annotations

import re
from shlex import quote
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.text import clean, command_line, nearest
from reconvene.errors import UserError, WorkflowError
from reconvene.language.closest import closest

if TYPE_CHECKING:
    from pathlib import Path

    from reconvene.core.definition.workflow import Workflow


def load(named: str) -> Workflow:
    """A workflow by its file, by the name of a packaged one, or as KIT/NAME by that of one which a kit brings."""
    from reconvene.wire.workflow_file import load_workflow

    try:
        return load_workflow(file_of(named))
    except WorkflowError as error:
        error.hint = error.hint or f"correct this, then look again: {command_line('check', named)}"
        raise


def file_of(named: str) -> Path:
    from pathlib import Path

    from reconvene.wire.packaged import packaged

    path, known = Path(named), packaged()
    if named in known:  # whatever lies in this folder under that name: ./NAME means that
        return known[named]
    if path.is_dir() and (path / "workflow.yaml").is_file():
        return path / "workflow.yaml"
    if path.is_dir() and named not in known:
        here = _files_in(path)
        otherwise = "name a workflow file; see the packaged ones: reconvene workflows"
        hint = f"name a file in it: {_typed(here[0])}" if here else otherwise
        raise UserError(f"{clean(named)} is a folder without a workflow.yaml", hint=hint)
    if path.is_file() or (path.exists() and named not in known):
        return path
    if path.suffix not in (".yaml", ".yml") and re.fullmatch(r"[\w-]+/[\w.-]+", named):
        return _of_kit(*named.split("/"))
    near = closest(named, [*_files_in(path.parent), *known])
    hint = f"did you mean {near[0]}? {_typed(near[0])}" if near else "see the packaged ones: reconvene workflows"
    if path.suffix in (".yaml", ".yml"):
        raise UserError(f"there is no file {clean(named)}", hint=hint)
    raise UserError(f"there is no file and no packaged workflow {clean(named)!r}", hint=hint)


def _typed(named: str) -> str:
    """The command that was given, with this workflow."""
    return f"{click.get_current_context().command_path} {quote(named)}"


def _files_in(folder: Path) -> list[str]:
    """The YAML files of a folder, as they would be typed."""
    try:
        return sorted(str(one) for one in folder.iterdir() if one.suffix in (".yaml", ".yml") and one.is_file())
    except OSError:
        return []


def _of_kit(kit: str, name: str) -> Path:
    from pathlib import Path

    from reconvene.core.kit_finder import kit as find

    folder = find(kit).workflows
    known = {path.parent.name: path for path in sorted(Path(folder).glob("*/workflow.yaml"))} if folder else {}
    if name not in known:
        raise UserError(
            f"there is no file {kit}/{clean(name)}, and the kit {kit!r} brings no workflow {clean(name)!r}",
            hint=nearest(name, known) or "give the path of a workflow file",
        )
    return known[name]
