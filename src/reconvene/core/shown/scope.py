"""What expressions and templates see: context, inputs, settings, phase, round, item, up, groups, feedback and the like.

Only what an expression asks for is built, so that a condition costs what it looks at and not what the run has become.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from reconvene.core import kit_finder
from reconvene.core.definition.run_inputs import nested
from reconvene.core.definition.workflow import Phase, Step
from reconvene.core.facts.book import Book
from reconvene.core.facts.round import RoundAt
from reconvene.core.facts.state import Frame, RunState, Value
from reconvene.core.paths import safe_path
from reconvene.core.shown import drafts, on_record
from reconvene.errors import KitFailed, ReconveneError, UserError
from reconvene.language import templates
from reconvene.language.as_text import Growing
from reconvene.language.expressions import ExpressionError
from reconvene.language.expressions import compile as compile_expression
from reconvene.language.late_patterns import late

Scope = dict[str, object]  # what an expression or a template sees, by name

# What any expression may name; some see more.
ROOTS = frozenset(
    "context inputs settings phase round item items up groups feedback drafts attempts rollbacks project kit".split()
)
ENGINE_NAMES = (
    *("feature", "checkpoints", "skip_phases", "phases", "subagents_spawned", "deliverables", "files"),
    *("gap_checks", "inputs", "settings", "run", "phase", "outcome", "status"),
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


def context(state: RunState, book: Book, keys: frozenset[str] | None = None) -> Scope:
    """What `context` holds. keys None = everything."""
    wanted = keys if keys is not None else frozenset((*ENGINE_NAMES, *book.workflow.names))
    result: Scope = {}
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
            return book.object(state.inputs).get("feature")
        case "checkpoints":
            return on_record.checkpoints(state)
        case "skip_phases":
            return list(world.skips)
        case "phases":
            return {
                "iteration_counts": Growing(dict(sorted(world.counts.items())), book.nodes),
                "skipped": Growing(dict(sorted(world.skipped.items())), book.nodes),
                "ended": Growing(dict(sorted(world.closed.items())), book.nodes),
            }
        case "subagents_spawned":
            return record.tasks
        case "deliverables":
            return on_record.deliverables(state)
        case "files":
            return sorted(state.world.files)
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
            return _inputs(state, book)
        case "settings":
            return nested(book.object(state.settings))
        case "run":
            return state.run
        case "phase":
            return world.top.phase if world.cursor else ""
        case "outcome":
            return state.outcome
        case "status":
            return state.status
    return _ABSENT


def _inputs(state: RunState, book: Book) -> Growing:
    """`feature` may be named also where the workflow declares no such input."""
    return Growing(book.object(state.inputs), ("feature",))


def most_rounds(state: RunState, phase: Phase) -> int:
    """In one entry of the phase, with what a person added."""
    return phase.rounds.max + state.record.grants.get(f"rounds.{phase.id}", 0)


def round_view(state: RunState, book: Book, frame: Frame, round_: RoundAt | None) -> Scope:
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
        "max": most_rounds(state, book.phase(frame.phase)) if frame.phase else 1,
    }


def item_view(book: Book, frame: Frame) -> object:
    if frame.item is None:
        return None
    item = book.load(frame.item.ref)
    extra: Scope = {"key": frame.item.key, "index": frame.item.index}
    return {**item, **extra} if isinstance(item, dict) else {"value": item, **extra}


def build(
    state: RunState,
    book: Book,
    roots: frozenset[str],
    keys: frozenset[str] | None = None,
    feedback_keys: frozenset[str] | None = None,
) -> Scope:
    """`keys` of the context, and of the feedback; None = all of them."""
    cursor = state.world.cursor
    frame = cursor[-1]
    scope: Scope = {}
    for root in roots:
        match root:
            case "context":
                scope[root] = context(state, book, keys)
            case "inputs":
                scope[root] = _inputs(state, book)
            case "settings":
                scope[root] = nested(book.object(state.settings))
            case "phase":
                scope[root] = {
                    "id": frame.phase,
                    "entry": frame.entry,
                    "iteration": state.world.counts.get(frame.phase, 0),
                }
            case "round":
                scope[root] = round_view(state, book, frame, frame.round)
            case "item":
                inner = next((f for f in reversed(cursor) if f.item is not None), None)
                scope[root] = item_view(book, inner) if inner else None
            case "up":
                around = {
                    f.phase: {"round": round_view(state, book, f, f.round), "item": item_view(book, f)}
                    for f in cursor[1:]
                }
                scope[root] = Growing(around, book.nodes)
            case "groups":
                scope[root] = {name: list(members) for name, members in book.workflow.groups.items()}
            case "feedback":
                scope[root] = on_record.feedback_view(state, book, feedback_keys)
            case "project":
                scope[root] = on_record.project_view(state)
            case "drafts":
                scope[root] = Growing(drafts.here(state, book))
            case "routing":
                scope[root] = {"affected": [routed.agent for routed in on_record.routes(state, book)]}
            case "decisions":
                scope[root] = on_record.decision_rows(state)
            case "attempts":
                scope[root] = on_record.attempt_rows(state)
            case "rollbacks":
                scope[root] = on_record.rollback_rows(state, book)
            case "items":
                scope[root] = items(state, book)
            case "kit":
                scope[root] = {
                    name: {field: make(state, book) for field, make in fields.items()}
                    for name, fields in kit_finder.fields(book.workflow.kits).items()
                }
            case "budget":
                scope[root] = on_record.budget_view(state, book)
            case "changed":
                scope[root] = on_record.changed_view(state, book)
            case "rounds_by_phase":
                scope[root] = Growing(dict(sorted(state.world.rounds.items())), book.nodes)
    return scope


# --- the values of every item of every `each`; their keys come from agents, and only ever become keys of maps ---

_PART = late(r"([\w-]+)\[(.*?)\](?:/|$)")


def items(state: RunState, book: Book) -> Scope:
    """`items.<phase>.<key>.<value>`, and `items.<phase>.<key>.<inner phase>.<key>.<value>` for loops within loops."""
    found = Growing()
    for key in sorted(state.world.values):
        path, _, name = key.rpartition(":")
        if path:
            _within(found, path)[name] = load_value(book, state.world.values[key])
    return found


def _within(whole: Scope, path: str) -> Scope:
    for part in _PART.finditer(path):
        for key in part.groups():
            inner = whole.setdefault(key, Growing())
            if not isinstance(inner, dict):  # a value has the name of a phase inside its item: the phase wins
                inner = whole[key] = Growing()
            whole = inner
    return whole


def for_expression(state: RunState, book: Book, source: str, extra: Mapping[str, object] | None = None) -> Scope:
    expression = compile_expression(source)
    try:
        scope = build(state, book, expression.roots, expression.context_keys, expression.feedback_keys)
    except KitFailed as error:
        raise ExpressionError(error.message.rstrip(".")) from error
    return {**scope, **extra} if extra else scope


TEMPLATE_ROOTS = ROOTS | {
    "output_dir",
    "run",
    "workflow",
    "started",
    "updated",
    "decisions",
    "rounds_by_phase",
    "changed",
    "budget",
}


def for_template(state: RunState, book: Book, names: frozenset[str] | set[str]) -> Scope:
    scope = build(state, book, frozenset(names))
    scope |= {
        "output_dir": state.workspace,
        "run": state.run,
        "workflow": book.workflow.name,
        "started": state.started,
        "updated": state.updated,
    }
    return scope


def render(text: str, state: RunState, book: Book, failed: Callable[[str], None]) -> str:
    """A template over the run's scope. One that fails is given back as written, and the failure is reported; where a
    kit is at fault, that is given instead: how the template is written helps nobody then."""
    if "{" not in text:
        return text
    try:
        seen = for_template(state, book, book.names_in(text))
        return templates.render(text, seen, loader=book.workflow.templates)
    except ReconveneError as error:
        failed(str(error))
        return f"({error})" if isinstance(error, KitFailed) else text


# What these hold, nobody but the workflow and the person wrote. Of a run that another one started, not even inputs.
_OWN = ("run", "workflow", "started", "updated", "output_dir", "phase", "round", "groups", "settings")


def filled_lines(source: str, text: str, state: RunState, book: Book) -> templates.Spans:
    """The lines of `text`, which `source` was rendered to, that may hold words of agents."""
    if "{" not in source:
        return ()
    own = _OWN if state.parent else (*_OWN, "inputs")
    try:
        seen = for_template(state, book, book.names_in(source))
    except KitFailed:
        return ((0, text.count("\n") + 1),)
    return templates.filled_lines(source, seen, text, own, loader=book.workflow.templates)


# --- names that a workflow writes as templates ---


def writes(state: RunState, book: Book, step: Step) -> tuple[str, ...]:
    return tuple(_filled(state, book, pattern) for pattern in step.writes)


def output_file(state: RunState, book: Book, step: Step) -> str:
    return _filled(state, book, step.output_file) if step.output_file else ""


def round_folder(state: RunState, book: Book) -> str:
    """Where the round in front keeps its files, "" where it has no folder of its own."""
    frame = state.world.top
    template = book.phase(frame.phase).rounds.folder if frame.phase else ""
    return _filled(state, book, template).rstrip("/") if template else ""


def _filled(state: RunState, book: Book, path: str) -> str:
    if "{" not in path:
        return path

    def refuse(message: str) -> None:
        raise UserError(
            f"the name {path!r} cannot be filled in: {message}",
            hint="mend it in the workflow, and go on with it: reconvene upgrade RUN --to WORKFLOW",
        )

    return safe_path(render(path, state, book, refuse).strip())
