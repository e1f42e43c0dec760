"""What somebody gives to a new run: its inputs and settings, complete, and what was said before it."""

from __future__ import annotations

import os
from collections.abc import Mapping

from msgspec import Struct

from reconvene.app.discretion import Discretion
from reconvene.core.definition.bindings import Binding
from reconvene.core.definition.run_inputs import Values, asks_machine, complete_inputs, complete_settings
from reconvene.core.definition.workflow import Workflow, every_phase
from reconvene.core.facts.book import to_json
from reconvene.core.facts.commands import RecordCompanion, StartRun
from reconvene.core.facts.ids import digest_of
from reconvene.errors import UserError
from reconvene.ports import Surroundings
from reconvene.wire.pins import pin


class Prepared(Struct, frozen=True):
    """What was said before a run, which goes on record together with its start. `draft`: what it was prepared as."""

    draft: str = ""
    said: tuple[RecordCompanion, ...] = ()
    blobs: dict[str, bytes] = {}


class Beginning(Struct, frozen=True):
    """All that the start of a run says, but where the run is and who starts it."""

    name: str
    pinned: str
    inputs: str
    settings: str
    bindings: tuple[Binding, ...]
    prepared: Prepared
    blobs: dict[str, bytes]

    def command(self, run: str, folder: str, by: str, door: str) -> StartRun:
        return StartRun(
            run, self.pinned, self.name, self.inputs, self.settings, folder, by, door, bindings=self.bindings,
            draft=self.prepared.draft,
        )  # fmt: skip


def beginning(
    workflow: Workflow,
    given: Mapping[str, object],
    chosen: Mapping[str, object],
    bindings: tuple[Binding, ...],
    prepared: Prepared,
    around: Surroundings | None,
    discretion: Discretion,
) -> Beginning:
    """Inputs, settings and bindings, checked against the workflow. Secrets in them are blanked, or refused."""
    whole = inputs(workflow, given)
    secrets = discretion.of(workflow)
    whole, settled = secrets.blank_in(whole), secrets.blank_in(settings(workflow, chosen, whole, around))
    pinned, inputs_json, settings_json = pin(workflow), to_json(whole), to_json(settled)
    discretion.refuse(workflow, pinned, bindings)
    blobs = {digest_of(data): data for data in (pinned, inputs_json, settings_json)} | prepared.blobs
    digests = (digest_of(pinned), digest_of(inputs_json), digest_of(settings_json))
    return Beginning(workflow.name, *digests, bindings, prepared, blobs)


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
