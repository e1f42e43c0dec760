"""Drives a run to its stops and has each decided: by a file of answers, by the person at the terminal, or by nobody."""

from __future__ import annotations

import os
import signal
import sys
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from msgspec import Struct

from reconvene.doors.cli.clean_stdout import for_us_only
from reconvene.doors.cli.closed_terminal import leave_closed, open_terminals, unless_closed
from reconvene.doors.cli.common import DOOR, EXIT_CODES, OPEN, Call, note, pasted, put, put_json, say
from reconvene.doors.cli.progress import watcher
from reconvene.doors.cli.text import clean, clock_time, one_line, wrapped
from reconvene.doors.shared import passages
from reconvene.doors.shared.asked_of import asked_of
from reconvene.doors.shared.glance import found_lines, items_line, merge_line, project_lines
from reconvene.doors.shared.whole_checkpoint import Hand, describe, put_down
from reconvene.errors import ReconveneError, StaleDecision, UserError

if TYPE_CHECKING:
    import asyncio
    from collections.abc import Iterable, Iterator

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint, PassedOver, Provider, Run, Unasked

_PARKED = 3
_KILLED = 130
_WORTHWHILE = 10.0  # seconds of driving, after which the search index is kept up


class Decider:
    """Decides an open checkpoint, or leaves it open (False): then the run parks. This one has no one to ask."""

    shows = False  # whether the person has already seen what they leave open
    tells = False  # whether each stop is printed, with what happened before it

    def decide(self, engine: Engine, run: str, checkpoint: Checkpoint) -> bool:
        return False

    def ended(self) -> None:
        """The run needs no more decisions."""

    def parked(self) -> None:
        """The run waits for a provider; decisions will be needed later."""


class Driving(Struct, frozen=True):
    """What driving takes, whichever run it is."""

    call: Call
    engine: Engine
    decider: Decider
    loop: asyncio.Runner
    begun: float  # as `time.monotonic` tells it


@contextmanager
def driving(call: Call, engine: Engine, decider: Decider) -> Iterator[Driving]:
    """One event loop for all runs: connections that agents keep open belong to the loop that opened them."""
    import asyncio
    import time

    from reconvene.doors.cli.sent_along import messages_sent

    with asyncio.Runner() as loop:
        try:
            with messages_sent(call, engine.log):
                yield Driving(call, engine, decider, loop, time.monotonic())
        finally:
            loop.run(engine.close())


def to_its_stop(
    drive: Driving,
    run: str,
    *,
    take: bool = False,
    at_once: bool = False,
    decided: bool = False,
    looks: bool = False,
) -> tuple[Run, bool]:
    """Drive and decide until the run ends or parks: where it stands, and whether it was stopped before that, by the
    person or because an agent cannot work here.

    `take`: only if it is still queued, or was left in the middle; else Busy. `at_once`: a provider is asked also before
    its time. `decided`: a decision was recorded just now. `looks`: whether agents can work is looked at after each."""
    from msgspec.structs import replace

    from reconvene.app import queries
    from reconvene.doors.cli.going_on import ready_after_decision

    unseen: tuple[PassedOver, ...] = ()  # what the run went past before stops that were answered and not printed
    engine, decider = drive.engine, drive.decider
    stopped = decided and looks and not ready_after_decision(engine, run)
    stopped = stopped or drive.loop.run(_driven(drive, run, take, at_once))
    while not stopped:
        summary = queries.summary(engine, run)
        if summary.checkpoint is None or has_chosen(engine, summary.checkpoint):
            break
        if not decider.decide(engine, run, summary.checkpoint):
            break
        if not decider.tells:
            unseen += summary.passed_over
        stopped = looks and not ready_after_decision(engine, run)
        stopped = stopped or drive.loop.run(_driven(drive, run))
    found = queries.standing(engine, run)
    return replace(found, passed_over=unseen + found.passed_over), stopped


def has_chosen(engine: Engine, point: Checkpoint) -> bool:
    """Whether this person has said what they choose, and others have to."""
    return any(one.counts and one.user == engine.actor.user for one in point.approvals)


