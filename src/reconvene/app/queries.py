"""The read side: what doors show. Never writes."""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple

from msgspec.structs import replace

from reconvene.app import citable_documents, given_material, index
from reconvene.app.engine import Engine
from reconvene.app.file_comments import open_comments
from reconvene.app.line_diff import unified_diff
from reconvene.app.project_now import difference, looked_at
from reconvene.app.session import Session, state_after
from reconvene.app.views import ahead, projections, written
from reconvene.app.views.changes import changes, since_a_try, unmoved
from reconvene.app.views.open_checkpoints import approvals
from reconvene.app.views.read_model import Checkpoint, Child, Event, File, Late, Run, RunInFull, Said, Written
from reconvene.app.views.written import Attempt
from reconvene.core.facts.events import LateOutputArchived, RoundClosed, RoundUndone, Stretch
from reconvene.core.facts.state import EMPTY, RunState, children_of
from reconvene.core.shown import drafts, scope
from reconvene.errors import ReconveneError, Refused, UserError
from reconvene.language.closest import closest
from reconvene.material_ports import Document, SourceAt
from reconvene.wire.event_json import to_json

PAGE = 1000  # events that are read at once
_EXCERPT = 200  # characters of a late answer that `show` tells


def summary(engine: Engine, run: str) -> Run:
    """As lists show it, from the index: nothing is folded."""
    found = index.one(engine.log, run)
    if found is None:
        raise UserError(f"There is no run {run!r}.", hint="reconvene runs lists them.")
    left = found.status == "paused" and any(due == run for _, due in engine.log.due("9999"))
    return replace(index.in_full(engine.log, found), driven=_driven(engine, run, found.status), left=left)


def _driven(engine: Engine, run: str, status: str) -> bool | None:
    """Whether a process is at work on a run that is not at a stop; nobody is after a crash."""
    return run in engine.log.driven() if status == "running" else None


def standing(engine: Engine, run: str) -> Run:
    """The same, and with an open checkpoint, as the log has it now, what another round changed and the answers given so
    far."""
    found = summary(engine, run)
    if found.checkpoint is None:
        project = looked_at(engine, engine.load(run), found.project) if found.project else None
        return replace(found, project=project)
    session = engine.session(run)
    found = replace(projections.run(session.state), driven=_driven(engine, run, session.state.status))
    found = replace(found, project=looked_at(engine, session.state, found.project))
    point = found.checkpoint and _beside(engine, found.checkpoint, session)
    return replace(found, checkpoint=point, items=ahead.items(session.state, session.book))


def _beside(engine: Engine, point: Checkpoint, session: Session) -> Checkpoint:
    """With what the index does not hold."""
    answers = drafts.here(session.state, session.book) if point.fields else None
    point = ahead.with_consequences(point, session.state, session.book)
    now = projections.checkpoint(session.state)
    round_ = session.state.world.top.round if session.state.world.cursor else None
    return replace(
        point,
        changed=changes(session),
        unmoved=unmoved(session),
        since_try=since_a_try(session),
        answers=answers,
        outputs=written.of_the_round(session.state, session.book),
        missing=round_.missing if round_ else (),
        not_taken=ignored(engine, session),
        show_files=now.show_files if now else point.show_files,  # the index may be older than the place of the home
        comments=open_comments(engine, session.run),
        approvals=approvals(session.state, session.book, engine.person) if point.approvals else (),
    )


def talk(engine: Engine, run: str) -> tuple[Said, ...]:
    """What was said in the phase (and item) in front; empty where its agents do not talk with the person."""
    session = engine.session(run)
    return projections.talk(session.state, session.book)


def converses(engine: Engine, run: str) -> bool:
    """Whether the agents of the phase in front talk with the person."""
    session = engine.session(run)
    return projections.converses(session.state, session.book)


def show(engine: Engine, run: str) -> RunInFull:
    session = engine.session(run)
    state, shown = session.state, projections.in_full(session.state, session.book)
    return replace(
        shown,
        checkpoint=shown.checkpoint and _beside(engine, shown.checkpoint, session),
        children=children(engine, state),
        late=late(engine, run),
        not_taken=not_taken(engine, run),
        driven=_driven(engine, run, state.status),
        left=state.status == "paused" and state.left,
        judged_by=engine.judge_model if (asking := projections.asking_gates(session.book.workflow)) else "",
        unjudged=() if engine.judge_model else asking,
        items=ahead.items(state, session.book),
        project=looked_at(engine, state, shown.project),
    )


