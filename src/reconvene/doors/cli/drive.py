"""`run`, `new` and `resume`: start a workflow, or take a parked run up again, and drive it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.core.person.permitted import require_role
from reconvene.doors.cli import drafted, starting
from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import (
    BY,
    LIVE,
    NOTIFY,
    Call,
    answer,
    binds,
    command,
    note,
)
from reconvene.doors.cli.named_workflow import load
from reconvene.doors.cli.playing import introduce, recording_of
from reconvene.errors import UserError, WorkflowError
from reconvene.home import require_fit

if TYPE_CHECKING:
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
@NOTIFY
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
        engine, run = drafted.start(call, draft, inputs, settings, ask=ask, anyway=anyway, driving=not no_drive)
    else:
        engine, run = starting.started(call, named, inputs, settings, ask, played, anyway, driving=not no_drive)
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
@NOTIFY
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
    """Record a new run of WORKFLOW and say where it lives; no agent works before `resume`, or a worker, takes it up.

    `run` does the same and drives on.
    """
    from reconvene.app import queries

    _require_place(call, recorded)
    inputs = (*inputs, *material(workflow, documents, sources))
    ask, played = call.interactive and not no_input, recording_of(workflow, inputs) if recorded else None
    engine, run = starting.started(call, workflow, inputs, settings, ask, played, anyway)
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
    require_role(engine.actor, "decider", "to go on with a run")
    bind(call, engine, found)
    workflow = engine.session(found).book.workflow
    starting.check_live(call, workflow)
    starting.say_ungated(engine, workflow)
    if not anyway:
        require_ready_to_go_on(engine, found)
    say_what_does_not_fit(engine, found)
    # The time that a provider asked for does not hold for another one.
    at_once = now or bool(call.models or call.agents)
    return proceed(call, engine, found, decider, at_once=at_once, looks=not anyway, expected=True)


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