def conclude(drive: Driving, summary: Run) -> None:
    """What is owed at the end of every drive: the workflow's last word, what nobody answered, the git history."""
    from reconvene.app import queries

    call, engine, run = drive.call, drive.engine, summary.run
    if not call.as_json and (said := queries.closing(engine, run)).text.strip():
        put("\n" + put_down(passages.passages(said.text, said.filled), HERE))
    if summary.status == "completed" and not call.as_json:
        from reconvene.app.measures import ledger
        from reconvene.doors.shared.advice import became_of, never_answered

        book, command = ledger(engine, run), call.command("ledger", run)
        for fate in ("\n".join(became_of(book, command)), never_answered(book, command)):
            if fate:  # nothing that a person said ends in silence
                say(f"\n{fate}")
    keep_history(engine, run)
    keep_index(drive, run)


def exit_code(summary: Run) -> int:
    """After driving: a run that still counts as running was stopped before it could park."""
    return _PARKED if summary.status == "running" else EXIT_CODES[summary.status]


def keep_history(engine: Engine, run: str) -> None:
    """Let the git history catch up. It is a copy of the log: whatever keeps it back must not keep the run back."""
    sys.stdout.flush()
    try:
        engine.commit_history(run)
    except ReconveneError as error:
        note(f"the git history is behind: {error.message}")


def keep_index(drive: Driving, run: str) -> None:
    """Let the search index catch up with the words, where agents took their time: then nobody notices. After a quick
    decision the next search does it."""
    import time

    from reconvene.trust import is_foreign

    if time.monotonic() - drive.begun < _WORTHWHILE or is_foreign(drive.call.place):
        return
    from contextlib import closing

    from reconvene import search_wiring
    from reconvene.app import searching

    with suppress(ReconveneError), closing(search_wiring.opened(drive.call.home, "none")) as index:
        searching.refresh(drive.engine, index, run)


async def _driven(drive: Driving, run: str, take: bool = False, at_once: bool = False) -> bool:
    """To the next stop. True when the person stopped it (Ctrl-C, or the terminal went away)."""
    from reconvene.app.left_behind import end_own

    engine, by, loop = drive.engine, drive.call.by, drive.loop.get_loop()
    stops, screens = 0, open_terminals()

    def stop(number: int) -> None:
        nonlocal stops
        if stops and number == signal.SIGHUP:
            return  # a terminal that is closed says so more than once, and nobody is impatient
        leave_closed(screens)
        stops += 1
        if stops > 1:
            watch.__exit__(None, None, None)  # gives the terminal back before leaving at once
            end_own(engine.runner)
            os._exit(_KILLED)
        engine.request_pause(run, now=True, by=by, door=DOOR)
        with suppress(OSError):
            watch.say("stopping: agents at work are being cancelled (Ctrl-C again leaves at once)")

    known = [getattr(signal, name) for name in ("SIGINT", "SIGTERM", "SIGHUP") if hasattr(signal, name)]
    # What whoever started the process has it ignore (nohup, a script's background) stays ignored.
    signals = [number for number in known if signal.getsignal(number) != signal.SIG_IGN]
    with for_us_only(drawn=sys.stdout.isatty() and not drive.call.as_json), watcher(drive.call) as watch:
        for number in signals:
            loop.add_signal_handler(number, stop, number)
        try:
            await engine.drive(run, unless_closed(watch), by=by, door=DOOR, take=take, at_once=at_once)
        finally:
            for number in signals:
                loop.remove_signal_handler(number)
    return stops > 0


def report(call: Call, summary: Run, *, brief: bool = False, **more: object) -> None:
    """Where the run stands: for a script one object, for a person words and the command that goes on. `more`: further
    keys of the object."""
    if call.as_json:
        put_json(summary, **more)
        if next_command := _next_command(call, summary):
            note(f"continue with: {next_command}")
        was_shown(call, summary)
        return
    if brief and summary.checkpoint is not None:
        if any(one.counts for one in summary.checkpoint.approvals):
            for line in asked_of(summary.checkpoint):
                say(line)
        else:
            put("nothing was decided; your remarks and saved answers are kept")
    put(headline(summary))
    if summary.why:
        put(put_down(passages.passages(summary.why, None), HERE))
    for line in not_asked(summary):
        say(line)
    if summary.provider is not None:
        for line in awaited(summary.provider):
            say(line)
    if summary.checkpoint is not None and not brief:
        put()
        for line in project_lines(summary.project):
            say(line)
        say(describe(summary.checkpoint, HERE))
    if next_command := _next_command(call, summary, brief=brief):
        put(f"\ncontinue with:\n  {next_command}")
    else:
        put(f"see what came of it: {call.command('files', summary.run)}")
        if summary.status != "completed":
            put(f"take it up again with: {call.command('reopen', summary.run)}")
        if summary.project:
            for line in project_lines(summary.project):
                say(line)
            put(f"take the changes to your project over with:\n  {clean(merge_line(summary.project))}")
    if not brief:
        was_shown(call, summary)


