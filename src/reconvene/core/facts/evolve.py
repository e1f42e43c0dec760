"""(state, event) → state. Evaluates nothing and decides nothing: all of that is settled inside the event."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal, cast

from immutables import Map
from msgspec.structs import replace

from reconvene.core.definition.bindings import combined
from reconvene.core.definition.workflow import Again, Continue
from reconvene.core.facts import events as e
from reconvene.core.facts import loops, talk
from reconvene.core.facts.ids import condition_at, digest_of, late_key, parse_task, remark_number
from reconvene.core.facts.round import LoopAt, OutputAt, RoundAt, StepAt, TaskAt, Unasked, Unshown
from reconvene.core.facts.rows import (
    BoundAt,
    ChildAt,
    ClaimAt,
    CompanionAt,
    Failed,
    FoundAt,
    GapCheck,
    Note,
    PassedOver,
    PendingAt,
    ProjectAt,
    Spent,
    Undone,
)
from reconvene.core.facts.state import (
    EMPTY,
    TRANSITIONS,
    FileVersion,
    Frame,
    ItemAt,
    Record,
    RunState,
    Stage,
    Value,
    Visit,
    World,
)
from reconvene.errors import Bug
from reconvene.language.times import later, seconds_until

_OF_LIMITS = ("limit ", "rounds without work ")  # how the keys of rulings on limits begin
_OF_CHECKS = ("check", "escalated")
_UNDECIDED = "nobody decided on the calls that it wanted to make"
_KEPT = 20  # how many recent failures the state keeps for people; the log has them all


def fold(events: Iterable[e.AnyEvent], state: RunState = EMPTY) -> RunState:
    for event in events:
        state = evolve(state, event)
    return state


def evolve(state: RunState, event: e.AnyEvent) -> RunState:
    changed = _HANDLERS[type(event)](state, event)
    return replace(changed, seq=state.seq + 1, updated=event.at)


def remark_key(checkpoint: str, kind: str, target: str, text: str, by: str, on: str = "") -> str:
    """`on`: the diff of an edit, or the lines that a comment is about."""
    return digest_of("\x00".join((checkpoint, kind, target, text + on, by)).encode())


def remark_is_on(remark: e.RemarkAdded) -> str:
    return remark.anchor.key if remark.anchor is not None else remark.diff


# --- small tools ---


def _stage(frame: Frame, event: e.AnyEvent) -> Stage:
    try:
        return cast(Stage, TRANSITIONS[frame.stage, type(event).__name__])
    except KeyError:
        raise Bug(
            f"{type(event).__name__} cannot happen in stage {frame.stage!r} of {frame.scope or 'the run'}"
        ) from None


def _with_top(world: World, frame: Frame) -> World:
    return replace(world, cursor=(*world.cursor[:-1], frame))


def _move_top(state: RunState, event: e.AnyEvent, **changes: object) -> RunState:
    frame = state.world.top
    moved = replace(frame, stage=_stage(frame, event), **changes)
    return replace(state, world=_with_top(state.world, moved))


def _round(frame: Frame) -> RoundAt:
    if frame.round is None:
        raise Bug(f"no round is open in {frame.scope}")
    return frame.round


def _set_round(state: RunState, round_: RoundAt) -> RunState:
    return replace(state, world=_with_top(state.world, replace(state.world.top, round=round_)))


def _set_record(state: RunState, **changes: object) -> RunState:
    return replace(state, record=replace(state.record, **changes))


def _set_world(state: RunState, **changes: object) -> RunState:
    return replace(state, world=replace(state.world, **changes))


def _bump(counter: Map[str, int], key: str, by: int = 1) -> Map[str, int]:
    return counter.set(key, counter.get(key, 0) + by)


def _drop_marks(marks: Map[int, World], cursor: tuple[Frame, ...]) -> Map[int, World]:
    """Only rounds on the cursor can be undone."""
    keep = {frame.round.serial for frame in cursor if frame.round}
    for serial in [serial for serial in marks if serial not in keep]:
        marks = marks.delete(serial)
    return marks


def _dirtied(world: World) -> World:
    """Something changed at the visit the person is at; what lies behind it is no longer as they left it."""
    if world.visit < 0 or world.visit >= len(world.visits) - 1:
        return world
    return replace(world, dirty=world.visit if world.dirty < 0 else min(world.dirty, world.visit))


def _forget_visits_from(world: World, first: int) -> World:
    if first >= len(world.visits) and world.visit < first and world.dirty < first:
        return world
    visits = world.visits
    for number in range(first, len(world.visits)):
        visits = visits.delete(number)
    dirty = world.dirty if world.dirty < first else -1
    return replace(world, visits=visits, visit=min(world.visit, first - 1), dirty=dirty)


def _put_values(world: World, writes: tuple[e.ValueWrite, ...]) -> World:
    if not writes:
        return world
    values = world.values
    for write in writes:
        if write.agent:
            old = values.get(write.key)
            parts: Map[str, e.Ref] = old.parts if old is not None and old.parts is not None else Map()
            values = values.set(write.key, Value(by=write.by, parts=parts.set(write.agent, write.ref)))
        else:
            values = values.set(write.key, Value(by=write.by, ref=write.ref))
    return replace(world, values=values)


def _put_files(
    world: World, files: tuple[e.FileOut, ...], by: str, at: str, *, person: bool = False, rendered: bool = False
) -> World:
    if not files:
        return world
    known, revisions, gone = world.files, world.revisions, world.gone
    phase = world.top.phase if world.cursor else ""
    for file in files:
        if file.digest:
            version = FileVersion(file.digest, file.size, by, phase, at, person=person, rendered=rendered)
            known = known.set(file.path, version)
            gone = gone.delete(file.path) if file.path in gone else gone
            if file.path in revisions:
                revisions = revisions.set(file.path, (*revisions[file.path], file.digest))
        elif file.path in known:
            known = known.delete(file.path)
    return replace(world, files=known, revisions=revisions, gone=gone)


# --- the run ---


def _run_started(state: RunState, ev: e.RunStarted) -> RunState:
    root = Frame(phase="", scope="", entry=1, stage="round")
    return replace(
        state,
        run=ev.run,
        name=ev.name,
        workflow=ev.workflow,
        inputs=ev.inputs,
        settings=ev.settings,
        workspace=ev.workspace,
        by=ev.by,
        parent=ev.parent,
        piece=ev.piece,
        title=ev.title,
        place=ev.place,
        started=ev.at,
        world=World(cursor=(root,)),
    )


def _forked(state: RunState, ev: e.Forked) -> RunState:
    """What was under way in the source was never begun here. Its children stay its own; a fork of a child is none."""
    state = replace(_taken_up(_anew(state, ev.at)), run=ev.run, workspace=ev.workspace or state.workspace, paused=False)
    if state.record.project is not None:
        state = _set_record(state, project=replace(state.record.project, branch=""))
    state = replace(_set_record(state, children=Map()), parent="", piece="", title="")
    step = state.world.top.round.open if state.world.top.round else None
    if step is None:
        return state
    tasks = step.tasks
    for agent, task in step.tasks.items():
        if task.status == "open":
            tasks = tasks.set(agent, replace(task, attempt=task.attempt + 1, claim=""))
    return _set_round(state, replace(_round(state.world.top), open=replace(step, tasks=tasks)))


def _imported(state: RunState, ev: e.Imported) -> RunState:
    return replace(_anew(state, ev.at), workspace=ev.workspace, imported=state.seq)


def _key_introduced(state: RunState, ev: e.KeyIntroduced) -> RunState:
    return _set_record(state, keys=state.record.keys.set(ev.key, ev))


def _limits_set(state: RunState, ev: e.LimitsSet) -> RunState:
    """What was added to the limit before is part of the new one."""
    grants, funds = state.record.grants, state.record.funds
    if ev.cost != state.record.ceiling:
        grants = grants.delete("cost") if "cost" in grants else grants
        funds = funds.delete("cost") if "cost" in funds else funds
    return _set_record(state, ceiling=ev.cost, ask_first=ev.ask, grants=grants, funds=funds)


def _agents_bound(state: RunState, ev: e.AgentsBound) -> RunState:
    before = state.record.bindings
    held = combined({name: at.binding for name, at in before.items()}, ev.bindings)
    fresh = {each.agent for each in ev.bindings}
    bound = {
        name: before[name] if name not in fresh and before[name].binding == one else BoundAt(one, ev.by, ev.at, ev.user)
        for name, one in held.items()
    }
    return _set_record(state, bindings=Map(bound))


def _run_ended(state: RunState, ev: e.RunEnded) -> RunState:
    world = replace(state.world, open=None, trouble=())
    return replace(
        state,
        ended=ev.status,
        outcome=ev.outcome,
        why=ev.why,
        paused=False,
        awaits=None,
        place="",
        world=world,
        marks=Map(),
    )


def _run_reopened(state: RunState, ev: e.RunReopened) -> RunState:
    """What a limit had ended is asked anew; what a person added to it is on record."""
    record, funds, grants = state.record, state.record.funds, state.record.grants
    for limit, more in ev.grants.items():
        if limit.startswith("cost"):
            funds = funds.set(limit, funds.get(limit, 0.0) + more)
        else:
            grants = _bump(grants, limit, int(more))
    record = replace(record, grants=grants, funds=funds, reopened=(*record.reopened, ev))
    rulings = {key: ruling for key, ruling in state.world.rulings.items() if not key.startswith(_OF_LIMITS)}
    world = replace(state.world, rulings=Map(rulings))
    state = _let_go(replace(state, ended="", outcome="", why="", record=record, world=world))
    return talk.reopened(_visit(state, ev), ev) if ev.visit >= 0 else state


def _workflow_upgraded(state: RunState, ev: e.WorkflowUpgraded) -> RunState:
    """A checkpoint that is open opens anew. What stopped the run is met again, if it still does; what a check said
    stands."""
    world, record, point = _moved(state.world, ev), state.record, state.world.open
    held = {name: at for name, at in record.bindings.items() if name not in ev.unbound}
    state = replace(
        state,
        workflow=ev.workflow,
        name=ev.name,
        inputs=ev.inputs,
        settings=ev.settings,
        world=replace(world, open=None, trouble=tuple(one for one in world.trouble if one.kind in _OF_CHECKS)),
        marks=Map({serial: _moved(mark, ev) for serial, mark in state.marks.items()}),
        record=replace(record, upgrades=(*record.upgrades, ev), bindings=Map(held)),
    )
    return _let_go(_move_top(state, ev) if point is not None and not point.attention else state)


def _moved(world: World, ev: e.WorkflowUpgraded) -> World:
    """With its frames at the same phases, wherever these stand now."""

    def cursor(frames: tuple[Frame, ...]) -> tuple[Frame, ...]:
        return tuple(
            replace(frame, child=ev.moved[frame.phase][frame.child]) if frame.phase in ev.moved else frame
            for frame in frames
        )

    visits = {number: replace(visit, cursor=cursor(visit.cursor)) for number, visit in world.visits.items()}
    return replace(world, cursor=cursor(world.cursor), visits=Map(visits)) if ev.moved else world


def _let_go(state: RunState) -> RunState:
    """Tasks that a limit of cost held back begin, unless it still does."""
    round_ = state.world.top.round
    step = round_.open if round_ is not None else None
    held = [task for task in step.tasks.values() if task.status == "held"] if step is not None else []
    if round_ is None or step is None or not held:
        return state
    tasks = step.tasks.update({task.agent: replace(task, status="open", claim="") for task in held})
    return _set_round(state, replace(round_, open=replace(step, tasks=tasks, open=step.open + len(held))))


def _paused(state: RunState, ev: e.Paused) -> RunState:
    return replace(state, paused=True, pause_now=ev.now, left=ev.left)


def _resumed(state: RunState, ev: e.Resumed) -> RunState:
    return replace(_taken_up(state), paused=False, pause_now=False, left=False)


def _taken_up(state: RunState) -> RunState:
    """Whoever waits for a provider is tried again."""
    state = replace(state, awaits=None)
    round_ = state.world.top.round if state.world.cursor else None
    step = round_.open if round_ is not None else None
    if round_ is None or step is None:
        return state
    for task in step.tasks.values():
        if task.parked is not None:
            step = replace(step, tasks=step.tasks.set(task.agent, replace(task, parked=None)))
    return _set_round(state, replace(round_, open=step)) if step is not round_.open else state


# --- children and the queue ---


def _children_queued(state: RunState, ev: e.ChildrenQueued) -> RunState:
    children = state.record.children
    for child in ev.children:
        children = children.set(child.key, ChildAt(child, len(children) + 1, ev.serial, ev.remarks))
    return _set_record(state, children=children)


def _child_started(state: RunState, ev: e.ChildStarted) -> RunState:
    children = state.record.children
    return _set_record(state, children=children.set(ev.key, replace(children[ev.key], run=ev.run)))


def _queue_moved(state: RunState, ev: e.QueueMoved) -> RunState:
    return replace(state, place=ev.place)


def _queue_left(state: RunState, ev: e.QueueLeft) -> RunState:
    return replace(state, place="")


# --- phases and items ---


def _phase_entered(state: RunState, ev: e.PhaseEntered) -> RunState:
    world = state.world
    parent = world.top
    _stage(parent, ev)
    frame = Frame(phase=ev.phase, scope=ev.scope, entry=ev.entry, stage="enter")
    counts = _bump(world.counts, ev.phase)
    entries = _bump(world.entries, ev.scope.rpartition("#")[0])
    passes = _bump(world.passes, pass_key(parent, ev.phase))
    return _set_world(
        state,
        cursor=(*world.cursor, frame),
        counts=counts,
        entries=entries,
        passes=passes,
        target="",
        skipped=world.skipped.delete(ev.phase) if ev.phase in world.skipped else world.skipped,
    )


def pass_key(parent: Frame, phase: str) -> str:
    """A phase within one pass of its parent: repeats are limited per pass, not over a parent's many rounds."""
    serial = parent.round.serial if parent.round else 0
    return f"{parent.address}|{serial}|{phase}"


