"""`decide`, `pause`, `abort`, `rollback`, `fork`: a word of a person, recorded, and the run driven on where it may."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import structs

from reconvene.core.person.permitted import require_role
from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.acting_again import RUN_AGAIN
from reconvene.doors.cli.common import (
    BY,
    DOOR,
    EXIT_CODES,
    LIVE,
    MOST,
    Call,
    answer,
    binds,
    command,
    note,
    put,
    put_json,
    say,
)
from reconvene.errors import Refused, Repeated, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.definition.bindings import Binding
    from reconvene.core.facts.commands import AnswerCheckpoint, Command, RemarkIn
    from reconvene.core.facts.events import RemarkAdded
    from reconvene.core.facts.state import RunState


_AT = click.option(
    "--at",
    "--digest",
    "at",
    default="",
    metavar="VERSION",
    help="The version that you saw, or its beginning, as each stop names it; without it, the last one shown to you.",
)


@command("""
Examples:
  reconvene decide two-step-1 --option Continue
  reconvene decide two-step-1 --option Again --feedback 'correction: Revenue is $900M' --feedback 'shorter please'
  reconvene decide two-step-1 --option 2 --field severity=high --by Ada
  reconvene decide two-step-1 --option "Try again" --model reviewer=ollama:qwen3
""")
@click.argument("run", required=False)
@click.option("--option", "option", metavar="LABEL", help="Its label, the beginning of it, or its number.")
@click.option(
    "--field", "fields", multiple=True, metavar="ID=VALUE", help="The answer to a field; ID=@FILE reads a file."
)
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="A remark for the agents; may be repeated.")
@binds
@BY
@LIVE
@_AT
@click.option("--latest", is_flag=True, help="Decide whatever is open, seen or not.")
@click.option("--no-drive", is_flag=True, help="Only record the decision.")
def decide(
    call: Call,
    run: str | None,
    option: str | None,
    fields: tuple[str, ...],
    feedback: tuple[str, ...],
    at: str,
    latest: bool,
    no_drive: bool,
) -> int:
    """Answer the open checkpoint of RUN and drive on to the next stop.

    Without --option you are asked, on a terminal; elsewhere the options are listed, with what follows from each and
    the fields that it takes. The kinds of feedback are: correction, new context, clarification,
    strategic shift, reaction ("reaction to economist: …"), missing factor, comment.

    You decide what you saw. Where somebody else changed it since, the decision is refused, with the difference and the
    command that goes on; your own remarks and edits go with it. In a script, the stop that this command prints does not
    count as seen: name the next one with --at, or take whatever is open with --latest.

    The decision is on disk first, with what --model and --agent say. Where the agent whose turn it is then lacks a key
    or a program on this machine, that is said, nobody is asked, and `resume` goes on.
    """
    engine, found = open_to_change(call, run)
    require_role(engine.actor, "decider", "to decide")
    if option is None and (no_drive or fields or feedback or not call.interactive):
        _list_options(call, engine, found)
        raise UserError(
            "which option? nothing was decided", hint=f"add --option LABEL to: {call.command('decide', found)}"
        )
    if call.live:
        from reconvene.doors.cli.starting import check_live

        check_live(call, engine.session(found).book.workflow)
    if option is not None:
        remarks, bindings, decision = remarks_in(engine, found, feedback), _wanted(call, engine, found), None
        try:
            decision = _decision(call, engine, found, option, fields, remarks, at, latest, bindings)
            _note_branch(engine, found)
            return submit(call._replace(deciding=True), engine, found, decision, drive=not no_drive)
        except Repeated as error:
            return _tell_repeated(call, engine, found, error)
        except Refused as error:
            from reconvene.doors.cli.on_screen import with_way_on

            label = decision.option if decision is not None else option
            words = [word for field in fields for word in ("--field", field)]
            words += [word for said in feedback for word in ("--feedback", said)]
            raise with_way_on(call, engine, found, error, label, words) from None

    from reconvene.doors.cli.drive import who_decides
    from reconvene.doors.cli.proceed import proceed

    if call.models or call.agents:
        from reconvene.doors.cli.typed_bindings import bind

        bind(call, engine, found)
    return proceed(call, engine, found, who_decides(call, None, False), looks=True)


def _wanted(call: Call, engine: Engine, run: str) -> tuple[Binding, ...]:
    """What --model and --agent say."""
    if not call.models and not call.agents:
        return ()
    from reconvene.doors.cli.typed_bindings import wanted

    return wanted(call, engine, run)


def _list_options(call: Call, engine: Engine, run: str) -> None:
    """What can be decided here, each option with what follows from it and the fields that it takes."""
    from reconvene.app import queries
    from reconvene.doors.shared.asked_of import asked_of
    from reconvene.doors.shared.comment_lines import still_open
    from reconvene.doors.shared.options import on_offer
    from reconvene.doors.shared.passages import question_line
    from reconvene.doors.shared.whole_checkpoint import field_lines, option_lines

    point = queries.standing(engine, run).checkpoint
    if point is None:
        raise _no_checkpoint(engine.load(run))
    if call.as_json:
        own = {"question": point.question, "options": point.options, "fields": point.fields, "who": point.who}
        put_json({"run": run, **own, "comments": point.comments})
        return
    say(question_line(point))
    for line in asked_of(point):
        say(line)
    if point.comments:
        put("\ncomments that are still open:")
        for line in still_open(point.comments, call.command("comments", run)):
            say(f"  {line}")
    if point.fields:
        put("\nfields, with any option (--field ID=VALUE):")
        for line in field_lines(point.fields, point.answers):
            say(f"  {line}")
    put()
    for option, lines in zip(on_offer(point.options), option_lines(point.options)):
        taken = [f"   {line}" for line in field_lines(option.fields, None, "--field ")]
        for line in (*lines, *taken):
            say(f"  {line}")


def _no_checkpoint(state: RunState) -> Refused:
    run = state.run
    return Refused(f"{run} is {state.status}; there is no checkpoint to decide", hint=f"see: reconvene show {run}")


def _decision(
    call: Call,
    engine: Engine,
    run: str,
    option: str,
    fields: tuple[str, ...],
    remarks: tuple[RemarkIn, ...],
    at: str,
    latest: bool,
    bindings: tuple[Binding, ...],
) -> AnswerCheckpoint:
    """On the version that is meant."""
    from reconvene.core.facts.commands import AnswerCheckpoint, Answers
    from reconvene.doors.cli.on_screen import find
    from reconvene.doors.shared.options import fields_of, match_option

    state = engine.load(run)  # the log's word, not the index's: it is what the decision is about
    if state.world.open is None and state.awaits is not None:
        raise Refused(
            f"{run} waits for {state.awaits.model}, not for a decision: there is nothing to decide",
            hint=f"go on with: reconvene resume {run}",
        )
    meant = find(call, engine, run, at, latest)
    try:
        chosen = match_option(meant.point, option)
    except Refused:
        if state.world.open is None:
            raise _no_checkpoint(state) from None
        raise
    answers: Answers = {}
    if fields:
        from reconvene.doors.cli.typed_values import read_fields

        answers = read_fields(fields_of(meant.point, chosen), fields)
    # The checkpoint's id goes along also where any version of it will do: nobody decides twice by accident.
    version = "" if meant.source else meant.version
    return AnswerCheckpoint(
        meant.point.id, chosen.label, answers, remarks, version, call.by, DOOR, source=meant.source, bindings=bindings
    )


def _note_branch(engine: Engine, run: str) -> None:
    """The decision is about the run's own commit, whatever else stands on its branch."""
    state = engine.load(run)
    if not state.world.head:
        return
    from reconvene.app.project_now import looked_at
    from reconvene.app.views import projections
    from reconvene.doors.shared.glance import project_lines

    for line in project_lines(looked_at(engine, state, projections.run(state).project))[1:]:
        note(line)


