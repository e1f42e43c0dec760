"""Starting runs over HTTP: which workflows may be started, and what they are given.

No path of the server's disk is ever taken from a request: files are uploads of the person, or texts that are sent;
sources and projects are named by the server's own settings.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import tempfile
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, NamedTuple, Protocol

from msgspec import to_builtins

from reconvene.app import queries
from reconvene.doors.http.refusals import Missing, WrongField
from reconvene.doors.shared.fields import typed
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.run_values import Prepared
    from reconvene.app.views.read_model import Run
    from reconvene.core.definition.bindings import Binding
    from reconvene.core.definition.run_inputs import Values
    from reconvene.core.definition.workflow import Input, Workflow
    from reconvene.desk_ports import Desk, Upload
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service

OF_FILES = ("file", "files", "folder", "documents")
_LARGEST = 20_000_000  # bytes of one text


class Ready(NamedTuple):
    """What a run is begun with; nothing that its agents need is missing on this machine."""

    workflow: Workflow
    inputs: Values
    settings: Values
    bindings: tuple[Binding, ...] = ()


class Starts(Protocol):
    """What may be started at this server. The door that opens it knows."""

    def files(self) -> Mapping[str, str]:
        """By name, where each workflow lies."""

    def workflow(self, name: str) -> Workflow: ...

    def has_recording(self, name: str) -> bool: ...

    def sources(self) -> Mapping[str, str]:
        """Name → address, of data that runs may be given."""

    def projects(self) -> Mapping[str, str]:
        """Name → folder."""

    def ready(self, name: str, inputs: Values, settings: Values, models: Mapping[str, str], *, recorded: bool) -> Ready:
        """UserError where an agent lacks something here, or an input is missing."""


def require_starts(service: Service) -> Starts:
    if service.starts is None:
        raise Missing("Nothing can be started at this server.")
    return service.starts


def require_workflow(starts: Starts, name: str) -> Workflow:
    if name not in starts.files():
        raise Missing(f"There is no workflow {name!r} here.", hint="GET /api/v1/workflows lists them.")
    return starts.workflow(name)


async def start(
    service: Service,
    caller: Caller,
    workflow: str,
    inputs: Mapping[str, object],
    *,
    settings: Mapping[str, object] | None = None,
    models: Mapping[str, str] | None = None,
    recorded: bool = False,
    draft: str = "",
) -> Run:
    """On record; whoever drives takes it up. `draft`: what was said about it before goes on record with it."""
    given, ready = await _made_ready(service, caller, workflow, inputs, settings, models, recorded=recorded)

    def begin(engine: Engine) -> Run:
        run = begun(engine, caller, ready(), draft)
        for upload in given.used:
            service.desk.use_upload(caller.name, upload.digest, run)
        return queries.summary(engine, run)

    return await service.change("", begin)


async def use_uploads(service: Service, caller: Caller, inputs: Mapping[str, object], run: str) -> None:
    """Those that the inputs name were given to this run."""
    several = [one for value in inputs.values() for one in (value if isinstance(value, list) else [value])]
    for one in several:
        if isinstance(one, dict) and isinstance(digest := one.get("upload"), str):
            await asyncio.to_thread(service.desk.use_upload, caller.name, digest, run)


async def look(
    service: Service,
    caller: Caller,
    workflow: str,
    inputs: Mapping[str, object],
    *,
    settings: Mapping[str, object] | None = None,
    models: Mapping[str, str] | None = None,
    recorded: bool = False,
) -> Ready:
    """What would be started, and whether it can be: the same, up to the start. UserError where it cannot."""
    _, ready = await _made_ready(service, caller, workflow, inputs, settings, models, recorded=recorded)
    return await service.do(lambda engine: ready())


async def _made_ready(
    service: Service,
    caller: Caller,
    workflow: str,
    inputs: Mapping[str, object],
    settings: Mapping[str, object] | None,
    models: Mapping[str, str] | None,
    *,
    recorded: bool,
) -> tuple[Given, Callable[[], Ready]]:
    """What is given, and what looks, in the engine's thread, whether the run can be begun with it."""
    caller.require("decider", "to start a run")
    starts = require_starts(service)
    loaded = await service.do(lambda engine: _loaded(starts, workflow))
    given = Given(service.desk, caller.name, starts)
    values = await asyncio.to_thread(given.values, loaded, inputs)  # reading documents may take a while
    chosen = _settings(loaded, settings or {})
    return given, lambda: starts.ready(workflow, values, chosen, models or {}, recorded=recorded)


def begun(engine: Engine, caller: Caller, ready: Ready, draft: str = "") -> str:
    if not draft:
        return _started(engine, caller, ready, None)
    from reconvene.companion.drafting import begun_as
    from reconvene.companion_wiring import drafts_of

    with drafts_of(engine.home).starting(draft) as held:
        run = begun_as(engine.log, held.draft) if held.draft.starting else ""
        run = run or _started(engine, caller, ready, held.prepared)
        held.started(run)
        return run


def _started(engine: Engine, caller: Caller, ready: Ready, prepared: Prepared | None) -> str:
    return engine.start(
        ready.workflow,
        ready.inputs,
        settings=ready.settings,
        by=caller.name,
        door=caller.door,
        bindings=ready.bindings,
        actor=caller.actor,
        prepared=prepared,
        request=caller.request,
    )


async def known_workflows(service: Service, starts: Starts) -> dict[str, Workflow]:
    """By name. One after the other, so that nobody waits for all of them: to read one the first time takes a while."""

    def read(name: str) -> Callable[[Engine], Workflow]:
        return lambda engine: starts.workflow(name)

    return {name: await service.do(read(name)) for name in starts.files()}


