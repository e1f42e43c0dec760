"""A new run on record: its workflow bound, its inputs complete, and nothing missing that its agents need here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.app.strays import require_known
from reconvene.doors.cli.common import DOOR, Call, note, open_engine
from reconvene.doors.cli.named_workflow import file_of, load
from reconvene.doors.cli.text import clean, command_line, nearest, ungated
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.run_values import Prepared
    from reconvene.core.definition.bindings import Binding
    from reconvene.core.definition.run_inputs import Values
    from reconvene.core.definition.workflow import Workflow
    from reconvene.wire.recordings import Recording


def started(
    call: Call,
    workflow: str,
    inputs: tuple[str, ...],
    settings: tuple[str, ...],
    ask: bool,
    played: Recording | None,
    anyway: bool,
    *,
    given: Values | None = None,
    prepared: Prepared | None = None,
    door: str = DOOR,
    driving: bool = False,
) -> tuple[Engine, str]:
    """A new run on record. Inputs that are missing are the recording's, or asked for where there is somebody to ask.
    `given`: inputs that were not typed. `prepared`: what was said before. `driving`: the caller drives it next."""
    from reconvene.core.definition.bindings import bound
    from reconvene.doors.cli.typed_values import missing_inputs, read_inputs, read_settings, settings_of_files

    loaded = played.workflow if played else load(workflow)
    bindings: tuple[Binding, ...] = ()
    if not played:
        from reconvene.doors.cli.typed_bindings import for_new

        bindings = for_new(call, loaded, str(file_of(workflow).resolve().parent))
    ready = bound(loaded, bindings)
    check_live(call, loaded)
    _check_notify(call)
    values = {**read_inputs(loaded, inputs), **(given or {})}
    chosen = {**(settings_of_files(loaded) if not played else {}), **read_settings(loaded, settings)}
    kept_in: tuple[str, ...] = ()
    if not played:
        kept_in = require_ready_to_start(workflow, ready, values, chosen, anyway=anyway)
    if played:
        from reconvene.doors.cli.playing import filled_in

        values, chosen = filled_in(call.home, played, values), {**played.case.settings, **chosen}
    missing = missing_inputs(loaded, values)
    if missing and not ask:
        names = ", ".join(missing)
        raise UserError(
            f"the workflow needs the input{'s' * (len(missing) > 1)} {names}",
            hint=f"add --input {missing[0]}=… or =@file",
        )
    for name in missing:
        values[name] = _ask_input(loaded, name)
    for line in unread(loaded, values):
        note(line)
    if missing and not played:  # commands may depend on what was just said
        kept_in = require_ready_to_start(workflow, ready, values, chosen, anyway=anyway)
    engine = open_engine(call)
    require_known(engine.log, engine.home)
    for warning in engine.foreseen(loaded, values):
        note(f"before it comes to building: {warning}")
    if not played:
        say_ungated(engine, loaded)
        for line in who_is_missing(loaded, call.home):
            note(f"! {line}")
    for line in kept_in if not call.as_json else ():
        note(line)
    return engine, engine.start(
        loaded,
        values,
        settings=chosen,
        by=call.by,
        door=door,
        bindings=bindings,
        prepared=prepared,
        driving=driving,
        notify=call.notify,
    )


def require_ready_to_start(
    named: str, workflow: Workflow, inputs: Values, settings: Values, *, anyway: bool
) -> tuple[str, ...]:
    """Nothing is recorded where an agent that the run may come to cannot work here. What is said of their sandbox."""
    from reconvene.wiring import located, preflight, require_ready

    beside = file_of(named).resolve().parent
    found = preflight(workflow, inputs, settings, beside=str(beside))
    if anyway:
        return found.kept_in
    recorded = (beside / "recorded").is_dir() or (beside / "recorded.yaml").is_file()
    also = f"or see it at work with what is recorded: {command_line('demo', named)}" if recorded else ""
    check = f"look again: {command_line('check', named)}; start all the same: --anyway"
    require_ready(workflow, found, check=check, also=also)
    for lack in found.only("note"):
        note(f"{located(workflow, lack)}{lack.problem} ({lack.whom}); {lack.hint}")
    return found.kept_in


def unread(workflow: Workflow, values: Values) -> list[str]:
    """What could not be read of what a run is given: documents, parts of them, and data that does not answer."""
    names = [name for name, spec in workflow.inputs.items() if spec.type in ("documents", "sources")]
    given = [one for name in names if isinstance(found := values.get(name), list) for one in found]
    return [f"! {one['name']}: {told}" for one in given if isinstance(one, dict) for told in one.get("notes", ())]


def say_ungated(engine: Engine, workflow: Workflow) -> None:
    from reconvene.app.views.projections import asking_gates

    if not engine.judge_model and (asking := asking_gates(workflow)):
        note(f"! {ungated(asking)}")


def who_is_missing(workflow: Workflow, home: str) -> list[str]:
    """Of the people and teams for whom checkpoints wait, those who could not decide them here."""
    from reconvene.core.definition.workflow import every_phase
    from reconvene.core.facts.named_people import named

    asked = [phase.checkpoint for phase in every_phase(workflow) if phase.checkpoint is not None]
    who = {one for point in asked for one in (*point.who, *(point.late.who if point.late else ()))}
    few = any(option.needs > 1 for point in asked for option in point.options)
    if not who and not few:
        return []
    from reconvene.people_wiring import deciders

    known = deciders(home)
    if known is None:
        return ["a checkpoint of this workflow waits for certain people, and nobody is set up here: reconvene people"]
    missing = named(sorted(who - known), "and")
    return [f"checkpoints wait for {missing}, who cannot decide here: reconvene people"] if missing else []


def check_live(call: Call, workflow: Workflow) -> None:
    """Nobody waits for the words of an agent that there is not."""
    for name in call.live:
        if name not in (*workflow.agents, "all"):
            raise UserError(f"there is no agent {clean(name)!r} to watch", hint=nearest(name, workflow.agents))


def _check_notify(call: Call) -> None:
    """Nobody is told by a destination that there is not."""
    if call.notify:
        from reconvene.notify_wiring import destinations

        known = destinations()
        for name in call.notify:
            if name not in known:
                there = nearest(name, known) or "see docs/messages.md for how to set one up"
                raise UserError(f"there is no destination {clean(name)!r} in your settings", hint=there)


def _ask_input(workflow: Workflow, name: str) -> object:
    """Ask for a required input that was not given."""
    from reconvene.doors.cli.ask import ask_text
    from reconvene.doors.cli.typed_values import input_value

    spec = workflow.inputs[name]
    places = {"file": "path of a file", "files": "paths", "folder": "path of a folder", "project": "path of a folder"}
    what = f" ({places[spec.type]})" if spec.type in places else ""
    while True:
        typed = ask_text(f"{spec.description or name}{what}:")
        try:
            if typed.strip():
                return input_value(name, spec, typed)
        except UserError as error:
            note(error.message)
