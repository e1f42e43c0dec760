"""Drive a run on until it parks or ends, and say where it stands: the second half of most commands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.cli.common import EXIT_CODES, OPEN, Call, note
from reconvene.doors.cli.stops import conclude, driving, exit_code, report, to_its_stop

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Run
    from reconvene.doors.cli.stops import Decider


def tell_nothing_to_do(call: Call, engine: Engine, run: str) -> int:
    """The run stands as it stood: that is said, and the exit code is the run's."""
    from reconvene.app import queries

    summary = queries.standing(engine, run)
    note(f"{run} is {'paused' if summary.status in OPEN else summary.status} already: there is nothing to do")
    report(call, summary, nothing_to_do=True)
    return EXIT_CODES[summary.status]


def _idle(summary: Run) -> str:
    why = f"is {summary.status}"
    if summary.checkpoint is not None:
        why = "waits for a decision"
    elif summary.provider is not None:
        why = "waits for its provider"
    return f"{summary.run} {why}: there is nothing to do"


def proceed(
    call: Call,
    engine: Engine,
    run: str,
    decider: Decider,
    *,
    only_record: bool = False,
    at_once: bool = False,
    decided: bool = False,
    looks: bool = False,
    expected: bool = False,
) -> int:
    """Drive, decide, drive on, until the run ends or parks; or, where only recording was asked for, nothing of it.

    `decided`: a decision was recorded just now. `looks`: after each decision, whether the agents can work here.
    `expected`: that it goes on; where it does not, that is said.
    Prints where the run stands then and answers the exit code."""
    from reconvene.app import queries

    if only_record:
        summary = queries.standing(engine, run)
        report(call, summary)
        return EXIT_CODES[summary.status]
    head = engine.log.head(run)
    with driving(call, engine, decider) as drive:
        before = queries.children_made(engine, run)
        summary, stopped = to_its_stop(drive, run, at_once=at_once, decided=decided, looks=looks)
        if summary.status not in OPEN:
            decider.ended()
        elif summary.provider is not None:
            decider.parked()
        idle = expected and not stopped and not decider.shows and engine.log.head(run) == head
        if idle:
            note(_idle(summary))
        report(call, summary, brief=decider.shows, **({"nothing_to_do": True} if idle else {}))
        conclude(drive, summary)
        fresh = [child for child in queries.children_made(engine, run) if child not in before]
        code = 0
        if fresh and not stopped:
            from reconvene.doors.cli.work_off import after_split  # most runs never split

            code = after_split(drive, run, fresh)
    return exit_code(summary) or code