def _phase_skipped(state: RunState, ev: e.PhaseSkipped) -> RunState:
    state = _move_top(state, ev, child=state.world.top.child + 1)
    return _set_world(state, skipped=state.world.skipped.set(ev.phase, ev.why))


def _phase_closed(state: RunState, ev: e.PhaseClosed) -> RunState:
    world = state.world
    _stage(world.top, ev)
    parent = world.cursor[-2]
    cursor = (*world.cursor[:-2], replace(parent, child=parent.child + 1))
    world = replace(world, cursor=cursor, closed=world.closed.set(ev.phase, ev.ended_by))
    return replace(state, world=world, marks=_drop_marks(state.marks, cursor))


def _item_started(state: RunState, ev: e.ItemStarted) -> RunState:
    item = ItemAt(ev.key, ev.index, ev.item, state.world.head)
    return _move_top(state, ev, item=item, n=0, planned=0, round=None, outputs=(), pending=None)


def _item_done(state: RunState, ev: e.ItemDone) -> RunState:
    frame = state.world.top
    done = (*frame.done, ev.key)
    state = _move_top(
        state, ev, done=done, item=None, last=frame.item, n=0, planned=0, round=None, pending=None, outputs=()
    )
    return replace(state, marks=_drop_marks(state.marks, state.world.cursor))


