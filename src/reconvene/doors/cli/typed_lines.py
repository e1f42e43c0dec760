"""`--on`: lines of a file of a run, as a person names them, in the version that they saw.

`plan.md:12`, `plan.md:12-14`, `plan.md:words that stand there`, `todo:ID`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reconvene.core.facts.events import Lines
from reconvene.core.shown.anchors import make, named
from reconvene.doors.cli.common import DOOR, Call
from reconvene.doors.cli.text import nearest, one_line
from reconvene.errors import UserError
from reconvene.language.following import lines_of

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.core.facts.state import FileVersion, RunState

_NUMBERS = re.compile(r"(\d{1,9})(?:\s*-\s*(\d{1,9}))?")
_TODO = "todo:"
_FORMS = 'write plan.md:12, plan.md:12-14, plan.md:"words that stand there" or todo:ID'


def lines_meant(engine: Engine, run: str, typed: str, by: str, call: Call | None = None) -> Lines:
    """The lines that are named. What the person changed in the workspace is on record first. `call`: of who named them
    by what they saw; without one, numbers mean the lines that are there now."""
    engine.scan(run, by=by, door=DOOR)
    state = engine.load(run)
    if typed.startswith(_TODO) and "todo" not in state.world.files:
        return _todo(engine, state, typed.removeprefix(_TODO).strip())
    path, which = _split(state, typed)
    version = state.world.files[path]
    text = text_of(engine, path, version)
    numbers = _NUMBERS.fullmatch(which)
    if not which:
        raise UserError(f"which lines of {path}? it has {len(lines_of(text))}", hint=_FORMS)
    if numbers is None:
        first, last = named(path, text, which.strip().strip('"“”'))
    else:
        first = int(numbers[1])
        last = int(numbers[2] or first)
        if last < first:
            raise UserError(f"{path}:{which} ends before it begins", hint=_FORMS)
        if call is not None:
            _refuse_unless_seen(call, engine, state, path, (first, last))
    make(path, version.digest, text, first, last)  # refuses what is not there
    return Lines(path, version.digest, first, last)


def text_of(engine: Engine, path: str, version: FileVersion) -> str:
    try:
        return engine.log.artefact(version.digest).decode()
    except UnicodeDecodeError:
        raise UserError(f"{path} is no text: its lines cannot be commented on") from None


def require_file(state: RunState, path: str) -> None:
    files = state.world.files
    if path not in files:
        raise UserError(f"{state.run} has no file {path!r}", hint=nearest(path, sorted(files)) or "it has no files yet")


def _split(state: RunState, typed: str) -> tuple[str, str]:
    """The file, and what is said of its lines. A colon may be part of a name."""
    fitting = [path for path in state.world.files if typed == path or typed.startswith(f"{path}:")]
    if not fitting:
        path, colon, _ = typed.partition(":")
        require_file(state, path if colon else typed)
    path = max(fitting, key=len)
    return path, typed.removeprefix(path).removeprefix(":").strip()


def _todo(engine: Engine, state: RunState, name: str) -> Lines:
    from reconvene.kits.planning.todos import FILE, WrongList
    from reconvene.kits.planning.todos import lines_of as todo_lines

    require_file(state, FILE)
    version = state.world.files[FILE]
    try:
        first, last = todo_lines(text_of(engine, FILE, version), name)
    except WrongList as error:
        raise UserError(str(error), hint=f"see: reconvene files {state.run} {FILE}") from None
    return Lines(FILE, version.digest, first, last)


def _refuse_unless_seen(call: Call, engine: Engine, state: RunState, path: str, lines: tuple[int, int]) -> None:
    """A number means what the person saw. Where somebody else changed these lines since, nobody knows what that is."""
    from reconvene.doors.cli.on_screen import last_seen

    now = state.world.files[path]
    before = last_seen(call, engine, state.run)
    seen = before.world.files.get(path) if before is not None else None
    if seen is None or seen.digest == now.digest or (now.person and now.by == call.by):
        return
    first, last = lines
    was, is_now = (lines_of(text_of(engine, path, one))[first - 1 : last] for one in (seen, now))
    if was != is_now:
        told = f"“{one_line(' '.join(was), 60)}” was there, “{one_line(' '.join(is_now), 60)}” is"
        raise UserError(
            f"{path} was changed by {one_line(now.by)} since it was shown to you: in {path}:{first}, {told}",
            hint=f'look again: reconvene show {state.run}; or name the words: --on {path}:"…"',
        )
