"""What follows from where the run is, up to the point where somebody must act: an agent, a script, or a person.

One function per stage of the top frame; each emits what happens next, or reports that it waits. `advance` calls them
until one waits. Rules 7–14 of the workflow language live here; decisions of people live in `handle`.
"""

from __future__ import annotations

from collections.abc import Callable

from reconvene.core.definition.workflow import Phase
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import condition_at
from reconvene.core.facts.state import Frame
from reconvene.core.person import attention, checkpoint, rulings
from reconvene.core.run import checks
from reconvene.core.shown.scope import for_expression, most_rounds
from reconvene.core.working import rendering, tracking
from reconvene.core.working.moves import nobody_paid, rounds_left
from reconvene.core.working.steps import await_provider, close_step, start_step, suspended
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Bug
from reconvene.language.expressions import ExpressionError, evaluate

_MOST = 200_000  # far above any real transaction: a loop here is a bug
_IDLE = 5_000  # steps of one transaction; whoever takes more goes round and round with nobody at work


def advance(tx: Transaction) -> None:
    for _ in range(_MOST):
        tx.steps += 1
        state = tx.state
        if state.ended or state.paused or state.place or state.awaits or state.world.open is not None:
            return
        asked = _calls_wait(tx)
        if not asked and await_provider(tx):
            return
        if tx.state.world.trouble:
            if not asked and _busy(tx.frame):
                return
            attention.open_attention(tx)
            return
        if not _STAGES[tx.frame.stage](tx, tx.frame):
            if tx.state.world.trouble:
                continue
            return
    raise Bug(f"run {tx.state.run} does not come to rest")


def _calls_wait(tx: Transaction) -> bool:
    """Whether nobody of the step can go on before a person has decided on calls of tools."""
    round_ = tx.frame.round
    if round_ is None or round_.open is None:
        return False
    tasks = suspended(round_.open, tx.phase)
    if tasks and not any(trouble.kind == "calls" for trouble in tx.state.world.trouble):
        key = f"calls at round {round_.serial} step {round_.open.index + 1}"
        tx.met("calls", key, rulings.message(tx, tasks), agents=tuple(task.agent for task in tasks))
    return bool(tasks)


def _busy(frame: Frame) -> bool:
    return frame.round is not None and frame.round.open is not None and frame.round.open.open > 0


# --- phases ---


def _in_round(tx: Transaction, frame: Frame) -> bool:
    if frame.phase and not tx.phase.phases:
        return _steps(tx, frame)
    children = tx.book.children(frame.phase)
    if frame.child < len(children):
        return _enter(tx, frame, children[frame.child])
    if not frame.phase:
        _finish(tx)
        return False
    return _close_round(tx, frame)


def _finish(tx: Transaction) -> None:
    """The last phase is done; what the run came to is the workflow's to say."""
    known, found = _outcome(tx)
    if not known:
        return
    row = found if isinstance(found, dict) else {"outcome": found}
    outcome = row.get("outcome")
    status: e.EndStatus = "failed" if row.get("status") == "failed" else "completed"
    tx.emit(
        e.RunEnded(
            at=tx.now,
            status=status,
            outcome=outcome if isinstance(outcome, str) and outcome else status,
            why=str(row.get("why") or ""),
        )
    )


def _outcome(tx: Transaction) -> tuple[bool, object]:
    """Whether it can be said, and what `outcome` gives; where a person goes on without it, the run is completed."""
    source, where = tx.book.workflow.outcome, f"outcome after round {tx.state.record.rounds}"
    if not source:
        return True, None
    if tx.state.world.rulings.get(where) is not None:
        return True, {"why": f"Its outcome is not known: `{source}` failed."}
    try:
        return True, evaluate(source, for_expression(tx.state, tx.book, source))
    except ExpressionError as error:
        why = f"`{source}` (outcome) failed: {error}. Without it the run counts as completed."
        tx.met("expression", where, why)
        return False, None


