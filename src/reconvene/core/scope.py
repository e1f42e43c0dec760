"""What expressions and templates see: context, inputs, settings, phase, round, item, up, groups, feedback and the like.

Only what an expression asks for is built, so that a condition costs what it looks at and not what the run has become.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from reconvene.core import drafts
from reconvene.core.book import Book
from reconvene.core.events import RemarkAdded
from reconvene.core.expressions import compile as compile_expression
from reconvene.core.state import Frame, RoundAt, RunState, Value
from reconvene.core.workflow import Again

if TYPE_CHECKING:
    from reconvene.core.routing import Routed

# What any expression may name; some see more, in their place.
ROOTS = frozenset(
    {
        "context",
        "inputs",
        "settings",
        "phase",
        "round",
        "item",
        "items",
        "up",
        "groups",
        "feedback",
        "drafts",
        "attempts",
        "rollbacks",
        "project",
    }
)
ENGINE_NAMES = (
    "feature",
    "checkpoints",
    "skip_phases",
    "phases",
    "subagents_spawned",
    "deliverables",
    "gap_checks",
    "inputs",
    "settings",
    "run",
    "phase",
    "outcome",
    "status",
)


def value_key(cursor: tuple[Frame, ...], owner: str, name: str) -> str:
    """Where a value is kept: per item of every `each` down to the one it lives in, whatever the entry."""
    if not owner:
        return f":{name}"
    parts: list[str] = []
    for frame in cursor:
        if frame.item is not None:
            parts.append(f"{frame.phase}[{frame.item.key}]")
        if frame.phase == owner:
            break
    return "/".join(parts) + f":{name}"


def value_at(state: RunState, book: Book, name: str) -> Value | None:
    return state.world.values.get(value_key(state.world.cursor, book.workflow.names.get(name, ""), name))


def load_value(book: Book, value: Value | None) -> object:
    if value is None:
        return None
    if value.parts is not None:
        return {agent: book.load(value.parts[agent]) for agent in sorted(value.parts)}
    return book.load(value.ref) if value.ref is not None else None


def context(state: RunState, book: Book, keys: frozenset[str] | None = None) -> dict[str, object]:
    """What `context` holds. keys None = everything."""
    wanted = keys if keys is not None else frozenset((*ENGINE_NAMES, *book.workflow.names))
    result: dict[str, object] = {}
    for key in wanted:
        if key in book.workflow.names:
            result[key] = load_value(book, value_at(state, book, key))
        else:
            built = _engine_value(state, book, key)
            if built is not _ABSENT:
                result[key] = built
    return result


_ABSENT = object()


def _engine_value(state: RunState, book: Book, key: str) -> object:
    world, record = state.world, state.record
    match key:
        case "feature":
            return book.object(state.inputs).get("feature", _ABSENT)
        case "checkpoints":
            return checkpoints(state)
        case "skip_phases":
            return list(world.skips)
        case "phases":
            return {
                "iteration_counts": dict(sorted(world.counts.items())),
                "skipped": dict(sorted(world.skipped.items())),
                "ended": dict(sorted(world.closed.items())),
            }
        case "subagents_spawned":
            return record.tasks
        case "deliverables":
            return deliverables(state)
        case "gap_checks":
            return [
                {
                    "phase": c.phase,
                    "action": c.action,
                    "message": c.say,
                    "count": c.count,
                    "agents": list(c.agents),
                    "timestamp": c.at,
                }
                for c in record.gap_checks
            ]
        case "inputs":
            return book.object(state.inputs)
        case "settings":
            return book.object(state.settings)
        case "run":
            return state.run
        case "phase":
            return world.top.phase if world.cursor else ""
        case "outcome":
            return state.outcome
        case "status":
            return state.status
    return _ABSENT


def checkpoints(state: RunState) -> list[dict[str, object]]:
    """Decisions as context.checkpoints lists them."""
    rows: list[dict[str, object]] = []
    for number in sorted(state.record.decisions):
        decision = state.record.decisions[number]
        if decision.attention:
            continue
        row: dict[str, object] = {"phase": decision.phase, "decision": decision.decision}
        if decision.target:
            row["target"] = decision.target
        if decision.skipped:
            row["skipped"] = list(decision.skipped)
        if decision.feedback:
            row["feedback"] = decision.feedback
        row |= {"option": decision.option, "by": decision.by, "timestamp": decision.at}
        rows.append(row)
    return rows


def deliverables(state: RunState) -> list[dict[str, object]]:
    files = sorted(state.world.files.items(), key=lambda pair: (pair[1].at, pair[0]))
    return [
        {"phase": version.phase, "path": path, "size": version.size, "time": version.at}
        for path, version in files
        if not version.person and not version.rendered
    ]


def round_view(book: Book, frame: Frame, round_: RoundAt | None) -> dict[str, object]:
    if round_ is None:
        return {"n": frame.n, "name": "", "extra": False, "agents": None, "last": False, "serial": 0}
    return {
        "n": round_.n,
        "name": round_.name,
        "extra": round_.extra,
        "agents": list(round_.agents) or None,
        "last": round_.last,
        "serial": round_.serial,
        "missing": list(round_.missing),
        "max": book.phase(frame.phase).rounds.max if frame.phase else 1,
    }


def item_view(book: Book, frame: Frame) -> object:
    if frame.item is None:
        return None
    item = book.load(frame.item.ref)
    extra: dict[str, object] = {"key": frame.item.key, "index": frame.item.index}
    return {**item, **extra} if isinstance(item, dict) else {"value": item, **extra}


def remark_view(remark: RemarkAdded) -> dict[str, str]:
    return {
        "id": remark.id,
        "kind": remark.kind,
        "text": remark.text,
        "target": remark.target,
        "by": remark.by,
        "phase": remark.phase,
        "round": str(remark.n),
        "at": remark.at,
        "path": remark.path,
        "lines": remark.lines,
        "was": remark.was,
        "now": remark.now,
        "level": remark.level,
        "reason": remark.reason,
        "opinion": remark.opinion,
        "because": remark.because,
        "checkpoint": remark.checkpoint,
        "origin": remark.origin,
    }


def feedback_view(state: RunState) -> dict[str, object]:
    """All remarks; those given at the checkpoint that is open; and whether one of these is major."""
    remarks = [state.record.remarks[number] for number in sorted(state.record.remarks)]
    here = remarks_here(state)
    return {
        "count": len(remarks),
        "all": [remark_view(remark) for remark in remarks],
        "here": [remark_view(remark) for remark in here],
        "major": any("major" in (remark.level, remark.opinion) for remark in here),
    }


def remarks_here(state: RunState) -> list[RemarkAdded]:
    """What was said at the checkpoint that is open, oldest first."""
    if state.world.open is None:
        return []
    found: list[RemarkAdded] = []
    for number in range(len(state.record.remarks), 0, -1):
        remark = state.record.remarks[number]
        if remark.checkpoint == state.world.open.id:
            found.append(remark)
        elif remark.checkpoint:  # an earlier checkpoint's: nothing older can be of this one
            break
    return found[::-1]


def workers_here(state: RunState, book: Book) -> list[str]:
    """Who can be asked again in the phase in front: the agents of its steps, those with a remit where there are any."""
    frame = state.world.top
    steps = book.phase(frame.phase).steps if frame.phase else ()
    named = list(dict.fromkeys(agent for step in steps for agent in step.agents))
    return [agent for agent in named if book.workflow.agents[agent].remit] or named


def routes(state: RunState, book: Book) -> tuple[Routed, ...]:
    """Which agents of the phase in front the remarks made here affect, and by which rule."""
    from reconvene.core.routing import AgentProfile, affected

    outputs = {output.agent: output for output in state.world.top.outputs}
    workers = workers_here(state, book)
    said = {agent: book.text(outputs[agent].output.digest) for agent in workers if agent in outputs}
    profiles = {agent: AgentProfile(agent, book.workflow.agents[agent].remit, said.get(agent, "")) for agent in workers}
    always = tuple(agent for agent in workers if book.workflow.agents[agent].always)
    return affected(remarks_here(state), profiles, always)


def decision_rows(state: RunState) -> list[dict[str, object]]:
    """Every decision at a checkpoint of the workflow, with what was said there and how much it weighs."""
    said: dict[str, list[RemarkAdded]] = {}
    for number in sorted(state.record.remarks):
        remark = state.record.remarks[number]
        said.setdefault(remark.checkpoint, []).append(remark)
    rows: list[dict[str, object]] = []
    for number in sorted(state.record.decisions):
        decision = state.record.decisions[number]
        if decision.attention:
            continue
        here = said.get(decision.checkpoint, [])
        levels = {remark.level for remark in here}
        rows.append(
            {
                "phase": decision.phase,
                "round": decision.n,
                "at": decision.at,
                "option": decision.option,
                "decision": decision.decision,
                "checkpoint": decision.checkpoint,
                "by": decision.by,
                "remarks": [remark.id for remark in here],
                "feedback": bool(here),
                "level": "major" if "major" in levels else "minor" if here else "",
                "again": isinstance(decision.move, Again),
                "last": decision.last,
                "extra": decision.extra,
            }
        )
    return rows


def project_view(state: RunState) -> dict[str, object]:
    """The branch that the run has in the person's project. `head` is the commit with all accepted work."""
    project = state.record.project
    if project is None:
        return {"path": "", "branch": "", "base": "", "head": "", "changed": False}
    return {
        "path": project.path,
        "branch": project.branch,
        "base": project.base,
        "head": state.world.head or project.base,
        "changed": bool(state.world.head),
    }


