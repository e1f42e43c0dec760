"""What follows from where the run is, up to the point where somebody must act: an agent, a script, or a person.

One function per stage of the top frame; each emits what happens next, or reports that it waits. `advance` calls them
until one waits. Rules 7–14 of the workflow language live here; decisions of people live in `handle`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Literal

from reconvene.core import checkpoint, limits, reads, rendering
from reconvene.core import events as e
from reconvene.core.evolve import check_key, pass_key
from reconvene.core.ids import task_id
from reconvene.core.scope import value_key
from reconvene.core.state import Frame, StepAt, TaskAt
from reconvene.core.turn import Turn
from reconvene.core.workflow import Again, Continue, End, Goto, Move, Phase, Step
from reconvene.errors import Bug

_MOST = 200_000  # far above any real turn: a loop here is a bug


def advance(turn: Turn) -> None:
    for _ in range(_MOST):
        state = turn.state
        if state.ended or state.paused or state.world.open is not None:
            return
        if state.world.trouble:
            if _busy(turn.frame):
                return
            checkpoint.open_attention(turn)
            return
        if not _STAGES[turn.frame.stage](turn, turn.frame):
            if turn.state.world.trouble:
                continue
            return
    raise Bug(f"run {turn.state.run} does not come to rest")


def _busy(frame: Frame) -> bool:
    return frame.round is not None and frame.round.open is not None and frame.round.open.open > 0


# --- phases ----------------------------------------------------------------------------------------------------------


def _in_round(turn: Turn, frame: Frame) -> bool:
    if frame.phase and not turn.phase.phases:
        return _steps(turn, frame)
    children = turn.book.children(frame.phase)
    if frame.child < len(children):
        return _enter(turn, frame, children[frame.child])
    if not frame.phase:
        turn.emit(e.RunEnded(at=turn.now, status="completed", outcome="completed"))
        return False
    return _close_round(turn, frame)


def _enter(turn: Turn, frame: Frame, phase: Phase) -> bool:
    world = turn.state.world
    base = f"{frame.place}/{phase.id}".lstrip("/")
    entry = world.entries.get(base, 0) + 1
    scope = f"{base}#{entry}"
    if world.target != phase.id:
        if phase.id in world.skips:
            turn.emit(e.PhaseSkipped(at=turn.now, phase=phase.id, scope=scope, why="skip_list"))
            return True
        if phase.when:
            serial = frame.round.serial if frame.round else 0
            wanted = turn.truth(phase.when, f"when of {scope} in round {serial}")
            if wanted is None:
                return False
            if not wanted:
                turn.emit(e.PhaseSkipped(at=turn.now, phase=phase.id, scope=scope, why="when"))
                return True
    turn.emit(e.PhaseEntered(at=turn.now, phase=phase.id, scope=scope, entry=entry))
    return True


def _entered(turn: Turn, frame: Frame) -> bool:
    return _next_item(turn, frame) if turn.phase.each else _begin(turn, frame)


def _next_item(turn: Turn, frame: Frame) -> bool:
    each = turn.phase.each
    if each is None:
        raise Bug(f"{frame.scope} has no items")
    if each.until and frame.done:
        enough = turn.truth(each.until, f"each.until of {frame.scope} after {len(frame.done)}")
        if enough is None:
            return False
        if enough:
            turn.emit(e.PhaseClosed(at=turn.now, phase=frame.phase, scope=frame.scope, ended_by="until"))
            return True
    items = turn.names(each.of, f"each.of of {frame.scope} after {len(frame.done)}")
    if items is None:
        return False
    for index, item in enumerate(items):
        key = _item_key(item, each.key, index)
        if key not in frame.done:
            turn.emit(e.ItemStarted(at=turn.now, scope=frame.scope, key=key, index=index, item=turn.keep(item)))
            return True
    turn.emit(e.PhaseClosed(at=turn.now, phase=frame.phase, scope=frame.scope, ended_by="items"))
    return True


def _item_key(item: object, key: str, index: int) -> str:
    if isinstance(item, dict):
        found = item.get(key)
        return str(found) if found not in (None, "") else str(index + 1)
    return str(item) if isinstance(item, str | int | float) else str(index + 1)


def _leave(turn: Turn, frame: Frame, ended_by: str) -> bool:
    """The phase, or this item of it, is done."""
    if frame.item is not None:
        turn.emit(e.ItemDone(at=turn.now, scope=frame.scope, key=frame.item.key))
    else:
        turn.emit(e.PhaseClosed(at=turn.now, phase=frame.phase, scope=frame.scope, ended_by=ended_by))
    return True


# --- rounds ----------------------------------------------------------------------------------------------------------


def _begin(turn: Turn, frame: Frame) -> bool:
    rounds = turn.phase.rounds
    serial = turn.state.record.rounds + 1
    if frame.n >= rounds.max:
        return _leave(turn, frame, "limit")
    if limits.rounds_left(turn.state, turn.book) <= 0:
        key = f"limit rounds before round {serial} of {frame.place}"
        if turn.state.world.rulings.get(key):
            return _leave(turn, frame, "limit")
        size = turn.book.workflow.limits.rounds
        turn.met("limit", key, f"limit rounds ({size} per run) is reached before {frame.phase}", paths=("rounds", str(size)))
        return False
    if not _any_fundable(turn):
        return _leave(turn, frame, "limit")
    extra = frame.pending is not None
    plan = rounds.plan
    name = "extra" if extra else plan[min(frame.planned, len(plan) - 1)]
    agents = frame.pending.agents if frame.pending else ()
    turn.emit(e.RoundStarted(
        at=turn.now, serial=serial, phase=frame.phase, scope=frame.scope, n=frame.n + 1, name=name, extra=extra, agents=agents
    ))
    return True


def _any_fundable(turn: Turn) -> bool:
    """Rule 8: a round none of whose tasks can be funded by its group's budget is not begun. The run's own budget asks."""
    agents = tuple(dict.fromkeys(agent for step in turn.phase.steps for agent in step.agents))
    if not agents or not turn.book.workflow.limits.group_calls:
        return True
    funded = limits.fund(turn.state, turn.book, agents)
    return bool(funded.agents) or funded.limit == "calls"


def _steps(turn: Turn, frame: Frame) -> bool:
    round_ = frame.round
    if round_ is None:
        raise Bug(f"{frame.scope} walks steps without a round")
    if round_.open is not None:
        return round_.open.open == 0 and _close_step(turn, frame, round_.open)
    if round_.step >= len(turn.phase.steps):
        return _close_round(turn, frame)
    return _start_step(turn, frame, turn.phase.steps[round_.step], round_.step, round_.serial)


def _start_step(turn: Turn, frame: Frame, step: Step, index: int, serial: int) -> bool:
    where = f"round {serial} step {index + 1}"
    if step.when:
        wanted = turn.truth(step.when, f"when of {where}")
        if wanted is None:
            return False
        if not wanted:
            turn.emit(e.StepSkipped(at=turn.now, serial=serial, step=index))
            return True
    agents = _agents(turn, frame, step, index, where)
    if agents is None:
        return False
    if not agents:
        turn.emit(e.StepSkipped(at=turn.now, serial=serial, step=index))
        return True
    funded = limits.fund(turn.state, turn.book, agents)
    if not funded.agents:
        key = f"limit {funded.limit} at {where}"
        if turn.state.world.rulings.get(key):
            turn.emit(e.StepSkipped(at=turn.now, serial=serial, step=index))
            return True
        turn.met("limit", key, f"limit {funded.limit} ({funded.size} agent calls) is reached at {frame.phase}",
                 paths=(funded.limit, str(funded.size)))
        return False
    rendering.render(turn)
    turn.emit(e.StepStarted(
        at=turn.now, serial=serial, step=index, claim=turn.claim, remarks=len(turn.state.record.remarks),
        reads=reads.shared(turn.state, turn.book, step),
        tasks=tuple(e.TaskStart(agent, reads.own(turn.state, turn.book, step, agent)) for agent in funded.agents),
        unfunded=funded.unfunded, limit=funded.limit,
    ))
    return False


def _agents(turn: Turn, frame: Frame, step: Step, index: int, where: str) -> tuple[str, ...] | None:
    """Who works in this step. In an extra round for chosen agents, a step with some of them runs only those."""
    if step.agents_expr:
        named = turn.names(step.agents_expr, f"agents of {where}")
        if named is None:
            return None
        unknown = [str(name) for name in named if name not in turn.book.workflow.agents]
        if unknown:
            known = ", ".join(turn.book.workflow.agents)
            turn.met("expression", f"agents of {where}", f"`{step.agents_expr}` names unknown agents {', '.join(unknown)} "
                     f"(known: {known})")
            return None
        return tuple(dict.fromkeys(str(name) for name in named))
    chosen = frame.round.agents if frame.round else ()
    if not chosen:
        return step.agents
    everywhere = {agent for other in turn.phase.steps for agent in other.agents}
    additional = tuple(agent for agent in chosen if agent not in everywhere)
    here = tuple(agent for agent in step.agents if agent in chosen)
    if index == 0:
        return (*here, *additional) or step.agents
    return here or step.agents


def _close_round(turn: Turn, frame: Frame) -> bool:
    round_ = frame.round
    if round_ is None:
        raise Bug(f"{frame.scope} closes no round")
    ended_by = _ended_by(turn, frame, f"until after round {round_.serial}")
    if ended_by is None:
        return False
    turn.emit(e.RoundClosed(
        at=turn.now, serial=round_.serial, n=round_.n, phase=frame.phase, scope=frame.scope, last=bool(ended_by),
        ended_by=ended_by,
    ))
    return True


def _ended_by(turn: Turn, frame: Frame, where: str) -> str | None:
    """Why no further round follows by itself: until | plan | limit, "" = one follows, None = a person must say."""
    rounds = turn.phase.rounds
    if rounds.until:
        reached = turn.truth(rounds.until, where)
        if reached is None:
            return None
        if reached:
            return "until"
    if not rounds.open_ended and frame.planned >= len(rounds.plan):
        return "plan"
    return "limit" if frame.n >= rounds.max else ""


# --- steps -----------------------------------------------------------------------------------------------------------


def _close_step(turn: Turn, frame: Frame, step: StepAt) -> bool:
    where = f"round {frame.round.serial if frame.round else 0} step {step.index + 1}"
    tasks = [step.tasks[agent] for agent in step.order]
    if _step_trouble(turn, step, tasks, where):
        return False
    definition = turn.phase.steps[step.index]
    done = [task for task in tasks if task.status == "done"]
    missing = (*(task.agent for task in tasks if task.status != "done"), *step.missing)
    turn.emit(e.StepClosed(
        at=turn.now, serial=frame.round.serial if frame.round else 0, step=step.index, missing=missing,
        values=_values(turn, definition, done), files=_files(turn, step, definition, done),
    ))
    rendering.render_tasks(turn, done)
    return True


def _step_trouble(turn: Turn, step: StepAt, tasks: list[TaskAt], where: str) -> bool:
    """All that only a person can settle about this step, met at once."""
    before = len(turn.state.world.trouble)
    doubtful = tuple(task.agent for task in tasks if task.status == "ask")
    if doubtful:
        turn.met("doubt", f"doubt at {where}", f"{', '.join(doubtful)} may have acted already: the process ended before the "
                 "outcome was recorded, and this agent has effects", agents=doubtful)
    elif "missing" not in step.settled and not any(task.status == "done" for task in tasks):
        reasons = "; ".join(f"{task.agent}: {task.why}" for task in tasks if task.why)
        turn.met("missing", f"missing at {where}", f"no agent of this step gave an output. {reasons}",
                 agents=tuple(task.agent for task in tasks))
    if "conflict" not in step.settled:
        for path, agents in sorted(_conflicts(turn, step, tasks).items()):
            with_person = " and you" if path in turn.state.world.edited else ""
            turn.met("conflict", f"conflict on {path} at {where}",
                     f"{' and '.join(agents)}{with_person} changed {path} differently; the text from before stays unless you "
                     "choose", agents=agents, paths=(path,))
    return len(turn.state.world.trouble) > before


def _conflicts(turn: Turn, step: StepAt, tasks: list[TaskAt]) -> dict[str, tuple[str, ...]]:
    by_path: dict[str, dict[str, str]] = {}
    for task in tasks:
        for file in _task_files(turn, step, task):
            by_path.setdefault(file.path, {})[task.agent] = file.digest
    edited = turn.state.world.edited
    return {
        path: tuple(versions)
        for path, versions in by_path.items()
        if len(set(versions.values())) > 1 or (path in edited and edited[path] not in versions.values())
    }


def _task_files(turn: Turn, step: StepAt, task: TaskAt) -> tuple[e.FileOut, ...]:
    if task.status != "done":
        return ()
    definition = turn.phase.steps[step.index]
    if definition.output_file and task.output is not None:
        return (*task.files, e.FileOut(definition.output_file, task.output.digest, task.output.size))
    return task.files


def _files(turn: Turn, step: StepAt, definition: Step, done: list[TaskAt]) -> tuple[e.FileOut, ...]:
    disputed = _conflicts(turn, step, done)
    merged: dict[str, e.FileOut] = {}
    for task in done:
        for file in _task_files(turn, step, task):
            if file.path not in disputed or step.use.get(file.path) == task.agent:
                merged[file.path] = file
    known = turn.state.world.files
    return tuple(
        file for path, file in merged.items() if path not in known or known[path].digest != file.digest or known[path].person
    )


def _values(turn: Turn, definition: Step, done: list[TaskAt]) -> tuple[e.ValueWrite, ...]:
    if not definition.output:
        return ()
    owner = turn.book.workflow.names.get(definition.output, "")
    key = value_key(turn.state.world.cursor, owner, definition.output)
    scalar = len(definition.agents) == 1 and not definition.agents_expr
    return tuple(
        e.ValueWrite(key, task.value or task.output, task.agent, "" if scalar else task.agent)
        for task in done
        if task.output is not None
    )


# --- after the round -------------------------------------------------------------------------------------------------


def _closed(turn: Turn, frame: Frame) -> bool:
    round_ = frame.round
    if round_ is None:
        raise Bug(f"{frame.scope} is closed without a round")
    check = turn.phase.check
    if check is not None and round_.last and frame.checked != round_.serial:
        if check.script:
            return False  # an effect: see plan
        return _rules(turn, frame, round_.serial)
    point = turn.phase.checkpoint
    if point is None:
        return _go_on(turn, frame, round_.ended_by)
    where = f"condition after round {round_.serial}"
    if point.condition and not turn.condition(point.condition, where):
        turn.emit(e.CheckpointSkipped(at=turn.now, serial=round_.serial, phase=frame.phase))
        return True
    rendering.render(turn)
    checkpoint.open_checkpoint(turn)
    return False


def _go_on(turn: Turn, frame: Frame, ended_by: str) -> bool:
    return _leave(turn, frame, ended_by) if ended_by else _begin(turn, frame)


def _decided(turn: Turn, frame: Frame) -> bool:
    """continue: `until` is asked again, since the decision may have set values."""
    round_ = frame.round
    ended_by = round_.ended_by if round_ else ""
    if not ended_by and turn.phase.rounds.until:
        now = _ended_by(turn, frame, f"until after the decision on round {round_.serial if round_ else 0}")
        if now is None:
            return False
        ended_by = now
    return _go_on(turn, frame, ended_by)


def _dropped(turn: Turn, frame: Frame) -> bool:
    ended_by = _ended_by(turn, frame, f"until after dropping round {frame.n} of {frame.place}")
    return False if ended_by is None else _go_on(turn, frame, ended_by)


def _reopen(turn: Turn, frame: Frame) -> bool:
    checkpoint.open_checkpoint(turn, reopened=True)
    return False


# --- checks ----------------------------------------------------------------------------------------------------------


def _rules(turn: Turn, frame: Frame, serial: int) -> bool:
    check = turn.phase.check
    if check is None:
        raise Bug(f"{frame.scope} has no check")
    for number, rule in enumerate(check.rules):
        found = turn.truth(rule.when, f"check rule {number + 1} after round {serial}")
        if found is None:
            return False
        if found:
            return gap(turn, rule.then, rule.say or f"check rule {number + 1}: {rule.when}")
    turn.emit(e.CheckPassed(at=turn.now, serial=serial, phase=frame.phase, scope=frame.scope))
    return True


def gap(turn: Turn, move: Move | None, say: str) -> bool:
    """A check found something: do what it says, within its max."""
    frame = turn.frame
    check = turn.phase.check
    if check is None or frame.round is None:
        raise Bug(f"{frame.scope} has no check to answer for")
    count = turn.state.world.checks.get(check_key(turn.state.world, frame.phase), 0) + 1
    action, agents = _action(move)
    serial = frame.round.serial
    turn.emit(e.GapFound(
        at=turn.now, serial=serial, phase=frame.phase, scope=frame.scope, action=action, say=say, agents=agents, count=count
    ))
    key = f"check after round {serial}"
    if isinstance(move, End):
        turn.emit(e.RunEnded(at=turn.now, status=move.status, outcome=move.outcome, why=say))
        return False
    if move is None:
        turn.met("escalated", key, say)
        return False
    if count > check.max and not isinstance(move, Continue):
        turn.met("check", key, f"limit check.max ({check.max}) of {frame.phase} is reached and the gap is still there: {say}")
        return False
    refusal = move_refused(turn, move)
    if refusal:
        turn.met("check", key, f"{say} ({action} is not possible: {refusal})")
        return False
    make_move(turn, move)
    return True


_Action = Literal["retry", "spawn_additional", "escalate", "abort", "move"]


def _action(move: Move | None) -> tuple[_Action, tuple[str, ...]]:
    match move:
        case None:
            return "escalate", ()
        case Again(agents=agents):
            return "spawn_additional", agents
        case End():
            return "abort", ()
        case Goto(rerun=True):
            return "retry", ()
        case Goto() | Continue():
            return "move", ()


# --- moves (shared with decisions) ------------------------------------------------------------------------------------


def move_refused(turn: Turn, move: Move) -> str:
    """Why this move cannot be made now; "" = it can. Every limit is named."""
    state, frame = turn.state, turn.frame
    match move:
        case Again():
            phase = turn.phase
            if limits.again_fits(phase, frame):
                return ""
            return f"limit rounds.max ({phase.rounds.max}) of {phase.id} is reached"
        case Goto(target=target, rerun=True):
            node = turn.book.nodes[target]
            depth = _depth(turn, node.parent)
            if depth == 0:
                return f"{target} is not on the way here"
            entered = state.world.passes.get(pass_key(state.world.cursor[depth - 1], target), 0)
            most = turn.book.workflow.limits.entries
            return f"limit entries ({most} per phase) of {target} is reached" if entered >= most else ""
        case Goto(target=target):
            return "" if find_visit(turn, target) >= 0 else "there is nothing to go back to"
    return ""


def _depth(turn: Turn, parent: str) -> int:
    """How many frames remain when the cursor is cut back to `parent`; 0 = it is not on the cursor."""
    for depth, frame in enumerate(turn.state.world.cursor, start=1):
        if frame.phase == parent:
            return depth
    return 0


def find_visit(turn: Turn, target: str) -> int:
    """The visit a plain goto reopens, -1 = none: earlier, and within the same pass of every enclosing phase."""
    world = turn.state.world
    here = world.top.place
    for number in range(world.visit, -1, -1):
        visit = world.visits[number]
        if visit.place == here:
            continue
        if (target == "previous" or visit.phase == target) and _same_pass(visit.cursor[:-1], world.cursor):
            return number
    return -1


def _same_pass(parents: tuple[Frame, ...], cursor: tuple[Frame, ...]) -> bool:
    if len(parents) > len(cursor):
        return False
    return all(
        a.place == b.place and (a.round.serial if a.round else 0) == (b.round.serial if b.round else 0)
        for a, b in zip(parents, cursor)
    )


def make_move(turn: Turn, move: Move) -> None:
    """Every move but `continue` and `end`, which need nothing more than their own events."""
    match move:
        case Again(agents=agents):
            turn.emit(e.AgainOrdered(at=turn.now, agents=agents))
        case Goto(target=target, rerun=True):
            node = turn.book.nodes[target]
            if target in turn.state.world.skips:
                turn.emit(e.SkipsChanged(at=turn.now, removed=(target,)))
            turn.emit(e.Reran(at=turn.now, target=target, depth=_depth(turn, node.parent), child=node.position))
        case Goto(target=target):
            turn.emit(e.WentBack(at=turn.now, visit=find_visit(turn, target)))
        case Continue() | End():
            pass


def open_tasks(turn: Turn) -> list[tuple[str, TaskAt]]:
    round_ = turn.frame.round
    if round_ is None or round_.open is None:
        return []
    step = round_.open
    return [
        (task_id(round_.serial, step.index, agent), step.tasks[agent])
        for agent in step.order
        if step.tasks[agent].status == "open"
    ]


_STAGES: dict[str, Callable[[Turn, Frame], bool]] = {
    "round": _in_round,
    "enter": _entered,
    "item": _next_item,
    "begin": _begin,
    "closed": _closed,
    "decided": _decided,
    "dropped": _dropped,
    "reopen": _reopen,
}