def was_shown(call: Call, summary: Run) -> None:
    """Its open checkpoint was printed whole: whoever decides without naming a version means the last one shown."""
    if summary.checkpoint is not None:
        from reconvene.doors.cli.on_screen import keep

        sys.stdout.flush()
        keep(call, summary.run, summary.checkpoint)


def awaited(provider: Provider) -> list[str]:
    """What the run waits for, since when, and until when nobody tries."""
    who = ", ".join(provider.agents)
    return [
        one_line(provider.why, 400),
        f"{who}: waiting for {provider.model} since {clock_time(provider.since)}; "
        f"nobody tries before {clock_time(provider.not_before)}, but `resume --now` does. "
        "What was done so far is on record, and there is nothing to decide.",
    ]


def not_asked(summary: Run) -> list[str]:
    """What went otherwise than meant since the last stop, a line each: checkpoints whose condition failed, gates that
    could not ask their model, documents that did not fit into a prompt."""
    texts = [row.text for row in summary.passed_over] + unasked_lines(summary.unasked)
    texts += [row.text for row in summary.unshown]
    return [*(f"! {one_line(text, 300)}" for text in texts), *found_lines(summary)]


def unasked_lines(rows: Iterable[Unasked]) -> list[str]:
    """One for each agent, phase and reason, however many rounds it went on."""
    alike: dict[tuple[str, str, str], list[Unasked]] = {}
    for row in rows:
        alike.setdefault((row.agent, row.phase, row.why), []).append(row)
    return [
        f"{found[-1].text} (the same {len(found) - 1} times before)" if len(found) > 1 else found[0].text
        for found in alike.values()
    ]


LEFT = "its process had to end; a server or a worker takes it up again by itself"


def headline(summary: Run) -> str:
    """`two-step-1 is waiting at draft, round 1`"""
    where = f" at {summary.phase}" if summary.phase else ""
    count = f", round {summary.round}" if summary.phase and summary.round else ""
    count += f", {items_line(summary.items)}" if summary.items else ""
    ended = f" ({summary.outcome})" if summary.outcome not in ("", summary.status) else ""
    alone = " (nobody is driving it)" if summary.driven is False else ""
    alone = alone or (" (for a provider)" if summary.provider is not None else "")
    alone = alone or (f" ({LEFT})" if summary.left else "")
    return f"{summary.run} is {summary.status}{where + count if summary.status in OPEN else ended}{alone}"


def _behind_a_bar(text: str) -> str:
    """On a screen, it is broken before the bar is put in front."""
    return passages.barred(wrapped(text, 2) if sys.stdout.isatty() else text)


HERE = Hand(pasted, _behind_a_bar)


def _next_command(call: Call, summary: Run, *, brief: bool = False) -> str:
    run = summary.run
    match summary.status:
        case "waiting" if summary.checkpoint is not None and not brief:
            from reconvene.doors.cli.on_screen import as_typed, example

            words = example(summary.checkpoint, run)
            words += ["--at", as_typed(call, run, summary.checkpoint.digest)] if words[0] == "decide" else []
            return call.command(*words)
        case "paused" | "running" | "waiting" | "queued":
            return call.command("resume", run)
        case _:  # it has ended; what it started may still have to be put into the queue
            return call.command("resume", run) if summary.unmade else ""


def explain_stale(error: UserError) -> str:
    changes = error.changes if isinstance(error, StaleDecision) else ()
    return "\n".join([error.message, *(f"  {change}" for change in changes), *([error.hint] if error.hint else [])])
