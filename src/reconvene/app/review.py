"""What a person needs beside the checkpoint: the ledger, the preview of another round, the stop meter, the metrics.

Advice, never a gate. Computed from the log when somebody looks; nothing here is stored.
"""

from __future__ import annotations

from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views import estimates, metrics, ratings
from reconvene.app.views import ledger as ledgers
from reconvene.app.views.rating_replies import Ratings, parse_ratings
from reconvene.core.definition.workflow import Again
from reconvene.core.facts import events as e
from reconvene.core.facts.ids import parse_task
from reconvene.core.shown import on_record, scope
from reconvene.errors import ReconveneError, StoreError
from reconvene.language.expressions import ExpressionError, evaluate


def ledger(engine: Engine, run: str) -> ledgers.Ledger:
    """The life of every remark: captured, delivered, answered, reflected."""

    def text_of(ref: e.Ref) -> str:
        try:
            return engine.log.artefact(ref.digest).decode("utf-8", errors="replace")
        except StoreError:
            return ""

    kits = engine.session(run).book.workflow.kits
    return ledgers.ledger((event for _, event in engine.log.read(run)), text_of, kits)


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


def review(engine: Engine, run: str) -> dict[str, object]:
    """For the open checkpoint: remarks made here and what they weigh, what is still open, what another round takes."""
    session = engine.session(run)
    state = session.state
    if state.world.open is None:
        return {}
    book = ledger(engine, run)
    found: dict[str, object] = {
        "remarks": on_record.views_of(state, on_record.remarks_here(state)),
        "open": [{"id": entry.id, "kind": entry.kind, "text": entry.text} for entry in book.open_remarks()],
    }
    preview = _preview(engine, session)
    if preview is not None:
        found["preview"] = preview
    meter = stop_meter(engine, session)
    if meter.items:
        found["meter"] = {**meter.to_json(), "lines": meter.lines()}
    return found


def _preview(engine: Engine, session: Session) -> dict[str, object] | None:
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
    return {
        "option": offered[0].label,
        "agents": [route.to_json() for route in routed],
        "estimate": takes.to_json(),
        "line": takes.line(),
    }


def stop_meter(engine: Engine, session: Session) -> ratings.Meter:
    """Ratings of the phase in front, round by round. Who did not work in a round keeps the ratings given before."""
    here = session.state.world.top.place
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
                value = session.book.load(event.value) if event.value else None
                given = parse_ratings(session.book.text(event.output.digest), value)
                if given.given:
                    rounds.setdefault(serial, {})[agent] = given
    standing: dict[str, Ratings] = {}
    table: list[dict[str, Ratings]] = []
    for serial in sorted(rounds):
        standing = {**standing, **rounds[serial]}
        table.append(standing)
    return ratings.measure(table)


def todo(engine: Engine, run: str) -> list[dict[str, object]]:
    """Where the run stands, as a list: rounds done, checkpoint presented, feedback captured, what is still to come."""
    session = engine.session(run)
    state, book = session.state, session.book
    rows: list[dict[str, object]] = []
    current = {frame.phase for frame in state.world.cursor}
    for phase in book.workflow.phases:
        title = phase.title or phase.id
        if phase.id in state.world.skipped:
            rows.append({"what": f"{title}: skipped", "done": True})
        elif phase.id in current and not state.ended:
            rows += _todo_now(session, title)
        else:
            rows.append({"what": title, "done": phase.id in state.world.closed or bool(state.ended == "completed")})
    return rows


def _todo_now(session: Session, title: str) -> list[dict[str, object]]:
    state = session.state
    frame = state.world.top
    round_ = frame.round
    if round_ is None:
        return [{"what": title, "done": False}]
    rows: list[dict[str, object]] = []
    if round_.n > 1:
        rows.append({"what": f"{title}: rounds 1 to {round_.n - 1}", "done": True})
    working = round_.open is not None and round_.open.open > 0
    rows.append({"what": f"{title}: round {round_.n} ({round_.name}), agents", "done": not working})
    point = state.world.open
    if session.book.phase(frame.phase).checkpoint is not None:
        rows.append({"what": f"{title}: checkpoint presented", "done": point is not None})
        said = len(on_record.remarks_here(state))
        rows.append({"what": f"{title}: feedback captured" + (f" ({said})" if said else ""), "done": bool(said)})
        rows.append({"what": f"{title}: decision", "done": False})
    return rows
