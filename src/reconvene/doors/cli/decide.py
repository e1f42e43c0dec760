"""`decide`, `pause`, `abort`, `rollback`: one word of a person, recorded, and the run driven on where it may.

They exit with how the run stands afterwards (0 completed, 1 failed, 2 aborted, 3 parked).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import DOOR, Call, command, open_run
from reconvene.errors import Refused, UserError
from reconvene.settings import person

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.model import Checkpoint, Option
    from reconvene.core.facts.commands import Answers, RemarkIn


@command(
    epilog="""
Examples:
  reconvene decide two-step-1 --option Continue
  reconvene decide two-step-1 --option Again --feedback 'correction: Revenue is $900M' --feedback 'shorter please'
  reconvene decide two-step-1 --option 2 --field severity=high --by Ada
"""
)
@click.argument("run", required=False)
@click.option("--option", "option", metavar="LABEL", help="Its label, the beginning of it, or its number.")
@click.option(
    "--field", "fields", multiple=True, metavar="ID=VALUE", help="The answer to a field; ID=@FILE reads a file."
)
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="A remark for the agents; may be repeated.")
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
@click.option("--digest", default="", help="Of what you saw: refuse the decision if it has changed since.")
@click.option("--no-drive", is_flag=True, help="Only record the decision.")
def decide(
    call: Call,
    run: str | None,
    option: str | None,
    fields: tuple[str, ...],
    feedback: tuple[str, ...],
    by: str,
    digest: str,
    no_drive: bool,
) -> int:
    """Answer the open checkpoint of RUN and drive on to the next stop.

    Without --option, on a terminal, you are asked. The kinds of feedback are: correction, new context, clarification,
    strategic shift, reaction ("reaction to economist: …"), missing factor, comment.
    """
    remarks = remarks_in(feedback)
    if option is None and (no_drive or fields or remarks or not call.interactive):
        raise UserError("which option? add --option LABEL", hint="see them with: reconvene show")
    engine, found = open_run(call, run)
    if option is not None:  # on disk before anything is loaded that only driving on needs
        _answer(engine, found, option, fields, remarks, person(by), digest, driving=not no_drive)

    from reconvene.doors.cli.drive import proceed, who_decides
    from reconvene.doors.cli.session import Nobody

    decider = Nobody() if option is not None else who_decides(call, None, person(by), False)
    return proceed(call, engine, found, decider, person(by), only_record=no_drive)


def _answer(
    engine: Engine,
    run: str,
    option: str,
    fields: tuple[str, ...],
    remarks: tuple[RemarkIn, ...],
    by: str,
    digest: str,
    *,
    driving: bool,
) -> None:
    from reconvene.app.views import projections
    from reconvene.core.facts.commands import AnswerCheckpoint
    from reconvene.doors.shared.options import match_option

    state = engine.load(run)  # the log's word, not the index's: it is what the decision is about
    checkpoint = projections.checkpoint(state)
    if checkpoint is None:
        raise Refused(f"{run} is {state.status}; there is no checkpoint to decide", hint=f"see: reconvene show {run}")
    chosen = match_option(checkpoint, option)
    answers = _read_fields(checkpoint, chosen, fields) if fields else {}
    # The open checkpoint's id goes along even where no digest is given: nobody decides twice by accident.
    engine.submit(
        run,
        AnswerCheckpoint(checkpoint.id, chosen.label, fields=answers, remarks=remarks, digest=digest, by=by, door=DOOR),
        driving=driving,
    )


def _read_fields(checkpoint: Checkpoint, option: Option, pairs: tuple[str, ...]) -> Answers:
    from reconvene.doors.cli.inputs import read_fields
    from reconvene.doors.shared.options import fields_of

    return read_fields(fields_of(checkpoint, option), pairs)


@command()
@click.argument("run", required=False)
@click.option("--now", is_flag=True, help="Cancel agents at work instead of letting them finish.")
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
def pause(call: Call, run: str | None, now: bool, by: str) -> int:
    """Pause RUN: agents at work finish and are recorded, nothing new starts. `resume` goes on."""
    from reconvene.core.facts.commands import Pause
    from reconvene.doors.cli.drive import proceed
    from reconvene.doors.cli.session import Nobody

    engine, found = open_run(call, run)
    engine.submit(found, Pause(by=person(by), door=DOOR, now=now))
    return proceed(call, engine, found, Nobody(), person(by), only_record=True)


@command()
@click.argument("run")
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="Why; kept with the run. May be repeated.")
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
def abort(call: Call, run: str, feedback: tuple[str, ...], by: str) -> int:
    """End RUN for good. Its log and files stay."""
    from reconvene.core.facts.commands import Abort
    from reconvene.doors.cli.drive import proceed
    from reconvene.doors.cli.session import Nobody

    remarks = remarks_in(feedback)
    engine, found = open_run(call, run)
    engine.submit(found, Abort(by=person(by), door=DOOR, remarks=remarks))
    return proceed(call, engine, found, Nobody(), person(by), only_record=True)


@command()
@click.argument("run", required=False)
@click.option("--feedback", multiple=True, metavar='"KIND: TEXT"', help="What to do differently. May be repeated.")
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
@click.option("--no-drive", is_flag=True, help="Only record it.")
def rollback(call: Call, run: str | None, feedback: tuple[str, ...], by: str, no_drive: bool) -> int:
    """Undo the round of RUN that you are looking at, and run it again. What you said stays said."""
    from reconvene.core.facts.commands import Rollback
    from reconvene.doors.cli.drive import proceed
    from reconvene.doors.cli.session import Nobody

    remarks = remarks_in(feedback)
    engine, found = open_run(call, run)
    engine.submit(found, Rollback(by=person(by), door=DOOR, remarks=remarks), driving=not no_drive)
    return proceed(call, engine, found, Nobody(), person(by), only_record=no_drive)


def remarks_in(feedback: tuple[str, ...]) -> tuple[RemarkIn, ...]:
    from reconvene.core.kit_finder import reader

    return tuple(reader().typed(text) for text in feedback if text.strip())
