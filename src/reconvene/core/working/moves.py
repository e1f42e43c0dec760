"""What limits still allow, and the moves a decision or a check may ask for: whether one is possible, and making it.

Rules 14–17. Where a limit says no, it is named.
"""

from __future__ import annotations

from msgspec import Struct

from reconvene.core.definition.workflow import Again, Continue, End, Goto, Move, Phase
from reconvene.core.facts import events as e
from reconvene.core.facts.book import Book
from reconvene.core.facts.evolve import pass_key
from reconvene.core.facts.state import Frame, RunState
from reconvene.core.shown.scope import most_rounds
from reconvene.core.working.transaction import Transaction

# --- limits ---


class Funded(Struct, frozen=True):
    agents: tuple[str, ...]
    unfunded: tuple[str, ...]
    limit: str  # the limit that stopped the first unfunded one, "" when all are funded
    size: int


def fund(state: RunState, book: Book, agents: tuple[str, ...]) -> Funded:
    """Split agents into those the budgets still cover and the rest, in declared order."""
    limits, record = book.workflow.limits, state.record
    left = limits.calls + record.grants.get("calls", 0) - record.tasks
    group_left = {
        group: size
        + record.grants.get(f"calls.{group}", 0)
        - sum(record.calls.get(a, 0) for a in book.workflow.groups[group])
        for group, size in limits.group_calls.items()
        if group in book.workflow.groups
    }
    yes: list[str] = []
    no: list[str] = []
    limit, size = "", 0
    for agent in agents:
        groups = [group for group in book.groups_of.get(agent, ()) if group in group_left]
        spent = next((group for group in groups if group_left[group] <= 0), "")
        if left <= 0 or spent:
            no.append(agent)
            if not limit:
                limit = "calls" if left <= 0 else f"calls.{spent}"
                size = limits.calls if left <= 0 else limits.group_calls[spent]
            continue
        yes.append(agent)
        left -= 1
        for group in groups:
            group_left[group] -= 1
    return Funded(tuple(yes), tuple(no), limit, size)


def nobody_paid(state: RunState, book: Book, phase: Phase) -> str:
    """The limit that keeps a round of this phase from everybody whom a group's budget pays; "" = there is none. Whoever
    draws their work together has nothing to do without them. The run's own budget asks."""
    limited = book.workflow.limits.group_calls
    agents = dict.fromkeys(agent for step in phase.steps for agent in step.agents)
    paid = tuple(agent for agent in agents if any(group in limited for group in book.groups_of.get(agent, ())))
    funded = fund(state, book, paid)
    if not paid or funded.agents or funded.limit == "calls":
        return ""
    return f"limit {funded.limit} ({funded.size + state.record.grants.get(funded.limit, 0)})"


def rounds_left(state: RunState, book: Book) -> int:
    return book.workflow.limits.rounds + state.record.grants.get("rounds", 0) - state.record.rounds


def again_fits(state: RunState, phase: Phase, frame: Frame) -> bool:
    """Rule 15: one more round, and the planned ones that remain, within max."""
    planned_left = 0 if phase.rounds.open_ended else len(phase.rounds.plan) - frame.planned
    return frame.n + 1 + max(planned_left, 0) <= most_rounds(state, phase)


def undo_refused(state: RunState, book: Book) -> str:
    """Why the round in front cannot be undone; "" = it can."""
    frame = state.world.top
    if frame.round is None or frame.round.serial not in state.marks:
        return "a later round has begun, or the run had ended since: fork the run instead"
    if any(child.serial >= frame.round.serial for child in state.record.children.values()):
        return "a decision on it started other runs, which have a life of their own: fork the run instead"
    per_round = book.phase(frame.phase).rounds.undo
    if state.record.undone.get(f"{frame.address}/{frame.round.n}", 0) >= per_round:
        return f"limit rounds.undo ({per_round} per round) is reached: the round stands"
    if state.record.undos >= book.workflow.limits.undo:
        return f"limit undo ({book.workflow.limits.undo} per run) is reached: the round stands"
    return ""


# --- moves ---


def move_refused(tx: Transaction, move: Move) -> str:
    """Why this move cannot be made now; "" = it can. Every limit is named."""
    state, frame = tx.state, tx.frame
    match move:
        case Again():
            phase = tx.phase
            if again_fits(state, phase, frame):
                spent = nobody_paid(state, tx.book, phase)
                return f"{spent} is reached" if spent else ""
            return f"limit rounds.max ({most_rounds(state, phase)}) of {phase.id} is reached"
        case Goto(target=target, rerun=True):
            node = tx.book.nodes[target]
            depth = _depth(tx, node.parent)
            if depth == 0:
                return f"{target} is not on the way here"
            entered = state.world.passes.get(pass_key(state.world.cursor[depth - 1], target), 0)
            most = tx.book.workflow.limits.entries + state.record.grants.get("entries", 0)
            return f"limit entries ({most} per phase) of {target} is reached" if entered >= most else ""
        case Goto(target=target):
            if target == state.world.top.phase:
                return ""  # its own checkpoint, which is being opened
            return "" if find_visit(tx, target) >= 0 else "there is nothing to go back to"
    return ""


def _depth(tx: Transaction, parent: str) -> int:
    """How many frames remain when the cursor is cut back to `parent`; 0 = it is not on the cursor."""
    for depth, frame in enumerate(tx.state.world.cursor, start=1):
        if frame.phase == parent:
            return depth
    return 0


def find_visit(tx: Transaction, target: str) -> int:
    """The visit a plain goto reopens, -1 = none: within the same pass of every enclosing phase, and earlier. A phase
    that names itself has its own checkpoint open again, to show what the decision changed."""
    world = tx.state.world
    here = world.top.address
    for number in range(world.visit, -1, -1):
        visit = world.visits[number]
        if visit.place == here and target != world.top.phase:
            continue
        if (target == "previous" or visit.phase == target) and _same_pass(visit.cursor[:-1], world.cursor):
            return number
    return -1


def _same_pass(parents: tuple[Frame, ...], cursor: tuple[Frame, ...]) -> bool:
    if len(parents) > len(cursor):
        return False
    return all(
        a.address == b.address and (a.round.serial if a.round else 0) == (b.round.serial if b.round else 0)
        for a, b in zip(parents, cursor)
    )


def make_move(tx: Transaction, move: Move) -> None:
    """Every move but `continue` and `end`, which need nothing more than their own events."""
    match move:
        case Again(agents=agents):
            tx.emit(e.AgainOrdered(at=tx.now, agents=agents))
        case Goto(target=target, rerun=True):
            node = tx.book.nodes[target]
            if target in tx.state.world.skips:
                tx.emit(e.SkipsChanged(at=tx.now, removed=(target,)))
            tx.emit(e.Reran(at=tx.now, target=target, depth=_depth(tx, node.parent), child=node.position))
        case Goto(target=target):
            tx.emit(e.WentBack(at=tx.now, visit=find_visit(tx, target)))
        case Continue() | End():
            pass
