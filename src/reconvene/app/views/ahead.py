"""What each option of an open checkpoint leads to, in words, and at which item of how many the run is.

Read from a state and its workflow. The phase that comes next in order is named. One with a condition is, too, where
what the option sets settles it; else as one that may come.
"""

from __future__ import annotations

from msgspec.structs import replace

from reconvene.app.views.read_model import Checkpoint, Item, Option
from reconvene.core.definition import workflow as w
from reconvene.core.facts.book import Book
from reconvene.core.facts.state import Frame, RunState
from reconvene.core.person import attention, rulings
from reconvene.core.person.checkpoint import WITHOUT
from reconvene.core.run.advance import item_key
from reconvene.core.shown import scope
from reconvene.core.working.acting import again, named, tried_again
from reconvene.language.expressions import ExpressionError, evaluate
from reconvene.language.expressions import compile as compile_expression

_SETTLING = {  # at a checkpoint of the engine's own
    attention.AGAIN: "the same work is asked for once more",
    attention.REBIND: "the same work is asked of whom you name",
    WITHOUT: "the run goes on with what there is",
    attention.TRUE: "the run goes on as if it were true",
    attention.FALSE: "the run goes on as if it were false",
    attention.RAISE: "the limit is raised, and the run goes on",
    attention.STOP: "ends the run: aborted",
    rulings.APPROVE: "the calls are made, and the agents go on",
    rulings.MAKE_AGAIN: "the calls are made, also what may have been made already: then it happens twice",
    rulings.REFUSE: "the calls are not made; the agents are told why, and go on",
    rulings.EACH: "each as you say; whoever has an answer goes on, the rest is asked again",
}
_END = "the end of the run"


def with_consequences(point: Checkpoint, state: RunState, book: Book) -> Checkpoint:
    """The checkpoint, its options with what they lead to."""
    opened = state.world.open
    if opened is None:
        return point
    defined = book.phase(opened.phase).checkpoint if opened.phase and not opened.attention else None
    options = list[Option]()
    for shown, offered in zip(point.options, opened.options):
        if defined is None or offered.index < 0:
            ends = shown.label == attention.STOP
            leads = _SETTLING.get(shown.label, "this version of the files stands")
            leads = _acting(state, book).get(shown.label, leads) if opened.attention else leads
            acts = tried_again(state, book) if opened.attention and shown.label == attention.AGAIN else ()
            options.append(replace(shown, leads=leads, ends=ends, acts=acts))
        else:
            move = defined.options[offered.index]
            acts = again(state, book, move.then, undo=move.undo)
            leads, ends = _leads(move, state, book, acts), _ends_early(move, state, book)
            options.append(replace(shown, leads=leads, ends=ends, acts=acts))
    return replace(point, options=tuple(options))


def _acting(state: RunState, book: Book) -> dict[str, str]:
    """What an option may cost where an agent that acts on the world was begun before."""
    agents = tried_again(state, book)
    kinds = {trouble.kind for trouble in state.world.trouble}
    if not agents:
        return {}
    if not kinds & {"doubt"}:
        twice = f"{named(agents)} again: what was done already may be done twice"
        taken = {attention.TAKE: "the output counts as if it had been accepted; nothing is done twice"}
        return {**taken, WITHOUT: "nothing is done twice; the run goes on with what there is", attention.AGAIN: twice}
    step = state.world.top.round.open if state.world.top.round else None
    running = step is not None and any(task.running for task in step.tasks.values())
    first = "it is ended first, and its work so far is lost; " if running else ""
    return {
        attention.WAIT: "nothing is ended or started; you are asked again when it has ended",
        WITHOUT: f"{first}nothing is done twice; what it has not done stays undone",
        attention.TAKE: "the output counts as if it had been accepted",
        attention.AGAIN: f"{first}what it has done already may be done twice",
        attention.STOP: f"{first}ends the run: aborted",
    }


def _leads(option: w.Option, state: RunState, book: Book, acts: tuple[str, ...]) -> str:
    parts = [_move(option, state, book)]
    if acts:
        changed = " if anything was changed" if isinstance(option.then, w.Continue) else ""
        parts.append(f"{named(acts)} again{changed}: what was done already may be done twice")
    if option.skip:
        parts.append(f"skips {', '.join(_title(book, phase) for phase in option.skip)}")
    if option.set and isinstance(option.then, w.Continue) and (without := _left_out(state, book, option)):
        parts.append(f"without {', '.join(without)}")
    if option.start is not None:
        parts.append("puts a run for each piece into the queue")
    return "; ".join(part for part in parts if part)


def _move(option: w.Option, state: RunState, book: Book) -> str:
    here = _title(book, state.world.top.phase)
    match option.then:
        case w.End(outcome=outcome, status=status):
            return f"ends the run: {outcome}" + (f" ({status})" if status not in (outcome, "completed") else "")
        case w.Again() if option.undo:
            return f"takes this round back, then {here} once more"
        case w.Again(agents=agents):
            return f"one more round of {here}" + (f", {', '.join(agents)} only" if agents else "")
        case w.Goto(target=target, rerun=True):
            return f"back to the beginning of {_title(book, target)}; what is there stays"
        case w.Goto(target="previous"):
            return "back to the checkpoint before this one"
        case w.Goto(target=target):
            return f"back to the checkpoint of {_title(book, target)}"
        case w.Continue(leave=leave):
            undone = "takes this round back, then " if option.undo else ""
            return undone + _next(state, book, option, leave=leave)