def _tell_repeated(call: Call, engine: Engine, run: str, error: Repeated) -> int:
    """The decision is on record already: nothing is wrong, and nothing was done."""
    from reconvene.app import queries
    from reconvene.doors.cli.stops import headline

    summary = queries.standing(engine, run)
    note(error.message)
    if summary.driven is False:
        note(f"go on with: {call.command('resume', run)}")
    answer(call, summary, headline(summary), nothing_to_do=True)
    return EXIT_CODES[summary.status]


def submit(call: Call, engine: Engine, run: str, command: Command, *, drive: bool = False) -> int:
    """On disk before anything is loaded that only driving on needs."""
    before = engine.log.head(run)
    state = engine.submit(run, command, driving=drive, once=True)
    if engine.log.head(run) == before:
        from reconvene.doors.cli.proceed import tell_nothing_to_do

        return tell_nothing_to_do(call, engine, run)
    for remark in _own_since(state, command):
        note(f"with your {remark.id}: {remark.text}")
    if call.models or call.agents:
        from reconvene.doors.cli.typed_bindings import accept_own_words

        accept_own_words(call, engine, run)

    from reconvene.doors.cli.proceed import proceed
    from reconvene.doors.cli.stops import Decider

    return proceed(call, engine, run, Decider(), only_record=not drive, decided=True, looks=True)


def _own_since(state: RunState, command: Command) -> list[RemarkAdded]:
    """What the person said and changed after they were shown what they decide here: it goes with the decision."""
    number = state.record.decided.get(getattr(command, "checkpoint", ""))
    since = state.record.decisions[number].since if number is not None else ()
    return [one for one in state.record.remarks.values() if one.id in since] if since else []


