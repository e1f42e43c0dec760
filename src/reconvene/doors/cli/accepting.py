"""`accept`: what files that were found may start. Asks at a terminal; elsewhere refuses with the command to type."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import OPEN, Call, answer, command, open_engine, open_run, put, put_json, say
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError
from reconvene.home import NAME, STORE, require_own
from reconvene.settings import own_folder
from reconvene.trust import Offer, accept, foreign_home, is_accepted, is_foreign, make_own, of_settings, refusal
from reconvene.trust import require_plain as require_plain_store

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.settings_file import Settings

_FEWEST = 8  # characters of a digest


def open_to_change(call: Call, given: str | None) -> tuple[Engine, str]:
    """The engine and the run that is meant. Nothing of a home that this person did not make is started, or written
    out, before they accepted it. An agent of a run changes none."""
    require_person("to change a run")
    engine, run = open_run(call, given)
    permit_run(call, engine, run)
    return engine, run


def permit_run(call: Call, engine: Engine, run: str) -> None:
    from reconvene.app.index import is_imported
    from reconvene.wiring import offer_of_run

    if is_foreign(call.place) or is_imported(engine.log, run):
        _permit(call, offer_of_run(engine.log, call.home, run))


def accept_named(call: Call, engine: Engine, run: str) -> None:
    """What a workflow starts that this person has just named for the run needs no further word."""
    if is_foreign(call.place):
        from reconvene.wiring import offer_of_run

        accept(offer_of_run(engine.log, call.home, run))


def permit_settings(call: Call, settings: Settings) -> None:
    """The programs that a settings file names which came with a project."""
    if offered := of_settings(settings):
        _permit(call, offered)


def _permit(call: Call, offered: Offer) -> None:
    if is_accepted(offered):
        return
    require_person("to accept what may be started")
    if call.quiet or not call.interactive:
        raise refusal(offered)
    say(f"{clean(offered.what)} was found here. It names what would be started:")
    for line in offered.lines:
        say(f"  {clean(line)}")
    if not _agreed("Do you want that? It is asked once."):
        raise refusal(offered)
    accept(offered)


def permit_home(call: Call) -> None:
    """A new run in a home that this person did not make."""
    if not is_foreign(call.place):
        return
    folder = os.path.abspath(call.home)
    require_person("to take a home over")
    if call.interactive and not call.quiet:
        say(f"The home {clean(folder)} was found here, and you did not make it. It may name commands in its runs.")
        if _agreed("Take it over as yours, with all its runs? It is asked once."):
            _take_over(folder)
            return
    raise foreign_home(call.place)


def _agreed(question: str) -> bool:
    from reconvene.doors.cli.ask import ask_yes

    try:
        return ask_yes(question, default=False)
    except (KeyboardInterrupt, EOFError):
        return False


def _take_over(folder: str) -> None:
    require_own(folder, f"the home {folder}", "it can only be named: reconvene --home …")
    require_plain_store(folder)
    if not make_own(folder):
        raise UserError(f"that {folder} is yours cannot be noted in {own_folder()}", hint="is that folder writable?")


@command("""
Examples:
  reconvene accept                      # what waits for it here
  reconvene accept 5f0c9a1b7d20e344     # the settings file or the run that a command named so
  reconvene accept .reconvene           # a home with all its runs, such as one that you moved here
""")
@click.argument("what", metavar="[DIGEST|FOLDER]", required=False)
def accept_command(call: Call, what: str | None) -> int:
    """Accept what a file that was found here may start: a reconvene.toml, or runs of a home that you did not make.

    Commands that you name yourself, workflows that you name, and homes that you made need none of this. What you
    accept is noted in your own configuration, a line each: ~/.config/reconvene/accepted and homes.
    """
    if what is not None:
        require_person("to accept what may be started")
    if what is not None and (folder := _home_in(what)):
        _take_over(folder)
        return answer(call, {"accepted": folder}, f"accepted: the home {clean(folder)}, with all its runs")
    offers = list(_offers(call))
    if what is None:
        return _put_offers(call, offers)
    found = [one for one in offers if len(what) >= _FEWEST and one.digest.startswith(what.lower())]
    if not found:
        names = ", ".join(one.name for one in offers if not is_accepted(one))
        here = f"what can be accepted: {names}" if names else "nothing here has to be accepted"
        raise UserError(f"nothing here has the digest {clean(what)!r}", hint=f"{here}; see: reconvene accept")
    accept(found[0])
    lines = "".join(f"\n  {line}" for line in found[0].lines)
    return answer(call, {"accepted": found[0].digest}, f"accepted: {clean(found[0].what)}{clean(lines)}")


def _home_in(named: str) -> str:
    """The home that is this folder or lies in it, "" = none."""
    places = (named, os.path.join(named, NAME))
    return next((os.path.abspath(one) for one in places if os.path.lexists(os.path.join(one, STORE))), "")


def _offers(call: Call) -> Iterator[Offer]:
    from reconvene.app.index import is_imported
    from reconvene.settings_file import in_force
    from reconvene.wiring import offer_of_run

    yield from filter(None, map(of_settings, in_force()))
    foreign = is_foreign(call.place)
    if os.path.lexists(os.path.join(call.home, STORE)):
        engine = open_engine(call)
        seen = set[str]()
        for status in (*OPEN, "queued"):
            for row in engine.log.index(status=status):
                if not foreign and not is_imported(engine.log, row.run):
                    continue
                one = offer_of_run(engine.log, call.home, row.run)
                if one.digest not in seen:
                    yield one
                seen.add(one.digest)


def _put_offers(call: Call, offers: list[Offer]) -> int:
    if call.as_json:
        put_json([one._asdict() | {"accepted": is_accepted(one)} for one in offers])
        return 0
    for one in offers:
        put(f"{one.name}  {'accepted' if is_accepted(one) else 'not accepted'}: {clean(one.what)}")
        for line in one.lines:
            say(f"    {clean(line)}")
    if not offers:
        put("nothing here has to be accepted")
    return 0