# --- rounds and steps ---


def _round_started(state: RunState, ev: e.RoundStarted) -> RunState:
    before = state.world
    frame = before.top
    new = RoundAt(ev.serial, ev.n, ev.name, ev.extra, ev.agents)
    moved = replace(
        frame, stage=_stage(frame, ev), round=new, n=ev.n, planned=frame.planned + (not ev.extra), child=0, pending=None
    )
    world = replace(before, cursor=(*before.cursor[:-1], moved), rounds=_bump(before.rounds, ev.phase))
    world = _forget_visits_from(world, before.visit + 1)
    marks = _drop_marks(state.marks, world.cursor).set(ev.serial, before)
    return replace(state, world=world, marks=marks, record=replace(state.record, rounds=ev.serial))


def _step_skipped(state: RunState, ev: e.StepSkipped) -> RunState:
    frame = state.world.top
    return _move_top(state, ev, round=replace(_round(frame), step=ev.step + 1))


def _step_started(state: RunState, ev: e.StepStarted) -> RunState:
    frame = state.world.top
    seen_before = state.record.seen
    tasks = Map(
        {
            start.agent: TaskAt(start.agent, claim=ev.claim, own=start.own, seen_before=seen_before.get(start.agent, 0))
            for start in ev.tasks
        }
    )
    step = StepAt(
        index=ev.step,
        order=tuple(start.agent for start in ev.tasks),
        tasks=tasks,
        open=len(tasks),
        reads=ev.reads,
        remarks=ev.remarks,
        missing=ev.unfunded,
        talk=ev.talk,
        untold=ev.untold,
    )
    moved = replace(frame, stage=_stage(frame, ev), round=replace(_round(frame), step=ev.step, open=step))
    world = replace(state.world, cursor=(*state.world.cursor[:-1], moved), edited=Map())
    calls, seen = state.record.calls, state.record.seen
    for start in ev.tasks:
        calls = _bump(calls, start.agent)
        seen = seen.set(start.agent, ev.remarks)
    record = replace(state.record, tasks=state.record.tasks + len(tasks), calls=calls, seen=seen)
    return replace(state, world=world, record=record)


def _open_task(state: RunState, task: str) -> tuple[RoundAt, StepAt, TaskAt] | None:
    serial, step, agent = parse_task(task)
    round_ = state.world.top.round
    if round_ is None or round_.serial != serial or round_.open is None or round_.open.index != step:
        return None
    found = round_.open.tasks.get(agent)
    return (round_, round_.open, found) if found is not None else None


def _set_task(state: RunState, round_: RoundAt, step: StepAt, task: TaskAt, closed: int = 0) -> RunState:
    step = replace(step, tasks=step.tasks.set(task.agent, task), open=step.open - closed)
    return _set_round(state, replace(round_, open=step))


def _tasks_claimed(state: RunState, ev: e.TasksClaimed) -> RunState:
    for name in ev.tasks:
        found = _open_task(state, name)
        if found is not None:
            round_, step, task = found
            state = _set_task(state, round_, step, replace(task, claim=ev.claim, parked=None))
    return state


def _task_held(state: RunState, ev: e.TaskHeld) -> RunState:
    found = _open_task(state, ev.task)
    if found is None:
        raise Bug(f"{ev.task} is held but is not open")
    round_, step, task = found
    return _set_task(state, round_, step, replace(task, status="held", claim=""), closed=1)


def _in_loop(state: RunState, name: str) -> tuple[RoundAt, StepAt, TaskAt, LoopAt]:
    found = _open_task(state, name)
    if found is None or found[2].loop is None:
        raise Bug(f"{name} uses no tools")
    return (*found, found[2].loop)


def _model_turned(state: RunState, ev: e.ModelTurned) -> RunState:
    found = _open_task(state, ev.task)
    if found is None:
        raise Bug(f"{ev.task} took a turn but is not open")
    round_, step, task = found
    state = replace(state, record=_charged(state.record, ev))
    return _set_task(state, round_, step, replace(task, loop=loops.turned(task.loop, ev), since="", parked=None))


def _call_started(state: RunState, ev: e.CallStarted) -> RunState:
    round_, step, task, loop = _in_loop(state, ev.task)
    return _set_task(state, round_, step, replace(task, loop=loops.started(loop, ev)))


def _call_ended(state: RunState, ev: e.CallEnded) -> RunState:
    round_, step, task, loop = _in_loop(state, ev.task)
    return _set_task(state, round_, step, replace(task, loop=loops.ended(loop, ev)))


def _calls_deferred(state: RunState, ev: e.CallsDeferred) -> RunState:
    round_, step, task, loop = _in_loop(state, ev.task)
    task = replace(task, loop=loops.deferred(loop, ev), status="suspended", claim="")
    return _set_task(state, round_, step, task, closed=1)


def _call_ruled(state: RunState, ev: e.CallRuled) -> RunState:
    round_, step, task, loop = _in_loop(state, ev.task)
    opened = task.status == "suspended"
    task = replace(task, loop=loops.ruled(loop, ev), status="open", claim=ev.claim)
    return _set_task(state, round_, step, task, closed=-opened)


def _tool_allowed(state: RunState, ev: e.ToolAllowed) -> RunState:
    record = state.record
    return _set_record(state, allowed=record.allowed.set(ev.id, ev), allowances=record.allowances + 1)


def _tool_disallowed(state: RunState, ev: e.ToolDisallowed) -> RunState:
    return _set_record(state, allowed=state.record.allowed.delete(ev.id))


