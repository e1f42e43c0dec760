"""What may be started at a server: packaged workflows and those that were named, as `run` would start them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import Call
from reconvene.doors.cli.named_workflow import file_of, load
from reconvene.doors.http.begun_runs import Ready
from reconvene.doors.http.refusals import WrongField

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.upgrading import Fitting
    from reconvene.core.definition.run_inputs import Values
    from reconvene.core.definition.workflow import Workflow


class ServerStarts:
    """doors.http.begun_runs.Starts. `files`: workflows that are named beside the packaged ones."""

    def __init__(self, call: Call, files: tuple[str, ...]) -> None:
        from reconvene.wire.packaged import packaged

        self._call = call._replace(quiet=True, as_json=True)
        named = {load(file).name: file for file in files}
        self._files = {**{name: name for name in packaged()}, **named}

    def files(self) -> Mapping[str, str]:
        return self._files

    def workflow(self, name: str) -> Workflow:
        return _loaded(self._files[name], file_of(self._files[name]).stat().st_mtime_ns)

    def has_recording(self, name: str) -> bool:
        return _is_recorded(file_of(self._files[name]).resolve().parent)

    def sources(self) -> Mapping[str, str]:
        from reconvene.settings_file import in_force

        return {name: where for one in in_force() for name, where in one.sources.items()}

    def projects(self) -> Mapping[str, str]:
        from reconvene.settings_file import in_force

        return {name: where for one in in_force() for name, where in one.projects.items()}

    def ready(self, name: str, inputs: Values, settings: Values, models: Mapping[str, str], *, recorded: bool) -> Ready:
        from reconvene.core.definition.bindings import bound
        from reconvene.doors.cli.starting import require_ready_to_start
        from reconvene.doors.cli.typed_bindings import for_new
        from reconvene.doors.cli.typed_values import missing_inputs, settings_of_files

        file = self._files[name]
        if recorded:
            return self._played(name, inputs, settings)
        workflow = self.workflow(name)
        call = self._call._replace(models=tuple(f"{who}={model}" if who else model for who, model in models.items()))
        bindings = for_new(call, workflow, str(file_of(file).resolve().parent))
        chosen = {**settings_of_files(workflow), **settings}
        if missing := missing_inputs(workflow, inputs):
            raise WrongField(f"inputs.{missing[0]}", f"the workflow needs the input {', '.join(missing)}")
        require_ready_to_start(file, bound(workflow, bindings), inputs, chosen, anyway=False)
        return Ready(workflow, inputs, chosen, bindings)

    def workflow_for(self, engine: Engine, run: str, name: str) -> Workflow:
        from reconvene.doors.cli.mend_runs import loaded_for

        return loaded_for(engine, run, self._files[name])

    def require_ready(self, engine: Engine, run: str, fitting: Fitting, name: str) -> None:
        from reconvene.doors.cli.mend_runs import require_ready_for

        require_ready_for(engine, run, fitting, self._files[name])

    def forget(self, run: str) -> None:
        from reconvene.doors.cli.unsent_answers import forget

        forget(self._call.home, run)

    def _played(self, name: str, inputs: Values, settings: Values) -> Ready:
        from reconvene.doors.cli.playing import filled_in
        from reconvene.doors.cli.typed_values import missing_inputs
        from reconvene.wire.recordings import recording

        if not self.has_recording(name):
            raise WrongField("recorded", f"{name} comes with no recording")
        texts = {key: value for key, value in inputs.items() if isinstance(value, str)}
        played = recording(file_of(self._files[name]), texts)
        values = filled_in(self._call.home, played, inputs)
        if missing := missing_inputs(played.workflow, values):
            raise WrongField(f"inputs.{missing[0]}", f"the workflow needs the input {', '.join(missing)}")
        return Ready(played.workflow, values, {**played.case.settings, **settings})


@cache
def _loaded(file: str, changed: int) -> Workflow:
    return load(file)


def _is_recorded(folder: Path) -> bool:
    return (folder / "recorded").is_dir() or (folder / "recorded.yaml").is_file()
