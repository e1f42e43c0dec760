"""What this door showed to whom, and how a version of a checkpoint is named at the command line: `--at`, `--latest`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import DOOR, Call
from reconvene.doors.cli.text import clean
from reconvene.doors.shared.meant_version import Meant, NotShown, meant, short
from reconvene.errors import Refused, StaleDecision, UserError
from reconvene.ports import Showing, Viewer
from reconvene.settings import system_user
from reconvene.wiring import showings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint

def keep(call: Call, run: str, point: Checkpoint) -> None:
    """It was printed whole."""
    unread = call.deciding and not call.interactive
    showings(call.home).note(run, Showing(point.digest, _viewer(call), after_decide=unread))


def as_typed(call: Call, run: str, version: str) -> str:
    """As much of a version as names it."""
    return short(version, [one.version for one in showings(call.home).of(run)])


def find(call: Call, engine: Engine, run: str, at: str, latest: bool) -> Meant:
    if at and latest:
        raise UserError("--at names one version, --latest takes whichever is open", hint="leave one of them out")
    return meant(engine, showings(call.home).of(run), _viewer(call), run, at, latest=latest)


def with_way_on(call: Call, run: str, error: Refused, words: Sequence[str]) -> Refused:
    """The refusal of a decision on what is not open, with the command that goes on. `words`: the decision as typed."""
    if not isinstance(error, StaleDecision | NotShown):
        return error
    look, own = call.command("show", run), _by(call)
    if not error.now:
        error.hint = f"see: {look}"
        return error
    again = call.command(*words, *own, "--at", as_typed(call, run, error.now))
    lines = [f"look at it: {call.command('show', run, *own)}", f"decide it as it is: {again}"]
    if not call.interactive:
        lines.append(f"decide whatever is open then: {call.command(*words, *own, '--latest')}")
    error.hint = "\n  ".join(["", *map(clean, lines)]).lstrip("\n ")
    return error


def _by(call: Call) -> list[str]:
    source = click.get_current_context().get_parameter_source("by")
    return ["--by", call.by] if source is not None and source.name == "COMMANDLINE" else []


def _viewer(call: Call) -> Viewer:
    user = system_user()
    return Viewer(user, "" if call.claimed == user else call.claimed, DOOR)
