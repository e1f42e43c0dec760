"""`ledger`, `stats`, `view`: what became of remarks, how well checkpoints serve the person, what kits show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import COUNT, Call, command, note, open_home, open_run, put, put_json, put_table, say
from reconvene.doors.cli.text import one_line, screen_width, to_json
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.kit_views import Views


@command("""
Examples:
  reconvene ledger two-step-1
  reconvene ledger two-step-1 --open     # only what nothing proves, and nobody declined
  reconvene ledger two-step-1 --details  # who was shown it, who says what, what changed
""")
@click.argument("run", required=False)
@click.option("--open", "only_open", is_flag=True, help="Only remarks that nothing proves, and nobody declined.")
@click.option("--details", is_flag=True, help="To whom it was delivered, what each says, what changed in which line.")
@click.option("--judge", is_flag=True, help="First ask the model of RECONVENE_FEEDBACK_MODEL about what is claimed.")
@click.option("--after", default="", metavar="ID", help="Only remarks after this one.")
@click.option("--limit", type=COUNT, default=0, metavar="N", help="At most N remarks; 0 = all.")
def ledger(call: Call, run: str | None, only_open: bool, details: bool, judge: bool, after: str, limit: int) -> int:
    """What became of every remark in RUN, a line each: what proves that it was taken up, or what is missing.

    captured, delivered: nobody has said anything of it. claimed: somebody says that they took it up, or changed their
    text, and that does not prove it; it stays open until it is proved or you settle it. declined, addressed, reflected
    in a file, replaced, withdrawn.
    """
    from reconvene.app import measures
    from reconvene.app.views.remark_lives import ledger_of, page_of

    engine, found = open_to_change(call, run) if judge else open_run(call, run)
    if judge:
        _judge(engine, found)
    book = measures.ledger(engine, found)
    shown = ledger_of(book.open_remarks()) if only_open else book
    if after or limit:
        shown = page_of(shown, after, limit)
    if call.as_json:
        put_json(shown, run=found, closure=book.closure)
    elif only_open and not shown.entries:
        put("every remark is answered" if book.entries else "no remarks yet")
    else:
        for line in shown.lines(details=details):
            say(line)
    return 0


def _judge(engine: Engine, run: str) -> None:
    from reconvene.app.model_judge import judge
    from reconvene.settings import feedback_model
    from reconvene.surroundings import from_files
    from reconvene.wiring import with_agents

    model = feedback_model() or from_files("feedback_model")
    if not model:
        raise UserError("no model judges remarks here", hint="name one: RECONVENE_FEEDBACK_MODEL=provider:name")
    for one in with_agents(lambda runner: judge(engine, run, runner, model)):
        note(f"{one.id}: {one_line(one.told, 300)}")


@command("""
Examples:
  reconvene stats two-step-1
  reconvene stats --json                 # over all runs
""")
@click.argument("run", required=False)
def stats(call: Call, run: str | None) -> int:
    """How well the checkpoints serve you, in RUN or in all runs together.

    The four measures of success with their targets, minutes per round, what you waited and reviewed, how many remarks
    were answered, and what it cost. Over all runs, one that cannot be read is left out and named on stderr.
    """
    from reconvene.app import measures

    unread: dict[str, str] = {}
    if run is not None:
        measured = measures.stats(*open_run(call, run))
    else:
        measured, unread = measures.stats_of_all(open_home(call))
    for name, why in unread.items():
        note(f"{name} is left out: {why}")
    if call.as_json:
        left_out = [{"run": name, "why": why} for name, why in unread.items()]
        put_json(measured.shown(), **({"left_out": left_out} if left_out else {}))
        return 0
    if run is None:
        put(f"{len(measured.runs)} run{'s' * (len(measured.runs) != 1)}")
    for line in measured.lines(min(screen_width() - 2, 100)):
        say(line)
    return 0


@command("""
Examples:
  reconvene view spec-refinement-1           # which views there are
  reconvene view spec-refinement-1 gaps
  reconvene view spec-refinement-1 gaps --json
""")
@click.argument("run", required=False)
@click.argument("name", required=False)
def view(call: Call, run: str | None, name: str | None) -> int:
    """The view NAME of RUN: rows that a kit of its workflow makes of it. Without NAME, which views there are."""
    from reconvene.app import kit_views

    engine, found = open_run(call, run)
    if name is None:
        return _list(call, found, kit_views.views(engine, found))
    offered = kit_views.find(engine, found, name)
    rows = kit_views.rows(engine, found, offered)
    if call.as_json:
        put_json({"run": found, "kit": offered.kit, "view": offered.name, "rows": rows})
    elif rows:
        _put(rows)
    else:
        put(f"{offered.name} of {found} has no rows yet")
    return 0


def _list(call: Call, run: str, found: Views) -> int:
    if call.as_json:
        put_json({"run": run, "views": [one.to_json() for one in found.offered], "without": found.without})
        return 0
    for why in found.without.values():
        note(why)
    if found.offered:
        put_table([(one.name, one.kit, one.view.help) for one in found.offered], ("VIEW", "KIT", "WHAT IT SHOWS"))
    else:
        put(f"no kit of {run} brings a view")
    return 0


def _put(rows: Sequence[object]) -> None:
    """A column for each name that a row has, in the order in which they are met."""
    named = [row if isinstance(row, dict) else {"value": row} for row in rows]
    head = list(dict.fromkeys(str(key) for row in named for key in row))
    cells = [[_cell(row.get(key)) for key in head] for row in named]
    put_table(cells, [key.replace("_", " ").upper() for key in head])


def _cell(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return to_json(value) if isinstance(value, dict | list) else "" if value is None else str(value)
