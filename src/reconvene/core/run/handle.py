"""(state, command, now) → events. Pure: the same arguments always give the same events.

`handle` goes on to where somebody must act. What a person decides is recorded before that: see `record`.

A command that the state does not allow raises Refused (or StaleDecision) and changes nothing. The same command given
twice adds nothing the second time.
"""

from __future__ import annotations

from typing import Literal, NamedTuple, assert_never

from reconvene.core import kit_finder
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.ids import late_key, parse_task
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.state import RunState
from reconvene.core.paths import why_no_run_id
from reconvene.core.person import checkpoint, deciding, undoing
from reconvene.core.person.remarking import add_remarks, inherit, read_again, record_edits, require_alive, withdraw
from reconvene.core.run import checks
from reconvene.core.run.advance import advance
from reconvene.core.working import children, gates, rendering
from reconvene.core.working.steps import open_tasks
from reconvene.core.working.turn import Turn
from reconvene.errors import Refused


class Handled(NamedTuple):
    state: RunState
    events: list[e.AnyEvent]
    blobs: dict[str, bytes]  # artefacts that the events name and that are new


# What only ends, stops or sorts runs: possible also where a kit of the run is missing.
_NEED_NO_KIT = (c.Abort, c.Pause, c.DropQueued, c.MoveInQueue, c.RecordChild, c.PruneArchives)


def handle(state: RunState, command: c.Command, now: str, book: Book, claim: str = "") -> Handled:
    """`claim` is the driver's token: tasks that start are taken up by it. "" = nobody drives."""
    turn = _taken(state, command, now, book, claim)
    advance(turn)
    return _handled(turn, state)


def record(state: RunState, command: c.Command, now: str, book: Book, claim: str = "") -> Handled:
    """The command's own events. What follows from them is left to `GoOn`; until then `plan` names it."""
    return _handled(_taken(state, command, now, book, claim), state)


def _taken(state: RunState, command: c.Command, now: str, book: Book, claim: str) -> Turn:
    turn = Turn(state, book, now, claim)
    if not isinstance(command, c.StartRun) and not state.run:
        raise Refused("There is no such run.")
    if not isinstance(command, _NEED_NO_KIT):
        kit_finder.require(book.workflow.kits)
    _dispatch(turn, command)
    return turn


def _handled(turn: Turn, before: RunState) -> Handled:
    if turn.state.ended and not before.ended and not before.place:
        rendering.render(turn)
    return Handled(turn.state, turn.events, turn.blobs)


def _dispatch(turn: Turn, command: c.Command) -> None:
    match command:
        case c.StartRun():
            _start(turn, command)
        case c.AnswerCheckpoint():
            deciding.answer(turn, command)
        case c.AddRemark():
            require_alive(turn)
            add_remarks(turn, (command.remark,), command.by, command.door)
            checkpoint.revise(turn)
        case c.ReadRemark():
            read_again(turn, command)
            checkpoint.revise(turn)
        case c.WithdrawRemark():
            withdraw(turn, command)
            checkpoint.revise(turn)
        case c.SaveDraft():
            deciding.save_draft(turn, command)
            checkpoint.revise(turn)
        case c.RecordEdits():
            record_edits(turn, command)
            checkpoint.revise(turn)
        case c.RecordAttempt():
            _attempt(turn, command)
        case c.RecordCheck():
            checks.record(turn, command)
        case c.Claim():
            _claim(turn, command)
        case c.RecordChild():
            children.record(turn, command)
        case c.MoveInQueue():
            children.require_queued(turn)
            if turn.state.place != command.place:
                turn.emit(e.QueueMoved(at=turn.now, place=command.place, by=command.by, door=command.door))
        case c.DropQueued():
            if turn.state.outcome != children.DROPPED:
                children.require_queued(turn)
                turn.emit(e.RunEnded(at=turn.now, status="aborted", outcome=children.DROPPED, by=command.by))
        case c.Pause():
            if turn.state.place:
                return  # nothing works on it that could pause
            if not turn.state.ended and (not turn.state.paused or (command.now and not turn.state.pause_now)):
                turn.emit(e.Paused(at=turn.now, by=command.by, door=command.door, now=command.now))
        case c.Resume():
            require_alive(turn)
            if turn.state.paused:
                turn.emit(e.Resumed(at=turn.now, by=command.by, door=command.door))
        case c.Abort():
            if turn.state.ended == "aborted":
                return
            require_alive(turn)
            add_remarks(turn, command.remarks, command.by, command.door)
            turn.emit(e.RunEnded(at=turn.now, status="aborted", outcome="aborted", by=command.by))
        case c.Rollback():
            undoing.rollback(turn, command)
        case c.PruneArchives():
            undoing.prune(turn, command)
        case c.GoOn():
            pass
        case _:
            assert_never(command)


