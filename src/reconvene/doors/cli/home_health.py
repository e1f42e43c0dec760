"""What `doctor` finds in the home itself: whether it fits together, and what lies about in it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from reconvene import leftovers
from reconvene.app.derived_checks import NO_HISTORY
from reconvene.app.strays import strays, told
from reconvene.doors.cli.common import Call, open_home
from reconvene.errors import ReconveneError
from reconvene.home import FINISHED, file_name

if TYPE_CHECKING:
    from reconvene.app.engine import Engine

Row = tuple[str, bool, str]

_HISTORY = "history.git"
_RESTORE = "put it back from a backup: reconvene restore FILE"


def home_rows(call: Call, *, sweep: bool = False) -> list[Row]:
    """Of a home that is there. Everything in it is looked through, as by `verify`. `sweep`: what nobody needs goes."""
    try:
        engine = open_home(call)
    except ReconveneError as error:
        return [("runs", False, f"{error.message} {error.hint}")]
    rows = [*_runs(engine, call), *_strays(engine, call), *_unrecorded(engine, call)]
    return [*rows, *_leftovers(engine, call, sweep=sweep)]


def _runs(engine: Engine, call: Call) -> list[Row]:
    from reconvene.app.verifying import verify_all

    looked = verify_all(engine.log, engine.history(), engine.signer)
    found = [f"{one.run}: {one.misfit.where}" for one in looked.runs if one.misfit is not None]
    found += [one.where for one in looked.misfits]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return [("runs", False, f"{found[0]}{more} does not fit; all of it: reconvene verify; {_RESTORE}")]
    behind = [note for one in looked.runs for note in one.notes if NO_HISTORY in note]
    if behind:
        more = f" (and {len(behind) - 1} more runs)" if len(behind) > 1 else ""
        fits = f"{len(looked.runs)}: logs, contents and signatures fit together"
        kept = os.path.isdir(os.path.join(call.home, _HISTORY))  # then these runs came from elsewhere
        return [("runs", True, fits), ("commits", kept, f"{behind[0]}{more}")]
    return [("runs", True, f"{len(looked.runs)}: logs, contents, signatures and history fit together")]


def _unrecorded(engine: Engine, call: Call) -> list[Row]:
    """What agents finished and no log has."""
    folder = os.path.join(call.home, FINISHED)
    runs = {file_name(run): run for run in engine.log.runs()}
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    rows = list[Row]()
    for name in [one for one in names if os.listdir(os.path.join(folder, one))]:
        then = f"to record it: {call.command('resume', runs[name])}" if name in runs else "no run of that name is known"
        rows.append(("finished", False, f"work that is not recorded yet lies in {os.path.join(folder, name)}; {then}"))
    return rows


def _leftovers(engine: Engine, call: Call, *, sweep: bool) -> list[Row]:
    runs = [*engine.log.runs(), *(one.run for one in engine.log.deleted())]
    if not runs and strays(engine.log, call.home):
        return []  # the store is lost: whatever lies there may be needed to mend it
    there = leftovers.found(call.home, runs)
    if not there:
        return []
    first, more = there[0], f" and {len(there) - 1} more" if len(there) > 1 else ""
    if sweep:
        gone = leftovers.sweep(there)
        return [("leftovers", len(gone) == len(there), f"{len(gone)} of {len(there)} removed")]
    then = f"to remove: {call.command('doctor', '--sweep')}"
    return [("leftovers", True, f"{first.what} ({first.path}){more}; {then}")]


def _strays(engine: Engine, call: Call) -> list[Row]:
    names = strays(engine.log, call.home)
    if not names:
        return []
    every = not engine.log.runs()
    return [("folders", False, f"{told(names, all_of_them=every)}; {_RESTORE if every else 'look, then remove them'}")]
