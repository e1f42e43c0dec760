"""`replan`: a run goes back to planning, from wherever it stands still."""

from __future__ import annotations

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.acting_again import RUN_AGAIN
from reconvene.doors.cli.common import BY, DOOR, LIVE, Call, binds, command, note


@command("""
Examples:
  reconvene replan job-1 "The report is for customers, not for the board"
  reconvene replan job-1 --feedback 'correction: The budget is 40k' --feedback 'Leave out 2023'
""")
@click.argument("run")
@click.argument("why", required=False, default="")
@click.option(
    "--feedback", "--remark", "feedback", multiple=True, metavar='"KIND: TEXT"',
    help="A remark for the agents; may be repeated.",
)  # fmt: skip
@binds
@BY
@LIVE
@RUN_AGAIN
@click.option("--no-input", is_flag=True, help="Never ask: park at the first checkpoint.")
@click.option("--no-drive", is_flag=True, help="Only record it.")
def replan(
    call: Call,
    run: str,
    why: str,
    feedback: tuple[str, ...],
    run_again: bool,
    no_input: bool,
    no_drive: bool,
) -> int:
    """Have RUN planned anew, with WHY as your remark.

    At any stop: at a checkpoint, where a call of a tool waits, where a provider is awaited, when RUN is paused, and
    after its end. What was accepted so far stays, and so does all that was said. What was under way is given up, and
    is on record: a call that waits is not made. Where planning begins anew, the workflow says (`replan`).
    """
    from reconvene.core.facts.commands import Replan
    from reconvene.core.person.replanning import where
    from reconvene.core.working.acting import again
    from reconvene.doors.cli.acting_again import require_word
    from reconvene.doors.cli.decide import remarks_in
    from reconvene.doors.cli.drive import who_decides
    from reconvene.doors.cli.proceed import proceed
    from reconvene.doors.cli.starting import check_live
    from reconvene.doors.cli.typed_bindings import bind

    engine, found = open_to_change(call, run)
    session = engine.session(found)
    state, book = session.state, session.book
    check_live(call, book.workflow)
    said = (*([why] if why.strip() else []), *feedback)
    remarks = remarks_in(engine, found, said)
    move = where(state, book)
    words = ["replan", found, *(word for one in said for word in ("--feedback", one))]
    told = require_word(call, again(state, book, move), words, given=run_again)
    decider = who_decides(call, None, no_input)
    at = state.world.open.id if state.world.open is not None else ""
    engine.submit(found, Replan(at, call.by, DOOR, remarks, told), driving=not no_drive)
    bind(call, engine, found)
    if not call.as_json:
        note(f"run {found} is planned anew, from {move.target} on")
    return proceed(call, engine, found, decider, only_record=no_drive)
