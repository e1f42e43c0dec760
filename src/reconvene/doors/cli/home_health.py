"""What `doctor` finds in the home itself: whether it fits together, and what lies about in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.app.strays import strays, told
from reconvene.doors.cli.common import Call, open_home
from reconvene.errors import ReconveneError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine

Row = tuple[str, bool, str]

_RESTORE = "put it back from a backup: reconvene restore FILE"


def home_rows(call: Call) -> list[Row]:
    """Of a home that is there. Everything in it is looked through, as by `verify`."""
    try:
        engine = open_home(call)
    except ReconveneError as error:
        return [("runs", False, f"{error.message} {error.hint}")]
    return [_runs(engine), *_strays(engine, call)]


def _runs(engine: Engine) -> Row:
    from reconvene.app.verifying import verify_all

    looked = verify_all(engine.log, engine.history(), engine.signer)
    found = [f"{one.run}: {one.misfit.where}" for one in looked.runs if one.misfit is not None]
    found += [one.where for one in looked.misfits]
    if found:
        more = f" and {len(found) - 1} more" if len(found) > 1 else ""
        return "runs", False, f"{found[0]}{more} does not fit; all of it: reconvene verify; {_RESTORE}"
    return "runs", True, f"{len(looked.runs)}: logs, contents, signatures and history fit together"


def _strays(engine: Engine, call: Call) -> list[Row]:
    names = strays(engine.log, call.home)
    if not names:
        return []
    every = not engine.log.runs()
    return [("folders", False, f"{told(names, all_of_them=every)}; {_RESTORE if every else 'look, then remove them'}")]
