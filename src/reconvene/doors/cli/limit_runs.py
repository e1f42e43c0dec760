"""`limit`: what a run may cost from now on, and which of its tools ask a person first."""

from __future__ import annotations

import click

from reconvene.doors.cli.accepting import open_to_change
from reconvene.doors.cli.common import BY, DOOR, Call, answer, command


@command("""
Examples:
  reconvene limit two-step-1 --cost 2.50
  reconvene limit two-step-1 --cost 2.50 --ask shell --ask sql
  reconvene limit two-step-1                  # as the workflow says
""")
@click.argument("run")
@click.option(
    "--cost", type=click.FloatRange(min=0), default=0.0, metavar="USD", help="In all; 0 = as the workflow says."
)
@click.option("--ask", multiple=True, metavar="TOOL", help="Ask a person before each call of it. May be repeated.")
@BY
def limit(call: Call, run: str, cost: float, ask: tuple[str, ...]) -> int:
    """Say what RUN may cost in all, and which tools ask first. What was said before is replaced.

    Where the limit is reached, the run stops and asks. Tools that ask by the workflow go on to ask.
    """
    from reconvene.app import queries
    from reconvene.core.facts.commands import SetLimits

    engine, found = open_to_change(call, run)
    engine.submit(found, SetLimits(cost, ask, call.by, DOOR))
    may = f"may cost ${cost:,.2f} in all" if cost else "may cost what its workflow says"
    first = f"; {', '.join(ask)} asks first" if ask else ""
    return answer(call, queries.summary(engine, found), f"{found} {may}{first}")
