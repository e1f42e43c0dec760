"""(state, command, now) → events. Pure: the same arguments always give the same events.

`handle` goes on to where somebody must act. What a person decides is recorded before that: see `record`.

A command that the state does not allow raises Refused (or StaleDecision) and changes nothing. The same command given
twice adds nothing the second time.
"""

from __future__ import annotations

from typing import assert_never

from msgspec import Struct, structs

from reconvene.core import kit_finder
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts import loops
from reconvene.core.facts.actors import NOBODY, Actor
from reconvene.core.facts.book import Book
from reconvene.core.facts.ids import late_key, parse_task
from reconvene.core.facts.round import StepAt, TaskAt
from reconvene.core.facts.state import RunState
from reconvene.core.paths import why_no_run_id
from reconvene.core.person import (
    approving,
    binding,
    checkpoint,
    deciding,
    limiting,
    mending,
    permitted,
    replanning,
    rulings,
    undoing,
)
from reconvene.core.person.remarking import (
    add_remarks,
    inherit,
    read_again,
    record_edits,
    require_alive,
    settle,
    withdraw,
)
from reconvene.core.run import checks
from reconvene.core.run.advance import advance
from reconvene.core.shown import drafts
from reconvene.core.working import attempts, calls, children, gates, model_claims, rendering, spending
from reconvene.core.working.steps import open_tasks
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Refused


class Handled(Struct, frozen=True):
    state: RunState
    events: list[e.AnyEvent]
    blobs: dict[str, bytes]  # artefacts that the events name and that are new


_LONGEST_NAME = 200  # characters
# What only ends, stops, sorts, mends or tells of runs: possible also where a kit of the run is missing.
_NEED_NO_KIT = (
    *(c.Upgrade, c.Abort, c.Pause, c.DropQueued, c.MoveInQueue, c.RecordChild, c.PruneArchives),
    c.RecordCompanion,
)


def handle(
    state: RunState, command: c.Command, now: str, book: Book, claim: str = "", actor: Actor = NOBODY
) -> Handled:
    """`claim` is the driver's token: tasks that start are taken up by it. "" = nobody drives."""
    tx = _taken(state, command, now, book, claim, actor)
    if not isinstance(command, c.RecordCompanion):  # to talk about a run moves nothing in it
        advance(tx)
    return _handled(tx, state)


def record(
    state: RunState, command: c.Command, now: str, book: Book, claim: str = "", actor: Actor = NOBODY
) -> Handled:
    """The command's own events. What follows from them is left to `GoOn`; until then `plan` names it."""
    return _handled(_taken(state, command, now, book, claim, actor), state)


def _taken(state: RunState, command: c.Command, now: str, book: Book, claim: str, actor: Actor) -> Transaction:
    tx = Transaction(state, book, now, claim, NOBODY if isinstance(command, c.Lapse) else actor)
    permitted.require(actor, command)
    if not isinstance(command, c.StartRun) and not state.run:
        raise Refused("There is no such run.")
    if not isinstance(command, _NEED_NO_KIT):
        kit_finder.require(book.workflow)
    _require_name(str(getattr(command, "by", "")), actor.user)
    _dispatch(tx, command)
    return tx


def _require_name(by: str, user: str) -> None:
    """Nobody claims the engine's name, or one that takes more than a line."""
    engines = by.casefold() in (drafts.ENGINE, deciding.DEADLINE) and by != user
    if engines or not by.isprintable() or len(by) > _LONGEST_NAME:
        why = "is the engine's own name" if engines else "is no name: write it on one line"
        raise Refused(f"{by[:_LONGEST_NAME]!r} {why}. Nothing was recorded.", hint="Give another one with --by NAME")


def _handled(tx: Transaction, before: RunState) -> Handled:
    if not before.place and tx.state.ended and any(isinstance(event, e.RunEnded) for event in tx.events):
        rendering.render(tx)
    return Handled(tx.state, tx.events, tx.blobs)


