"""`demo`: an ordinary run with a recording. Puts together the `run` command that anybody could type, and calls it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import BY, EXIT_CODES, Call, command, put, say
from reconvene.doors.cli.text import clean, nearest
from reconvene.errors import UserError
from reconvene.home import OPTION

if TYPE_CHECKING:
    from reconvene.wire.recordings import Case


@command("""
Examples:
  reconvene demo
  reconvene demo brainstorm --case complex
  reconvene demo quality-gate
""")
@click.argument("name", required=False)
@click.option("--case", "case", default="", metavar="NAME", help="Which case, where a recording has several.")
@BY
def demo(call: Call, name: str | None, case: str) -> int:
    """See agents at work, a checkpoint, and feedback that changes what comes next. Offline; nothing to set up.

    It is a run like any other, with the recording that comes with the workflow: `run NAME --recorded`. On a terminal
    you decide; elsewhere the decisions that come with it are taken. NAME is a packaged workflow, or the file of one of
    your own that has a recording.
    """
    from reconvene.doors.cli.drive import run_command
    from reconvene.doors.cli.named_workflow import file_of
    from reconvene.wire.packaged import demos
    from reconvene.wire.recordings import cases

    chosen = name or demos()[0]
    known = cases(file_of(chosen).parent)
    played = _case(known, case)
    words = ["run", chosen, "--recorded"]
    if played != known[0]:
        words += [word for given, value in played.inputs.items() for word in ("--input", f"{given}={value}")]
    if not call.interactive and played.file.is_file():
        words += ["--answers", str(played.file)]
    if not call.as_json:
        put(f"This demo is an ordinary run. The command it stands for:\n  {call.command(*words)}\n")
    named = ["--home", call.home] if call.place.named == OPTION else []
    also = [*named, *(["--json"] if call.as_json else []), "--by", call.by]
    code = run_command.main([*words[1:], *also], "run", standalone_mode=False, parent=click.get_current_context())
    assert isinstance(code, int)
    if not call.as_json:
        for other in known:
            if other != played:
                put(f"\nAnother case of it: {call.command('demo', chosen, '--case', other.name)}")
        say(f"\nOther demos ({call.command('demo', 'NAME')}): {', '.join(one for one in demos() if one != chosen)}")
    # To end a demo early, as its answers do or as a person likes, is no failure.
    fine = [EXIT_CODES["aborted"], *([EXIT_CODES["waiting"]] if call.interactive else [])]
    return 0 if code in fine else code


def _case(known: Sequence[Case], wanted: str) -> Case:
    found = [one for one in known if one.name == wanted] if wanted else list(known[:1])
    if not found:
        names = [one.name for one in known if one.name]
        raise UserError(f"there is no case {clean(wanted)!r}", hint=nearest(wanted, names) or "it has only one")
    return found[0]