def children(engine: Engine, state: RunState) -> tuple[Child, ...]:
    """The runs that this one started and how they stand, from the index. "unmade": its log is still to be made."""
    rows: list[Child] = []
    for one in children_of(state):
        found = index.one(engine.log, one.run) if one.run else None
        row = Child(one.run or one.child.run, one.child.title, one.child.key, one.child.name, "unmade")
        rows.append(replace(row, status=found.status, phase=found.phase, outcome=found.outcome) if found else row)
    return tuple(rows)


def children_made(engine: Engine, run: str) -> list[str]:
    """The runs that this one started and that are there."""
    return [child.run for child in summary(engine, run).children if engine.log.head(child.run)]


class Closing(NamedTuple):
    """The last words, and which of their lines may hold words of agents."""

    text: str
    filled: tuple[Stretch, ...] = ()


def closing(engine: Engine, run: str) -> Closing:
    """What the workflow says of a run that has ended, or why it cannot; "" where it says nothing."""
    session = engine.session(run)
    text = session.book.workflow.closing if session.state.ended else ""
    failed: list[str] = []
    said = scope.render(text, session.state, session.book, failed.append) if text else ""
    if failed:
        return Closing(f"! the workflow's closing words failed: {failed[0]}")
    return Closing(said, tuple(Stretch(*each) for each in scope.filled_lines(text, said, session.state, session.book)))


def ignored(engine: Engine, session: Session) -> tuple[str, ...]:
    """What lies in the folder of the run and is not taken. A folder that may not be looked into is told by who does."""
    try:
        return engine.files(session).ignored(session) if not session.state.ended else ()
    except ReconveneError:
        return ()


def not_taken(engine: Engine, run: str) -> tuple[str, ...]:
    """Files of outputs that stand, which were not taken: each with whose it is and the reason, oldest first; then what
    lies in the folder."""
    rows = [one for one in attempts(engine, run) if one.verdict == "accepted" and not one.undone]
    there = {path for path, version in engine.session(run).state.world.files.items() if version.person}
    return tuple(
        f"{one.agent} ({one.phase}, round {one.round}): {why}"
        for one in rows
        for why in one.not_taken
        if why.partition(": ")[0] not in there  # nobody has taken it on their own word since
    ) + tuple(f"the folder: {why}" for why in ignored(engine, engine.session(run)))


def late(engine: Engine, run: str) -> tuple[Late, ...]:
    """Answers that came when nothing waited for them any more: kept, their cost counted, without effect."""
    rows: list[Late] = []
    for _, event in engine.log.read(run):
        if isinstance(event, LateOutputArchived) and (event.output is not None or event.usage.cost):
            text = engine.log.artefact(event.output.digest).decode(errors="replace") if event.output else event.why
            rows.append(Late(event.task, event.attempt, event.at, round(event.usage.cost, 6), text[:_EXCERPT]))
    return tuple(rows)


def events(engine: Engine, run: str, after: int = 0, limit: int = PAGE) -> list[Event]:
    """At most so many, from the one after this on. The last one's number is the cursor of the next page."""
    found = [(seq, event, to_json(seq, event)) for seq, event in engine.log.read(run, after, limit)]
    own = ("seq", "type", "at")
    return [
        Event(seq, str(raw["type"]), event.at, {key: raw[key] for key in raw if key not in own})
        for seq, event, raw in found
    ]


def files(engine: Engine, run: str) -> tuple[File, ...]:
    return projections.files(engine.load(run))


def file(engine: Engine, run: str, path: str) -> bytes:
    state = engine.load(run)
    version = state.files.get(path)
    if version is None:
        raise UserError(f"Run {run} has no file {path!r}.", hint=f"reconvene files {run}")
    return engine.log.artefact(version.digest)


def documents(engine: Engine, run: str) -> tuple[Document, ...]:
    """What the run was given to read, and what agents read in folders that it was given."""
    return tuple(citable_documents.of_run(engine, engine.session(run)))


def sources(engine: Engine, run: str) -> tuple[SourceAt, ...]:
    """The data that it was given to ask."""
    session = engine.session(run)
    return given_material.sources(session.state, session.book)


def inputs(engine: Engine, run: str) -> dict[str, object]:
    """What else it was given."""
    session = engine.session(run)
    material = [name for name, spec in session.book.workflow.inputs.items() if spec.type in ("documents", "sources")]
    given = session.book.object(session.state.inputs) if session.state.inputs else {}
    return {name: value for name, value in given.items() if name not in material and value not in (None, "", [])}