def _dispatch(tx: Transaction, command: c.Command) -> None:
    match command:
        case c.StartRun():
            _start(tx, command)
        case c.AnswerCheckpoint():
            binding.bind(tx, command.bindings, command.by, command.door)
            if command.limits is not None and tx.state.world.open is not None:
                limiting.set_limits(tx, command.limits)
            deciding.answer(tx, command)
        case c.AddRemark():
            require_alive(tx)
            add_remarks(tx, (command.remark,), command.by, command.door)
            checkpoint.revise(tx)
            rendering.render_said(tx)
        case c.ReadRemark():
            read_again(tx, command)
            checkpoint.revise(tx)
            rendering.render_said(tx)
        case c.WithdrawRemark():
            withdraw(tx, command, approving.bound_remarks(tx.state))
            checkpoint.revise(tx)
            rendering.render_said(tx)
        case c.SettleRemark():
            settle(tx, command)
        case c.JudgeClaim():
            model_claims.judge_by_model(tx, command)
        case c.RecordCompanion():
            number = tx.state.record.companion.said + 1
            tx.emit(structs.replace(command.said, at=tx.now, number=number))
        case c.SaveDraft():
            deciding.save_draft(tx, command)
            checkpoint.revise(tx)
        case c.RecordEdits():
            record_edits(tx, command)
            checkpoint.revise(tx)
        case c.RecordAttempt():
            _attempt(tx, command)
        case c.RecordTurn() | c.StartCall() | c.EndCall() | c.DeferCalls() | c.CompactMessages():
            calls.record(tx, command)
        case c.RecordToolPages():
            rendering.record(tx, command.files)
        case c.DisallowTool():
            rulings.disallow(tx, command)
        case c.RecordFault():
            if _open_task(tx, command) is not None:
                tx.emit(e.ProviderFailed(at=tx.now, **structs.asdict(command)))
        case c.RecordCheck():
            checks.record(tx, command)
        case c.HoldTask():
            _hold(tx, command)
        case c.Claim():
            _claim(tx, command)
        case c.RecordChild():
            children.record(tx, command)
        case c.MoveInQueue():
            children.require_queued(tx)
            if tx.state.place != command.place:
                tx.emit(e.QueueMoved(at=tx.now, place=command.place, by=command.by, door=command.door))
        case c.DropQueued():
            if tx.state.outcome != children.DROPPED:
                children.require_queued(tx)
                tx.emit(e.RunEnded(at=tx.now, status="aborted", outcome=children.DROPPED, by=command.by))
        case c.Pause():
            if tx.state.place:
                return  # nothing works on it that could pause
            state = tx.state
            more = (command.now and not state.pause_now) or (state.left and not command.left)
            if not state.ended and (not state.paused or more):
                now, left = command.now or state.pause_now, command.left and (state.left or not state.paused)
                tx.emit(e.Paused(at=tx.now, by=command.by, door=command.door, now=now, left=left))
        case c.Resume():
            require_alive(tx)
            if tx.state.paused or tx.state.awaits is not None:
                tx.emit(e.Resumed(at=tx.now, by=command.by, door=command.door))
        case c.BindAgents():
            require_alive(tx)
            binding.bind(tx, command.bindings, command.by, command.door)
        case c.SetLimits():
            require_alive(tx)
            limiting.set_limits(tx, command)
        case c.Upgrade():
            mending.upgrade(tx, command)
        case c.Reopen():
            if mending.reopen(tx, command):
                advance(tx)
            add_remarks(tx, command.remarks, command.by, command.door)
            checkpoint.revise(tx)
        case c.Abort():
            if tx.state.ended == "aborted":
                return
            require_alive(tx)
            add_remarks(tx, command.remarks, command.by, command.door)
            tx.emit(e.RunEnded(at=tx.now, status="aborted", outcome="aborted", by=command.by))
        case c.Rollback():
            undoing.rollback(tx, command)
        case c.Replan():
            replanning.replan(tx, command)
        case c.PruneArchives():
            undoing.prune(tx, command)
        case c.Assign():
            approving.assign(tx, command)
        case c.Lapse():
            deciding.lapse(tx)
        case c.GoOn():
            pass
        case _:
            assert_never(command)


def _start(tx: Transaction, command: c.StartRun) -> None:
    if tx.state.run:
        raise Refused(f"Run {command.run} exists already.", hint=f"reconvene resume {command.run}")
    if why := why_no_run_id(command.run):
        raise Refused(f"{command.run!r} cannot be the id of a run: it {why}.")
    own = {name: said for name, said in structs.asdict(command).items() if name not in ("remarks", "bindings")}
    tx.emit(e.RunStarted(at=tx.now, **own))
    binding.bind(tx, command.bindings, command.by, command.door)
    inherit(tx, command.remarks, command.parent)


# --- what agents and scripts brought ---