def _messages_compacted(state: RunState, ev: e.MessagesCompacted) -> RunState:
    round_, step, task, loop = _in_loop(state, ev.task)
    return _set_task(state, round_, step, replace(task, loop=loops.compacted(loop, ev)))


def _attempt_ended(state: RunState, ev: e.AttemptEnded) -> RunState:
    record = _spent(state.record, _rest_of(state, ev), f"{ev.task}#{ev.attempt}")
    if ev.why:
        record = replace(record, failures=(*record.failures, f"{ev.task}: {ev.why}")[-_KEPT:])
    state = replace(state, record=record)
    found = _open_task(state, ev.task)
    if found is None:
        raise Bug(f"{ev.task} ended but is not open")
    round_, step, task = found
    if ev.verdict in ("rejected", "failed") or (ev.then == "done" and task.tries):
        state = _set_record(state, notes=_noted(state, ev, round_))
    if ev.then == "retry":
        counted = ev.verdict in ("rejected", "failed")
        task = replace(
            task,
            attempt=ev.attempt + 1,
            tries=task.tries + counted,
            claim=ev.claim,
            why=ev.why or task.why,
            reason=ev.why if ev.verdict == "rejected" else task.reason,
            told=_told(ev, task),
            rejected=ev.output or task.rejected if _shown_again(ev, task) else task.rejected,
            rejected_diff=ev.diff if ev.verdict == "rejected" else task.rejected_diff,
            example=ev.example or task.example,
            unjudged=None,
            since="",
            parked=None,
            answer="" if counted else task.answer,
            loop=loops.tried_anew(task.loop),
        )
        return _set_task(state, round_, step, task)
    if ev.then == "done" and ev.commit:
        state = _set_world(state, head=ev.commit, diffs=Map({diff.since: diff.ref for diff in ev.diffs}))
    if ev.then == "done" and ev.unasked:
        state = _set_record(state, unasked=_unasked(state, ev, round_))
    if ev.then == "done" and ev.left_out:
        row = Unshown(task.agent, state.world.top.phase, round_.n, ev.at, ev.left_out, state.record.checkpoints)
        state = _set_record(state, unshown=(*state.record.unshown, row)[-_KEPT:])
    if ev.then == "done":
        gave = {"output": ev.output, "value": ev.value, "files": ev.files, "ignored": ev.ignored}
        task = replace(task, status="done", **gave, why="", unjudged=None)
    else:
        status: Literal["ask", "missing"] = "ask" if ev.then == "ask" else "missing"
        unjudged = ev if ev.then == "ask" and ev.output is not None else None
        rejected = ev.output if ev.output and not unjudged else task.rejected
        task = replace(
            task,
            status=status,
            why=ev.why,
            told=_told(ev, task),
            rejected=rejected,
            unjudged=unjudged,
            running=ev.running,
        )
        if unjudged is not None and ev.verdict != "doubt":  # who tries again is told why
            why = ev.why if ev.verdict == "rejected" else task.reason
            task = replace(task, reason=why, rejected=ev.output, rejected_diff=ev.diff, example=ev.example)
    return _set_task(state, round_, step, task, closed=1)


def _told(ev: e.AttemptEnded, task: TaskAt) -> str:
    """What the next attempt is told beside a gate's reason: of the failure since, if there was one."""
    match ev.verdict:
        case "rejected" | "accepted":
            return ""
        case "cancelled":
            return task.told
        case _:
            return ev.told or ev.why


def _shown_again(ev: e.AttemptEnded, task: TaskAt) -> bool:
    """What a gate sent back stays in front of the agent until a gate sends something else back."""
    return ev.verdict == "rejected" or (ev.verdict == "failed" and not task.reason)


def _unasked(state: RunState, ev: e.AttemptEnded, round_: RoundAt) -> tuple[Unasked, ...]:
    agent, phase, record = parse_task(ev.task)[2], state.world.top.phase, state.record
    fresh = (Unasked(agent, phase, round_.n, ev.at, why, record.checkpoints) for why in ev.unasked)
    return (*record.unasked, *fresh)[-_KEPT:]


def _provider_failed(state: RunState, ev: e.ProviderFailed) -> RunState:
    """No end of the attempt: nothing is counted, and the task stays open. Who has waited enough gives it back."""
    state = _set_record(state, failures=(*state.record.failures, f"{ev.task}: {ev.why}")[-_KEPT:])
    found = _open_task(state, ev.task)
    if found is None:
        raise Bug(f"{ev.task} was failed by its provider but is not open")
    round_, step, task = found
    task = replace(task, since=task.since or ev.at, answer=ev.answer or task.answer)
    if ev.not_before:
        task = replace(task, claim="", parked=ev)
    return _set_task(state, round_, step, task)


def _provider_awaited(state: RunState, ev: e.ProviderAwaited) -> RunState:
    return replace(_move_top(state, ev), awaits=ev)


def _project_opened(state: RunState, ev: e.ProjectOpened) -> RunState:
    return _set_record(state, project=ProjectAt(ev.path, ev.branch, ev.base, ev.uncommitted))


def _noted(state: RunState, ev: e.AttemptEnded, round_: RoundAt) -> Map[int, Note]:
    frame, notes = state.world.top, state.record.notes
    note = Note(
        at=ev.at,
        task=ev.task,
        phase=frame.phase,
        scope=frame.address,
        n=round_.n,
        attempt=ev.attempt,
        verdict=ev.verdict,
        then=ev.then,
        why=ev.why,
        code=ev.code,
        output=ev.output if ev.verdict == "rejected" else None,
        value=ev.value if ev.verdict == "rejected" else None,
        files=ev.files if ev.verdict == "rejected" else (),
        failures=ev.failures,
    )
    return notes.set(len(notes) + 1, note)


def _output_forced(state: RunState, ev: e.OutputForced) -> RunState:
    found = _open_task(state, ev.task)
    if found is None:
        raise Bug(f"{ev.task} is given an output but is not open")
    round_, step, task = found
    return _set_task(
        state, round_, step, replace(task, status="done", output=ev.output, value=ev.value, files=ev.files, why="")
    )


def _rest_of(state: RunState, ev: e.AttemptEnded) -> e.AttemptEnded:
    """With what is not on record yet of what it used: the turns of a loop are charged as they come."""
    found = _open_task(state, ev.task)
    loop = found[2].loop if found is not None else None
    return ev if loop is None else replace(ev, usage=loops.minus(ev.usage, loop.usage))


def _charged(record: Record, ev: e.ModelTurned) -> Record:
    usage, agent = ev.usage, parse_task(ev.task)[2]
    now = Spent(1, usage.cost) if usage.cost else Spent(1, 0.0, 1, usage.input_tokens + usage.output_tokens)
    return replace(
        record,
        input_tokens=record.input_tokens + usage.input_tokens,
        output_tokens=record.output_tokens + usage.output_tokens,
        cost=record.cost + usage.cost,
        spent=record.spent.set(agent, record.spent[agent].plus(now) if agent in record.spent else now),
    )


