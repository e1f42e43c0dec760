"""`tick` and `assign`: what time does to open checkpoints, and who is to decide them."""

from __future__ import annotations

from contextlib import closing
from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from reconvene.authority import require_person
from reconvene.core.facts.named_people import TEAM, named
from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, DOOR, Call, answer, command, open_home, put, put_json, put_none
from reconvene.doors.cli.text import one_line
from reconvene.errors import UserError
from reconvene.home import is_there
from reconvene.people_wiring import are_set_up, open_people

if TYPE_CHECKING:
    from reconvene.app.lapsing import Lapsed


@command("""
Examples:
  reconvene tick
  */5 * * * *  cd /srv/project && reconvene tick     # a line of a crontab
""")
def tick(call: Call) -> int:
    """Do what deadlines and reminders of open checkpoints say by now, and send messages that are due. For cron: it asks
    nobody, and drives nothing.

    A reminder is recorded once, and a deadline once, whoever looks: this, a worker, or a server. Runs that a deadline
    had go on are driven by a worker, or by `reconvene resume`.
    """
    require_person("to do what is due")
    done = _lapsed(call) if is_there(call.place) else []
    if call.as_json:
        put_json([to_builtins(one) for one in done])
    for one in () if call.as_json else done:
        put(f"{one.run}  {one_line(one.text, 300)}")
        if one.what == "decided":
            put(f"  go on with: {call.command('resume', one.run)}")
    if not done and not call.as_json:
        put_none(call, "nothing is due")
    return 1 if any(one.what == "failed" for one in done) else 0


def _lapsed(call: Call) -> list[Lapsed]:
    from reconvene.app.lapsing import lapse_all
    from reconvene.doors.cli.sent_along import messages_sent

    engine = open_home(call)
    with messages_sent(call, engine.log):
        return list(lapse_all(engine))


@command("""
Examples:
  reconvene assign two-step-1 ada
  reconvene assign two-step-1 ada bob team:finance
""")
@click.argument("run")
@click.argument("who", nargs=-1, required=True, metavar="NAME|team:TEAM …")
@BY
def assign(call: Call, run: str, who: tuple[str, ...]) -> int:
    """Hand the open checkpoint of RUN over: these decide it, and nobody else.

    For an admin, and for whoever may decide it now. What others chose before, where it needs several people, does not
    count any more. The deadline stays.
    """
    from reconvene.app import queries
    from reconvene.core.facts.commands import Assign

    engine, found = open_to_change(call, run)
    _require_deciders(call, who)
    engine.submit(found, Assign("", who, call.by, DOOR))
    return answer(call, queries.summary(engine, found), f"{found} waits for {named(who)}")


def _require_deciders(call: Call, who: tuple[str, ...]) -> None:
    """Where people are set up: nobody is asked who could not decide."""
    if not are_set_up(call.home):
        return
    with closing(open_people(call.home)) as people:
        everyone = people.everyone()
    deciders = {one.name for one in everyone if one.actor().may("decider")}
    teams = {f"{TEAM}{team}" for one in everyone if one.name in deciders for team in one.teams}
    for one in who if everyone else ():
        if one not in deciders | teams:
            what = "nobody in it may decide" if one.startswith(TEAM) else "may not decide here"
            known = ", ".join(sorted(deciders | teams))
            raise UserError(f"{one}: {what}. Nothing was changed.", hint=f"who may: {known}; see: reconvene people")
