"""`delete`: a run goes for good, with what no other run needs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.app.views.who import told
from reconvene.authority import require_person
from reconvene.doors.cli.common import BY, DOOR, Call, command, note, open_home, put, put_json
from reconvene.doors.cli.text import clean, clock_time
from reconvene.errors import UserError
from reconvene.wiring import showings

if TYPE_CHECKING:
    from reconvene.app.engine import Engine


@command("""
Examples:
  reconvene delete two-step-1            # asks once
  reconvene delete two-step-1 --yes      # for scripts
  reconvene runs --deleted               # what was deleted, by whom and when
""")
@click.argument("run")
@click.option("--yes", is_flag=True, help="Do not ask.")
@BY
def delete(call: Call, run: str, yes: bool) -> int:
    """Delete RUN for good: its log, its history, its files, and the contents that no other run uses.

    What stays is its id, its last event's number and chain value, who deleted it and when. Files of its folder that you
    changed stay where they are. While a process drives the run, it is not deleted.
    """
    from reconvene import desk_wiring, search_wiring
    from reconvene.app import deleting
    from reconvene.app.tombstones import gone, left_of
    from reconvene.doors.cli.unsent_answers import forget

    require_person("to delete a run")
    engine = open_home(call)
    found = run if left_of(engine.log, run) is not None else engine.find(run)
    already = left_of(engine.log, found) is not None
    if not already and not yes:
        _ask(call, engine, found)
    done = deleting.delete(engine, found, by=call.by, door=DOOR)
    showings(call.home).drop(found)
    search_wiring.forget(call.home, found)
    desk_wiring.forget(call.home, found)
    forget(call.home, found)
    shown = gone(done.left)
    if done.stayed:
        note(f"these stay in {done.folder}, because you changed them: {', '.join(done.stayed)}")
    by = clean(told(shown.by, shown.user))
    if call.as_json:
        put_json(shown, stayed=done.stayed, **({"nothing_to_do": True} if already else {}))
    elif already:
        put(f"{clean(found)} was deleted {clock_time(shown.at)} by {by}: there is nothing to do")
    else:
        put(f"{clean(found)} is deleted ({shown.head} events) by {by}")
    return 0


def _ask(call: Call, engine: Engine, run: str) -> None:
    from reconvene.app import queries
    from reconvene.doors.cli.ask import ask_yes

    hint = f"to delete it without being asked: {call.command('delete', run, '--yes')}"
    if not call.interactive:
        raise UserError(f"{run} would be deleted for good, and nobody can be asked", hint=hint)
    one = queries.summary(engine, run)
    put(f"{run} ({one.workflow}, {one.status}, {engine.log.head(run)} events) goes for good.")
    try:
        agreed = ask_yes("Delete it?", default=False)
    except (KeyboardInterrupt, EOFError):
        agreed = False
    if not agreed:
        raise UserError(f"{run} was not deleted", hint=hint)
