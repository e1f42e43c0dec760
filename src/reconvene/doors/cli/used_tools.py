"""`calls`: what agents did with their tools. `allowed`: calls that nobody is asked about any more."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import click

from reconvene.app.views.who import told
from reconvene.authority import require_person
from reconvene.doors.cli import pager
from reconvene.doors.cli.common import BY, DOOR, Call, command, open_run, put, put_json, put_table
from reconvene.doors.cli.text import clean, one_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.views.tool_calls import Call as ToolCall

_HEAD = ("CALL", "TIME", "OUTCOME", "SECS", "TOOL", "ARGUMENTS")
_WIDE = 60


@command("""
Examples:
  reconvene calls job-1                       # all of them, in order
  reconvene calls job-1 analyst               # one agent's
  reconvene calls job-1 --call R3/0/analyst:2.1
""")
@click.argument("run", required=False)
@click.argument("agent", required=False)
@click.option("--call", "name", default="", metavar="CALL", help="One call in full: arguments, result, who decided.")
def calls(call: Call, run: str | None, agent: str | None, name: str) -> int:
    """The calls of tools that agents of RUN made or want to make: when, which, with what, and what came of it."""
    from msgspec import to_builtins

    from reconvene.app.views import tool_calls

    engine, found = open_run(call, run)
    rows = tool_calls.calls((event for _, event in engine.log.read(found)), engine.log.artefact, agent or "")
    if name:
        rows = [row for row in rows if row.name == name]
        if not rows:
            raise UserError(f"there is no call {name} in {found}", hint=call.command("calls", found))
    if call.as_json:
        put_json({"run": found, "calls": to_builtins(rows)})
    elif name:
        pager.show("\n".join(_in_full(rows[0])))
    elif not rows:
        put(f"no agent of {found} has used a tool" if not agent else f"{agent} has used no tool in {found}")
    else:
        put_table([_cells(row) for row in rows], _HEAD)
        put(f"\nin full: {call.command('calls', found, '--call', rows[-1].name)}")
    return 0


def _cells(row: ToolCall) -> tuple[object, ...]:
    decided = f" ({row.ruling} by {one_line(told(row.by, row.user))})" if row.ruling else ""
    return (
        row.name,
        row.at[11:19],
        f"{row.state}{decided}",
        f"{row.seconds:.1f}" if row.seconds else "",
        row.tool,
        one_line(row.arguments, _WIDE),
    )


def _in_full(row: ToolCall) -> list[str]:
    facts = [f"{row.seconds:g} s" if row.seconds else "", row.sandbox and f"sandbox: {row.sandbox}"]
    facts += [f"{name}: {count}" for name, count in row.counts.items()]
    lines = [f"{row.name}  {row.tool}  {row.state}", f"asked for at {row.at}", ", ".join(filter(None, facts))]
    if row.recorded:
        lines.append("asked for by a recording, and really made")
    if row.why:
        lines.append(f"a person was asked: {clean(row.why)}")
    if row.ruling:
        words = f": {clean(row.words)}" if row.words else ""
        lines.append(f"{row.ruling} by {one_line(told(row.by, row.user))}{words}")
    if row.files:
        lines.append(f"files: {', '.join(map(one_line, row.files))}")
    return [*filter(None, lines), "\n── arguments ──\n", clean(row.arguments), "\n── result ──\n", clean(row.result)]


@command("""
Examples:
  reconvene allowed job-1
  reconvene allowed job-1 --revoke A1        # ask about such calls again
""")
@click.argument("run", required=False)
@click.option("--revoke", default="", metavar="ID", help="Ask about these calls again.")
@BY
def allowed(call: Call, run: str | None, revoke: str) -> int:
    """The calls of tools that you allowed for good in RUN: nobody is asked about them any more."""
    from msgspec import to_builtins

    from reconvene.app.views import tool_calls
    from reconvene.core.facts.commands import DisallowTool

    if revoke:
        require_person("to change what is allowed")
    engine, found = open_run(call, run)
    if revoke:
        engine.submit(found, DisallowTool(revoke, call.by, DOOR))
    rows = tool_calls.allowed(engine.load(found).record.allowed.values())
    if call.as_json:
        put_json({"run": found, "allowed": to_builtins(rows)})
        return 0
    if revoke:
        put(f"{revoke} is asked about again")
    if not rows:
        put(f"{found} asks about every call that it should ask about")
        return 0
    arguments = [one_line(json.dumps(row.arguments, ensure_ascii=False), _WIDE) for row in rows]
    cells = [(row.id, row.agent, row.tool, given, told(row.by, row.user)) for row, given in zip(rows, arguments)]
    put_table(cells, ("ID", "AGENT", "TOOL", "ARGUMENTS", "BY"))
    put(f"\nask about one again: {call.command('allowed', found, '--revoke', rows[0].id)}")
    return 0