def _spent(record: Record, ev: e.AttemptEnded | e.LateOutputArchived, key: str) -> Record:
    """What an attempt cost, and that it ended; `key` names it."""
    return replace(
        record,
        input_tokens=record.input_tokens + ev.usage.input_tokens,
        output_tokens=record.output_tokens + ev.usage.output_tokens,
        cost=record.cost + ev.usage.cost,
        spent=_spent_by(record.spent, ev),
        ended=record.ended.set(key, ev.output.digest if ev.output else ""),
    )


def used(ev: e.AttemptEnded | e.LateOutputArchived) -> Spent:
    """What this attempt used. One that neither used anything nor gave an output is no call, nor is a recording."""
    usage = ev.usage
    tokens = usage.input_tokens + usage.output_tokens
    recorded = isinstance(ev, e.AttemptEnded) and ev.recorded
    if recorded or not (usage.cost or tokens or (usage.requests and ev.output is not None)):
        return Spent()
    return Spent(1, usage.cost) if usage.cost else Spent(1, 0.0, 1, tokens)


def _spent_by(spent: Map[str, Spent], ev: e.AttemptEnded | e.LateOutputArchived) -> Map[str, Spent]:
    now, agent = used(ev), parse_task(ev.task)[2]
    if not now.calls:
        return spent
    return spent.set(agent, spent[agent].plus(now) if agent in spent else now)


def _late_output(state: RunState, ev: e.LateOutputArchived) -> RunState:
    key = f"{ev.task}#{ev.attempt}"
    if key in state.record.ended:  # it had ended without an outcome; that end stays on record
        key = late_key(key)
    return replace(state, record=_spent(state.record, ev, key))


def _step_closed(state: RunState, ev: e.StepClosed) -> RunState:
    frame = state.world.top
    round_ = _round(frame)
    step = round_.open
    if step is None:
        raise Bug(f"step {ev.step} closed but none is open")
    done = [step.tasks[agent] for agent in step.order if step.tasks[agent].status == "done"]
    fresh = tuple(
        OutputAt(task.agent, task.output, task.value, ev.step, task.files, task.ignored)
        for task in done
        if task.output is not None
    )
    outputs = state.world.outputs
    for output in fresh:
        outputs = outputs.set(f"{frame.phase}/{output.agent}", output)
        state = talk.output(state, output, ev.at)
    closed = replace(
        round_,
        step=ev.step + 1,
        open=None,
        outputs=(*round_.outputs, *fresh),
        missing=(*round_.missing, *ev.missing),
    )
    moved = replace(frame, stage=_stage(frame, ev), round=closed)
    world = replace(state.world, cursor=(*state.world.cursor[:-1], moved), outputs=outputs)
    world = _put_values(world, ev.values)
    return replace(state, world=_put_files(world, ev.files, ", ".join(task.agent for task in done), ev.at))


def _latest(before: tuple[OutputAt, ...], fresh: tuple[OutputAt, ...]) -> tuple[OutputAt, ...]:
    """Everybody's last output in this phase: a round of a few does not take the others' away."""
    return tuple({output.agent: output for output in (*before, *fresh)}.values())


def _round_closed(state: RunState, ev: e.RoundClosed) -> RunState:
    round_ = _round(state.world.top)
    return _move_top(
        state,
        ev,
        round=replace(round_, last=ev.last, ended_by=ev.ended_by),
        outputs=_latest(state.world.top.outputs, round_.outputs),
    )


def _round_undone(state: RunState, ev: e.RoundUndone) -> RunState:
    mark = state.marks.get(ev.serial)
    if mark is None:
        raise Bug(f"round {ev.serial} has no mark to go back to")
    if ev.dropped:
        frame = mark.top
        extra = frame.pending is not None
        stage = _stage(frame, ev)
        mark = _with_top(mark, replace(frame, stage=stage, n=ev.n, planned=frame.planned + (not extra), pending=None))
    marks = _drop_marks(state.marks, mark.cursor)
    return replace(state, world=mark, marks=marks, record=_with_rollback(state, ev), awaits=None)


def _with_rollback(state: RunState, ev: e.RoundUndone) -> Record:
    record = talk.undone(state, ev).record
    round_ = state.world.top.round
    undone = Undone(
        at=ev.at,
        serial=ev.serial,
        phase=ev.phase,
        scope=ev.scope,
        n=ev.n,
        dropped=ev.dropped,
        by=ev.by,
        why=ev.why,
        checkpoint=ev.checkpoint,
        folder=ev.folder,
        outputs=round_.outputs if round_ else (),
    )
    archives = record.archives
    for file in ev.archived:
        version = FileVersion(file.digest, file.size, "reconvene", ev.phase, ev.at)
        archives = archives.set(file.path, version)
    return replace(
        record,
        undos=record.undos + 1,
        undone=_bump(record.undone, f"{ev.scope}/{ev.n}"),
        rollbacks=record.rollbacks.set(len(record.rollbacks) + 1, undone),
        archives=archives,
    )


def _archives_pruned(state: RunState, ev: e.ArchivesPruned) -> RunState:
    archives = state.record.archives
    for path in ev.paths:
        if path in archives:
            archives = archives.delete(path)
    return _set_record(state, archives=archives)


# --- trouble and checks ---


def _trouble_met(state: RunState, ev: e.TroubleMet) -> RunState:
    return _set_world(state, trouble=(*state.world.trouble, ev.trouble))


def _trouble_settled(state: RunState, ev: e.TroubleSettled) -> RunState:
    world = state.world
    left = tuple(trouble for trouble in world.trouble if trouble.key != ev.key)
    state = _set_world(state, trouble=left)
    if ev.ruling == "wait":  # nothing is settled: the same is asked again afterwards
        return _nobody_runs(state)
    if ev.ruling == "calls":  # each call that was ruled on has an event of its own
        return _told_in_loops(state, ev)
    if ev.kind == "expression" and ev.ruling == "again":  # it is asked anew
        return state
    if ev.ruling == "raise":
        grants = _bump(state.record.grants, ev.paths[0], int(ev.paths[1]))
        state = _set_record(state, grants=grants)
    round_ = world.top.round
    step = round_.open if round_ else None
    if ev.kind == "limit" and ev.agents and round_ is not None and step is not None:
        return _set_round(state, replace(round_, open=_without_hold(step, ev)))
    if ev.ruling == "raise":
        return state
    if (
        (ev.kind in ("missing", "doubt", "rejected", "conflict", "calls") or (ev.kind == "kit" and ev.agents))
        and round_ is not None
        and step is not None
    ):
        return _set_round(_seen(state, ev), replace(round_, open=_settled_step(step, ev)))
    return _set_world(state, rulings=state.world.rulings.set(ev.key, ev.ruling))


def _seen(state: RunState, ev: e.TroubleSettled) -> RunState:
    if not ev.remarks:
        return state
    return _set_record(state, seen=state.record.seen.update(dict.fromkeys(ev.agents, ev.remarks)))


