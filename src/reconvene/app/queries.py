"""The read side: what doors show. Never writes."""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import to_builtins

from reconvene.app import index, stored
from reconvene.app.engine import Engine
from reconvene.app.session import Session
from reconvene.app.views import projections
from reconvene.app.views.changes import changes
from reconvene.core.facts.events import LateOutputArchived, RoundClosed, RoundUndone
from reconvene.core.facts.state import EMPTY, RunState, children_of
from reconvene.core.paths import unified_diff
from reconvene.core.shown import conversation, drafts, on_record, scope
from reconvene.errors import UserError
from reconvene.wire.events import to_json

_EXCERPT = 200  # characters of a late answer that `show` tells


def summary(engine: Engine, run: str) -> dict[str, object]:
    """{"run", "status", "phase", "round", "checkpoint"} and a little more, from the index: nothing is folded."""
    found = index.one(engine.log, run)
    if found is None:
        raise UserError(f"There is no run {run!r}.", hint="reconvene runs lists them.")
    doc = {key: value for key, value in found.doc.items() if key != "pinned"}
    return {**doc, **_driven(engine, run, found.row.status)}


def _driven(engine: Engine, run: str, status: str) -> dict[str, object]:
    """Whether a process is at work on a run that is not at a stop; nobody is after a crash."""
    return {"driven": run in engine.log.driven()} if status == "running" else {}


def standing(engine: Engine, run: str) -> dict[str, object]:
    """The summary, and with an open checkpoint what another round changed, and the answers given so far."""
    doc = summary(engine, run)
    point = doc.get("checkpoint")
    if isinstance(point, dict):
        point |= _beside(engine.session(run))
    return doc


def _beside(session: Session) -> dict[str, object]:
    """What an open checkpoint is shown with and the index does not hold."""
    point = session.state.world.open
    changed = [to_builtins(change) for change in changes(session)]
    answers = {"answers": drafts.here(session.state, session.book)} if point and point.fields else {}
    return {**({"changed": changed} if changed else {}), **answers}


def talk(engine: Engine, run: str) -> list[dict[str, object]]:
    """What was said in the phase (and item) in front; empty where its agents do not talk with the person."""
    session = engine.session(run)
    state, book = session.state, session.book
    return conversation.for_people(state, book, state.world.spot) if converses(engine, run) else []


def converses(engine: Engine, run: str) -> bool:
    """Whether the agents of the phase in front read the conversation."""
    session = engine.session(run)
    phase = session.state.world.top.phase if session.state.world.cursor else ""
    steps = session.book.phase(phase).steps if phase else ()
    return any(conversation.WORD in (step.reads or ()) for step in steps)


def show(engine: Engine, run: str) -> dict[str, object]:
    session = engine.session(run)
    state, book = session.state, session.book
    record = state.record
    return {
        **projections.summary(state),
        "passed_over": projections.passed_over(state),
        **_said(engine, run, session),
        **({"children": children(engine, state)} if state.record.children else {}),
        **_driven(engine, run, state.status),
        "context": scope.context(state, book),
        "workspace": state.workspace,
        "files": files_of(state),
        "remarks": on_record.views_of(state, map(record.remarks.__getitem__, on_record.standing(state))),
        "decisions": on_record.checkpoints(state),
        "tasks": tasks(state),
        "usage": {
            "calls": record.tasks,
            "rounds": record.rounds,
            "input_tokens": record.input_tokens,
            "output_tokens": record.output_tokens,
            "cost": round(record.cost, 6),
        },
        **({"late": told} if (told := late(engine, run)) else {}),
        "failures": list(record.failures),
        "errors": [error.said for error in record.errors],
    }


def _said(engine: Engine, run: str, session: Session) -> dict[str, object]:
    """The open checkpoint with what stands beside it, and the talk."""
    found: dict[str, object] = {}
    point = projections.checkpoint(session.state)
    if point is not None:
        found["checkpoint"] = {**point, **_beside(session)}
    if told := talk(engine, run):
        found["talk"] = told
    return found


def children(engine: Engine, state: RunState) -> list[dict[str, object]]:
    """The runs that this one started and how they stand, from the index. "unmade": its log is still to be made."""
    rows: list[dict[str, object]] = []
    for one in children_of(state):
        found = index.one(engine.log, one.run) if one.run else None
        doc = found.doc if found else {}
        row: dict[str, object] = {
            "run": one.run or one.child.run,
            "piece": one.child.key,
            "title": one.child.title,
            "workflow": one.child.name,
            "status": found.row.status if found else "unmade",
        }
        rows.append({**row, **{name: doc[name] for name in ("phase", "outcome") if doc.get(name)}})
    return rows