def _next(state: RunState, book: Book, option: w.Option, *, leave: bool) -> str:
    """What follows in order when the person goes on."""
    top = state.world.top
    plan = book.phase(top.phase).rounds.plan if top.phase else ()
    if top.round is not None and not top.round.last and not leave:
        planned = len(plan) > top.planned
        return f"the next round: {plan[top.planned]}" if planned else "the next round"
    for frame in reversed(state.world.cursor):
        if not frame.phase:
            break
        if frame.item is not None and (following := _next_item(state, book, frame)):
            return following
        if found := _after(state, book, frame.phase, option):
            return found
        if parent := book.nodes[frame.phase].parent:
            rounds = book.phase(parent).rounds
            if rounds.until or len(rounds.plan) > 1:
                return f"the end of this round of {_title(book, parent)}"
    return _END


def _next_item(state: RunState, book: Book, frame: Frame) -> str:
    count = _count(state, book, frame)
    assert frame.item is not None
    number = frame.item.index + 1
    return f"item {number + 1} of {count}" if number < count else ""


def _after(state: RunState, book: Book, phase: str, option: w.Option) -> str:
    """The phase beside this one that comes next, or that may."""
    node = book.nodes[phase]
    names = list[str]()
    for one in book.children(node.parent)[node.position + 1 :]:
        skipped = one.id in option.skip or one.id in state.world.skips
        entered = not skipped and _entered(state, book, one.when, option)
        if entered is not False:
            names.append(one.title or one.id)
        if entered:
            break
    if not names:
        return ""
    return f"on to {names[0]}" if len(names) == 1 else f"on to {names[0]}, or {names[-1]}"


def _left_out(state: RunState, book: Book, option: w.Option) -> list[str]:
    """The phases after the next one that would come as things are, and do not come after what this option sets."""
    nodes = [book.nodes[frame.phase] for frame in reversed(state.world.cursor) if frame.phase]
    later = [one for node in nodes for one in book.children(node.parent)[node.position + 1 :]]
    later = [one for one in later if one.id not in (*option.skip, *state.world.skips)]
    come = [_settled(state, book, one.when, option) for one in later]
    after = next((at for at, entered in enumerate(come) if entered is not False), len(later)) + 1
    plain = w.Option(option.label, fields=option.fields)
    return [
        one.title or one.id
        for one, entered in zip(later[after:], come[after:])
        if entered is False and _settled(state, book, one.when, plain)
    ]


def _entered(state: RunState, book: Book, when: str, option: w.Option) -> bool | None:
    """Whether a phase is entered after this option, as far as that follows from what the option sets; None = unknown.

    Nobody knows what a person answers, or what agents say until then."""
    if when and (option.fields or (state.world.open is not None and state.world.open.fields)):
        return None
    return _settled(state, book, when, option)


def _settled(state: RunState, book: Book, when: str, option: w.Option) -> bool | None:
    """The same, also where something is asked that the condition does not look at."""
    if not when:
        return True
    point = state.world.open
    asked = [one.into for one in option.fields] + [one.into for one in (point.fields if point is not None else ())]
    named = compile_expression(when).context_keys
    if asked and (named is None or not named.isdisjoint(("checkpoints", *(into.partition(".")[0] for into in asked)))):
        return None
    context = dict(scope.context(state, book))
    for path, value in option.set.items():
        _put(context, path.split("."), value)
    try:
        return bool(evaluate(when, scope.for_expression(state, book, when, {"context": context})))
    except ExpressionError:
        return None


def _put(whole: dict[str, object], path: list[str], value: object) -> None:
    """Set a value in a copy of all that leads there."""
    name, *rest = path
    if rest:
        found = whole.get(name)
        inner = dict(found) if isinstance(found, dict) else {}
        _put(inner, rest, value)
        value = inner
    whole[name] = value


def _ends_early(option: w.Option, state: RunState, book: Book) -> bool:
    """Whether it ends the run otherwise than by its last phase, and the work with it: pieces of it go on as runs."""
    if not isinstance(option.then, w.End) or option.start is not None:
        return False
    return option.then.status != "completed" or _next(state, book, w.Option(option.label), leave=True) != _END


def _title(book: Book, phase: str) -> str:
    found = book.nodes.get(phase)
    return (found.phase.title or phase) if found else phase


# --- items ---


def items(state: RunState, book: Book) -> tuple[Item, ...]:
    """The items that the run is at, the outermost first; none where no phase goes through a list."""
    return tuple(_item(state, book, frame) for frame in state.world.cursor if frame.item is not None)


def _item(state: RunState, book: Book, frame: Frame) -> Item:
    assert frame.item is not None
    number = frame.item.index + 1
    named = title_of(book.load(frame.item.ref), frame.item.key)
    return Item(frame.phase, frame.item.key, named, number, max(_count(state, book, frame), number))


def title_of(item: object, key: str) -> str:
    """What people call an item."""
    if isinstance(item, dict):
        return next((str(item[name]) for name in ("title", "name", "label") if item.get(name)), key)
    return item if isinstance(item, str) else key


def _count(state: RunState, book: Book, frame: Frame) -> int:
    """How many items there are now; 0 where that cannot be told."""
    return len(listed(state, book, frame))


def listed(state: RunState, book: Book, frame: Frame) -> list[tuple[str, object]]:
    """The items of its list as they are now, by their keys; none where that cannot be told."""
    each = book.phase(frame.phase).each
    if each is None:
        return []
    try:
        found = evaluate(each.of, scope.for_expression(state, book, each.of))
    except ExpressionError:
        return []
    items = found if isinstance(found, list) else []
    return [(item_key(item, each.key, index), item) for index, item in enumerate(items)]
