"""`verify`: whether what is stored fits together."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.app.views.who import told
from reconvene.doors.cli.common import Call, answer, command, open_home, pasted, put, put_json, put_none, say
from reconvene.doors.cli.stops import keep_history
from reconvene.home import is_there

if TYPE_CHECKING:
    from reconvene.app.signing import Signer
    from reconvene.app.views.soundness import Gone, Misfit, Soundness
    from reconvene.chain_ports import Deleted

_DOES_NOT_FIT = 1


@command("""
Examples:
  reconvene verify two-step-1
  reconvene verify                       # every run of the home
  reconvene verify two-step-1 --mend     # make again what is derived from the log
""")
@click.argument("run", required=False)
@click.option("--mend", is_flag=True, help="Make RUN's row in the list of runs and its cached state again.")
def verify(call: Call, run: str | None, mend: bool) -> int:
    """Check that what is stored of RUN, or of every run, fits together, and name the first thing that does not.

    Every append is compared with the chain, every content with its digest, what people did with their signatures, and
    the git history, the list of runs and cached states with the log. Exits with 1 where something does not fit.
    """
    from reconvene.app import verifying
    from reconvene.app.tombstones import left_of

    if run is None and not is_there(call.place):
        put_none(call, "no runs")
        return 0
    engine = open_home(call)
    if run is not None and (left := left_of(engine.log, run)) is not None:
        return _verify_deleted(call, left, engine.signer)
    if run is not None:
        found = engine.find(run)
        if mend:
            verifying.mend(engine.log, found, engine.history())
            keep_history(engine, found)
        looked = verifying.verify(engine.log, found, engine.history(), engine.signer)
        if call.as_json:
            put_json(looked)
        else:
            _tell(looked)
        return 0 if looked.sound else _DOES_NOT_FIT
    if mend:
        raise click.UsageError("--mend needs a RUN")
    whole = verifying.verify_all(engine.log, engine.history(), engine.signer)
    if call.as_json:
        put_json(whole)
    else:
        for one in whole.runs:
            _tell(one)
        for misfit in whole.misfits:
            _tell_misfit("the store", misfit)
        for gone in whole.deleted:
            say(f"{gone.run}: {deleted_line(gone)}")
        if not whole.runs and not whole.deleted:
            put_none(call, "no runs")
    return 0 if whole.sound else _DOES_NOT_FIT


def _verify_deleted(call: Call, left: Deleted, signer: Signer | None) -> int:
    from reconvene.app.misfits import DoesNotFit
    from reconvene.app.tombstones import checked

    try:
        gone = checked(left, signer)
    except DoesNotFit as error:
        if call.as_json:
            put_json({"run": left.run, "sound": False, "misfit": error.misfit})
        else:
            _tell_misfit(left.run, error.misfit)
        return _DOES_NOT_FIT
    return answer(call, gone, f"{gone.run}: {deleted_line(gone)}")


def deleted_line(gone: Gone) -> str:
    value = f", chain {gone.chain[:16]}" if gone.chain else ""
    return f"deleted {gone.at[:16].replace('T', ' ')} by {told(gone.by, gone.user)} ({gone.head} events{value})"


def _tell(looked: Soundness) -> None:
    if looked.misfit is not None:
        _tell_misfit(looked.run, looked.misfit)
    else:
        value = f", chain {looked.chain[:16]}" if looked.chain else ""
        say(f"{looked.run}: fits together ({looked.head} events{value})")
    for one in looked.notes:
        say(f"  {pasted(one)}")


def _tell_misfit(what: str, misfit: Misfit) -> None:
    at = f" at event {misfit.seq}" if misfit.seq else ""
    put(f"{what}: does not fit{at}")
    say(f"  where: {misfit.where}")
    say(f"  expected: {misfit.expected}")
    say(f"  found: {misfit.found}")
    say(f"  next: {pasted(misfit.next)}")