def _told_in_loops(state: RunState, ev: e.TroubleSettled) -> RunState:
    """Whoever goes on with its calls is told what was said with the ruling."""
    round_ = state.world.top.round
    step = round_.open if round_ is not None else None
    if round_ is None or step is None or ev.remarks <= step.remarks:
        return state
    tasks = step.tasks
    for name in ev.agents:
        task = tasks[name]
        if task.loop is not None:
            tasks = tasks.set(name, replace(task, loop=replace(task.loop, untold=True)))
    return _set_round(_seen(state, ev), replace(round_, open=replace(step, tasks=tasks, remarks=ev.remarks)))


def _nobody_runs(state: RunState) -> RunState:
    round_ = state.world.top.round
    if round_ is None or round_.open is None:
        return state
    tasks = round_.open.tasks
    ended = {name: replace(task, running="") for name, task in tasks.items() if task.running}
    return _set_round(state, replace(round_, open=replace(round_.open, tasks=tasks.update(ended))))


def _without_hold(step: StepAt, ev: e.TroubleSettled) -> StepAt:
    """Tasks that a limit held back begin after all, or are gone without."""
    held = [step.tasks[agent] for agent in ev.agents if step.tasks[agent].status == "held"]
    if ev.ruling == "raise":
        tasks = step.tasks.update({task.agent: replace(task, status="open", claim=ev.claim) for task in held})
        return replace(step, tasks=tasks, open=step.open + len(held))
    why = f"limit {ev.paths[0]} was reached"
    tasks = step.tasks.update({task.agent: replace(task, status="missing", why=why) for task in held})
    return replace(step, tasks=tasks, settled=(*step.settled, "missing"))


def _settled_step(step: StepAt, ev: e.TroubleSettled) -> StepAt:
    tasks, opened = step.tasks, 0
    for agent in ev.agents:
        task = tasks[agent]
        if task.unjudged is not None and (ev.kind == "kit" or ev.ruling == "take"):  # its attempt is judged at once
            opened += 1
            tasks = tasks.set(agent, replace(task, status="open"))
        elif ev.ruling == "again":
            opened += task.status != "open"
            tasks = tasks.set(
                agent,
                replace(
                    task,
                    status="open",
                    attempt=task.attempt + 1,
                    tries=0,
                    claim=ev.claim,
                    output=None,
                    files=(),
                    running="",
                    unjudged=None,
                    answer="",
                    loop=loops.tried_anew(task.loop, untold=ev.remarks > step.remarks),
                ),
            )
        elif task.status in ("ask", "suspended"):
            tasks = tasks.set(agent, replace(task, status="missing", why=task.why or _UNDECIDED, unjudged=None))
    use = step.use
    if ev.ruling == "use":
        for path in ev.paths:
            use = use.set(path, ev.use)
    # who goes on without an agent that may have acted is not asked once more because its output is missing
    kinds = (ev.kind, "missing") if ev.kind in ("doubt", "rejected", "calls") else (ev.kind,)
    settled = step.settled if ev.ruling == "again" else (*step.settled, *kinds)
    remarks = max(step.remarks, ev.remarks)
    return replace(step, tasks=tasks, open=step.open + opened, settled=settled, use=use, remarks=remarks)


def _expression_failed(state: RunState, ev: e.ExpressionFailed) -> RunState:
    return _with_error(state, Failed(ev.where, ev.message))


def _with_error(state: RunState, error: Failed) -> RunState:
    return _set_record(state, errors=(*state.record.errors, error)[-_KEPT:])


def _check_passed(state: RunState, ev: e.CheckPassed) -> RunState:
    return _move_top(state, ev, checked=ev.serial)


def _gap_found(state: RunState, ev: e.GapFound) -> RunState:
    state = _move_top(state, ev, checked=ev.serial)
    state = _set_world(state, checks=state.world.checks.set(check_key(state.world, ev.phase), ev.count))
    check = GapCheck(ev.phase, ev.action, ev.say, ev.count, ev.at, ev.agents)
    return _set_record(state, gap_checks=(*state.record.gap_checks, check))


def check_key(world: World, phase: str) -> str:
    """Gaps are counted per pass of the parent, so that a rerun of the phase goes on counting."""
    return pass_key(world.cursor[-2], phase) + (f"[{world.top.item.key}]" if world.top.item else "")


def _replanned(state: RunState, ev: e.Replanned) -> RunState:
    """Nobody waits for anything any more. Where the run goes on, `Reran` says."""
    world = replace(state.world, open=None, trouble=(), found=Map())
    return replace(state, world=world, paused=False, pause_now=False, awaits=None)


def _again_ordered(state: RunState, ev: e.AgainOrdered) -> RunState:
    return _move_top(state, ev, pending=Again(ev.agents))


# --- checkpoints and what people say ---


def _checkpoint_opened(state: RunState, ev: e.CheckpointOpened) -> RunState:
    state = _set_record(state, checkpoints=ev.number)
    if ev.weighs:
        weighed = state.record.weighed.update(dict.fromkeys(ev.weighs, ev.id))
        state = _set_record(state, weighed=weighed, unweighed=())
    said = ev.who or ev.deadline or ev.reminder
    pending = PendingAt(ev.id, ev.who, deadline=ev.deadline, reminder=ev.reminder) if said else PendingAt()
    state = _set_world(state, pending=pending)
    if ev.attention:
        return _set_world(state, open=ev)
    state = talk.asked(state, ev)
    state = _move_top(state, ev)
    world = replace(state.world, open=ev)
    if ev.reopened:
        return replace(state, world=world)
    world = _forget_visits_from(world, world.visit + 1)
    address = world.top.address
    last = world.visits.get(world.visit)
    number = world.visit if last is not None and last.place == address else world.visit + 1
    visit = Visit(address, ev.phase, world.cursor)
    return replace(state, world=replace(world, visits=world.visits.set(number, visit), visit=number))


def _checkpoint_assigned(state: RunState, ev: e.CheckpointAssigned) -> RunState:
    return _set_pending(state, ev, who=ev.who, assigned=True, approvals=())


def _checkpoint_reminded(state: RunState, ev: e.CheckpointReminded) -> RunState:
    return _set_pending(state, ev, reminded=True)


def _checkpoint_escalated(state: RunState, ev: e.CheckpointEscalated) -> RunState:
    return _set_pending(state, ev, passed=True, escalated=ev.who)


def _checkpoint_overdue(state: RunState, ev: e.CheckpointOverdue) -> RunState:
    return _set_pending(state, ev, passed=True)


def _approval_recorded(state: RunState, ev: e.ApprovalRecorded) -> RunState:
    before = state.world.pending
    others = tuple(
        replace(one, version=ev.version) if ev.was and one.version == ev.was else one
        for one in before.approvals
        if one.user != ev.user
    )
    return _set_pending(state, ev, approvals=(*others, ev), notes=(*before.notes, *ev.notes))


