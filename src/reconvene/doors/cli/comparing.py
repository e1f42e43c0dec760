"""`compare`: two runs side by side, where they part first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import Call, command, open_home, put_json, say
from reconvene.doors.cli.text import screen_width
from reconvene.errors import UserError
from reconvene.language.counting import counted

if TYPE_CHECKING:
    from reconvene.app.compared_runs import Compared, Spent
    from reconvene.app.engine import Engine
    from reconvene.app.views.run_story import Happened

_LABEL = 14  # columns
_MOST = 4  # lines of one cell


@command("""
Examples:
  reconvene compare two-step-1 two-step-1-fork-1
  reconvene compare two-step-1-fork-1                    # with what it was forked from
  reconvene compare two-step-1 two-step-2 --file plan.md
  reconvene compare two-step-1 two-step-2 --all          # also what is the same
""")
@click.argument("run")
@click.argument("other", required=False)
@click.option("--file", "path", default="", metavar="PATH", help="How this file differs, as a diff.")
@click.option("--all", "everything", is_flag=True, help="Also what is the same in both.")
def compare(call: Call, run: str, other: str | None, path: str, everything: bool) -> int:
    """RUN beside OTHER: where they part, decisions, remarks, outputs, conclusions, files, and what each took.

    Without OTHER, a fork is compared with what it was forked from.
    """
    from reconvene.app.compared_runs import compared, forked_from

    engine = open_home(call)
    first = engine.find(run)
    second = engine.find(other) if other else forked_from(engine, first)
    if not second:
        raise UserError(
            f"{first} was not forked: name the run to compare it with.", hint=call.command("compare", first, "OTHER")
        )
    one, two = (first, second) if other else (second, first)
    found = compared(engine, one, two)
    if path:
        return _file(call, engine, found, path)
    if call.as_json:
        put_json(found)
        return 0
    for line in _lines(found, screen_width(), everything=everything):
        say(line)
    return 0


def _file(call: Call, engine: Engine, found: Compared, path: str) -> int:
    from reconvene.app.line_diff import unified_diff

    own = {one.path: one for one in found.files}.get(path)
    if own is None:
        there = engine.load(found.here.run).world.files
        why = "is the same in both" if path in there else "is in neither of them"
        raise UserError(f"{path} {why}.", hint=call.command("compare", found.here.run, found.there.run))
    read = engine.log.artefact
    diff = unified_diff(path, read(own.here) if own.here else None, read(own.there) if own.there else None)
    if call.as_json:
        put_json({"path": path, "how": own.how, "diff": diff})
    else:
        say(f"- {found.here.run}\n+ {found.there.run}\n{diff}")
    return 0


def _lines(found: Compared, width: int, *, everything: bool) -> Iterator[str]:
    sides = _Sides(found.here.run, found.there.run, width)
    yield from _beginning(found)
    yield from _first(found, width)
    yield from sides.head()
    yield from _standing(found, sides)
    decided = [(one.name, one.here, one.there, one.same) for one in found.decided]
    remarks = [(one.name, one.here, one.there, one.same) for one in found.remarks]
    outputs = [(f"{one.agent}, {one.phase} {one.round}", one.here, one.there, one.same) for one in found.outputs]
    said = [(one.name, one.here, one.there, one.same) for one in found.said]
    for title, rows in (("Decisions", decided), ("Remarks", remarks), ("Outputs", outputs), ("Conclusions", said)):
        yield from _section(title, rows, sides, everything=everything)
    yield from _files(found)


def _beginning(found: Compared) -> Iterator[str]:
    here, there = found.here.run, found.there.run
    if found.fork:
        at = f" at event {found.past.event}" if found.past is not None else ""
        yield f"{found.fork} was forked from {there if found.fork == here else here}{at}."
    yield f"The first {counted(found.shared, 'event')} are the same." if found.shared else "No event is the same."
    yield ""


def _first(found: Compared, width: int) -> Iterator[str]:
    if not found.part:
        yield "They do not differ: the same was written, said and decided in both."
        yield ""
        return
    yield "First difference"
    for run, one in ((found.here.run, found.first_here), (found.there.run, found.first_there)):
        yield from textwrap.wrap(f"{run}: {_happened(one)}", width - 2, initial_indent="  ", subsequent_indent="    ")
    yield ""


def _happened(one: Happened | None) -> str:
    from reconvene.app.views.run_story import VERBS

    if one is None:
        return "nothing more happened"
    where = f" in {one.phase}, round {one.round}" if one.phase else ""
    if one.kind == "ended":
        return f"ended, {one.words} (event {one.seq})"
    return f"{one.who or 'somebody'} {VERBS[one.kind]} “{one.words}”{where} (event {one.seq})"


def _standing(found: Compared, sides: _Sides) -> Iterator[str]:
    here, there = found.here, found.there
    yield from sides.row("status", _status(here.status, here.outcome), _status(there.status, there.outcome))
    yield from sides.row("phase", here.phase or "", there.phase or "")
    ours, theirs = found.took_here, found.took_there
    yield from sides.row("took", _spent(ours.whole), _spent(theirs.whole))
    if found.shared:
        yield from sides.row("since the fork", _spent(ours.own), _spent(theirs.own))


def _status(status: str, outcome: str) -> str:
    return f"{status}: {outcome}" if outcome not in ("", status) else status


def _spent(spent: Spent) -> str:
    from reconvene.app.views.run_story import lasted

    took = f"{counted(spent.calls, 'agent task')}, {spent.tokens:,} tokens, ${spent.cost:.2f}"
    return f"{took}; agents {lasted(spent.agents_minutes)}, people {lasted(spent.people_minutes)}"


def _section(
    title: str, rows: Sequence[tuple[str, str, str, bool]], sides: _Sides, *, everything: bool
) -> Iterator[str]:
    differ = [row for row in rows if not row[3]]
    yield ""
    if not rows:
        yield f"{title}: none"
        return
    yield f"{title}: {len(differ)} of {len(rows)} differ" if differ else f"{title}: {len(rows)}, all the same"
    for name, here, there, same in rows if everything else differ:
        yield from sides.row(name, here or "–", "=" if same else there or "–")


def _files(found: Compared) -> Iterator[str]:
    yield ""
    yield f"Files: {len(found.files)} of {len(found.files) + found.same_files} differ"
    told = {"only here": f"only in {found.here.run}", "only there": f"only in {found.there.run}"}
    for one in found.files:
        yield f"  {one.path}  ({told.get(one.how, 'differs')})"


class _Sides:
    """Two columns beside a label, however narrow the screen is."""

    def __init__(self, here: str, there: str, width: int) -> None:
        self._names = here, there
        self._label = min(_LABEL, max(width // 5, 8))
        self._width = max((width - self._label - 5) // 2, 12)

    def head(self) -> Iterator[str]:
        yield from self.row("", *self._names)

    def row(self, name: str, here: str, there: str) -> Iterator[str]:
        cells = [_wrapped(name, self._label), _wrapped(here, self._width), _wrapped(there, self._width)]
        for at in range(max(map(len, cells))):
            label, left, right = (cell[at] if at < len(cell) else "" for cell in cells)
            yield f"  {label:{self._label}} {left:{self._width}} {right}".rstrip()


def _wrapped(text: str, width: int) -> list[str]:
    return textwrap.wrap(text, width, max_lines=_MOST, placeholder=" …") or [""]
