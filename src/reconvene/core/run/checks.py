"""The gap check after a phase: its rules, and what a found gap makes the run do, within its max. Rule 11."""

from __future__ import annotations

from typing import Literal

from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move
from reconvene.core.facts import commands as c
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import check_key
from reconvene.core.facts.state import Frame
from reconvene.core.shown import scope
from reconvene.core.working.moves import make_move, move_refused
from reconvene.core.working.turn import Turn
from reconvene.errors import Bug


def apply_rules(turn: Turn, frame: Frame, serial: int) -> bool:
    check = turn.phase.check
    if check is None:
        raise Bug(f"{frame.scope} has no check")
    for number, rule in enumerate(check.rules):
        found = turn.truth(rule.when, f"check rule {number + 1} after round {serial}")
        if found is None:
            return False
        if found:
            return gap(turn, rule.then, _said(turn, rule.say) or f"check rule {number + 1}: {rule.when}")
    turn.emit(e.CheckPassed(at=turn.now, serial=serial, phase=frame.phase, scope=frame.scope))
    return True


def _said(turn: Turn, say: str) -> str:
    def failed(message: str) -> None:
        turn.emit(e.ExpressionFailed(at=turn.now, where=f"say of {turn.frame.phase}", source=say, message=message))

    return scope.render(say, turn.state, turn.book, failed)


def gap(turn: Turn, move: Move | None, say: str) -> bool:
    """A check found something: do what it says, within its max."""
    frame = turn.frame
    check = turn.phase.check
    if check is None or frame.round is None:
        raise Bug(f"{frame.scope} has no check to answer for")
    count = turn.state.world.checks.get(check_key(turn.state.world, frame.phase), 0) + 1
    action, agents = _action(move)
    serial = frame.round.serial
    turn.emit(
        e.GapFound(
            at=turn.now,
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
        turn.emit(e.RunEnded(at=turn.now, status=move.status, outcome=move.outcome, why=say))
        return False
    if move is None:
        turn.met("escalated", key, say)
        return False
    if count > check.max and not isinstance(move, Continue):
        turn.met(
            "check", key, f"limit check.max ({check.max}) of {frame.phase} is reached and the gap is still there: {say}"
        )
        return False
    refusal = move_refused(turn, move)
    if refusal:
        turn.met("check", key, f"{say} ({action} is not possible: {refusal})")
        return False
    make_move(turn, move)
    return True


def record(turn: Turn, command: c.RecordCheck) -> None:
    """What the script of a check said."""
    frame = turn.frame
    round_ = frame.round
    waiting = frame.stage == "closed" and round_ is not None and round_.serial == command.serial
    if turn.state.ended or not waiting or frame.checked == command.serial or turn.state.world.trouble:
        return
    if command.error:
        turn.met(
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
        turn.emit(e.CheckPassed(at=turn.now, serial=command.serial, phase=frame.phase, scope=frame.scope))
        return
    unknown = [agent for agent in command.agents if agent not in turn.book.workflow.agents]
    if unknown:
        turn.met(
            "check",
            f"check script after round {command.serial}",
            f"the check of {frame.phase} names unknown agents: {', '.join(unknown)}",
        )
        return
    gap(turn, moves[command.action], command.say or f"the check of {frame.phase} found a gap")


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
