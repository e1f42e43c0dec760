"""What this door showed to whom, and how a version of a checkpoint is named at the command line: `--at`, `--latest`."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from reconvene.app.shown_versions import versions
from reconvene.app.views import projections
from reconvene.authority import agents_task
from reconvene.doors.cli.common import DOOR, Call, acting_as
from reconvene.doors.shared.meant_version import Meant, NotShown, meant, short
from reconvene.doors.shared.options import fields_of, match_option, recommended
from reconvene.errors import Refused, StaleDecision, UserError
from reconvene.settings import system_user
from reconvene.showing_ports import Showing, Viewer
from reconvene.wiring import showings

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint
    from reconvene.core.facts.state import RunState


def keep(call: Call, run: str, point: Checkpoint) -> None:
    """It was printed whole. What an agent of a run looks at, no person has seen."""
    if agents_task() or call.server:  # a server notes itself what it shows to whom
        return
    unread = call.deciding and not call.interactive
    showings(call.home).note(run, Showing(point.digest, _viewer(call), after_decide=unread))


def as_typed(call: Call, run: str, version: str) -> str:
    """As much of a version as names it."""
    if call.server:
        return version
    return short(version, [one.version for one in showings(call.home).of(run)])


def example(checkpoint: Checkpoint, run: str) -> list[str]:
    """The words of a `decide` that would be accepted, once its dots are filled in."""
    chosen = recommended(checkpoint)
    if chosen is None:
        return ["show", run]
    words = ["decide", run, "--option", chosen.label]
    for name, field in fields_of(checkpoint, chosen).items():
        words += ["--field", f"{name}=…"] if field.required else []
    return [*words, *(["--feedback", "comment: …"] if chosen.remark == "required" else [])]


def find(call: Call, engine: Engine, run: str, at: str, latest: bool) -> Meant:
    if at and latest:
        raise UserError("--at names one version, --latest takes whichever is open", hint="leave one of them out")
    return meant(engine, showings(call.home).of(run), _viewer(call), run, at, latest=latest)


def last_seen(call: Call, engine: Engine, run: str) -> RunState | None:
    """The run as it was when a checkpoint of it was last shown to this person."""
    viewer = _viewer(call)
    own = [
        one for one in showings(call.home).of(run) if one.to.user == viewer.user and one.to.name in ("", viewer.name)
    ]
    found = versions(engine.log, run, own[-1].version) if own else []
    return found[-1].state if found else None


def with_way_on(call: Call, engine: Engine, run: str, error: Refused, option: str, more: Sequence[str]) -> Refused:
    """The refusal of a decision on what is not open, with the commands that go on. `option`, `more`: as typed; without
    an option, `more` is the whole command."""
    if not isinstance(error, StaleDecision | NotShown):
        return error
    own = _by(call)
    look = call.command("show", run, *own)
    if not error.now:
        error.hint = f"see: {look}"
        return error
    words = [*(_decision(engine, run, error.now, option, more) if option else more), *own]
    again = call.command(*words, "--at", as_typed(call, run, error.now))
    do = "decide it" if option else "undo it"
    lines = [f"look at it: {look}", f"{do} as it is: {again}"]
    if not call.interactive:
        lines.append(f"{do.split()[0]} whatever is open then: {call.command(*words, '--latest')}")
    error.hint = "\n  ".join(lines)
    return error


def _decision(engine: Engine, run: str, version: str, option: str, more: Sequence[str]) -> list[str]:
    """What was typed, where that can be chosen in this version; else what is recommended there. A number may mean
    something else there, and is left open."""
    point = projections.checkpoint(engine.load(run))
    if option.strip().isdecimal():
        return ["decide", run, "--option", "LABEL", *more]
    if point is not None and point.digest == version:
        try:
            match_option(point, option)
        except Refused:
            return example(point, run)
    return ["decide", run, "--option", option, *more]


def _by(call: Call) -> list[str]:
    source = click.get_current_context().get_parameter_source("by")
    return ["--by", call.by] if source is not None and source.name == "COMMANDLINE" else []


def _viewer(call: Call) -> Viewer:
    user = acting_as(call) or system_user()
    return Viewer(user, "" if call.claimed == user else call.claimed, DOOR)
