"""`export`, `import`: a run as one file."""

from __future__ import annotations

import click

from reconvene.authority import require_person
from reconvene.doors.cli.accepting import permit_home
from reconvene.doors.cli.common import BY, DOOR, Call, command, note, open_engine, open_run, put, put_json
from reconvene.doors.cli.stops import keep_history
from reconvene.doors.cli.text import clean


@command("""
Examples:
  reconvene export two-step-1 two-step-1.zip
""")
@click.argument("run")
@click.argument("file", type=click.Path(dir_okay=False))
def export_command(call: Call, run: str, file: str) -> int:
    """Write RUN into FILE: its log with all signatures, and every content that it names.

    The run is verified first, and once more where the file is imported. The file is as private as the run: whoever has
    it can read everything that was said.
    """
    from reconvene.app import transfer

    engine, found = open_run(call, run)
    done = transfer.export(engine, found, file)
    if call.as_json:
        put_json(done._asdict())
    else:
        size = f"{done.head} events, {done.contents} contents, {done.size} bytes"
        put(f"{clean(found)} is in {clean(done.file)} ({size})")
    return 0


@command("""
Examples:
  reconvene import two-step-1.zip
  reconvene import two-step-1.zip --as theirs-1     # where there is another run of that id
""")
@click.argument("file", type=click.Path(dir_okay=False))
@click.option("--as", "name", default="", metavar="ID", help="Another id, where there is another run of the same.")
@BY
def import_command(call: Call, file: str, name: str) -> int:
    """Take a run in that was exported elsewhere. Everything in FILE is checked first; if anything does not fit, nothing
    is taken.

    It can be read at once. What its agents would start is shown, and asked about, before it is driven on here. Under
    another id it is a fork: what people did elsewhere is then without their signatures, and the fork names the chain
    that has them.
    """
    from reconvene.app import transfer

    require_person("to take a run in")
    permit_home(call)
    engine = open_engine(call)
    done = transfer.take(engine, file, name=name, by=call.by, door=DOOR)
    if not done.already:
        keep_history(engine, done.run)
    if call.as_json:
        put_json(done._asdict())
    elif done.already:
        put(f"{clean(done.run)} is here already, with everything that is in the file; nothing to do")
    else:
        if done.left_out:
            note(f"work was under way: what the last {done.left_out} events tell of it is not copied to another id")
        put(f"{clean(done.run)} is here ({done.head} events); look at it: {call.command('show', done.run)}")
    return 0
