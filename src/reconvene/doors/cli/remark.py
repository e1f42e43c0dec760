"""`remark`: something said about a run, as "kind: text", as a free text to be understood, or as a filled-in form.

Recorded at once; drives nothing. How a text is understood and what it weighs is not decided here.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import DOOR, Call, command, note, open_run, put, put_json, say
from reconvene.errors import UserError
from reconvene.settings import person

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.model import Remark
    from reconvene.doors.shared.remarks import Entry


@command(
    epilog="""
Examples:
  reconvene remark two-step-1 'correction: Revenue is $900M, not $850M'
  reconvene remark two-step-1 --understand 'Revenue is $900M, not $850M. The board approved the pivot yesterday'
  reconvene remark two-step-1 --form remarks.md --dry-run
"""
)
@click.argument("run")
@click.argument("text", required=False)
@click.option("--understand", is_flag=True, help="TEXT is free text: split it, and find out what each part is.")
@click.option("--form", metavar="FILE", help="Read a filled-in form instead of TEXT; see docs/cli.md.")
@click.option("--dry-run", is_flag=True, help="Only show how it is understood.")
@click.option("--by", default="", metavar="NAME", help="Who you are; else RECONVENE_BY, else your account's name.")
def remark(call: Call, run: str, text: str | None, understand: bool, form: str | None, dry_run: bool, by: str) -> int:
    """Say something about RUN, as "kind: text": every agent that works from now on is shown it.

    Without a known kind the whole text is a comment, unless --understand is given.
    """
    from reconvene.app import queries

    if (text is None) == (form is None):
        raise UserError("give TEXT or --form FILE, one of them", hint="see: reconvene remark --help")
    engine, found = open_run(call, run)
    entries = _entries(engine, found, text or "", form, understand=understand)
    made = [] if dry_run else _record(engine, found, entries, person(by))
    if call.as_json:
        put_json(queries.summary(engine, found), understood=list(map(_told, entries)), remarks=made)
    else:
        _tell(found, entries, made, dry_run=dry_run)
    return 0


def _entries(engine: Engine, run: str, text: str, form: str | None, *, understand: bool) -> list[Entry]:
    from reconvene.core.kit_finder import reader
    from reconvene.doors.shared.remarks import Entry, understood

    agents = tuple(engine.session(run).book.workflow.agents)
    if form is not None:
        return _from_form(form, agents)
    if not understand:
        return [Entry(reader().typed(text))]
    found = understood(text, agents)
    if found.note:
        note(found.note)
    return found.entries


def _from_form(file: str, agents: tuple[str, ...]) -> list[Entry]:
    from reconvene.doors.cli.inputs import read_text
    from reconvene.doors.shared.form import read

    found = read(read_text("--form", Path(file)), agents)
    if found.problems:
        told = [f"{file}:{problem.line}: {problem.what}" for problem in found.problems]
        raise UserError("\n".join(told), hint="nothing was recorded; put it right and give it again")
    return list(found.entries)


def _record(engine: Engine, run: str, entries: list[Entry], by: str) -> list[Remark]:
    from reconvene.app.views.projections import remark
    from reconvene.core.facts.commands import AddRemark

    made: list[Remark] = []
    for entry in entries:
        state = engine.submit(run, AddRemark(entry.remark, by=by, door=DOOR))
        same = [
            one
            for one in state.record.remarks.values()
            if (one.kind, one.target, one.text, one.by)
            == (entry.remark.kind, entry.remark.target, entry.remark.text, by)
        ]
        latest = max(same, key=lambda one: one.number, default=None)
        made += [remark(latest)] if latest else []
    return made


def _told(entry: Entry) -> dict[str, str]:
    shown = {name: str(getattr(entry.remark, name)) for name in ("kind", "text", "target", "was", "now")}
    return {**shown, "rule": entry.rule}


def _tell(run: str, entries: list[Entry], made: list[Remark], *, dry_run: bool) -> None:
    from reconvene.doors.shared.advice import weighed
    from reconvene.doors.shared.remarks import in_line

    if not entries:
        put(f"nothing to record for {run}: that only agrees")
    for number, entry in enumerate(entries):
        put(in_line(entry))
        if entry.rule:
            say(f"  {entry.rule}")
        if number < len(made):
            say(f"  {weighed(made[number])}")
    if entries:
        put(f"not recorded: only shown for {run}" if dry_run else f"noted for {run}")