def _enter(tx: Transaction, frame: Frame, phase: Phase) -> bool:
    world = tx.state.world
    base = f"{frame.address}/{phase.id}".lstrip("/")
    entry = world.entries.get(base, 0) + 1
    scope = f"{base}#{entry}"
    if world.target != phase.id:
        if phase.id in world.skips:
            tx.emit(e.PhaseSkipped(at=tx.now, phase=phase.id, scope=scope, why="skip_list"))
            return True
        if phase.when:
            serial = frame.round.serial if frame.round else 0
            wanted = tx.truth(phase.when, f"when of {scope} in round {serial}")
            if wanted is None:
                return False
            if not wanted:
                tx.emit(e.PhaseSkipped(at=tx.now, phase=phase.id, scope=scope, why="when"))
                return True
    tx.emit(e.PhaseEntered(at=tx.now, phase=phase.id, scope=scope, entry=entry))
    return True


def _entered(tx: Transaction, frame: Frame) -> bool:
    return _next_item(tx, frame) if tx.phase.each else _begin(tx, frame)


def _next_item(tx: Transaction, frame: Frame) -> bool:
    each = tx.phase.each
    if each is None:
        raise Bug(f"{frame.scope} has no items")
    if each.until and frame.done:
        enough = tx.truth(each.until, f"each.until of {frame.scope} after {len(frame.done)}", item=frame.last)
        if enough is None:
            return False
        if enough:
            return _close_phase(tx, frame, "until")
    items = tx.names(each.of, f"each.of of {frame.scope} after {len(frame.done)}")
    if items is None:
        return False
    for index, item in enumerate(items):
        key = item_key(item, each.key, index)
        if key not in frame.done:
            tx.emit(e.ItemStarted(at=tx.now, scope=frame.scope, key=key, index=index, item=tx.keep(item)))
            return True
    return _close_phase(tx, frame, "items")


def item_key(item: object, key: str, index: int) -> str:
    if isinstance(item, dict):
        found = item.get(key)
        return str(found) if found not in (None, "") else str(index + 1)
    return str(item) if isinstance(item, str | int | float) else str(index + 1)


def _leave(tx: Transaction, frame: Frame, ended_by: str) -> bool:
    """The phase, or this item of it, is done."""
    if frame.item is None:
        return _close_phase(tx, frame, ended_by)
    tx.emit(e.ItemDone(at=tx.now, scope=frame.scope, key=frame.item.key))
    return True


def _close_phase(tx: Transaction, frame: Frame, ended_by: str) -> bool:
    rendering.render_after(tx, frame.phase)
    tx.emit(e.PhaseClosed(at=tx.now, phase=frame.phase, scope=frame.scope, ended_by=ended_by))
    return True


# --- rounds ---


def _begin(tx: Transaction, frame: Frame) -> bool:
    rounds = tx.phase.rounds
    serial = tx.state.record.rounds + 1
    if frame.n >= most_rounds(tx.state, tx.phase):
        return _leave(tx, frame, "limit")
    if rounds_left(tx.state, tx.book) <= 0:
        key = f"limit rounds before round {serial} of {frame.address}"
        if tx.state.world.rulings.get(key):
            return _leave(tx, frame, "limit")
        size = tx.book.workflow.limits.rounds
        tx.met(
            "limit", key, f"limit rounds ({size} per run) is reached before {frame.phase}", paths=("rounds", str(size))
        )
        return False
    if nobody_paid(tx.state, tx.book, tx.phase):  # rule 8
        return _leave(tx, frame, "limit")
    key = f"rounds without work before round {serial} of {frame.address}"
    if tx.state.world.rulings.get(key):
        return _leave(tx, frame, "limit")
    if tx.steps > _IDLE:
        tx.met("idle", key, f"{frame.phase} begins round after round in which nobody works ({serial - 1} so far)")
        return False
    extra = frame.pending is not None
    plan = rounds.plan
    name = "extra" if extra else plan[min(frame.planned, len(plan) - 1)]
    agents = frame.pending.agents if frame.pending else ()
    tx.emit(
        e.RoundStarted(
            at=tx.now,
            serial=serial,
            phase=frame.phase,
            scope=frame.scope,
            n=frame.n + 1,
            name=name,
            extra=extra,
            agents=agents,
        )
    )
    return True


