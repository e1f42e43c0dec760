"""`run`, `new` and `resume`: start a workflow, or take a parked run up again, and drive it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli import drafted
from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import (
    BY,
    DOOR,
    LIVE,
    Call,
    answer,
    binds,
    command,
    note,
    open_engine,
)
from reconvene.doors.cli.named_workflow import file_of, load
from reconvene.doors.cli.playing import filled_in, introduce, recording_of
from reconvene.doors.cli.text import clean, command_line, nearest, ungated
from reconvene.errors import UserError, WorkflowError
from reconvene.home import require_fit

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.new_runs import Prepared
    from reconvene.core.definition.bindings import Binding
    from reconvene.core.definition.run_inputs import Values
    from reconvene.core.definition.workflow import Workflow
    from reconvene.doors.cli.stops import Decider
    from reconvene.wire.recordings import Recording

_ANYWAY = click.option("--anyway", is_flag=True, help="Start also where an agent lacks something on this machine.")
DOCUMENTS = click.option(
    "--doc", "documents", multiple=True, metavar="PATH", help="A document or a folder of them, for agents to read."
)
SOURCES = click.option(
    "--datasource", "sources", multiple=True, metavar="PATH|URL", help="A database, graph file or folder to ask."
)
_RECORDED = click.option(
    "--recorded",
    is_flag=True,
    help="Play the recording that comes with WORKFLOW: no model is asked, and it gives the inputs that you leave out.",
)


@command("""
Examples:
  reconvene run two-step.yaml
  reconvene run market-entry --input question="Shall we build the second plant?" --input brief=@brief.md
  reconvene run market-entry --model ollama:qwen3 --agent 'moderator=claude -p'
  reconvene run two-step.yaml --answers answers.yaml --json
