"""What a person needs beside the checkpoint: the ledger, the preview of another round, the stop meter, the metrics.

Advice, never a gate. Computed from the log when somebody looks; nothing here is stored.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

from reconvene.app.engine import Engine
from reconvene.app.session import Session, book_for
from reconvene.app.views import estimates, metrics, ratings
from reconvene.app.views import ledger as ledgers
from reconvene.app.views.beside import OpenRemark, Preview, Review, Route
from reconvene.app.views.projections import remarks
from reconvene.app.views.rating_replies import Ratings, parse_ratings
from reconvene.core.definition.workflow import Again
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.shown import on_record, scope
from reconvene.errors import ReconveneError, StoreError
from reconvene.language.expressions import ExpressionError, evaluate

_MOST_KNOWN = 8  # runs
# What was worked out for an engine, by run, with the event up to which it holds: pages ask for it several times.
_KNOWN: WeakKeyDictionary[Engine, dict[str, tuple[int, ledgers.Ledger]]] = WeakKeyDictionary()
_MOST_RATED = 2_000
_RATED: dict[tuple[str, str], Ratings] = {}  # by the digests of an output and of its value


def ledger(engine: Engine, run: str) -> ledgers.Ledger:
    """The life of every remark: captured, delivered, answered, reflected."""
    known, seq = _KNOWN.setdefault(engine, {}), engine.session(run).state.seq
    last, found = known.pop(run, (0, None))
    if found is None or last != seq:
        found = _ledger(engine, run)
    known[run] = (seq, found)
    if len(known) > _MOST_KNOWN:
        known.pop(next(iter(known)))
    return found


def _ledger(engine: Engine, run: str) -> ledgers.Ledger:
    def text_of(ref: e.Ref) -> str:
        try:
            return engine.log.artefact(ref.digest).decode("utf-8", errors="replace")
        except StoreError:
            return ""

    session = engine.session(run)
    upgrades = session.state.record.upgrades  # what was written before one is read as it was then
    earlier = [(one.rounds, book_for(engine.log, one.before, run).workflow.kits) for one in upgrades]
    events = (event for _, event in engine.log.read(run))
    sections = {spec.path: spec.section for spec in session.book.workflow.files if spec.section}
    return ledgers.ledger(events, text_of, session.book.workflow.kits, earlier, sections)


def stats(engine: Engine, run: str) -> metrics.Metrics:
    session = engine.session(run)
    answer = _completeness(session)
    return metrics.measure((event for _, event in engine.log.read(run)), ledger(engine, run), answer)


def stats_of_all(engine: Engine) -> tuple[metrics.Metrics, dict[str, str]]:
    """All runs that can be read, as one; and why the others cannot, by run."""
    measured, unread = list[metrics.Metrics](), dict[str, str]()
    for row in engine.log.index():
        try:
            measured.append(stats(engine, row.run))
        except ReconveneError as error:
            unread[row.run] = error.message
    return metrics.aggregate(measured), unread


def _completeness(session: Session) -> object:
    """The answer to a workflow's own closing question; None where it has none, or nobody has answered."""
    source = session.book.workflow.completeness
    try:
        return evaluate(source, scope.for_expression(session.state, session.book, source)) if source else None
    except ExpressionError:
        return None


def review(engine: Engine, run: str) -> Review | None:
    """For the open checkpoint: remarks made here and what they weigh, what is still open, what another round takes."""
    session = engine.session(run)
    state = session.state
    if state.world.open is None:
        return None
    here = remarks(state, on_record.remarks_here(state))
    meter = ratings.with_unheard(stop_meter(engine, session), [one.id for one in here if one.level == "major"])
    return Review(
        here,
        tuple(
            OpenRemark(entry.id, entry.kind, entry.text, entry.lines, entry.status)
            for entry in ledger(engine, run).open_remarks()
        ),
        _preview(engine, session),
        meter if meter.items else None,
    )


def _preview(engine: Engine, session: Session) -> Preview | None:
    """Who would run in another round and why, and what that takes by this run's own measurements."""
    state, book = session.state, session.book
    point = state.world.open
    definition = book.phase(state.world.top.phase).checkpoint if point and not point.attention else None
    if point is None or definition is None:
        return None
    again = [isinstance(option.then, Again) and not option.undo for option in definition.options]
    offered = [option for option in point.options if option.index >= 0 and option.available and again[option.index]]
    if not offered:
        return None
    routed = on_record.routes(state, book)
    chosen = [route.agent for route in routed]
    steps = [[agent for agent in step.agents if agent in chosen] for step in book.phase(state.world.top.phase).steps]
    rest = [list(step.agents) for step in book.phase(state.world.top.phase).steps if not set(step.agents) & set(chosen)]
    first = list(dict.fromkeys(agent for step in steps for agent in step))
    takes = estimates.estimate(
        [event for _, event in engine.log.read(session.run)],
        [first, *rest],
        concurrency=book.workflow.limits.concurrency,
    )
    shown = tuple(Route(route.agent, route.rule, route.why) for route in routed)
    return Preview(offered[0].label, shown, takes, takes.line())


def _rated(session: Session, output: str, value: e.Ref | None) -> Ratings:
    """Of what was written once: by the digests of it."""
    key = (output, value.digest if value else "")
    if key not in _RATED:
        if len(_RATED) >= _MOST_RATED:
            _RATED.clear()
        _RATED[key] = parse_ratings(session.book.text(output), session.book.load(value) if value else None)
    return _RATED[key]


def stop_meter(engine: Engine, session: Session) -> ratings.Meter:
    """Ratings of the phase in front, round by round. Who did not work in a round keeps the ratings given before."""
    here = session.state.world.top.address
    rounds: dict[int, dict[str, Ratings]] = {}
    wanted: set[int] = set()
    for _, event in engine.log.read(session.run):
        if isinstance(event, e.RoundStarted) and here.startswith(event.scope):
            wanted.add(event.serial)
        elif isinstance(event, e.RoundUndone):
            rounds.pop(event.serial, None)
        elif isinstance(event, e.AttemptEnded) and event.verdict == "accepted" and event.output is not None:
            serial, _, agent = parse_task(event.task)
            if serial in wanted:
                rated = _rated(session, event.output.digest, event.value)
                if rated.given:
                    rounds.setdefault(serial, {})[agent] = rated
    standing: dict[str, Ratings] = {}
    table: list[dict[str, Ratings]] = []
    for serial in sorted(rounds):
        standing = {**standing, **rounds[serial]}
        table.append(standing)
    last = rounds[max(rounds)] if rounds else {}
    return ratings.measure(table, asked=last)