_OfPending = (
    e.CheckpointAssigned | e.CheckpointReminded | e.CheckpointEscalated | e.CheckpointOverdue | e.ApprovalRecorded
)


def _set_pending(state: RunState, ev: _OfPending, **changes: object) -> RunState:
    if state.world.open is None or state.world.open.id != ev.checkpoint:
        raise Bug(f"checkpoint {ev.checkpoint} is not open")
    return _set_world(state, pending=replace(state.world.pending, checkpoint=ev.checkpoint, **changes))


def _begun_anew(pending: PendingAt, opened: str, at: str) -> PendingAt:
    """The same checkpoint in another run: its time begins when that run does."""
    if not pending.deadline or pending.passed:
        return pending
    moved = {
        name: later(at, seconds_until(opened, when))
        for name, when in (("deadline", pending.deadline), ("reminder", pending.reminder))
        if when
    }
    return replace(pending, reminded=False, **moved)


def _anew(state: RunState, at: str) -> RunState:
    point = state.world.open
    return _set_world(state, pending=_begun_anew(state.world.pending, point.at, at)) if point is not None else state


def _options_revised(state: RunState, ev: e.OptionsRevised) -> RunState:
    point = state.world.open
    if point is None or point.id != ev.checkpoint:
        raise Bug(f"checkpoint {ev.checkpoint} is not open")
    return _set_world(state, open=replace(point, options=ev.options))


def _checkpoint_skipped(state: RunState, ev: e.CheckpointSkipped) -> RunState:
    """Its condition was false, or it failed just now: then people are told."""
    round_, record = state.world.top.round, state.record
    if record.errors and record.errors[-1].where == condition_at(ev.serial):
        passed = PassedOver(ev.phase, round_.n if round_ else 0, ev.at, record.errors[-1].message, record.checkpoints)
        state = _set_record(state, passed_over=(*record.passed_over, passed)[-_KEPT:])
    return _move_top(state, ev)


def _remark_added(state: RunState, ev: e.RemarkAdded) -> RunState:
    record = state.record
    key = remark_key(ev.checkpoint, ev.kind, ev.target, ev.text, ev.by, remark_is_on(ev))
    record = replace(record, remarks=record.remarks.set(ev.number, ev), said=record.said.set(key, ev.number))
    if ev.replaces:
        number = remark_number(ev.replaces)
        record = _gone(replace(record, replaced=record.replaced.set(number, ev.id)), number, ev.user or ev.by)
    if ev.working:
        record = replace(record, unweighed=(*record.unweighed, ev.id))
    world = _dirtied(state.world)
    if ev.anchor is not None and ev.anchor.path in world.files and ev.anchor.path not in world.revisions:
        now = world.files[ev.anchor.path].digest
        world = replace(world, revisions=world.revisions.set(ev.anchor.path, (now,)))
    return talk.remark(replace(state, record=record, world=world), ev)


def _remark_read(state: RunState, ev: e.RemarkRead) -> RunState:
    record = state.record
    fresh = {"kind": ev.kind, "target": ev.target, "was": ev.was, "now": ev.now, "level": ev.level, "reason": ev.reason}
    remark = replace(record.remarks[ev.number], **fresh, opinion="", because="")
    key = remark_key(remark.checkpoint, ev.kind, ev.target, remark.text, remark.by, remark_is_on(remark))
    return _set_record(
        replace(state, world=_dirtied(state.world)),
        remarks=record.remarks.set(ev.number, remark),
        readings=record.readings.set(ev.number, ev),
        said=record.said.set(key, ev.number),
    )


def _remark_withdrawn(state: RunState, ev: e.RemarkWithdrawn) -> RunState:
    return replace(state, record=_gone(state.record, ev.number, ev.user or ev.by))


def _gone(record: Record, number: int, by: str) -> Record:
    """A remark that does not hold any more. Who was shown it will be told."""
    saw = tuple(sorted(agent for agent, count in record.seen.items() if count >= number))
    retracted = record.retracted.set(number, saw) if saw else record.retracted
    return replace(record, withdrawn=record.withdrawn.set(number, by), retracted=retracted)


def _remark_settled(state: RunState, ev: e.RemarkSettled) -> RunState:
    return _set_record(state, settled=state.record.settled.set(ev.number, ev.user or ev.by))


def _claim_judged(state: RunState, ev: e.ClaimJudged) -> RunState:
    """In the world: what an undone round proved is proved no more."""
    if not ev.version:
        return state  # of nothing that there is
    claims, agent = state.world.claims, parse_task(ev.task)[2]
    first = ev.evidence[0] if ev.evidence else None
    shown = (first.was, first.now) if first is not None else ("", "")
    claim = ClaimAt(ev.verdict, ev.before, ev.task, bool(ev.against), *shown, ev.why, ev.reason)
    mine = claims.get(agent, Map()).set(f"{ev.claim} {ev.id}", claim)
    return replace(state, world=replace(state.world, claims=claims.set(agent, mine)))


def _companion_said(state: RunState, ev: e.CompanionSaid) -> RunState:
    before, used = state.record.companion, ev.usage
    now = CompanionAt(
        ev.number,
        before.input_tokens + used.input_tokens,
        before.output_tokens + used.output_tokens,
        before.cost + used.cost,
    )
    return _set_record(state, companion=now)


def _files_edited(state: RunState, ev: e.FilesEdited) -> RunState:
    world = _put_files(state.world, ev.files, ev.by, ev.at, person=True)
    edited, revisions = world.edited, world.revisions
    for file in ev.files:
        edited = edited.set(file.path, file.digest)
    names = {old: new for new, old in ev.renamed.items()}
    gone = world.gone.update({file.path: names.get(file.path, "") for file in ev.files if not file.digest})
    for new, old in ev.renamed.items():
        if old in revisions:  # comments go along
            revisions = revisions.set(new, (*revisions[old], world.files[new].digest))
    world = replace(world, edited=edited, gone=gone, revisions=revisions, found=_without(world.found, ev.files))
    return replace(state, world=_dirtied(world))


def _files_found(state: RunState, ev: e.FilesFound) -> RunState:
    """The files stay as they were; what agents make of them is compared with what was found."""
    world = state.world
    edited = world.edited.update({file.path: file.digest for file in ev.files})
    found = world.found.update({file.path: FoundAt(file.digest, ev.agents) for file in ev.files})
    return replace(state, world=replace(world, edited=edited, found=found))


def _without(found: Map[str, FoundAt], files: tuple[e.FileOut, ...]) -> Map[str, FoundAt]:
    for file in files:
        found = found.delete(file.path) if file.path in found else found
    return found


def _draft_saved(state: RunState, ev: e.DraftSaved) -> RunState:
    return talk.answers(state, ev)