""")
@click.argument("workflow", required=False)
@click.option("--draft", default="", metavar="ID", help="Start what `chat --new` prepared; WORKFLOW is left out.")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An input; NAME=@FILE reads a file.")
@DOCUMENTS
@SOURCES
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the workflow.")
@click.option("--auto", is_flag=True, help="Go on by itself wherever the workflow can; the same as --set auto=true.")
@click.option("--answers", metavar="FILE", help="Decisions to take in order (a YAML list); parks when they run out.")
@binds
@BY
@LIVE
@_RECORDED
@click.option("--no-input", is_flag=True, help="Never ask: park at the first checkpoint.")
@click.option("--no-drive", is_flag=True, help="Only record the start; `resume` does the work.")
@_ANYWAY
def run_command(
    call: Call,
    workflow: str | None,
    draft: str,
    inputs: tuple[str, ...],
    documents: tuple[str, ...],
    sources: tuple[str, ...],
    settings: tuple[str, ...],
    auto: bool,
    answers: str | None,
    recorded: bool,
    no_input: bool,
    no_drive: bool,
    anyway: bool,
) -> int:
    """Start WORKFLOW (a file, the name of a packaged one, or KIT/NAME) and drive it to its next stop.

    On a terminal you are asked at each checkpoint. Elsewhere the run parks there with exit code 3 and prints the
    command that continues it.
    """
    _require_place(call, recorded)
    named = drafted.what_to_run(call, workflow, draft, recorded)
    inputs = (*inputs, *material(named, documents, sources))
    played = recording_of(named, inputs) if recorded else None
    decider = who_decides(call, answers, no_input, played)
    if auto:
        settings = (*settings, "auto=true")
    ask = call.interactive and not no_input
    if played and not call.as_json:
        introduce(call, played, inputs, wait=ask and answers is None and not no_drive)
    if draft:
        engine, run = drafted.start(call, draft, inputs, settings, ask=ask, anyway=anyway)
    else:
        engine, run = started(call, named, inputs, settings, ask, played, anyway)
    if not call.as_json:
        note(f"run {run} started")
    from reconvene.doors.cli.proceed import proceed

    return proceed(call, engine, run, decider, only_record=no_drive)


@command("Example:\n  reconvene new scenario-planning --input company=@company.md")
@click.argument("workflow")
@click.option("--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An input; NAME=@FILE reads a file.")
@DOCUMENTS
@SOURCES
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of the workflow.")
@binds
@BY
@_RECORDED
@click.option("--no-input", is_flag=True, help="Never ask for inputs that are missing.")
@_ANYWAY
def new(
    call: Call,
    workflow: str,
    inputs: tuple[str, ...],
    documents: tuple[str, ...],
    sources: tuple[str, ...],
    settings: tuple[str, ...],
    recorded: bool,
    no_input: bool,
    anyway: bool,
) -> int:
    """Record a new run of WORKFLOW and say where it lives; no agent works before `resume`.

    `run` does the same and drives on.
    """
    from reconvene.app import queries

    _require_place(call, recorded)
    inputs = (*inputs, *material(workflow, documents, sources))
    ask, played = call.interactive and not no_input, recording_of(workflow, inputs) if recorded else None
    engine, run = started(call, workflow, inputs, settings, ask, played, anyway)
    workspace = engine.load(run).workspace
    goes_on = call.command("resume", run)
    told = f"{run}\nits folder: {workspace}\ngo on with: {goes_on}"
    return answer(call, queries.summary(engine, run), told, workspace=workspace, next=goes_on)


def material(workflow: str, documents: tuple[str, ...], sources: tuple[str, ...]) -> Iterator[str]:
    """Of the inputs that take documents and sources of data, what was given for them by these options."""
    for given, kind, option in ((documents, "documents", "--doc"), (sources, "sources", "--datasource")):
        if given:
            inputs = load(workflow).inputs
            name = next((name for name, spec in inputs.items() if spec.type == kind), "")
            if not name:
                raise UserError(f"{workflow} takes no {kind}", hint=f"leave out {option}, or give them as an --input")
            yield from (f"{name}={one}" for one in given)


def _require_place(call: Call, recorded: bool) -> None:
    """Refuse what cannot be, before anything is read or asked."""
    require_fit(call.place)
    if recorded and (call.models or call.agents):
        word = "--model" if call.models else "--agent"
        raise UserError(
            f"--recorded plays what the agents answered once: nobody is asked, and {word} would bind nobody",
            hint=f"leave out --recorded, or {word}",
        )
    from reconvene.doors.cli.accepting import permit_home

    permit_home(call)


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
) -> tuple[Engine, str]:
    """A new run on record. Inputs that are missing are the recording's, or asked for where there is somebody to ask.
    `given`: inputs that were not typed. `prepared`: what was said before."""
    from reconvene.core.definition.bindings import bound
    from reconvene.doors.cli.typed_values import missing_inputs, read_inputs, read_settings, settings_of_files

    loaded = played.workflow if played else load(workflow)
    bindings: tuple[Binding, ...] = ()
    if not played:
        from reconvene.doors.cli.typed_bindings import for_new

        bindings = for_new(call, loaded, str(file_of(workflow).resolve().parent))
    ready = bound(loaded, bindings)
    check_live(call, loaded)
    values = {**read_inputs(loaded, inputs), **(given or {})}
    chosen = {**(settings_of_files(loaded) if not played else {}), **read_settings(loaded, settings)}
    kept_in: tuple[str, ...] = ()
    if not played:
        kept_in = _require_ready(workflow, ready, values, chosen, anyway=anyway)
    if played:
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
    if missing and not played:  # commands may depend on what was just said
        kept_in = _require_ready(workflow, ready, values, chosen, anyway=anyway)
    engine = open_engine(call)
    for warning in engine.foreseen(loaded, values):
        note(f"before it comes to building: {warning}")
    if not played:
        _say_ungated(engine, loaded)
    for line in kept_in if not call.as_json else ():
        note(line)
    return engine, engine.start(
        loaded, values, settings=chosen, by=call.by, door=door, bindings=bindings, prepared=prepared
    )


def _require_ready(
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


@command()
@click.argument("run", required=False)
@click.option("--answers", metavar="FILE", help="Decisions to take in order (a YAML list); parks when they run out.")
@binds
@BY
@click.option("--now", is_flag=True, help="Ask a provider for which RUN waits at once, also before its time.")
@LIVE
@click.option("--no-input", is_flag=True, help="Never ask: park at the first checkpoint.")
@click.option("--anyway", is_flag=True, help="Go on also where an agent lacks something on this machine.")
def resume(call: Call, run: str | None, answers: str | None, now: bool, no_input: bool, anyway: bool) -> int:
    """Drive RUN on to its next stop; on a terminal, answer its checkpoints.

    Works after a pause, after a crash, after a reboot: what was recorded is not done again. A queued run leaves the
    queue. RUN is an id or the beginning of one, and may be left out when one run is open. --model and --agent hold
    from here on, until they are given anew.

    A run that waits for a provider is not tried before its time. If that is near, this waits; else it says when.
    """
    from reconvene.doors.cli.going_on import require_ready_to_go_on, say_what_does_not_fit
    from reconvene.doors.cli.proceed import proceed
    from reconvene.doors.cli.typed_bindings import bind

    decider = who_decides(call, answers, no_input)
    engine, found = open_to_change(call, run)
    bind(call, engine, found)
    workflow = engine.session(found).book.workflow
    check_live(call, workflow)
    _say_ungated(engine, workflow)
    if not anyway:
        require_ready_to_go_on(engine, found)
    say_what_does_not_fit(engine, found)
    # The time that a provider asked for does not hold for another one.
    at_once = now or bool(call.models or call.agents)
    return proceed(call, engine, found, decider, at_once=at_once, looks=not anyway, expected=True)


def _say_ungated(engine: Engine, workflow: Workflow) -> None:
    from reconvene.app.views.projections import asking_gates

    if not engine.judge_model and (asking := asking_gates(workflow)):
        note(f"! {ungated(asking)}")


def check_live(call: Call, workflow: Workflow) -> None:
    """Nobody waits for the words of an agent that there is not."""
    for name in call.live:
        if name not in (*workflow.agents, "all"):
            raise UserError(f"there is no agent {clean(name)!r} to watch", hint=nearest(name, workflow.agents))


def who_decides(call: Call, answers: str | None, no_input: bool, played: Recording | None = None) -> Decider:
    """A file of answers (a bad one is refused now), the person (a recording's answers are suggested), or nobody."""
    from reconvene.doors.cli.stops import Decider

    if answers is not None:
        require_person("to decide")
        from pathlib import Path

        from reconvene.doors.cli.from_file import FromFile
        from reconvene.doors.cli.typed_values import read_text
        from reconvene.wire.answers_file import read_answers

        try:
            given = read_answers(read_text("--answers", Path(answers)), answers)
        except WorkflowError as error:
            error.hint = error.hint or "correct this, then type the same command again"
            raise
        return FromFile(given, answers, call.by, tell=not call.as_json)
    if call.interactive and not no_input:
        require_person("to decide")
        from reconvene.doors.cli.on_screen import keep
        from reconvene.doors.cli.terminal import Person

        return Person(call.by, partial(keep, call), played.case.answers if played else ())
    return Decider()


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
