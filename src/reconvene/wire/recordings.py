"""The recording that comes with a workflow: what its agents answer, and what it is given and decided when it is played.

Beside the workflow's file, each of them only where it is needed:

- `recorded/team.yaml`: the answers of all agents that are not recorded anyway
- `recorded/project.yaml`: path → text of the project that they work on
- `recorded/documents/`: the documents that they read
- `recorded/sources/NAME.sql`: makes the SQLite file NAME.db, which they ask
- `inputs.yaml`, `settings.yaml`: what a run is given
- `answers.yaml`: decisions, as `run --answers` takes them
- `cases/1-NAME/`: the last three for each of several cases

Reads; starts nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.core.definition.workflow import Workflow
from reconvene.errors import UserError
from reconvene.wire.answers_file import Answer, read_answers
from reconvene.wire.workflow_file import load_workflow
from reconvene.wire.yaml_reader import plain, read_yaml

_REAL = "survey"  # looks at the project itself, and needs no model


class Case(NamedTuple):
    """One way to play it. `name` is empty where there is only one."""

    name: str
    folder: Path

    @property
    def inputs(self) -> Mapping[str, object]:
        return _mapping(self.folder / "inputs.yaml")

    @property
    def settings(self) -> Mapping[str, object]:
        return _mapping(self.folder / "settings.yaml")

    @property
    def file(self) -> Path:
        """Its decisions."""
        return self.folder / "answers.yaml"

    @property
    def answers(self) -> list[Answer]:
        return read_answers(self.file.read_text(encoding="utf-8"), self.file.name) if self.file.is_file() else []


class Recording(NamedTuple):
    workflow: Workflow  # with agents that answer from the recording
    project: Mapping[str, str]  # files of the project to work on; empty where it needs none
    case: Case
    documents: Path | None = None  # a folder
    sources: Mapping[str, str] = {}  # name of a SQLite file → the script that makes it

    @property
    def real(self) -> list[str]:
        """The agents that are not recorded all the same."""
        return [agent.name for agent in self.workflow.agents.values() if agent.kind == _REAL]


def recording(file: Path, given: Mapping[str, str]) -> Recording:
    """Of the workflow in this file; UserError where there is none. `given`: inputs that may name one of its cases."""
    folder = file.parent
    workflow = load_workflow(file)
    if any(agent.kind not in ("recorded", _REAL) for agent in workflow.agents.values()):
        workflow = _recorded(workflow, folder / "recorded" / "team.yaml")
    project = {path: str(text) for path, text in _mapping(folder / "recorded" / "project.yaml").items()}
    known = cases(folder)
    named = [case for case in known if given and case.inputs and {**case.inputs, **given} == case.inputs]
    # What is played is nobody's work: its files stay in the home, wherever the workflow would put them.
    documents = folder / "recorded" / "documents"
    scripts = sorted((folder / "recorded" / "sources").glob("*.sql"))
    return Recording(
        replace(workflow, workspace=""),
        project,
        (named or known)[0],
        documents if documents.is_dir() else None,
        {f"{one.stem}.db": one.read_text(encoding="utf-8") for one in scripts},
    )


def cases(folder: Path) -> tuple[Case, ...]:
    found = sorted(path for path in (folder / "cases").glob("*") if path.is_dir())
    return tuple(Case(path.name.partition("-")[2], path) for path in found) or (Case("", folder),)


def _recorded(workflow: Workflow, team: Path) -> Workflow:
    if not team.is_file():
        raise UserError(
            f"{workflow.name} comes with no recording: there is no {team}",
            hint="run it without --recorded, or record its agents there (docs/testing.md)",
        )
    agents = {
        name: agent if agent.kind == _REAL else replace(agent, kind="recorded", recorded="team", command_line="")
        for name, agent in workflow.agents.items()
    }
    return replace(workflow, agents=agents, recordings={"team": _read(team)})


def _read(file: Path) -> object:
    return plain(read_yaml(file.read_text(encoding="utf-8"), str(file)))


def _mapping(file: Path) -> Mapping[str, object]:
    found = _read(file) if file.is_file() else {}
    if not isinstance(found, dict):
        raise UserError(f"{file} should be a mapping: name: value")
    return found