def children_made(engine: Engine, run: str) -> list[str]:
    """The runs that this one started and that are there."""
    told = summary(engine, run).get("children")
    runs = [str(child["run"]) for child in told] if isinstance(told, list) else []
    return [child for child in runs if engine.log.head(child)]


def closing(engine: Engine, run: str) -> str:
    """What the workflow says of a run that has ended, or why it cannot; "" where it says nothing."""
    session = engine.session(run)
    text = session.book.workflow.closing if session.state.ended else ""
    failed: list[str] = []
    said = scope.render(text, session.state, session.book, failed.append) if text else ""
    return f"! the workflow's closing words failed: {failed[0]}" if failed else said.strip()


def tasks(state: RunState) -> list[dict[str, object]]:
    """The open step's tasks."""
    round_ = state.world.top.round if state.world.cursor else None
    if round_ is None or round_.open is None:
        return []
    step = round_.open
    return [
        {
            "agent": agent,
            "status": step.tasks[agent].status,
            "attempt": step.tasks[agent].attempt,
            **({"why": step.tasks[agent].why} if step.tasks[agent].why else {}),
        }
        for agent in step.order
    ]


def late(engine: Engine, run: str) -> list[dict[str, object]]:
    """Answers that came when nothing waited for them any more: kept, their cost counted, without effect."""
    rows: list[dict[str, object]] = []
    for _, event in engine.log.read(run):
        if isinstance(event, LateOutputArchived) and (event.output is not None or event.usage.cost):
            text = engine.log.artefact(event.output.digest).decode(errors="replace") if event.output else event.why
            row = {"task": event.task, "attempt": event.attempt, "at": event.at, "cost": round(event.usage.cost, 6)}
            rows.append({**row, "text": text[:_EXCERPT]})
    return rows


def events(engine: Engine, run: str, after: int = 0) -> Iterator[dict[str, object]]:
    for seq, event in engine.log.read(run, after):
        yield to_json(seq, event)


def files(engine: Engine, run: str) -> list[dict[str, object]]:
    return files_of(engine.load(run))


def files_of(state: RunState) -> list[dict[str, object]]:
    return [
        {"path": path, "size": version.size, "by": version.by, "at": version.at, "phase": version.phase}
        for path, version in sorted(state.world.files.items())
    ]


def file(engine: Engine, run: str, path: str) -> bytes:
    state = engine.load(run)
    version = state.files.get(path)
    if version is None:
        raise UserError(f"Run {run} has no file {path!r}.", hint=f"reconvene files {run}")
    return engine.log.artefact(version.digest)


def diff(engine: Engine, run: str, old: str = "", new: str = "") -> str:
    """Between two rounds (run-wide numbers; 0 = before the first), or what changed since the last round closed."""
    trees, now = _trees(engine, run)
    numbers = sorted(trees)
    if not old and not new:
        closed = [number for number in numbers if number > 0]
        old_tree = trees[closed[-2]] if len(closed) > 1 else {}
        return _compare(engine, old_tree, now)
    before = trees[_number(old, numbers)] if old else {}
    return _compare(engine, before, trees[_number(new, numbers)] if new else now)


def _number(text: str, known: list[int]) -> int:
    match = re.fullmatch(r"[Rr]?(\d+)", text.strip())
    if not match or int(match[1]) not in known:
        rounds = ", ".join(str(number) for number in known)
        raise UserError(f"{text!r} is not a round of this run (rounds: {rounds}).", hint="reconvene diff RUN 1..2")
    return int(match[1])


def _trees(engine: Engine, run: str) -> tuple[dict[int, dict[str, str]], dict[str, str]]:
    """Files as they were when each round closed, by the round's serial; and now."""
    state = EMPTY
    trees: dict[int, dict[str, str]] = {0: {}}
    for seq, event in engine.log.read(run):
        state = stored.step(run, state, seq, event)
        if isinstance(event, RoundClosed | RoundUndone):
            trees[event.serial] = {path: version.digest for path, version in state.world.files.items()}
    return trees, {path: version.digest for path, version in state.world.files.items()}


def _compare(engine: Engine, old: dict[str, str], new: dict[str, str]) -> str:
    parts = []
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            before = engine.log.artefact(old[path]) if path in old else None
            after = engine.log.artefact(new[path]) if path in new else None
            parts.append(unified_diff(path, before, after))
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts)
