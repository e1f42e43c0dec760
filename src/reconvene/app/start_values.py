"""What a run is started with: its inputs and settings, completed from the workflow and from what is around.

One job: whole values before anything is on record. It looks for the folders of projects, and at nothing in them.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from reconvene.core.definition.run_inputs import Values, asks_machine, complete_inputs, complete_settings
from reconvene.core.definition.workflow import Workflow, every_phase
from reconvene.errors import UserError
from reconvene.ports import Surroundings


def inputs(workflow: Workflow, given: Mapping[str, object]) -> Values:
    complete = complete_inputs(workflow, given)
    folders = [name for name, spec in workflow.inputs.items() if spec.type == "project"]
    found = {name: project_folder(name, complete[name]) for name in folders if complete[name] is not None}
    return {**complete, **found}


def settings(
    workflow: Workflow, given: Mapping[str, object], inputs: Mapping[str, object], around: Surroundings | None
) -> Values:
    if around is None:
        return complete_settings(workflow, given, inputs)
    names = {spec.env for spec in workflow.settings.values() if spec.env}
    machine = around.machine() if asks_machine(workflow) else None
    return complete_settings(workflow, given, inputs, {name: around.variable(name) for name in names}, machine)


def projects(workflow: Workflow, given: Mapping[str, object]) -> list[str]:
    """The folders that agents of this workflow would change."""
    if not any(step.place == "project" for phase in every_phase(workflow) for step in phase.steps):
        return []
    complete = inputs(workflow, given)
    paths = [complete[name] for name, spec in workflow.inputs.items() if spec.type == "project"]
    return [path for path in paths if isinstance(path, str)]


def project_folder(name: str, given: object) -> str:
    """The absolute path of a folder that is there. Nothing in it is looked at yet."""
    path = os.path.abspath(os.path.expanduser(given)) if isinstance(given, str) and given else ""
    if not os.path.isdir(path):
        raise UserError(f"Input {name!r}: there is no folder {given!r}.", hint=f"Add --input {name}=FOLDER")
    return path
