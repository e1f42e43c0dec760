"""`view`: what a run's kits show of it, as a table or as JSON. Only reads."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import click

from reconvene.doors.cli.common import Call, command, note, open_run, put, put_json, put_table
from reconvene.doors.cli.text import to_json

if TYPE_CHECKING:
    from reconvene.app.kit_views import Views


@command(
    epilog="""
Examples:
  reconvene view spec-refinement-1           # which views there are
  reconvene view spec-refinement-1 gaps
  reconvene view spec-refinement-1 gaps --json
"""
)
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
    match value:
        case None:
            return ""
        case bool():
            return "yes" if value else "no"
        case dict() | list():
            return to_json(value)
        case _:
            return str(value)