def attempt_rows(state: RunState) -> list[dict[str, object]]:
    """Attempts that were not accepted, and the accepted ones after them, oldest first."""
    from reconvene.core.ids import parse_task

    rows: list[dict[str, object]] = []
    for number in range(1, len(state.record.notes) + 1):
        note = state.record.notes[number]
        serial, step, agent = parse_task(note.task)
        code, colon, _ = note.why.partition(":")
        rows.append(
            {
                "at": note.at,
                "phase": note.phase,
                "round": note.n,
                "serial": serial,
                "step": step,
                "agent": agent,
                "attempt": note.attempt,
                "verdict": note.verdict,
                "then": note.then,
                "code": code if colon and code.replace("_", "").isupper() else "",
                "why": note.why,
            }
        )
    return rows


def rollback_rows(state: RunState, book: Book) -> list[dict[str, object]]:
    """Rounds that were taken back, with what the person asked to be different."""
    rows: list[dict[str, object]] = []
    kept = state.record.archives
    for number in range(1, len(state.record.rollbacks) + 1):
        undone = state.record.rollbacks[number]
        decided = state.record.decided.get(undone.checkpoint)
        said = [remark for remark in state.record.remarks.values() if remark.checkpoint == undone.checkpoint]
        rows.append(
            {
                "at": undone.at,
                "phase": undone.phase,
                "round": undone.n,
                "serial": undone.serial,
                "by": undone.by,
                "why": undone.why,
                "folder": undone.folder,
                "pruned": bool(undone.folder) and not any(path.startswith(f"{undone.folder}/") for path in kept),
                "dropped": undone.dropped,
                "fields": book.object(state.record.decisions[decided].fields) if decided is not None else {},
                "remarks": [remark_view(remark) for remark in sorted(said, key=lambda remark: remark.number)],
            }
        )
    return rows