def diff(engine: Engine, run: str, old: str = "", new: str = "") -> str:
    """Between two rounds (run-wide numbers; 0 = before the first), or what changed since the last round closed."""
    trees, now = _trees(engine, run)
    numbers = sorted(trees)
    if not old and not new:
        closed = [number for number in numbers if number > 0]
        before = trees[closed[-2]] if len(closed) > 1 else _Tree()
    else:
        before = trees[_number(old, numbers, "old")] if old else _Tree()
    after = trees[_number(new, numbers, "new")] if new else now
    own = _compare(engine, before.files, after.files)
    return own + difference(engine, engine.load(run), before.head, after.head)


def _number(text: str, known: list[int], field: str) -> int:
    match = re.fullmatch(r"[Rr]?(\d+)", text.strip())
    if not match or int(match[1]) not in known:
        rounds = ", ".join(str(number) for number in known)
        told = f"{text!r} is not a round of this run (rounds: {rounds})."
        raise Refused(told, hint="reconvene diff RUN 1..2", field=field)
    return int(match[1])


class _Tree(NamedTuple):
    files: Mapping[str, str] = MappingProxyType({})  # path → digest
    head: str = ""  # the commit in the person's project


def _trees(engine: Engine, run: str) -> tuple[dict[int, _Tree], _Tree]:
    """Files as they were when each round closed, by the round's serial; and now."""
    state = EMPTY
    trees: dict[int, _Tree] = {0: _Tree()}
    for seq, event in engine.log.read(run):
        state = state_after(run, state, seq, event)
        if isinstance(event, RoundClosed | RoundUndone):
            trees[event.serial] = _tree(state)
    return trees, _tree(state)


def _tree(state: RunState) -> _Tree:
    return _Tree({path: version.digest for path, version in state.world.files.items()}, state.world.head)


def _compare(engine: Engine, old: Mapping[str, str], new: Mapping[str, str]) -> str:
    parts = []
    for path in sorted({*old, *new}):
        if old.get(path) != new.get(path):
            before = engine.log.artefact(old[path]) if path in old else None
            after = engine.log.artefact(new[path]) if path in new else None
            parts.append(unified_diff(path, before, after))
    return "".join(part if part.endswith("\n") else part + "\n" for part in parts)


# --- what agents wrote ---


def attempts(engine: Engine, run: str) -> tuple[Attempt, ...]:
    """Every attempt of every agent, in the order in which they ended."""
    return written.attempts((event for _, event in engine.log.read(run)), engine.session(run).book)


def wrote(engine: Engine, run: str, agent: str = "", which: str = "") -> tuple[Attempt, ...]:
    """The attempts of one round: of one agent, or of all of them.

    `which` is the round's number in its phase ("2": the latest of that number), or its serial ("R7"); "" is the last
    round in which the agent worked."""
    found = attempts(engine, run)
    names = list(dict.fromkeys((*engine.session(run).book.workflow.agents, *(one.agent for one in found))))
    if agent and agent not in names:
        near = closest(agent, names)
        hint = f"Did you mean {near[0]}?" if near else f"There is: {', '.join(names)}"
        raise UserError(f"{run} has no agent {agent!r}.", hint=hint)
    own = [one for one in found if agent in ("", one.agent)]
    if not own:
        who = f"{agent} has written nothing" if agent else "No agent has written anything"
        raise UserError(f"{who} yet in {run}.", hint=f"reconvene show {run}")
    serial = _serial(own, run, which)
    return tuple(one for one in own if one.serial == serial)


def _serial(own: list[Attempt], run: str, which: str) -> int:
    """Of these attempts, the round that is meant."""
    if not which:
        return own[-1].serial
    named = re.fullmatch(r"(?P<serial>[Rr])?(?P<number>\d{1,9})", which.strip())
    if named is None:
        hint = f"Write 2, or R7, as reconvene rounds {run} lists them."
        raise Refused(f"{which!r} is not a round.", hint=hint, field="round")
    number = int(named["number"])
    fitting = [one.serial for one in own if number == (one.serial if named["serial"] else one.round)]
    if not fitting:
        known = ", ".join(dict.fromkeys(f"R{one.serial} ({one.phase} {one.round})" for one in own[-8:]))
        who = f"{own[0].agent} wrote nothing" if len({one.agent for one in own}) == 1 else "nobody wrote anything"
        raise Refused(f"In {run}, {who} in round {which.strip()}.", hint=f"There is: {known}", field="round")
    return fitting[-1]


def output(engine: Engine, run: str, shown: Written) -> str:
    """All of what a checkpoint names by its first lines."""
    session = engine.session(run)
    round_ = session.state.world.top.round
    found = [one for one in (round_.outputs if round_ else ()) if (one.agent, one.step) == (shown.agent, shown.step)]
    return session.book.text(found[-1].output.digest) if found else ""