def _steps(tx: Transaction, frame: Frame) -> bool:
    round_ = tx.round
    if round_.open is not None:
        return round_.open.open == 0 and close_step(tx, frame, round_.open)
    if round_.step and not tracking.update(tx):
        return False
    if round_.step >= len(tx.phase.steps):
        return _close_round(tx, frame)
    return start_step(tx, frame, tx.phase.steps[round_.step], round_.step, round_.serial)


def _close_round(tx: Transaction, frame: Frame) -> bool:
    round_ = tx.round
    if not tracking.update(tx, closed=True):
        return False
    ended_by = _ended_by(tx, frame, f"until after round {round_.serial}")
    if ended_by is None:
        return False
    tx.emit(
        e.RoundClosed(
            at=tx.now,
            serial=round_.serial,
            n=round_.n,
            phase=frame.phase,
            scope=frame.scope,
            last=bool(ended_by),
            ended_by=ended_by,
        )
    )
    return True


def _ended_by(tx: Transaction, frame: Frame, where: str) -> str | None:
    """Why no further round follows by itself: until | plan | limit, "" = one follows, None = a person must say."""
    rounds = tx.phase.rounds
    if rounds.until:
        reached = tx.truth(rounds.until, where)
        if reached is None:
            return None
        if reached:
            return "until"
    planned = not rounds.open_ended and frame.planned >= len(rounds.plan)
    most = most_rounds(tx.state, tx.phase)
    if frame.n >= most and not (planned and len(rounds.plan) == most):
        return "limit"  # an extra round, or a loop, used up what there was
    return "plan" if planned else ""


# --- after the round ---


def _closed(tx: Transaction, frame: Frame) -> bool:
    round_ = tx.round
    check = tx.phase.check
    if check is not None and round_.last and frame.checked != round_.serial:
        if check.script:
            return False  # an effect: see plan
        return checks.apply_rules(tx, frame, round_.serial)
    point = tx.phase.checkpoint
    if tx.phase.track is not None:
        rendering.render(tx)  # what a round came to is on file before the next one begins, asked about or not
    if point is None:
        return _go_on(tx, frame, round_.ended_by)
    if point.condition and not tx.condition(point.condition, condition_at(round_.serial)):
        tx.emit(e.CheckpointSkipped(at=tx.now, serial=round_.serial, phase=frame.phase))
        return True
    rendering.render(tx)
    checkpoint.open_checkpoint(tx)
    return False


def _go_on(tx: Transaction, frame: Frame, ended_by: str) -> bool:
    return _leave(tx, frame, ended_by) if ended_by else _begin(tx, frame)


def _decided(tx: Transaction, frame: Frame) -> bool:
    """continue: `until` is asked again, since the decision may have set values."""
    round_ = frame.round
    ended_by = round_.ended_by if round_ else ""
    if not ended_by and tx.phase.rounds.until:
        now = _ended_by(tx, frame, f"until after the decision on round {round_.serial if round_ else 0}")
        if now is None:
            return False
        ended_by = now
    return _go_on(tx, frame, ended_by)


def _dropped(tx: Transaction, frame: Frame) -> bool:
    ended_by = _ended_by(tx, frame, f"until after dropping round {frame.n} of {frame.address}")
    return False if ended_by is None else _go_on(tx, frame, ended_by)


def _reopen(tx: Transaction, frame: Frame) -> bool:
    rendering.render(tx)  # the decision that led here may have changed what files tell
    checkpoint.open_checkpoint(tx, reopened=True)
    return False


_STAGES: dict[str, Callable[[Transaction, Frame], bool]] = {
    "round": _in_round,
    "enter": _entered,
    "item": _next_item,
    "begin": _begin,
    "closed": _closed,
    "decided": _decided,
    "dropped": _dropped,
    "reopen": _reopen,
}