def _decision_recorded(state: RunState, ev: e.DecisionRecorded) -> RunState:
    record, point = state.record, state.world.open
    if ev.late and (point is None or point.late_option != ev.option or ev.at < state.world.pending.deadline):
        raise Bug(f"no deadline has taken {ev.option!r} at checkpoint {ev.checkpoint}")
    number = len(record.decisions) + 1
    record = replace(
        record, decisions=record.decisions.set(number, ev), decided=record.decided.set(ev.checkpoint, number)
    )
    state = replace(state, record=record, world=replace(state.world, open=None))
    if not ev.late:  # nobody has claimed what was found
        state = _set_world(state, found=Map())
    if ev.attention:
        return state
    state = talk.decision(state, ev)
    round_ = state.world.top.round
    if isinstance(ev.move, Continue) and ev.move.leave and round_ is not None:
        return _move_top(state, ev, round=replace(round_, last=True, ended_by="left"))
    return _move_top(state, ev)


def _values_set(state: RunState, ev: e.ValuesSet) -> RunState:
    return replace(state, world=_dirtied(_put_values(state.world, ev.values)))


def _skips_changed(state: RunState, ev: e.SkipsChanged) -> RunState:
    skips = tuple(phase for phase in state.world.skips if phase not in ev.removed)
    skips = (*skips, *(phase for phase in ev.added if phase not in skips))
    return replace(state, world=_dirtied(replace(state.world, skips=skips)))


# --- moves ---


def _went_back(state: RunState, ev: e.WentBack) -> RunState:
    here = state.world.spot
    return talk.came_back(_visit(talk.left(state), ev), here, ev.at)


def _visit(state: RunState, ev: e.WentBack | e.WentOn | e.RunReopened) -> RunState:
    cursor = state.world.visits[ev.visit].cursor
    cursor = (*cursor[:-1], replace(cursor[-1], stage=_stage(cursor[-1], ev)))
    world = replace(state.world, cursor=cursor, visit=ev.visit, open=None)
    return replace(state, world=world, marks=_drop_marks(state.marks, cursor))


def _went_on(state: RunState, ev: e.WentOn) -> RunState:
    _stage(state.world.top, ev)
    if ev.visit >= 0:
        return _visit(state, ev)
    return replace(state, world=_forget_visits_from(state.world, state.world.visit + 1))


def _reran(state: RunState, ev: e.Reran) -> RunState:
    world = state.world
    parent = replace(world.cursor[ev.depth - 1], child=ev.child)
    cursor = (*world.cursor[: ev.depth - 1], parent)
    world = replace(world, cursor=cursor, target=ev.target, open=None)
    stale = [number for number, visit in world.visits.items() if _lies_behind(visit, ev, parent)]
    if stale:
        world = _forget_visits_from(world, min(stale))
    return replace(state, world=world, marks=_drop_marks(state.marks, cursor))


def _lies_behind(visit: Visit, ev: e.Reran, parent: Frame) -> bool:
    """Is this visit inside the part of the parent's pass that will be walked anew?"""
    if len(visit.cursor) <= ev.depth:
        return False
    frame = visit.cursor[ev.depth - 1]
    serial = frame.round.serial if frame.round else 0
    parent_serial = parent.round.serial if parent.round else 0
    return (frame.address, serial) == (parent.address, parent_serial) and frame.child >= ev.child


# --- rendered files ---


def _files_rendered(state: RunState, ev: e.FilesRendered) -> RunState:
    return replace(state, world=_put_files(state.world, ev.files, "reconvene", ev.at, rendered=True))


def _render_failed(state: RunState, ev: e.RenderFailed) -> RunState:
    return _with_error(state, Failed(ev.path, ev.message))


_Handler = Callable[[RunState, e.AnyEvent], RunState]
_HANDLERS: dict[type, _Handler] = cast(
    dict[type, _Handler],
    {
        e.RunStarted: _run_started,
        e.Forked: _forked,
        e.Imported: _imported,
        e.KeyIntroduced: _key_introduced,
        e.RunEnded: _run_ended,
        e.RunReopened: _run_reopened,
        e.WorkflowUpgraded: _workflow_upgraded,
        e.ChildrenQueued: _children_queued,
        e.ChildStarted: _child_started,
        e.QueueMoved: _queue_moved,
        e.QueueLeft: _queue_left,
        e.Paused: _paused,
        e.Resumed: _resumed,
        e.AgentsBound: _agents_bound,
        e.LimitsSet: _limits_set,
        e.PhaseEntered: _phase_entered,
        e.PhaseSkipped: _phase_skipped,
        e.PhaseClosed: _phase_closed,
        e.ItemStarted: _item_started,
        e.ItemDone: _item_done,
        e.RoundStarted: _round_started,
        e.StepSkipped: _step_skipped,
        e.StepStarted: _step_started,
        e.TasksClaimed: _tasks_claimed,
        e.TaskHeld: _task_held,
        e.AttemptEnded: _attempt_ended,
        e.ModelTurned: _model_turned,
        e.CallStarted: _call_started,
        e.CallEnded: _call_ended,
        e.CallsDeferred: _calls_deferred,
        e.CallRuled: _call_ruled,
        e.ToolAllowed: _tool_allowed,
        e.ToolDisallowed: _tool_disallowed,
        e.MessagesCompacted: _messages_compacted,
        e.ProviderFailed: _provider_failed,
        e.ProviderAwaited: _provider_awaited,
        e.ProjectOpened: _project_opened,
        e.LateOutputArchived: _late_output,
        e.OutputForced: _output_forced,
        e.StepClosed: _step_closed,
        e.RoundClosed: _round_closed,
        e.RoundUndone: _round_undone,
        e.ArchivesPruned: _archives_pruned,
        e.TroubleMet: _trouble_met,
        e.TroubleSettled: _trouble_settled,
        e.ExpressionFailed: _expression_failed,
        e.CheckPassed: _check_passed,
        e.GapFound: _gap_found,
        e.AgainOrdered: _again_ordered,
        e.CheckpointOpened: _checkpoint_opened,
        e.CheckpointSkipped: _checkpoint_skipped,
        e.CheckpointAssigned: _checkpoint_assigned,
        e.CheckpointReminded: _checkpoint_reminded,
        e.CheckpointEscalated: _checkpoint_escalated,
        e.CheckpointOverdue: _checkpoint_overdue,
        e.ApprovalRecorded: _approval_recorded,
        e.OptionsRevised: _options_revised,
        e.RemarkAdded: _remark_added,
        e.RemarkRead: _remark_read,
        e.RemarkWithdrawn: _remark_withdrawn,
        e.RemarkSettled: _remark_settled,
        e.ClaimJudged: _claim_judged,
        e.CompanionSaid: _companion_said,
        e.FilesEdited: _files_edited,
        e.FilesFound: _files_found,
        e.DraftSaved: _draft_saved,
        e.DecisionRecorded: _decision_recorded,
        e.ValuesSet: _values_set,
        e.SkipsChanged: _skips_changed,
        e.WentBack: _went_back,
        e.WentOn: _went_on,
        e.Reran: _reran,
        e.Replanned: _replanned,
        e.FilesRendered: _files_rendered,
        e.RenderFailed: _render_failed,
    },
)