def remarks_in(engine: Engine, run: str, feedback: tuple[str, ...]) -> tuple[RemarkIn, ...]:
    """As the run's own reader reads what is typed: "kind: text", or free text. Agreement alone is no remark."""
    from reconvene.doors.cli.large_remarks import say_what_is_too_large
    from reconvene.doors.shared.remarks import said_with_decision

    said = [text for text in feedback if text.strip()]
    say_what_is_too_large(engine, run, said)
    workflow = engine.session(run).book.workflow
    agents = tuple(workflow.agents)
    return tuple(remark for text in said for remark in said_with_decision(text, agents, workflow.kits))


@command()
@click.argument("run", required=False)
@click.option("--now", is_flag=True, help="Cancel agents at work instead of letting them finish.")
@BY
def pause(call: Call, run: str | None, now: bool) -> int:
    """Pause RUN: agents at work finish and are recorded, nothing new starts. `resume` goes on."""
    from reconvene.core.facts.commands import Pause

    return submit(call, *open_to_change(call, run), Pause(by=call.by, door=DOOR, now=now))


@command()
@click.argument("run")
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="Why; kept with the run. May be repeated.")
@BY
def abort(call: Call, run: str, feedback: tuple[str, ...]) -> int:
    """End RUN for good. Its log and files stay."""
    from reconvene.core.facts.commands import Abort

    engine, found = open_to_change(call, run)
    return submit(call, engine, found, Abort(call.by, DOOR, remarks_in(engine, found, feedback)))


@command()
@click.argument("run", required=False)
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="What to do differently. May be repeated.")
@BY
@_AT
@click.option("--latest", is_flag=True, help="Undo whatever is open, seen or not.")
@RUN_AGAIN
@click.option("--no-drive", is_flag=True, help="Only record it.")
def rollback(
    call: Call,
    run: str | None,
    feedback: tuple[str, ...],
    at: str,
    latest: bool,
    run_again: bool,
    no_drive: bool,
) -> int:
    """Undo the round of RUN that you are looking at, and run it again. What you said stays said.

    You undo what you saw: --at and --latest are those of `decide`. Where an agent with effects would act again, you are
    asked first, on a terminal; elsewhere --run-again says that it may.
    """
    from reconvene.core.definition.workflow import Again
    from reconvene.core.facts.commands import Rollback
    from reconvene.core.working.acting import again
    from reconvene.doors.cli.acting_again import require_word
    from reconvene.doors.cli.on_screen import find, with_way_on

    engine, found = open_to_change(call, run)
    session = engine.session(found)
    words = ["rollback", found, *(word for said in feedback for word in ("--feedback", said))]
    undo = Rollback(by=call.by, door=DOOR, remarks=remarks_in(engine, found, feedback))
    try:
        if session.state.world.open is not None or at:
            meant = find(call, engine, found, at, latest)
            version = "" if meant.source else meant.version
            undo = structs.replace(undo, checkpoint=meant.point.id, digest=version, source=meant.source)
        typed = [*words, *(["--at", at] if at else []), *(["--latest"] if latest else [])]
        told = require_word(call, again(session.state, session.book, Again(), undo=True), typed, given=run_again)
        undo = structs.replace(undo, told=told)
        return submit(call._replace(deciding=True), engine, found, undo, drive=not no_drive)
    except Refused as error:
        more = ["--run-again"] if run_again else []
        raise with_way_on(call, engine, found, error, "", [*words, *more]) from None


@command("Example:\n  reconvene log two-step-1        # find the event\n  reconvene fork two-step-1 --at 12")
@click.argument("run")
@click.option("--at", "at", type=click.IntRange(1, MOST), required=True, metavar="SEQ", help="The last event to share.")
@binds
@BY
def fork(call: Call, run: str, at: int) -> int:
    """Fork RUN: a new run with its own files, holding RUN's events up to SEQ.

    It has what RUN had at that event: files, remarks, decisions, answers so far, allowed calls; and nothing that came
    after it. Where agents were in the middle of work then, it begins with the last event before that. Its agents are
    carried out by whoever carries out those of RUN now; --model and --agent name others.
    """
    from reconvene.app import queries
    from reconvene.app.views.shared_past import shared_past
    from reconvene.doors.cli.typed_bindings import bind, wanted

    engine, source = open_to_change(call, run)
    wanted(call, engine, source)  # what nobody could do is refused before there is a fork
    made = engine.fork(source, at=at, by=call.by, door=DOOR)
    bind(call, engine, made)
    past = shared_past(engine.log.read(made), engine.log.head(source))
    assert past is not None
    moved = f" ({at} is in the middle of what the run did by itself)" if past.event != at else ""
    lines = [f"{made} is {source} as it was at event {past.event}{moved}", *(f"  {line}" for line in past.lines())]
    ways = [call.command("resume", made), f"{call.command('compare', source, made)}    # later: what went otherwise"]
    told = "\n".join([*lines, "", "continue with:", *(f"  {way}" for way in ways)])
    return answer(call, queries.summary(engine, made), told, shared=past)