def build(state: RunState, book: Book, roots: frozenset[str], keys: frozenset[str] | None = None) -> dict[str, object]:
    cursor = state.world.cursor
    frame = cursor[-1]
    scope: dict[str, object] = {}
    for root in roots:
        match root:
            case "context":
                scope[root] = context(state, book, keys)
            case "inputs":
                scope[root] = book.object(state.inputs)
            case "settings":
                scope[root] = book.object(state.settings)
            case "phase":
                scope[root] = {
                    "id": frame.phase,
                    "entry": frame.entry,
                    "iteration": state.world.counts.get(frame.phase, 0),
                }
            case "round":
                scope[root] = round_view(book, frame, frame.round)
            case "item":
                inner = next((f for f in reversed(cursor) if f.item is not None), None)
                scope[root] = item_view(book, inner) if inner else None
            case "up":
                scope[root] = {
                    f.phase: {"round": round_view(book, f, f.round), "item": item_view(book, f)} for f in cursor[1:]
                }
            case "groups":
                scope[root] = {name: list(members) for name, members in book.workflow.groups.items()}
            case "feedback":
                scope[root] = feedback_view(state)
            case "project":
                scope[root] = project_view(state)
            case "drafts":
                scope[root] = drafts.here(state, book)
            case "routing":
                scope[root] = {"affected": [routed.agent for routed in routes(state, book)]}
            case "decisions":
                scope[root] = decision_rows(state)
            case "attempts":
                scope[root] = attempt_rows(state)
            case "rollbacks":
                scope[root] = rollback_rows(state, book)
            case "items":
                from reconvene.core.items import items  # it needs this module

                scope[root] = items(state, book)
            case "rounds_by_phase":
                scope[root] = dict(sorted(state.world.rounds.items()))
    return scope


def for_expression(
    state: RunState, book: Book, source: str, extra: Mapping[str, object] | None = None
) -> dict[str, object]:
    expression = compile_expression(source)
    scope = build(state, book, expression.roots, expression.context_keys)
    return {**scope, **extra} if extra else scope


TEMPLATE_ROOTS = ROOTS | {
    "output_dir",
    "run",
    "workflow",
    "started",
    "updated",
    "decisions",
    "rounds_by_phase",
}


def for_template(state: RunState, book: Book, names: frozenset[str] | set[str]) -> dict[str, object]:
    scope = build(state, book, frozenset(names))
    scope |= {
        "output_dir": state.workspace,
        "run": state.run,
        "workflow": book.workflow.name,
        "started": state.started,
        "updated": state.updated,
    }
    return scope