def _loaded(starts: Starts, name: str) -> Workflow:
    try:
        return require_workflow(starts, name)
    except Missing as error:
        raise WrongField("workflow", error.message, hint=error.hint) from None


def _settings(workflow: Workflow, given: Mapping[str, object]) -> Values:
    for name in given:
        if name not in workflow.settings:
            known = ", ".join(workflow.settings) or "none"
            raise WrongField(f"settings.{name}", f"there is no setting {name!r}", hint=f"there is: {known}")
    return {name: _plain(f"settings.{name}", workflow.settings[name].type, value) for name, value in given.items()}


def _plain(field: str, kind: str, value: object) -> object:
    """A value of JSON, or its text, in the type that is asked for."""
    try:
        found = typed("it", kind, value) if isinstance(value, str) else value
    except UserError as error:
        raise WrongField(field, error.message) from None
    number = isinstance(found, int | float) and not isinstance(found, bool)
    fits = {"number": number, "bool": isinstance(found, bool), "text": isinstance(found, str)}
    if not fits.get(kind, True):
        raise WrongField(field, f"it must be a {kind}")
    return found


class Given:
    """What a person gives a run, made of what they sent."""

    def __init__(self, desk: Desk, person: str, starts: Starts) -> None:
        self._desk = desk
        self._person = person
        self._starts = starts
        self.used: list[Upload] = []

    def values(self, workflow: Workflow, given: Mapping[str, object]) -> Values:
        found: Values = {}
        for name, value in given.items():
            spec = workflow.inputs.get(name)
            if spec is None and name != "feature":  # the one input that a workflow need not declare
                known = ", ".join(workflow.inputs) or "none"
                raise WrongField(f"inputs.{name}", f"there is no input {name!r}", hint=f"there is: {known}")
            if value is None:
                continue
            found[name] = self._value(f"inputs.{name}", spec, value) if spec is not None else str(value)
            beside = f"{name}_name"  # a workflow that wants to know what the file is called declares this
            if spec is not None and spec.type == "file" and beside in workflow.inputs and beside not in given:
                found[beside] = os.path.splitext(self._name(f"inputs.{name}", value))[0]
        return found

    def _value(self, field: str, spec: Input, value: object) -> object:
        match spec.type:
            case "file":
                return self._text(field, value)
            case "files" | "folder":
                return [
                    {"name": self._name(field, one), "text": self._text(field, one)} for one in _several(field, value)
                ]
            case "documents":
                return [one for each in _several(field, value) for one in self._documents(field, each)]
            case "sources":
                return [self._source(field, one) for one in _several(field, value)]
            case "project":
                return self._project(field, value)
            case kind:
                return _plain(field, kind, value)

    def _name(self, field: str, value: object) -> str:
        if isinstance(value, dict) and isinstance(name := value.get("name"), str):
            return os.path.basename(name) or "text"
        return self._upload(field, value).name if isinstance(value, dict) and "upload" in value else "text"

    def _upload(self, field: str, value: object) -> Upload:
        digest = value.get("upload") if isinstance(value, dict) else None
        found = self._desk.upload(self._person, digest) if isinstance(digest, str) else None
        if found is None:
            hint = 'send it to /api/v1/uploads, then name it: {"upload": "DIGEST"}; no path is ever read'
            raise WrongField(field, "there is no such upload of yours", hint=hint)
        if found not in self.used:
            self.used.append(found)
        return found

    def _text(self, field: str, value: object) -> str:
        if isinstance(value, dict) and isinstance(text := value.get("text"), str):
            return text
        upload = self._upload(field, value)
        if upload.size > _LARGEST:
            raise WrongField(field, f"{upload.name} is larger than {_LARGEST // 1_000_000} MB")
        with open(self._desk.upload_path(upload), "rb") as file:
            data = file.read()
        try:
            return data.decode("utf-8-sig")
        except UnicodeDecodeError:
            raise WrongField(field, f"{upload.name} is not UTF-8 text") from None

    def _documents(self, field: str, value: object) -> list[object]:
        from reconvene.materials import documents

        upload = self._upload(field, value)
        with tempfile.TemporaryDirectory(prefix="reconvene-upload-") as folder:  # nothing of a home is material
            copied = os.path.join(folder, os.path.basename(upload.name) or "document")
            shutil.copyfile(self._desk.upload_path(upload), copied)
            try:
                found = to_builtins(documents(copied, os.environ))
            except ReconveneError as error:
                raise WrongField(field, error.message.replace(copied, upload.name)) from None
        assert isinstance(found, list)
        return found

    def _source(self, field: str, value: object) -> object:
        from reconvene.materials import source

        known = self._starts.sources()
        if not isinstance(value, str) or value not in known:
            hint = f"there is: {', '.join(known)}" if known else "the server's settings name none: [sources]"
            raise WrongField(field, "it must be the name of a source that the settings know", hint=hint)
        return {**source(known[value], os.environ), "name": value}

    def _project(self, field: str, value: object) -> str:
        from reconvene.app.run_values import project_folder

        known = self._starts.projects()
        if not isinstance(value, str) or value not in known:
            hint = f"there is: {', '.join(known)}" if known else "the server's settings name none: [projects]"
            raise WrongField(field, "it must be the name of a project that the settings know", hint=hint)
        return project_folder(field, known[value])


def _several(field: str, value: object) -> list[object]:
    if isinstance(value, list):
        return value
    if isinstance(value, dict | str):
        return [value]
    raise WrongField(field, "it must be a list")
