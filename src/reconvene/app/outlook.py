"""What each option of an open checkpoint would set to work, what that takes, and what speaks against it.

Each is tried on the state, as a decision would be handled, and nothing of it is recorded: so who works next is not
guessed. What comes after those agents is read from the workflow, up to the next stop. Minutes and cost are this run's
own measurements. What speaks against an option is on record: remarks that nobody answered, agents that gave nothing, an
agent that objects, questions without an answer, agents who disagree for good. Words that agents or people said are kept
apart from ours.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views import estimates
from reconvene.app.views.beside import Review
from reconvene.app.views.objections import objection
from reconvene.app.views.opposites import stance
from reconvene.app.views.read_model import Checkpoint, Field, Option, Remark, Takes
from reconvene.core.definition import workflow as w
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import AnswerCheckpoint, Answers, RemarkIn
from reconvene.core.facts.rows import PendingAt
from reconvene.core.facts.state import RunState
from reconvene.core.person import rulings
from reconvene.core.person.checkpoint import current_digest
from reconvene.core.run.handle import handle
from reconvene.core.shown import drafts, on_record, scope
from reconvene.errors import ReconveneError
from reconvene.language.expressions import ExpressionError, evaluate

_FARTHEST = 8  # phases without a stop that are looked at beyond the next one
_MADE = (rulings.APPROVE, rulings.MAKE_AGAIN, rulings.EACH)  # after these, calls that waited are made
_LIKELY: dict[str, object] = {"number": 1, "confirm": True, "agents": []}
_WORDS = RemarkIn("To be looked at again.")  # what a person might say where an option wants their words


def with_outlook(
    engine: Engine, run: str, point: Checkpoint, review: Review | None, said: Sequence[RemarkIn] = ()
) -> Checkpoint:
    """The checkpoint, its options with what they take. `said`: what would be said with the decision."""
    session = engine.session(run)
    measured = estimates.measurements(event for _, event in engine.log.read(run))
    options = list[Option]()
    for option in point.options:
        tried = _tried(session, point, option, said) if option.offered else None
        ahead = _ahead(tried, session.book) if tried is not None else None
        takes = _takes(ahead, measured, session.book) if ahead is not None else None
        against = next(_against(option, point, review, takes, session), _NOTHING)
        final = _final(option, ahead, session)
        ends = option.ends or (tried is not None and tried.ended)
        options.append(
            replace(
                option,
                takes=takes,
                because=_because(option, review, session) if option.recommend else "",
                against=against.why,
                against_words=against.words,
                final=final,
                undo="" if final or not option.available else "reopen the run" if ends else "undo the round, or fork",
            )
        )
    return replace(point, options=tuple(_alike(options)))


def _tried(session: Session, point: Checkpoint, option: Option, said: Sequence[RemarkIn]) -> RunState | None:
    """The state after this option; None where that depends on what the person answers."""
    state = _by_anybody(session.state)
    if not option.available:
        return None
    words = tuple(said)
    if option.remark == "required" and not words and not on_record.unheard(state):
        words = (_WORDS,)
    given = {**_likely(option.fields, {}), **_likely(point.fields, drafts.here(state, session.book))}
    if point.attention and option.label == rulings.EACH:
        given |= {one.field: "approve" for one in rulings.waiting(state)}
    command = AnswerCheckpoint(point.id, option.label, given, words, current_digest(state))
    try:
        return handle(state, command, session.now(), session.book).state
    except ReconveneError:
        return None


def _by_anybody(state: RunState) -> RunState:
    """As if one person, whoever it is, could decide: who may and how many must changes nothing in what follows."""
    point = state.world.open
    if point is None:
        return state
    options = tuple(replace(one, needs=1) for one in point.options)
    return replace(state, world=replace(state.world, open=replace(point, who=(), options=options), pending=PendingAt()))


def _likely(fields: Sequence[Field], answers: Answers) -> dict[str, object]:
    """Something for each that must be answered and is not."""
    missing = [one for one in fields if one.required and answers.get(one.id) in (None, "") and not one.follows]
    return {one.id: one.options[0] if one.options else _LIKELY.get(one.type, "to be said") for one in missing}


class _Ahead(Struct, frozen=True):
    steps: list[list[str]]
    stop: str


def _ahead(state: RunState, book: Book) -> _Ahead:
    """Who works from a state on, step by step, and where the run stops then."""
    if state.ended:
        return _Ahead([], "")
    if state.world.open is not None:
        return _Ahead([], f"at once: {_title(book, state.world.open.phase)}" if state.world.open.phase else "at once")
    top = state.world.top
    round_ = top.round
    steps = list[list[str]]()
    if round_ is not None and round_.open is not None:
        steps.append(
            [agent for agent in round_.open.order if round_.open.tasks[agent].status not in ("done", "missing")]
        )
    if not top.phase:
        return _Ahead(steps, "")
    first = round_.open.index + 1 if round_ is not None and round_.open is not None else 0
    chosen = round_.agents if round_ is not None and round_.extra else ()
    here = book.phase(top.phase)
    steps += _of([one for one in here.steps[first:] if _comes(one.when, state, book)], chosen)
    if here.checkpoint is not None:
        return _Ahead(steps, f"after that round of {_title(book, here.id)}")
    following, stop = _following(book, here.id)
    return _Ahead([*steps, *(step for one in following for step in _of(_first_round(one), ()))], stop)


def _comes(when: str, state: RunState, book: Book) -> bool:
    """Whether a step comes as things are then. Where that cannot be told, it may."""
    try:
        return not when or bool(evaluate(when, scope.for_expression(state, book, when)))
    except ExpressionError:
        return True


def _first_round(phase: w.Phase) -> list[w.Step]:
    """The steps of a phase that is not entered yet: of those that depend on something, the first."""
    first = next((one for one in phase.steps if one.when), None)
    return [one for one in phase.steps if not one.when or one is first]


def _of(steps: Sequence[w.Step], chosen: Sequence[str]) -> Iterator[list[str]]:
    """Those of an extra round are only for who was chosen, and for who works after them."""
    for step in steps:
        agents = [agent for agent in step.agents if not chosen or agent in chosen] or list(step.agents)
        if agents:
            yield agents


def _following(book: Book, phase: str) -> tuple[list[w.Phase], str]:
    """The phases after this one up to the next stop, and where that is; "" where it depends on what comes."""
    found: list[w.Phase] = []
    while phase:
        node = book.nodes[phase]
        for one in book.children(node.parent)[node.position + 1 :]:
            if one.when or one.each or one.phases or len(found) == _FARTHEST:
                return found, ""
            found.append(one)
            if one.checkpoint is not None:
                return found, f"{'after' if one.steps else 'at'} {one.title or one.id}"
        phase = node.parent
    return found, "at the end of the run"


def _takes(ahead: _Ahead, measured: estimates.Measured, book: Book) -> Takes:
    agents = tuple(dict.fromkeys(agent for step in ahead.steps for agent in step))
    if not agents:
        return Takes(line="no agent works", stop=ahead.stop, minutes=0.0, cost=0.0)
    found = estimates.estimate(measured, ahead.steps, concurrency=book.workflow.limits.concurrency)
    return Takes(agents, found.calls, found.minutes, found.tokens, found.cost, found.line(), ahead.stop)


def _alike(options: Sequence[Option]) -> Iterator[Option]:
    """Options after which the same happens say so: the later of the first that is like them."""
    seen: dict[tuple[object, ...], str] = {}
    for one in options:
        key = (one.leads, one.takes.agents, one.takes.stop, one.ends) if one.takes else ()
        other = seen.setdefault(key, one.label) if key and one.offered else one.label
        yield replace(one, same_as=other) if other != one.label else one


# --- for and against ---


class _Reason(NamedTuple):
    why: str
    words: str = ""  # what somebody said, where that is the reason


_NOTHING = _Reason("")


def _because(option: Option, review: Review | None, session: Session) -> str:
    major = _major(review) if isinstance(_move(option, session), w.Again) else None
    return (
        f"a {major.kind} that is major was made here: {major.reason}"
        if major
        else "the workflow recommends it as things are"
    )


def _major(review: Review | None) -> Remark | None:
    return next((one for one in review.remarks if one.level == "major"), None) if review else None


def _against(
    option: Option, point: Checkpoint, review: Review | None, takes: Takes | None, session: Session
) -> Iterator[_Reason]:
    """The reasons on record, the best first."""
    move = _move(option, session)
    if not option.available:
        return
    if isinstance(move, w.Again):
        yield from map(_Reason, _against_again(review, takes))
    elif isinstance(move, w.End) and (move.status != "completed" or stance(f"{option.label} {move.outcome}") == "stop"):
        yield from map(_Reason, _against_ending(session.state))
    elif move is not None:
        yield from _against_going_on(point, review, session)


def _move(option: Option, session: Session) -> w.Move | None:
    opened = session.state.world.open
    if opened is None or opened.attention or not opened.phase:
        return None
    defined = session.book.phase(opened.phase).checkpoint
    index = next((one.index for one in opened.options if one.label == option.label), -1)
    return defined.options[index].then if defined is not None and index >= 0 else None


def _against_going_on(point: Checkpoint, review: Review | None, session: Session) -> Iterator[_Reason]:
    if major := _major(review):
        yield _Reason(f"nobody has looked again since {major.by or 'somebody'} said", major.text)
    if point.missing:
        yield _Reason(f"{', '.join(dict.fromkeys(point.missing))} gave nothing in this round")
    if found := objection(session.state, session.book):
        yield _Reason(f"{found.agent} objects", found.words)
    yield from map(_Reason, _unsettled(point))
    if review is not None and review.open:
        first = review.open[0]
        more = f" and {len(review.open) - 1} more" * (len(review.open) > 1)
        yield _Reason(f"nobody has answered {first.id}{more}", first.text)
    if review is not None and review.meter is not None:
        torn = sum(one.verdict == "disagreement" for one in review.meter.items)
        if torn:
            yield _Reason(f"they disagree for good on {torn} thing{'s' * (torn != 1)}")


def _unsettled(point: Checkpoint) -> Iterator[str]:
    left = [one for one in point.fields if not one.follows and (point.answers or {}).get(one.id) in (None, "")]
    if left:
        yield f"{len(left)} question{'s' * (len(left) != 1)} without an answer"
    if point.comments:
        yield f"{len(point.comments)} comment{'s' * (len(point.comments) != 1)} on files still open"


def _against_again(review: Review | None, takes: Takes | None) -> Iterator[str]:
    rated = review.meter.items if review is not None and review.meter is not None else ()
    if rated and all(one.verdict != "open" for one in rated):
        yield "no rating is likely to move: none is open"
    if review is not None and not review.remarks and not review.open:
        yield "nothing new was said since the last round"
    if takes is not None and takes.cost:
        yield f"it costs about ${takes.cost:.2f}"


def _against_ending(state: RunState) -> Iterator[str]:
    files = len(state.world.files)
    yield f"the work so far stops here, with {files} file{'s' * (files != 1)}"


def _final(option: Option, ahead: _Ahead | None, session: Session) -> str:
    """Who acts on the world cannot be undone; everything else can: by taking a round back, by a fork, by reopening."""
    if option.acts:
        return f"{', '.join(option.acts)} may act twice"
    book, point = session.book, session.state.world.open
    if point is not None and point.attention and option.label in _MADE:
        tools = dict.fromkeys(one.call.tool for one in rulings.waiting(session.state) if one.call.effects)
        if tools:
            return f"what {', '.join(tools)} does stays done"
    agents = dict.fromkeys(agent for step in ahead.steps for agent in step) if ahead is not None else {}
    acting = [name for name in agents if name in book.workflow.agents and book.workflow.agents[name].effects]
    return f"{', '.join(acting)} acts on the world" if acting else ""


def _title(book: Book, phase: str) -> str:
    found = book.nodes.get(phase)
    return (found.phase.title or phase) if found else phase
