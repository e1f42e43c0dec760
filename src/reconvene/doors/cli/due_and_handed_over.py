"""`tick` and `assign`: what time does to open checkpoints, and who is to decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click
from msgspec import to_builtins

from reconvene.authority import require_person
from reconvene.core.facts.named_people import named
from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, DOOR, Call, answer, command, open_home, put, put_json, put_none
from reconvene.doors.cli.text import one_line
from reconvene.doors.shared.handing_over import require_deciders
from reconvene.home import is_there

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
    done, ended = _lapsed(call) if is_there(call.place) else ([], set[str]())
    if call.as_json:
        put_json([to_builtins(one) for one in done])
    for one in () if call.as_json else done:
        put(f"{one.run}  {one_line(one.text, 300)}")
        if one.what == "decided" and one.run not in ended:
            put(f"  go on with: {call.command('resume', one.run)}")
    if not done and not call.as_json:
        put_none(call, "nothing is due")
    return 1 if any(one.what == "failed" for one in done) else 0


def _lapsed(call: Call) -> tuple[list[Lapsed], set[str]]:
    """What was done, and which of these runs have ended."""
    from reconvene.app.lapsing import lapse_all
    from reconvene.doors.cli.sent_along import messages_sent

    engine = open_home(call)
    with messages_sent(call, engine.log):
        done = list(lapse_all(engine))
    return done, {one.run for one in done if engine.load(one.run).ended}


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

    For an admin, and for whoever may decide it now. Where nobody is set up (`reconvene people`), there is nobody to
    hand it over to. What others chose before, where it needs several people, does not count any more. The deadline
    stays.
    """
    from reconvene.app import queries
    from reconvene.core.facts.commands import Assign

    engine, found = open_to_change(call, run)
    require_deciders(call.home, who, engine.actor.user)
    engine.submit(found, Assign("", who, call.by, DOOR))
    return answer(call, queries.summary(engine, found), f"{found} waits for {named(who)}")
