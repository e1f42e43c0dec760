"""The moves a decision or a check may order: whether one is possible now, and making it. Rules 14–17."""

from __future__ import annotations

from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move
from reconvene.core.facts import events as e
from reconvene.core.facts.evolve import pass_key
from reconvene.core.facts.state import Frame
from reconvene.core.working import limits
from reconvene.core.working.turn import Turn


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
