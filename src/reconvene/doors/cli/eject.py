"""`eject`: a copy of a packaged workflow, with its prompts and its recording, that can be changed."""

from __future__ import annotations

import os
import shutil

import click

from reconvene.doors.cli.common import Call, answer, command
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError


@command("Example:\n  reconvene eject scenario-planning my-planning")
@click.argument("name")
@click.argument("folder", metavar="DIR")
def eject(call: Call, name: str, folder: str) -> int:
    """Copy the packaged workflow NAME into DIR, to change it: its file, prompts, templates and recording.

    DIR must be empty or not there yet. Runs that were started before keep the workflow that they began with.
    """
    from reconvene.doors.cli.named_workflow import file_of
    from reconvene.wire.packaged import packaged

    known = packaged()
    source = file_of(name)
    if name not in known and "/" not in name:
        raise UserError(f"{clean(name)} is not packaged: it is a file of yours", hint=f"one of: {', '.join(known)}")
    if os.path.lexists(folder) and (not os.path.isdir(folder) or os.listdir(folder)):
        what = "is not empty" if os.path.isdir(folder) else "is not a folder"
        another = f"name another folder: reconvene eject {name} DIR"
        raise UserError(f"{clean(folder)} {what}, and nothing in it is touched", hint=another)
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source.parent, folder, ignore=ignored, copy_function=shutil.copyfile, dirs_exist_ok=True)
    made = os.path.join(folder, source.name)
    files = sorted(
        os.path.relpath(os.path.join(above, file), folder) for above, _, names in os.walk(folder) for file in names
    )
    return answer(call, {"workflow": made, "files": files}, _told(call, made, folder, len(files)))


def _told(call: Call, made: str, folder: str, count: int) -> str:
    place = folder if os.path.isabs(folder) or folder.startswith(".") else os.path.join(".", folder)
    lines = [f"{made} and {count - 1} other files are yours now", ""]
    lines += ["after a change:", f"  {call.command('check', made)}", "start it:", f"  {call.command('run', place)}"]
    if os.path.isdir(os.path.join(folder, "recorded")):
        lines += ["play its recording:", f"  {call.command('run', place, '--recorded')}"]
    return "\n".join(lines)
