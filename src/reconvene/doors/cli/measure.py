"""`ledger` and `stats`: what became of every remark, and how well the checkpoints serve the person. Only reads."""

from __future__ import annotations

import click

from reconvene.doors.cli.common import Call, command, note, open_home, open_run, put, put_json, say, screen_width


@command(
    epilog="""
Examples:
  reconvene ledger two-step-1
  reconvene ledger two-step-1 --open     # only what nobody has answered
"""
)
@click.argument("run", required=False)
@click.option("--open", "only_open", is_flag=True, help="Only remarks that nobody answered and no file shows.")
@click.option("--after", default="", metavar="ID", help="Only remarks after this one.")
@click.option("--limit", type=click.IntRange(min=0), default=0, metavar="N", help="At most N remarks; 0 = all.")
def ledger(call: Call, run: str | None, only_open: bool, after: str, limit: int) -> int:
    """What became of every remark in RUN: delivered to whom, answered by whom, visible in which file."""
    from reconvene.app import measures as review
    from reconvene.app.views.remark_lives import ledger_of, page_of

    engine, found = open_run(call, run)
    book = review.ledger(engine, found)
    shown = ledger_of(book.open_remarks()) if only_open else book
    if after or limit:
        shown = page_of(shown, after, limit)
    if call.as_json:
        put_json(shown, run=found, closure=book.closure)
    elif only_open and not shown.entries:
        put("every remark is answered" if book.entries else "no remarks yet")
    else:
        for line in shown.lines():
            say(line)
    return 0


@command(
    epilog="""
Examples:
  reconvene stats two-step-1
  reconvene stats --json                 # over all runs
"""
)
@click.argument("run", required=False)
def stats(call: Call, run: str | None) -> int:
    """How well the checkpoints serve you, in RUN or in all runs together.

    The four measures of success with their targets, minutes per round, what you waited and reviewed, how many remarks
    were answered, and what it cost. Over all runs, one that cannot be read is left out and named on stderr.
    """
    from reconvene.app import measures as review

    unread: dict[str, str] = {}
    if run is not None:
        engine, found = open_run(call, run)
        measured = review.stats(engine, found)
    else:
        measured, unread = review.stats_of_all(open_home(call))
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
