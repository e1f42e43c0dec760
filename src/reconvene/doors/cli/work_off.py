"""Works queued runs off, one after the other. What becomes of one never keeps the next from its turn."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

from reconvene.app import run_queue
from reconvene.doors.cli.accepting import permit_run
from reconvene.doors.cli.common import note, put, say
from reconvene.doors.cli.stops import Driving, conclude, exit_code, report, to_its_stop
from reconvene.doors.cli.text import one_line
from reconvene.errors import Busy, ReconveneError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Run

_PARKED, _FAILED, _ABORTED = 3, 1, 2


class Worked(NamedTuple):
    """One run that was taken up, and how it stands; `error` where it could not be driven at all."""

    summary: Run
    error: str = ""

    @property
    def code(self) -> int:
        return _FAILED if self.error else exit_code(self.summary)


def verdict(worked: list[Worked]) -> int:
    """One exit code for all: somebody waits, else something failed, else something was aborted, else all is well."""
    codes = {one.code for one in worked}
    return next((code for code in (_PARKED, _FAILED, _ABORTED) if code in codes), 0)


def work_off(
    drive: Driving, following: Callable[[], list[str]], go_on: Callable[[str, Worked | None], bool]
) -> list[Worked]:
    """Take up what `following` names, the first first, each once, as long as `go_on` agrees."""
    call, engine, decider = drive.call, drive.engine, drive.decider
    worked: list[Worked] = []
    seen: set[str] = set()
    while run := next((run for run in following() if run not in seen), ""):
        if not go_on(run, worked[-1] if worked else None):
            break
        seen.add(run)
        if not call.as_json:
            note(f"\n── {run}: {_title(engine, run)}")
        try:
            permit_run(call, engine, run)
            summary, stopped = to_its_stop(drive, run, take=True)
        except Busy as error:
            note(f"{error.message} It is left to them.")
            continue
        except (ReconveneError, OSError) as error:  # a store that is broken for all breaks out of the next line
            worked.append(_failed(engine, run, error))
            continue
        worked.append(Worked(summary))
        if not call.as_json:
            report(call, summary, brief=decider.shows)
        conclude(drive, summary)
        if summary.status == "waiting" and not decider.shows:
            note(f"{run} waits for a {'provider' if summary.provider else 'person'}, and is left waiting")
        if stopped:
            break
    return worked


def _failed(engine: Engine, run: str, error: ReconveneError | OSError) -> Worked:
    from msgspec.structs import replace

    from reconvene.app import queries

    hint = f" ({error.hint})" if isinstance(error, ReconveneError) and error.hint else ""
    note(f"{run} could not go on: {error}{hint}")
    return Worked(replace(queries.summary(engine, run), error=str(error)), str(error))


def _title(engine: Engine, run: str) -> str:
    from reconvene.app import queries

    summary = queries.summary(engine, run)
    return one_line(summary.title or summary.workflow, 100)


# --- after a split ---


def after_split(drive: Driving, run: str, made: list[str]) -> int:
    """Say what was put into the queue; on a terminal, offer to go on with it at once."""
    call, engine, decider = drive.call, drive.engine, drive.decider
    titles = {entry.run: entry.title for entry in run_queue.in_order(engine.log)}
    if call.as_json or not decider.shows:
        tell = note if call.as_json else put
        count = "one piece is" if len(made) == 1 else f"{len(made)} pieces are"
        tell(f"\n{count} in the queue; work them off with: {call.command('queue', 'run')}")
        return 0
    put("\nin the queue now:")
    for child in made:
        say(f"  {child}  {titles.get(child, '')}")

    def following() -> list[str]:
        return [entry.run for entry in run_queue.in_order(engine.log) if entry.parent == run]

    def go_on(child: str, before: Worked | None) -> bool:
        return agreed(f"Go on with the {'next' if before else 'first'} piece, {_title(engine, child)}?")

    worked = work_off(drive, following, go_on)
    if following():
        put(f"\nthe rest stays in the queue; go on with: {call.command('queue', 'run')}")
    return verdict(worked)


def agreed(question: str, *, default: bool = True) -> bool:
    """Whether the person says yes; leaving the question is a no."""
    from reconvene.doors.cli.ask import ask_yes

    try:
        return ask_yes(question, default=default)
    except (KeyboardInterrupt, EOFError):
        return False