def _attempt(tx: Transaction, command: c.RecordAttempt) -> None:
    found = _open_task(tx, command)
    if found is None:
        _late(tx, command)
        return
    step, task = found
    if command.cancelled and calls.in_a_loop(tx, task):
        calls.let_go(tx, command.task, task, "")
        return
    if command.failed and task.loop is not None and loops.in_doubt(task.loop):
        calls.let_go(tx, command.task, task, task.claim)
        return
    _opened(tx, command.opened)
    verdict, wrong = gates.verdict(tx, command, step, task)
    ended = e.AttemptEnded(
        at=tx.now,
        task=command.task,
        attempt=command.attempt,
        verdict=verdict,
        then="done",
        output=command.output,
        value=command.value,
        files=command.files,
        ignored=command.ignored,
        usage=command.usage,
        prompt=command.prompt,
        asked=command.asked,
        rules=command.rules,
        reply=command.reply,
        recorded=command.recorded,
        commit=command.commit,
        diff=command.diff,
        diffs=command.diffs,
        told=command.told if verdict == "failed" and command.told != wrong.why else "",
        unasked=command.unasked if verdict in ("accepted", "doubt") else (),
        sandbox=command.sandbox,
        left_out=command.left_out,
    )
    if verdict == "rejected":
        rendering.render_rejected(tx, task.agent, step.index, command.attempt, command.output)
    attempts.end(tx, task, ended, wrong, retryable=command.retryable, begun=command.begun)


def _opened(tx: Transaction, opened: c.Opened | None) -> None:
    """The first attempt in the person's project settles from which commit the run starts, and the branch's name."""
    known = tx.state.record.project
    if opened is None or (known is not None and known.branch):
        return
    tx.emit(
        e.ProjectOpened(
            at=tx.now,
            path=opened.path,
            branch=opened.branch,
            base=opened.base,
            uncommitted=opened.uncommitted,
        )
    )


def _open_task(tx: Transaction, command: c.RecordAttempt | c.RecordFault | c.HoldTask) -> tuple[StepAt, TaskAt] | None:
    serial, index, agent = parse_task(command.task)
    round_ = tx.frame.round
    if tx.state.ended or round_ is None or round_.serial != serial or round_.open is None or round_.open.index != index:
        return None
    task = round_.open.tasks.get(agent)
    if task is None or task.status != "open" or task.attempt != command.attempt:
        return None
    return round_.open, task


def _hold(tx: Transaction, command: c.HoldTask) -> None:
    found = _open_task(tx, command)
    limit = spending.reached(tx.state, tx.book, found[1].agent) if found else None
    if limit is not None:
        tx.emit(e.TaskHeld(at=tx.now, task=command.task, attempt=command.attempt, limit=limit.name))


def _late(tx: Transaction, command: c.RecordAttempt) -> None:
    """Its task is not open any more: kept and counted, and the world stays as it is. Rule 20."""
    if not _is_news(tx, command):
        return
    tx.emit(
        e.LateOutputArchived(
            at=tx.now,
            task=command.task,
            attempt=command.attempt,
            output=command.output,
            usage=command.usage,
            why=command.why,
        )
    )


def _is_news(tx: Transaction, command: c.RecordAttempt) -> bool:
    """Whether this attempt's outcome is not on record yet. An attempt in doubt, or cancelled, has an end but no
    outcome: what it gave and cost may still come, once."""
    record = tx.state.record
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


def _claim(tx: Transaction, command: c.Claim) -> None:
    """A driver takes over: unclaimed tasks become its own; those another one had begun are in doubt."""
    if tx.state.ended:
        return
    if tx.state.place:
        tx.emit(e.QueueLeft(at=tx.now, by=command.by, door=command.door))
    free: list[str] = []
    for name, task in open_tasks(tx):
        if task.claim == tx.claim:
            continue
        if not task.claim:
            if task.parked is None or task.parked.not_before <= tx.now:
                free.append(name)
            continue
        if calls.in_a_loop(tx, task):
            calls.let_go(tx, name, task, tx.claim)
            continue
        effects = tx.book.workflow.agents[task.agent].effects
        tx.emit(
            e.AttemptEnded(
                at=tx.now,
                task=name,
                attempt=task.attempt,
                verdict="doubt",
                then="ask" if effects else "retry",
                why="the process that ran it ended before its outcome was recorded",
                claim=tx.claim,
                running=command.running.get(name, "") if effects else "",
            )
        )
    if free:
        tx.emit(e.TasksClaimed(at=tx.now, tasks=tuple(free), claim=tx.claim))
