"""(state, command, now) → events, run to a fixed point. Pure: the same arguments always give the same events.

A command that the state does not allow raises Refused (or StaleDecision) and changes nothing. The same command given
twice adds nothing the second time.
"""

from __future__ import annotations

import difflib
from typing import NamedTuple, assert_never

from reconvene.core import answers, checkpoint, gates, limits, rendering, scope
from reconvene.core import commands as c
from reconvene.core import events as e
from reconvene.core.advance import advance, gap, make_move, move_refused, open_tasks
from reconvene.core.book import Book, to_json
from reconvene.core.evolve import remark_key
from reconvene.core.expressions import ExpressionError, truth
from reconvene.core.ids import digest_of, parse_task, remark_id
from reconvene.core.state import RunState, StepAt, TaskAt
from reconvene.core.turn import Turn
from reconvene.core.workflow import Again, Continue, End, Goto, Move, Option
from reconvene.errors import Bug, Refused, StaleDecision


class Handled(NamedTuple):
    state: RunState
    events: list[e.AnyEvent]
    blobs: dict[str, bytes]  # artefacts that the events name and that are new


def handle(state: RunState, command: c.Command, now: str, book: Book, claim: str = "") -> Handled:
    """`claim` is the driver's token: tasks that start are taken up by it. "" = nobody drives."""
    turn = Turn(state, book, now, claim)
    if not isinstance(command, c.StartRun) and not state.run:
        raise Refused("There is no such run.")
    _dispatch(turn, command)
    advance(turn)
    if turn.state.ended and not state.ended:
        rendering.render(turn)
    return Handled(turn.state, turn.events, turn.blobs)


def _dispatch(turn: Turn, command: c.Command) -> None:
    match command:
        case c.StartRun():
            _start(turn, command)
        case c.AnswerCheckpoint():
            _answer(turn, command)
        case c.AddRemark():
            _alive(turn)
            _remarks(turn, (command.remark,), command.by, command.door)
        case c.SaveDraft():
            _draft(turn, command)
        case c.RecordEdits():
            _edits(turn, command)
        case c.RecordAttempt():
            _attempt(turn, command)
        case c.RecordCheck():
            _check(turn, command)
        case c.Claim():
            _claim(turn)
        case c.Pause():
            if not turn.state.ended and (not turn.state.paused or (command.now and not turn.state.pause_now)):
                turn.emit(e.Paused(at=turn.now, by=command.by, door=command.door, now=command.now))
        case c.Resume():
            _alive(turn)
            if turn.state.paused:
                turn.emit(e.Resumed(at=turn.now, by=command.by, door=command.door))
        case c.Abort():
            if turn.state.ended == "aborted":
                return
            _alive(turn)
            _remarks(turn, command.remarks, command.by, command.door)
            turn.emit(e.RunEnded(at=turn.now, status="aborted", outcome="aborted", by=command.by))
        case c.Rollback():
            _rollback(turn, command)
        case _:
            assert_never(command)


def _alive(turn: Turn) -> None:
    if turn.state.ended:
        raise Refused(f"Run {turn.state.run} has ended ({turn.state.ended}).",
                      hint=f"reconvene fork {turn.state.run} --at SEQ starts again from any point of its log")


def _start(turn: Turn, command: c.StartRun) -> None:
    if turn.state.run:
        raise Refused(f"Run {command.run} exists already.", hint=f"reconvene resume {command.run}")
    turn.emit(e.RunStarted(
        at=turn.now, run=command.run, workflow=command.workflow, name=command.name, inputs=command.inputs,
        settings=command.settings, workspace=command.workspace, by=command.by, door=command.door,
    ))


# --- what people say ---------------------------------------------------------------------------------------------------


def _remarks(turn: Turn, remarks: tuple[c.RemarkIn, ...], by: str, door: str) -> tuple[str, ...]:
    return tuple(
        _remark(turn, remark.kind, remark.text, by, door, target=remark.target)
        for remark in remarks
        if remark.text.strip()
    )


