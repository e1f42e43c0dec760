"""What may be started at a server of tests: the packaged workflows, a source and no project."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.core.definition.run_inputs import Values
from reconvene.core.definition.workflow import Workflow
from reconvene.doors.http.begun_runs import Ready
from reconvene.errors import UserError
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow


class Packaged:
    """`reconvene.doors.http.begun_runs.Starts`. Of what agents need nothing is missing, but for the model "none"."""

    def files(self) -> Mapping[str, str]:
        return {name: str(path) for name, path in packaged().items()}

    def workflow(self, name: str) -> Workflow:
        return load_workflow(packaged()[name])

    def has_recording(self, name: str) -> bool:
        return True

    def sources(self) -> Mapping[str, str]:
        return {}

    def projects(self) -> Mapping[str, str]:
        return {}

    def ready(self, name: str, inputs: Values, settings: Values, models: Mapping[str, str], *, recorded: bool) -> Ready:
        found = self.workflow(name)
        missing = [key for key, spec in found.inputs.items() if spec.required and key not in inputs]
        if missing:
            raise UserError(f"the workflow needs the input {missing[0]}")
        if "none" in models.values():
            raise UserError("the model none cannot be asked here", hint="name another")
        return Ready(found, inputs, settings)
