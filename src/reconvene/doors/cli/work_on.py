"""`worker`: drives every run of the home that is due. It decides nothing; whoever decides may be anywhere."""

from __future__ import annotations

import os
import signal
import sys
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import BY, Call, command, note, open_home
from reconvene.doors.cli.heard_or_not import HeardOrNot, errors_heard_or_not
from reconvene.doors.cli.text import clean, one_line, to_json
from reconvene.errors import ReconveneError

if TYPE_CHECKING:
    from asyncio import AbstractEventLoop
    from collections.abc import Callable
    from typing import TextIO

    from reconvene.app.engine import Engine
    from reconvene.app.worker import Told, Worker
    from reconvene.ports import Listener

_KILLED = 130


@command("""
Examples:
  reconvene worker                          # until Ctrl-C or SIGTERM
  reconvene worker --slots 8 --drain 300
  reconvene worker --once                   # what is due now, for cron
""")
@click.option("--slots", type=click.IntRange(1, 200), default=4, show_default=True, help="So many runs at once.")
@click.option("--once", is_flag=True, help="Stop when nothing is due any more.")
@click.option(
    "--drain",
    type=click.FloatRange(0, 86_400),
    default=60.0,
    show_default=True,
    metavar="SECONDS",
    help="How long agents at work may go on when the worker is told to stop.",
)
@click.option("--attached", is_flag=True, hidden=True)  # started by `serve`: see doors/http/driving.py
@BY
def worker(call: Call, slots: int, once: bool, drain: float, attached: bool) -> int:
    """Drive every run that is due to its next stop, and go on to the next, until you stop it.

    Due is what `decide --no-drive` or `new` left, what a process that died left in the middle, a run whose provider may
    be asked again, and what is queued, in its order. Checkpoints wait for a person as ever: answer them with `decide
    --no-drive`, and the worker goes on within a second. Any number of workers may work on one home.

    On SIGTERM or Ctrl-C nothing new begins, and agents at work may finish. What they leave is due again.
    """
    import asyncio

    from reconvene.doors.cli.clean_stdout import for_us_only

    require_person("to drive runs")
    engine = open_home(call)
    shows = _Shows(call, engine, attached=attached)
    with errors_heard_or_not(), for_us_only(drawn=False), asyncio.Runner() as loop:
        try:
            loop.run(_work(call, engine, shows, slots, drain, once=once, attached=attached))
        finally:
            loop.run(engine.close())
    return 0


async def _work(
    call: Call, engine: Engine, shows: _Shows, slots: int, drain: float, *, once: bool, attached: bool
) -> None:
    import asyncio

    from reconvene.app.left_behind import end_own
    from reconvene.app.worker import Worker
    from reconvene.doors.cli.sent_along import keep_until
    from reconvene.notify_wiring import deliverer

    loop = asyncio.get_running_loop()
    works = Worker(engine, slots, tell=shows, begin=shows.begin, permit=_permit(call, engine), by=call.by)
    stops = 0

    def stop() -> None:
        nonlocal stops
        stops += 1
        if stops == 1:
            _leave(works, loop, drain)
        elif stops == 2:
            works.leave(now=True)
            note("agents at work are being cancelled (once more leaves at once)")
        else:
            end_own(engine.runner)
            os._exit(_KILLED)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, stop)
    if attached:
        _listen(works, loop, stop)
    elif not call.as_json:
        note(f"driving what is due in {clean(call.home)}, {slots} at once; Ctrl-C stops")
    leaving = asyncio.Event()
    sending = asyncio.create_task(keep_until(leaving, deliverer(engine.log)))  # no run waits for a message
    try:
        await works.work(once=once)
    finally:
        leaving.set()
        await sending


def _listen(works: Worker, loop: AbstractEventLoop, stop: Callable[[], None]) -> None:
    """To who started this process: each line says that something may be due, the end that they are gone."""

    def heard() -> None:
        if os.read(0, 4096):
            works.wake()
        else:
            loop.remove_reader(0)
            stop()

    loop.add_reader(0, heard)


def _leave(works: Worker, loop: AbstractEventLoop, drain: float) -> None:
    if works.at_work:
        names = ", ".join(works.at_work)
        works.leave()
        loop.call_later(drain, lambda: works.leave(now=True))
        note(f"stopping: {names} may finish what their agents are at, for {drain:g} s (Ctrl-C again cancels them)")
    else:
        works.leave()


def _permit(call: Call, engine: Engine) -> Callable[[str], None]:
    """Nothing starts that this person has not accepted, or whose agents cannot work on this machine."""
    from reconvene.doors.cli.accepting import permit_run
    from reconvene.doors.cli.going_on import require_ready_to_go_on

    quiet = call._replace(quiet=True)

    def permit(run: str) -> None:
        permit_run(quiet, engine, run)
        require_ready_to_go_on(engine, run)

    return permit


class _Shows:
    """A line for each run that was driven: for scripts an object, on what was standard output when this began. What
    agents print meanwhile goes elsewhere."""

    def __init__(self, call: Call, engine: Engine, *, attached: bool = False) -> None:
        self._call = call
        self._engine = engine
        self._attached = attached  # whoever started this process shows also what agents are at
        self._out: TextIO | HeardOrNot
        try:
            self._out = HeardOrNot(os.fdopen(os.dup(sys.stdout.fileno()), "w", encoding="utf-8"))
        except (OSError, ValueError):  # no real file, as in tests
            self._out = sys.stdout

    def begin(self, run: str) -> Listener:
        from reconvene.doors.cli.progress import Watcher, Written

        def tell(line: str) -> None:
            note(f"{run}  {line}")

        if self._attached:
            return lambda progress: self._put(to_json({"progress": progress._asdict()}))
        return Watcher() if self._call.as_json else Written(tell)

    def __call__(self, told: Told) -> None:
        from reconvene.app import queries
        from reconvene.doors.cli.stops import headline

        if told.error is not None:
            self._failed(told, told.error)
            return
        if told.lapsed is not None:
            self._put(to_json(told.lapsed) if self._call.as_json else f"{told.run}  {told.lapsed.text}")
            return
        summary = queries.summary(self._engine, told.run)
        if self._call.as_json:
            self._put(to_json(summary))
            return
        asks = summary.checkpoint.question if summary.checkpoint is not None else ""
        self._put(headline(summary) + (f": {one_line(asks, 200)}" if asks else ""))
        if summary.checkpoint is not None:
            self._put(f"  look at it: {self._call.command('show', told.run)}")

    def _failed(self, told: Told, error: ReconveneError | OSError) -> None:
        hint = error.hint if isinstance(error, ReconveneError) else ""
        if self._call.as_json:
            self._put(to_json({"run": told.run, "error": str(error), "hint": hint, "again": told.again}))
            return
        note(
            f"{told.run} could not go on: {error}{f' ({hint})' if hint else ''}; it is tried again in {told.again:g} s"
        )

    def _put(self, line: str) -> None:
        self._out.write(clean(line) + "\n")
        self._out.flush()
