"""The gap check after a phase: its rules, and what a found gap makes the run do, within its max. Rule 11."""

from __future__ import annotations

from typing import Literal

from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import check_key
from reconvene.core.facts.state import Frame
from reconvene.core.working import acting
from reconvene.core.working.moves import make_move, move_refused
from reconvene.core.working.transaction import Transaction
from reconvene.errors import Bug

_ACTING = "acting again after round"


def apply_rules(tx: Transaction, frame: Frame, serial: int) -> bool:
    check = tx.phase.check
    if check is None:
        raise Bug(f"{frame.scope} has no check")
    for number, rule in enumerate(check.rules):
        found = tx.truth(rule.when, f"check rule {number + 1} after round {serial}")
        if found is None:
            return False
        if found:
            say = tx.filled(rule.say, f"say of {frame.phase}")
            return gap(tx, rule.then, say or f"check rule {number + 1}: {rule.when}")
    tx.emit(e.CheckPassed(at=tx.now, serial=serial, phase=frame.phase, scope=frame.scope))
    return True


def gap(tx: Transaction, move: Move | None, say: str) -> bool:
    """A check found something: do what it says, within its max."""
    frame = tx.frame
    check = tx.phase.check
    if check is None or frame.round is None:
        raise Bug(f"{frame.scope} has no check to answer for")
    count = tx.state.world.checks.get(check_key(tx.state.world, frame.phase), 0) + 1
    action, agents = _action(move)
    serial = frame.round.serial
    twice = acting.again(tx.state, tx.book, move) if count <= check.max else ()
    if twice and (ruling := tx.state.world.rulings.get(f"{_ACTING} {serial}")) != "again":
        return _acting(tx, serial, say, twice, asked=ruling is not None)
    tx.emit(
        e.GapFound(
            at=tx.now,
            serial=serial,
            phase=frame.phase,
            scope=frame.scope,
            action=action,
            say=say,
            agents=agents,
            count=count,
        )
    )
    key = f"check after round {serial}"
    if isinstance(move, End):
        tx.emit(e.RunEnded(at=tx.now, status=move.status, outcome=move.outcome, why=say))
        return False
    if move is None:
        tx.met("escalated", key, f"the check of {frame.phase} says: {say}")
        return False
    if count > check.max and not isinstance(move, Continue):
        tx.met(
            "check", key, f"limit check.max ({check.max}) of {frame.phase} is reached and the gap is still there: {say}"
        )
        return False
    refusal = move_refused(tx, move)
    if refusal:
        tx.met("check", key, f"{say} ({action} is not possible: {refusal})")
        return False
    make_move(tx, move)
    return True


def _acting(tx: Transaction, serial: int, say: str, agents: tuple[str, ...], *, asked: bool) -> bool:
    """What acts on the world is not begun again by a check: a person says so, or the run goes on as it is."""
    phase, scope = tx.frame.phase, tx.frame.scope
    if asked:
        tx.emit(e.CheckPassed(at=tx.now, serial=serial, phase=phase, scope=scope))
    else:
        told = f"{say.rstrip('.')}. The check would have {phase} done again, and {acting.named(agents)}"
        tx.met("acting", f"{_ACTING} {serial}", told, agents=agents)
    return asked


def record(tx: Transaction, command: c.RecordCheck) -> None:
    """What the script of a check said."""
    frame = tx.frame
    round_ = frame.round
    waiting = frame.stage == "closed" and round_ is not None and round_.serial == command.serial
    if tx.state.ended or not waiting or frame.checked == command.serial or tx.state.world.trouble:
        return
    if command.error:
        tx.met(
            "check", f"check script after round {command.serial}", f"the check of {frame.phase} failed: {command.error}"
        )
        return
    moves: dict[str, Move | None] = {
        "retry": Goto(frame.phase, rerun=True),
        "spawn_additional": Again(command.agents),
        "escalate": None,
        "abort": End("gap check", "failed"),
    }
    if not command.action:
        tx.emit(e.CheckPassed(at=tx.now, serial=command.serial, phase=frame.phase, scope=frame.scope))
        return
    unknown = [agent for agent in command.agents if agent not in tx.book.workflow.agents]
    if unknown:
        tx.met(
            "check",
            f"check script after round {command.serial}",
            f"the check of {frame.phase} names unknown agents: {', '.join(unknown)}",
        )
        return
    gap(tx, moves[command.action], command.say or f"the check of {frame.phase} found a gap")


_Action = Literal["retry", "spawn_additional", "escalate", "abort", "move"]


def _action(move: Move | None) -> tuple[_Action, tuple[str, ...]]:
    match move:
        case None:
            return "escalate", ()
        case Again(agents=agents):
            return "spawn_additional", agents
        case End(status=status):
            return ("move" if status == "completed" else "abort"), ()
        case Goto(rerun=True):
            return "retry", ()
        case Goto() | Continue():
            return "move", ()
