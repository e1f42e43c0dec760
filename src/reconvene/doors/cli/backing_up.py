"""`backup`, `restore`: a whole home as one file, and back."""

from __future__ import annotations

import os

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import Call, command, note, open_home, put, put_json
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError
from reconvene.home import is_there

_DOES_NOT_FIT = 1


@command("""
Examples:
  reconvene backup /mnt/disk/reconvene-monday.zip
  reconvene --home ../shop/.reconvene backup monday.zip
""")
@click.argument("file", type=click.Path(dir_okay=False))
def backup(call: Call, file: str) -> int:
    """Write the home into FILE: every run with its log, contents, files and history, the people, what lies on desks.

    Others may go on working meanwhile: what is in the file fits together, as at one moment. The file is as private as
    the home. The key that you sign with is not in it: it is yours, not the home's (docs/verifying.md).
    """
    from importlib.metadata import version

    from reconvene import backups
    from reconvene.surroundings import SystemClock

    if not is_there(call.place):
        raise UserError(f"there is no home to write: {call.place.told}")
    open_home(call).log.close()  # a store that is too old is brought up to date, one that is damaged is refused
    done = backups.write(call.place, file, SystemClock().now(), version("reconvene"))
    if call.as_json:
        put_json(done._asdict())
    else:
        runs = f"{len(done.runs)} run{'s' * (len(done.runs) != 1)}"
        put(f"{clean(done.file)}: {runs}, {done.files} files, {done.size} bytes")
        put(f"look whether it can be put back: reconvene --home NEW-FOLDER restore {clean(file)}")
    return 0


@command("""
Examples:
  reconvene restore monday.zip                         # to .reconvene here
  reconvene --home /tmp/look restore monday.zip        # beside the home that is there, to look at it
""")
@click.argument("file", type=click.Path(dir_okay=False))
def restore(call: Call, file: str) -> int:
    """Put a home back from FILE, into a folder that is not there yet or is empty, and verify every run of it.

    Everything is compared with what was written before anything is put in its place. Exits with 1 where a run does not
    fit, as `verify` does.
    """
    from reconvene import backups
    from reconvene.app import verifying

    require_person("to put a home back")
    said = backups.put_back(file, call.home)
    engine = open_home(call)
    looked = verifying.verify_all(engine.log, engine.history(), engine.signer)
    misfits = [(one.run, one.misfit) for one in looked.runs if one.misfit is not None]
    misfits += [("the store", one) for one in looked.misfits]
    if call.as_json:
        put_json({"home": os.path.abspath(call.home), "made": said.made, "runs": said.runs, "sound": looked.sound})
    else:
        runs = f"{len(said.runs)} run{'s' * (len(said.runs) != 1)}"
        put(f"{clean(call.home)} is there again, as of {said.made[:16].replace('T', ' ')} UTC: {runs}")
        for what, misfit in misfits:
            found = f"expected {clean(misfit.expected)}, found {clean(misfit.found)}"
            note(f"{clean(what)}: {clean(misfit.where)}: {found}")
        put(f"look: {call.command('verify' if misfits else 'runs')}")
    return 0 if looked.sound else _DOES_NOT_FIT
