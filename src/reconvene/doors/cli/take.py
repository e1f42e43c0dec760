"""`take`: a file that an agent wrote and that holds a secret, on the person's word."""

from __future__ import annotations

import os

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import BY, DOOR, Call, command, open_run, put, put_json
from reconvene.doors.cli.text import one_line
from reconvene.errors import UserError


@command("""
Examples:
  reconvene take two-step-1                          # what is kept aside
  reconvene take two-step-1 settings.env             # take it into the run, as your own edit
  reconvene take two-step-1 settings.env --to mine   # or to a place of your own; the log does not get it
""")
@click.argument("run", required=False)
@click.argument("path", required=False)
@click.option("--to", "target", default="", metavar="FILE", help="Write it there instead; the run does not get it.")
@BY
def take(call: Call, run: str | None, path: str | None, target: str) -> int:
    """Take PATH, which an agent wrote and which was kept aside; without PATH, list them.

    A file is kept aside where it holds the value of a variable whose name looks secret, or that an agent's `env` names;
    and in a project where it makes programs run things, such as .envrc. Once taken, the file is part of the run: the
    log holds it, and agents are shown it.
    """
    from reconvene.app import kept_aside

    if path is not None:
        require_person("to take what was kept aside")
    engine, found = open_run(call, run)
    if path is None:
        rows = kept_aside.paths(engine, found)
        if call.as_json:
            put_json({"run": found, "kept_aside": rows})
        else:
            put("\n".join(map(one_line, rows)) or f"nothing of {found} is kept aside")
        return 0
    if target:
        _write(target, kept_aside.content(engine, found, path))
        put_json({"run": found, "path": path, "to": target}) if call.as_json else put(f"wrote {target}")
        return 0
    kept_aside.take(engine, found, path, by=call.by, door=DOOR)
    put_json({"run": found, "taken": path}) if call.as_json else put(f"{one_line(path)} is part of {found} now")
    return 0


def _write(target: str, data: bytes) -> None:
    try:
        with open(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600), "wb") as file:
            file.write(data)
    except FileExistsError:
        raise UserError(f"{target} is there already.", hint="Name another file with --to.") from None
    except OSError as error:
        raise UserError(f"{target} cannot be written: {error.strerror or error}.") from None
