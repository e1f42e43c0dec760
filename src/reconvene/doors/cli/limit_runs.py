"""`limit`: what a run may cost from now on, and which of its tools ask a person first."""

from __future__ import annotations

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, DOOR, Call, answer, command


@command("""
Examples:
  reconvene limit two-step-1                  # what holds
  reconvene limit two-step-1 --cost 2.50
  reconvene limit two-step-1 --ask shell --ask sql
  reconvene limit two-step-1 --cost 0 --no-ask    # as the workflow says
""")
@click.argument("run")
@click.option("--cost", type=click.FloatRange(min=0), metavar="USD", help="In all; 0 = as the workflow says.")
@click.option("--ask", multiple=True, metavar="TOOL", help="Ask a person before each call of it. May be repeated.")
@click.option("--no-ask", is_flag=True, help="Only the tools ask that ask by the workflow.")
@BY
def limit(call: Call, run: str, cost: float | None, ask: tuple[str, ...], no_ask: bool) -> int:
    """Say what RUN may cost in all, and which tools ask first; without options, show what holds.

    Where the limit is reached, the run stops and asks. Tools that ask by the workflow go on to ask.
    """
    from reconvene.app import queries
    from reconvene.core.facts.commands import SetLimits

    if ask and no_ask:
        raise click.UsageError("--ask and --no-ask say opposite things: give one of them.")
    engine, found = open_to_change(call, run)
    record = engine.load(found).record
    if cost is not None or ask or no_ask:
        asks = ask if ask or no_ask else record.ask_first
        wanted = SetLimits(record.ceiling if cost is None else cost, asks, call.by, DOOR)
        record = engine.submit(found, wanted).record
    may = f"may cost ${record.ceiling:,.2f} in all" if record.ceiling else "may cost what its workflow says"
    first = f"; {', '.join(record.ask_first)} asks first" if record.ask_first else ""
    return answer(call, queries.summary(engine, found), f"{found} {may}{first}")