def _remark(
    turn: Turn, kind: str, text: str, by: str, door: str, *, target: str = "", path: str = "", diff: str = ""
) -> str:
    state = turn.state
    point = state.world.open
    place = point.id if point else ""
    known = state.record.said.get(remark_key(place, kind, target, text + diff, by))
    if known is not None:
        return state.record.remarks[known].id
    number = len(state.record.remarks) + 1
    frame = turn.frame
    turn.emit(e.RemarkAdded(
        at=turn.now, id=remark_id(number), number=number, kind=kind, text=text, target=target, by=by, door=door,
        phase=frame.phase, n=frame.round.n if frame.round else 0, checkpoint=place, path=path, diff=diff,
    ))
    return remark_id(number)


def _edits(turn: Turn, command: c.RecordEdits) -> None:
    known = turn.state.world.files
    fresh = [edit for edit in command.edits if (known[edit.path].digest if edit.path in known else "") != edit.digest]
    if not fresh:
        return
    files = tuple(e.FileOut(edit.path, edit.digest, edit.size) for edit in fresh)
    turn.emit(e.FilesEdited(at=turn.now, files=files, by=command.by))
    for edit in fresh:
        verb = "Edited" if edit.digest else "Deleted"
        _remark(turn, "edit", f"{verb} {edit.path} ({edit.summary})", command.by, command.door, path=edit.path, diff=edit.diff)


def _draft(turn: Turn, command: c.SaveDraft) -> None:
    point = turn.state.world.open
    if point is None or (command.checkpoint and point.id != command.checkpoint):
        raise Refused("That checkpoint is not open any more.", hint=f"reconvene show {turn.state.run}")
    asked = {field.id for field in point.fields}
    unknown = [name for name in command.fields if name not in asked]
    if unknown:
        raise Refused(f"There is no field {unknown[0]!r} here.")
    old = turn.book.object(turn.state.record.drafts.get(point.scope, ""))
    _save_draft(turn, point, {**old, **command.fields})


def _save_draft(turn: Turn, point: e.CheckpointOpened, fields: dict[str, object]) -> None:
    ref = turn.keep(fields)
    if turn.state.record.drafts.get(point.scope, "") != ref.digest and fields:
        turn.emit(e.DraftSaved(at=turn.now, checkpoint=point.id, place=point.scope, fields=ref.digest))


# --- decisions ---------------------------------------------------------------------------------------------------------


def _answer(turn: Turn, command: c.AnswerCheckpoint) -> None:
    key = digest_of(to_json([command.option, command.fields, [[r.kind, r.target, r.text] for r in command.remarks]]))
    point = turn.state.world.open
    if command.checkpoint and (point is None or point.id != command.checkpoint):
        _already_decided(turn, command, key)
        return
    _alive(turn)
    if point is None:
        raise Refused(f"Run {turn.state.run} is {turn.state.status}: nothing waits for a decision.",
                      hint=f"reconvene show {turn.state.run}")
    offered = _find_option(point, command.option)
    _check_digest(turn, point, command)
    if not offered.available:
        raise Refused(f"{offered.label!r} is not available: {offered.why_not}.", hint=_options_hint(point))
    if offered.remark == "required" and not any(remark.text.strip() for remark in command.remarks):
        raise Refused(f"{offered.label!r} needs your words.", hint='Add --feedback "…"')
    if point.attention:
        _settle(turn, point, offered.label, command, key)
    else:
        _decide(turn, point, offered, command, key)


def _already_decided(turn: Turn, command: c.AnswerCheckpoint, key: str) -> None:
    number = turn.state.record.decided.get(command.checkpoint)
    if number is None:
        raise StaleDecision(f"Checkpoint {command.checkpoint} is not open in run {turn.state.run}.",
                            hint=f"reconvene show {turn.state.run}")
    decision = turn.state.record.decisions[number]
    if decision.key == key:
        return
    raise StaleDecision(
        f"Checkpoint {command.checkpoint} was decided already: {decision.option!r} by {decision.by or 'somebody'} at "
        f"{decision.at}.", changes=(f"decided: {decision.option}",), hint=f"reconvene show {turn.state.run}",
    )