def _start(turn: Turn, command: c.StartRun) -> None:
    if turn.state.run:
        raise Refused(f"Run {command.run} exists already.", hint=f"reconvene resume {command.run}")
    if why := why_no_run_id(command.run):
        raise Refused(f"{command.run!r} cannot be the id of a run: it {why}.")
    turn.emit(
        e.RunStarted(
            at=turn.now,
            run=command.run,
            workflow=command.workflow,
            name=command.name,
            inputs=command.inputs,
            settings=command.settings,
            workspace=command.workspace,
            by=command.by,
            door=command.door,
            parent=command.parent,
            piece=command.piece,
            title=command.title,
            place=command.place,
        )
    )
    inherit(turn, command.remarks, command.parent)


# --- what agents and scripts brought ---


def _attempt(turn: Turn, command: c.RecordAttempt) -> None:
    found = _open_task(turn, command)
    if found is None:
        _late(turn, command)
        return
    step, task = found
    _opened(turn, command.opened)
    agent = turn.book.workflow.agents[task.agent]
    verdict, wrong = gates.verdict(turn, command, step, task)
    then: Literal["done", "retry", "missing"] = "done"
    claim = ""
    if verdict == "cancelled":
        then, claim = "retry", "" if turn.state.paused else turn.claim
    elif verdict != "accepted":
        left = command.retryable and task.tries < agent.retries
        then, claim = ("retry", "" if turn.state.paused else turn.claim) if left else ("missing", "")
    turn.emit(
        e.AttemptEnded(
            at=turn.now,
            task=command.task,
            attempt=command.attempt,
            verdict=verdict,
            then=then,
            output=command.output,
            value=command.value,
            files=command.files,
            ignored=command.ignored,
            why=wrong.why,
            code=wrong.code,
            usage=command.usage,
            prompt=command.prompt,
            reply=command.reply,
            claim=claim,
            recorded=command.recorded,
            commit=command.commit,
            diff=command.diff,
            diffs=command.diffs,
            example=_kept_text(turn, wrong.example) if then == "retry" else "",
            failures=wrong.failures,
        )
    )


def _opened(turn: Turn, opened: c.Opened | None) -> None:
    """The first attempt in the person's project settles from which commit the run starts, and the branch's name."""
    known = turn.state.record.project
    if opened is None or (known is not None and known.branch):
        return
    turn.emit(
        e.ProjectOpened(
            at=turn.now,
            path=opened.path,
            branch=opened.branch,
            base=opened.base,
            uncommitted=opened.uncommitted,
        )
    )


def _open_task(turn: Turn, command: c.RecordAttempt) -> tuple[StepAt, TaskAt] | None:
    serial, index, agent = parse_task(command.task)
    round_ = turn.frame.round
    if (
        turn.state.ended
        or round_ is None
        or round_.serial != serial
        or round_.open is None
        or round_.open.index != index
    ):
        return None
    task = round_.open.tasks.get(agent)
    if task is None or task.status != "open" or task.attempt != command.attempt:
        return None
    return round_.open, task


def _late(turn: Turn, command: c.RecordAttempt) -> None:
    """Its task is not open any more: kept and counted, and the world stays as it is. Rule 20."""
    if not _is_news(turn, command):
        return
    turn.emit(
        e.LateOutputArchived(
            at=turn.now,
            task=command.task,
            attempt=command.attempt,
            output=command.output,
            usage=command.usage,
            why=command.why,
        )
    )


def _is_news(turn: Turn, command: c.RecordAttempt) -> bool:
    """Whether this attempt's outcome is not on record yet. An attempt in doubt, or cancelled, has an end but no
    outcome: what it gave and cost may still come, once."""
    record = turn.state.record
    key = f"{command.task}#{command.attempt}"
    if key not in record.ended:
        return True
    if late_key(key) in record.ended:
        return False
    if command.output is not None:
        return command.output.digest != record.ended[key]
    failed = any((note.task, note.attempt) == (command.task, command.attempt) for note in record.notes.values())
    return not record.ended[key] and not failed and _spent_something(command.usage)


def _spent_something(usage: e.Usage) -> bool:
    return bool(usage.cost or usage.input_tokens or usage.output_tokens)


def _kept_text(turn: Turn, text: str) -> str:
    if not text:
        return ""
    data = text.encode()
    digest = turn.book.keep(data)
    turn.blobs[digest] = data
    return digest


def _claim(turn: Turn, command: c.Claim) -> None:
    """A driver takes over: unclaimed tasks become its own; those another one had begun are in doubt."""
    if turn.state.ended:
        return
    if turn.state.place:
        turn.emit(e.QueueLeft(at=turn.now, by=command.by, door=command.door))
    free: list[str] = []
    for name, task in open_tasks(turn):
        if task.claim == turn.claim:
            continue
        if not task.claim:
            free.append(name)
            continue
        effects = turn.book.workflow.agents[task.agent].effects
        turn.emit(
            e.AttemptEnded(
                at=turn.now,
                task=name,
                attempt=task.attempt,
                verdict="doubt",
                then="ask" if effects else "retry",
                why="the process that ran it ended before its outcome was recorded",
                claim=turn.claim,
            )
        )
    if free:
        turn.emit(e.TasksClaimed(at=turn.now, tasks=tuple(free), claim=turn.claim))
