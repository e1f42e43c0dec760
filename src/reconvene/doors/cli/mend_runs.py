"""`upgrade` and `reopen`: a run goes on with a mended workflow, or is taken up again after its end."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.accepting import accept_named, open_to_change
from reconvene.doors.cli.acting_again import RUN_AGAIN
from reconvene.doors.cli.common import BY, DOOR, LIVE, Call, binds, command, note, put, put_json, say
from reconvene.doors.cli.named_workflow import file_of, load
from reconvene.doors.cli.text import clean, command_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.upgrading import Fitting
    from reconvene.app.views.workflow_changes import Changed
    from reconvene.core.definition.workflow import Workflow

_NO_INPUT = click.option("--no-input", is_flag=True, help="Never ask: park at the first checkpoint.")
_NO_DRIVE = click.option("--no-drive", is_flag=True, help="Only record it.")


@command("""
Examples:
  reconvene upgrade two-step-1 --to two-step.yaml --dry-run    # what would change
  reconvene upgrade two-step-1 --to two-step.yaml
""")
@click.argument("run")
@click.option("--to", "to", required=True, metavar="WORKFLOW", help="The workflow to go on with: a file, or a name.")
@click.option(
    "--input", "inputs", multiple=True, metavar="NAME=VALUE", help="An input that RUN does not have; NAME=@FILE."
)
@click.option(
    "--drop", multiple=True, metavar="NAME", help="A value on record that is not in the workflow; may be repeated."
)
@click.option("--dry-run", is_flag=True, help="Say what would change, and change nothing.")
@BY
@LIVE
@_NO_INPUT
@_NO_DRIVE
@click.option("--anyway", is_flag=True, help="Also where an agent lacks something on this machine.")
def upgrade(
    call: Call,
    run: str,
    to: str,
    inputs: tuple[str, ...],
    drop: tuple[str, ...],
    dry_run: bool,
    no_input: bool,
    no_drive: bool,
    anyway: bool,
) -> int:
    """Go on with another workflow: RUN stays the same run, with all that was said and decided.

    At an open checkpoint, also one that a mistake in the workflow caused, or when RUN has ended. Prompts and templates
    beside the file are read anew, too. Rounds that are over stay as they were; the checkpoint opens anew, so that
    nobody decides on what they saw before. Phases and values that RUN has on record must be in the new workflow as
    well; --drop NAME gives a value up. Where something does not fit, all of it is said, with the line, and from where
    RUN can be forked instead.
    """
    from reconvene.app.upgrading import fit
    from reconvene.app.upgrading import upgrade as carry_out
    from reconvene.doors.cli.drive import who_decides
    from reconvene.doors.cli.proceed import proceed
    from reconvene.doors.cli.starting import check_live
    from reconvene.doors.cli.typed_values import read_inputs

    engine, found = open_to_change(call, run)
    workflow = loaded_for(engine, found, to)
    check_live(call, workflow)
    given = read_inputs(workflow, inputs)
    fitting = fit(engine, found, workflow, given, drop=drop, named=to, by=call.by, door=DOOR)
    if dry_run:
        return _put_fitting(call, fitting, dry=True)
    if fitting.is_same:
        note(f"{found} goes on with this workflow already: there is nothing to change")
    else:
        if not anyway:
            require_ready_for(engine, found, fitting, to)
        carry_out(engine, fitting, driving=not no_drive and not engine.load(found).ended)
        accept_named(call, engine, found)
        if not call.as_json:
            _put_fitting(call, fitting, dry=False)
            _put_how_to_redo(call, engine, found)
    ended = bool(engine.load(found).ended)
    return proceed(call, engine, found, who_decides(call, None, no_input), only_record=no_drive or ended)


def _put_how_to_redo(call: Call, engine: Engine, run: str) -> None:
    """How what is over is done with the new workflow, where somebody wants that."""
    from reconvene.core.working.moves import undo_refused

    session = engine.session(run)
    state, point = session.state, session.state.world.open
    if state.ended == "completed":
        put(f"take it up again with: {call.command('reopen', run)}\n")
    if point is not None and not point.attention and not undo_refused(state, session.book):
        from reconvene.core.person.checkpoint import current_digest
        from reconvene.doors.cli.on_screen import as_typed

        how = call.command("rollback", run, "--at", as_typed(call, run, current_digest(state)))
        put(f"this round was done with the workflow before; to do it anew: {how}\n")


def loaded_for(engine: Engine, run: str, named: str) -> Workflow:
    """The workflow that is named. The agents of a run that plays a recording go on playing the one beside it."""
    loaded, before = load(named), engine.session(run).book.workflow
    played = [one.name for one in before.agents.values() if one.kind == "recorded" and one.recorded == "team"]
    if not any(name in loaded.agents and loaded.agents[name].kind != "recorded" for name in played):
        return loaded
    from reconvene.wire.recordings import recording

    return recording(file_of(named), {}).workflow


def require_ready_for(engine: Engine, run: str, fitting: Fitting, named: str) -> None:
    """Nothing is changed where an agent of the new workflow cannot work here."""
    import msgspec

    from reconvene.core.definition.bindings import bound
    from reconvene.wiring import preflight, require_ready

    command, state = fitting.command, engine.load(run)
    held = [at.binding for name, at in state.record.bindings.items() if name not in command.unbound]
    workflow = bound(command.pinned.workflow, held)
    if not any(agent.kind != "recorded" for agent in workflow.agents.values()):
        return
    inputs, settings = (
        msgspec.json.decode(fitting.blobs[digest], type=dict[str, object])
        for digest in (command.inputs, command.settings)
    )
    found = preflight(workflow, inputs, settings, beside=str(file_of(named).resolve().parent))
    require_ready(workflow, found, check=f"look again: {command_line('check', named)}; all the same: --anyway")


def _put_fitting(call: Call, fitting: Fitting, *, dry: bool) -> int:
    from reconvene.app.views.workflow_changes import changes, line

    command = fitting.command
    found = changes(fitting.before, command.pinned.workflow)
    if call.as_json:
        put_json(
            {
                "run": fitting.run,
                "before": command.before,
                "workflow": command.pinned.digest,
                "changes": found,
                "passed": fitting.passed,
                "unbound": command.unbound,
                "dropped": command.dropped,
                "dry_run": dry,
            }
        )
        return 0
    put(f"{fitting.run}: {clean(fitting.before.name)} {command.before[:8]} → {command.pinned.digest[:8]}")
    for one in found:
        say(f"  {clean(line(one))}")
        if dry:
            _put_diff(one)
    if not found:
        put("  nothing but where things are written" if not fitting.is_same else "  nothing is different")
    for phase in fitting.passed:
        say(f"  ! the run is past the place of phase {clean(phase)}: it is not entered by itself")
    for name in command.dropped:
        say(f"  ! the value {clean(name)} is on record, and nothing sees it any more")
    for agent in command.unbound:
        say(f"  ! {clean(agent) or 'all agents of a model'}: the binding holds no more")
    put("nothing was changed (--dry-run)" if dry else "")
    return 0


def _put_diff(one: Changed) -> None:
    for text in one.diff.split("\n")[2:]:
        if text:
            put(f"      {text}")


@command("""
Examples:
  reconvene reopen two-step-1 --feedback 'correction: Revenue is $900M'
  reconvene reopen two-step-1 --phase draft
  reconvene reopen two-step-1 --grant calls=20      # where a limit ended it