def _find_option(point: e.CheckpointOpened, label: str) -> e.OptionOffered:
    for option in point.options:
        if option.label == label:
            return option
    same = [option for option in point.options if option.label.casefold() == label.casefold()]
    if len(same) == 1:
        return same[0]
    near = difflib.get_close_matches(label, [option.label for option in point.options], n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    raise Refused(f"{label!r} is not an option here.", hint=hint + _options_hint(point))


def _options_hint(point: e.CheckpointOpened) -> str:
    return "Options: " + ", ".join(option.label for option in point.options if option.available)


def _check_digest(turn: Turn, point: e.CheckpointOpened, command: c.AnswerCheckpoint) -> None:
    now = checkpoint.current_digest(turn.state)
    if not command.digest or command.digest == now:
        return
    remarks = turn.state.record.remarks.values()
    changes = tuple(sorted(r.text for r in remarks if r.kind == "edit" and r.checkpoint == point.id))
    what = "; ".join(changes) if changes and command.digest == point.digest else "the run moved on since"
    raise StaleDecision(f"What you decided on is not what is there now: {what}.", changes=changes or (what,),
                        hint=f"reconvene show {turn.state.run}, then decide again")


def _decide(
    turn: Turn, point: e.CheckpointOpened, offered: e.OptionOffered, command: c.AnswerCheckpoint, key: str
) -> None:
    definition = turn.phase.checkpoint
    if definition is None:
        raise Bug(f"{point.phase} has no checkpoint")
    option = definition.options[offered.index] if offered.index >= 0 else Option(label=offered.label)
    move = option.then
    leaving = isinstance(move, Continue | End)
    given = answers.merge(turn, offered, command.fields, leaving=leaving)
    agents = answers.chosen_agents(offered, given)
    if isinstance(move, Again) and agents:
        move = Again(agents)
    ids = _remarks(turn, command.remarks, command.by, command.door)
    if point.fields:
        _save_draft(turn, point, {field.id: given[field.id] for field in point.fields if field.id in given})
    serial = point.serial
    turn.emit(e.DecisionRecorded(
        at=turn.now, checkpoint=point.id, number=point.number, phase=point.phase, scope=point.scope, serial=serial,
        option=offered.label, decision=option.alias or _decision_name(option), move=move,
        fields=turn.keep(given).digest if given else "", skipped=option.skip,
        target=move.target if isinstance(move, Goto) else "", feedback="\n".join(r.text for r in command.remarks if r.text.strip()),
        remarks=ids, by=command.by, door=command.door, digest=command.digest or checkpoint.digest(
            turn.state, serial, point.options, point.show_files), key=key,
    ))
    undone = option.undo and _undo(turn, dropped=not isinstance(move, Again), by=command.by, why=offered.label)
    fields = (*(point.fields if leaving else ()), *offered.fields)
    writes = answers.writes(turn, fields, given, option.set, command.by)
    if writes:
        turn.emit(e.ValuesSet(at=turn.now, values=writes))
    fresh = tuple(phase for phase in option.skip if phase not in turn.state.world.skips)
    if fresh:
        turn.emit(e.SkipsChanged(at=turn.now, added=fresh))
    _move(turn, move, command.by, undone=undone)


def _decision_name(option: Option) -> str:
    match option.then:
        case Continue():
            return "skip_phases" if option.skip else "continue"
        case Again():
            return "again"
        case Goto(rerun=rerun):
            return "repeat_phase" if rerun else "goto"
        case End(status=status):
            return "abort" if status == "aborted" else "end"


def _move(turn: Turn, move: Move, by: str, *, undone: bool) -> None:
    if isinstance(move, End):
        turn.emit(e.RunEnded(at=turn.now, status=move.status, outcome=move.outcome, by=by))
    elif undone and isinstance(move, Again | Continue):
        pass  # the restored world goes on by itself: the round again, or the one after it
    elif isinstance(move, Continue):
        world = turn.state.world
        if world.visit < len(world.visits) - 1:
            clean = world.dirty < 0 or world.dirty > world.visit
            turn.emit(e.WentOn(at=turn.now, visit=world.visit + 1 if clean else -1))
    else:
        make_move(turn, move)


def _undo(turn: Turn, *, dropped: bool, by: str, why: str) -> bool:
    frame = turn.frame
    if frame.round is None:
        raise Bug(f"{frame.scope} has no round to undo")
    turn.emit(e.RoundUndone(
        at=turn.now, serial=frame.round.serial, phase=frame.phase, scope=frame.place, n=frame.round.n, dropped=dropped,
        by=by, why=why,
    ))
    return True


def _rollback(turn: Turn, command: c.Rollback) -> None:
    _alive(turn)
    if turn.state.world.open is None:
        raise Refused(f"Run {turn.state.run} is {turn.state.status}: a round is rolled back at its checkpoint.",
                      hint=f"reconvene pause {turn.state.run}, or fork it from an earlier point")
    if command.checkpoint not in ("", turn.state.world.open.id):
        raise StaleDecision(f"Checkpoint {command.checkpoint} is not open any more.", hint=f"reconvene show {turn.state.run}")
    refused = limits.undo_refused(turn.state, turn.book)
    if refused:
        raise Refused(f"This round cannot be rolled back: {refused}.")
    _remarks(turn, command.remarks, command.by, command.door)
    _undo(turn, dropped=False, by=command.by, why="rollback")


# --- attention ---------------------------------------------------------------------------------------------------------

_RULINGS = {
    checkpoint.AGAIN: "again", checkpoint.WITHOUT: "without", checkpoint.TRUE: "true", checkpoint.FALSE: "false",
    checkpoint.RAISE: "raise",
}


def _settle(turn: Turn, point: e.CheckpointOpened, label: str, command: c.AnswerCheckpoint, key: str) -> None:
    ids = _remarks(turn, command.remarks, command.by, command.door)
    stop = label == checkpoint.STOP
    turn.emit(e.DecisionRecorded(
        at=turn.now, checkpoint=point.id, number=point.number, phase=point.phase, scope=point.scope, serial=point.serial,
        option=label, decision="attention", move=End("aborted", "aborted") if stop else Continue(), remarks=ids,
        feedback="\n".join(r.text for r in command.remarks if r.text.strip()), by=command.by, door=command.door, digest=point.digest, key=key, attention=True,
    ))
    if stop:
        turn.emit(e.RunEnded(at=turn.now, status="aborted", outcome="aborted", by=command.by))
        return
    ruling = _RULINGS.get(label) or "use:" + label.removeprefix("Use ").removesuffix("'s version")
    troubles = turn.state.world.trouble
    for trouble in troubles:
        turn.emit(e.TroubleSettled(
            at=turn.now, key=trouble.key, kind=trouble.kind, ruling=_ruling_for(trouble, ruling), agents=trouble.agents,
            paths=trouble.paths, claim=turn.claim,
        ))
    if turn.frame.stage == "closed":
        _after_check(turn, point, ruling, {trouble.kind: trouble for trouble in troubles})


def _ruling_for(trouble: e.Trouble, ruling: str) -> str:
    """One answer settles all that was asked: a ruling that does not fit a trouble means "go on without it"."""
    fitting = {
        "missing": ("again",), "doubt": ("again",), "check": ("again",), "escalated": ("again",), "limit": ("raise",),
        "expression": ("true", "false") if trouble.boolean else (),
        "conflict": ("again", *(f"use:{agent}" for agent in trouble.agents)),
    }
    return ruling if ruling in fitting.get(trouble.kind, ()) else "without"


def _after_check(turn: Turn, point: e.CheckpointOpened, ruling: str, troubles: dict[str, e.Trouble]) -> None:
    """A check asked: the phase once more (or its script, if that is what failed), or on as it is."""
    trouble = troubles.get("check") or troubles.get("escalated")
    if trouble is None:
        return
    frame = turn.frame
    if ruling != "again":
        if frame.checked != point.serial:
            turn.emit(e.CheckPassed(at=turn.now, serial=point.serial, phase=frame.phase, scope=frame.scope))
        return
    if frame.checked != point.serial:
        return  # the script runs again: see plan
    move = Goto(frame.phase, rerun=True)
    refused = move_refused(turn, move)
    if refused:
        raise Refused(f"{turn.frame.phase} cannot run again: {refused}.")
    make_move(turn, move)


# --- what agents and scripts brought -------------------------------------------------------------------------------------


def _attempt(turn: Turn, command: c.RecordAttempt) -> None:
    found = _open_task(turn, command)
    if found is None:
        _late(turn, command)
        return
    step, task = found
    agent = turn.book.workflow.agents[task.agent]
    verdict, why = _verdict(turn, command, step, task)
    then, claim = "done", ""
    if verdict == "cancelled":
        then, claim = "retry", "" if turn.state.paused else turn.claim
    elif verdict != "accepted":
        left = command.retryable and task.tries < agent.retries
        then, claim = ("retry", turn.claim) if left else ("missing", "")
    turn.emit(e.AttemptEnded(
        at=turn.now, task=command.task, attempt=command.attempt, verdict=verdict, then=then, output=command.output,  # type: ignore[arg-type]
        value=command.value, files=command.files, ignored=command.ignored, why=why, usage=command.usage,
        prompt=command.prompt, reply=command.reply, claim=claim, recorded=command.recorded,
    ))


def _open_task(turn: Turn, command: c.RecordAttempt) -> tuple[StepAt, TaskAt] | None:
    serial, index, agent = parse_task(command.task)
    round_ = turn.frame.round
    if turn.state.ended or round_ is None or round_.serial != serial or round_.open is None or round_.open.index != index:
        return None
    task = round_.open.tasks.get(agent)
    if task is None or task.status != "open" or task.attempt != command.attempt:
        return None
    return round_.open, task


def _late(turn: Turn, command: c.RecordAttempt) -> None:
    """Its task is not open any more: kept and counted, and the world stays as it is."""
    if f"{command.task}#{command.attempt}" in turn.state.record.ended:
        return
    turn.emit(e.LateOutputArchived(
        at=turn.now, task=command.task, attempt=command.attempt, output=command.output, usage=command.usage, why=command.why
    ))


def _verdict(turn: Turn, command: c.RecordAttempt, step: StepAt, task: TaskAt) -> tuple[str, str]:
    if command.cancelled:
        return "cancelled", command.why
    if command.failed or command.output is None:
        return "failed", command.why or "it gave no output"
    agent = turn.book.workflow.agents[task.agent]
    definition = turn.phase.steps[step.index]
    schema = definition.schema if definition.schema is not None else agent.schema
    if not agent.gates and schema is None and not definition.writes:
        return "accepted", ""
    try:
        wrong = gates.rejection(
            agent.gates, schema, definition.writes, text=turn.book.text(command.output.digest),
            value=turn.book.load(command.value) if command.value else None, has_value=command.value is not None,
            files=tuple(file.path for file in command.files), validate=turn.book.validate,
            evaluate=lambda source, extra: truth(source, scope.for_expression(turn.state, turn.book, source, extra)),
        )
    except ExpressionError as error:
        return "rejected", f"the gate itself failed: {error}"
    return ("rejected", wrong) if wrong else ("accepted", "")


def _check(turn: Turn, command: c.RecordCheck) -> None:
    frame = turn.frame
    round_ = frame.round
    waiting = frame.stage == "closed" and round_ is not None and round_.serial == command.serial
    if turn.state.ended or not waiting or frame.checked == command.serial or turn.state.world.trouble:
        return
    if command.error:
        turn.met("check", f"check script after round {command.serial}", f"the check of {frame.phase} failed: {command.error}")
        return
    moves: dict[str, Move | None] = {
        "retry": Goto(frame.phase, rerun=True), "spawn_additional": Again(command.agents), "escalate": None,
        "abort": End("gap check", "failed"),
    }
    if not command.action:
        turn.emit(e.CheckPassed(at=turn.now, serial=command.serial, phase=frame.phase, scope=frame.scope))
        return
    unknown = [agent for agent in command.agents if agent not in turn.book.workflow.agents]
    if unknown:
        turn.met("check", f"check script after round {command.serial}",
                 f"the check of {frame.phase} names unknown agents: {', '.join(unknown)}")
        return
    gap(turn, moves[command.action], command.say or f"the check of {frame.phase} found a gap")


def _claim(turn: Turn) -> None:
    """A driver takes over: unclaimed tasks become its own; those another one had begun are in doubt."""
    if turn.state.ended:
        return
    free: list[str] = []
    for name, task in open_tasks(turn):
        if task.claim == turn.claim:
            continue
        if not task.claim:
            free.append(name)
            continue
        effects = turn.book.workflow.agents[task.agent].effects
        turn.emit(e.AttemptEnded(
            at=turn.now, task=name, attempt=task.attempt, verdict="doubt", then="ask" if effects else "retry",
            why="the process that ran it ended before its outcome was recorded", claim=turn.claim,
        ))
    if free:
        turn.emit(e.TasksClaimed(at=turn.now, tasks=tuple(free), claim=turn.claim))