""")
@click.argument("run")
@click.option("--phase", default="", metavar="PHASE", help="Where to go on; else where it ended, or last asked.")
@click.option("--rerun", is_flag=True, help="Do the phase anew, instead of opening its checkpoint.")
@click.option(
    "--feedback", "--remark", "feedback", multiple=True, metavar='"KIND: TEXT"',
    help="A remark for the agents; may be repeated.",
)  # fmt: skip
@click.option(
    "--grant", "grants", multiple=True, metavar="LIMIT=MORE",
    help="Add to a limit: calls, rounds, rounds.PHASE, cost (USD), entries. May be repeated.",
)  # fmt: skip
@binds
@BY
@LIVE
@RUN_AGAIN
@_NO_INPUT
@_NO_DRIVE
def reopen(
    call: Call,
    run: str,
    phase: str,
    rerun: bool,
    run_again: bool,
    feedback: tuple[str, ...],
    grants: tuple[str, ...],
    no_input: bool,
    no_drive: bool,
) -> int:
    """Take RUN up again after its end, as the same run: all that was said and decided stays.

    Where you were asked, the checkpoint opens anew with your remarks, and nothing works before you decide; rounds go
    on counting. A phase without a checkpoint is done anew. A run that was stopped in the middle goes on there. Where a
    limit ended it, --grant adds to the limit, on record. The runs that RUN started stay as they are. Where an agent
    with effects would act again, you are asked first, on a terminal; elsewhere --run-again says that it may.
    """
    from reconvene.app.reopening import acting_again
    from reconvene.app.reopening import reopen as take_up
    from reconvene.doors.cli.acting_again import require_word
    from reconvene.doors.cli.decide import remarks_in
    from reconvene.doors.cli.drive import who_decides
    from reconvene.doors.cli.proceed import proceed
    from reconvene.doors.cli.starting import check_live
    from reconvene.doors.cli.typed_bindings import bind

    engine, found = open_to_change(call, run)
    check_live(call, engine.session(found).book.workflow)
    added = _grants(grants)
    said = remarks_in(engine, found, feedback)
    decider = who_decides(call, None, no_input)
    acting = acting_again(engine, found, phase, rerun=rerun)
    told = require_word(call, acting, _typed(found, phase, rerun, feedback, grants), given=run_again)
    take_up(
        engine,
        found,
        phase,
        rerun=rerun,
        grants=added,
        remarks=said,
        by=call.by,
        door=DOOR,
        driving=not no_drive,
        told=told,
    )
    bind(call, engine, found)
    if not call.as_json:
        note(f"run {found} is taken up again")
    return proceed(call, engine, found, decider, only_record=no_drive)


def _typed(run: str, phase: str, rerun: bool, feedback: tuple[str, ...], grants: tuple[str, ...]) -> list[str]:
    words = ["reopen", run, *(["--phase", phase] if phase else []), *(["--rerun"] if rerun else [])]
    words += [word for said in feedback for word in ("--feedback", said)]
    return [*words, *(word for grant in grants for word in ("--grant", grant))]


def _grants(typed: tuple[str, ...]) -> dict[str, float]:
    found: dict[str, float] = {}
    for pair in typed:
        name, equals, more = pair.partition("=")
        try:
            found[name.strip()] = float(more.strip().removeprefix("$").removeprefix("+"))
        except ValueError:
            equals = ""
        if not equals:
            raise UserError(
                f"--grant {clean(pair)!r} does not say how much is added to which limit",
                hint="write it as in --grant calls=20",
            )
    return found
