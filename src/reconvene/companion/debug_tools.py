"""What is on record of a run, as the companion reads it to find out what happened: filtered, and in pages."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from reconvene.app import queries, record
from reconvene.app.views.audit import short
from reconvene.app.views.read_model import RunInFull
from reconvene.companion.paging import listed, number, paged, within, words
from reconvene.companion.tool_scope import DATA, Answer, Made, Scope

_USUAL = 50  # rows
_OF_A_TURN = 2_000  # bytes
_SHORT = 300  # characters of a text in a row


def get_job(scope: Scope, given: Mapping[str, object]) -> Answer:
    shown = queries.show(scope.engine, scope.run)
    parts = [
        f"run {shown.run} of {shown.workflow}: {_standing(shown)}",
        f"started {shown.started}, last change {shown.updated}",
        *_given(scope),
        _spent(shown),
        *_numbered("errors", (*shown.errors, *shown.failures)),
        *_numbered(
            "decisions", [f"{one.phase}: {one.option} ({one.by}, {one.timestamp[:16]})" for one in shown.decisions]
        ),
        *_numbered("where it stands", [f"[{'x' if one.done else ' '}] {one.what}" for one in shown.todo]),
        *_numbered("runs that it started", [f"{one.run}: {one.title}" for one in shown.children]),
    ]
    if shown.checkpoint is not None:
        options = ", ".join(one.label for one in shown.checkpoint.options if one.offered)
        parts.append(f"waits for a person: {short(shown.checkpoint.question, _SHORT)} Options: {options}.")
    return Answer(within("\n".join([*filter(None, parts), f"({DATA})"])))


def _standing(shown: RunInFull) -> str:
    where = f"phase {shown.phase}" + (f", round {shown.round}" if shown.round else "") if shown.phase else ""
    item = "; ".join(f"{one.title} ({one.number} of {one.of})" for one in shown.items)
    told = ", ".join(filter(None, (shown.status, where, item, shown.outcome if shown.outcome != shown.status else "")))
    return told + (f". {shown.why}" if shown.why else "")


def _given(scope: Scope) -> list[str]:
    inputs = queries.inputs(scope.engine, scope.run)
    found = [f"input {name}: {short(str(value), _SHORT)}" for name, value in inputs.items()]
    documents = ", ".join(one.name for one in queries.documents(scope.engine, scope.run))
    sources = ", ".join(f"{one.name} ({one.kind})" for one in queries.sources(scope.engine, scope.run))
    return [*found, f"documents: {documents or 'none'}", f"data sources: {sources or 'none'}"]


def _spent(shown: RunInFull) -> str:
    used = shown.usage
    unpriced = sum(one.unpriced for one in used.budgets[:1])
    price = f"${used.cost:.4f}" + (f" as far as known ({unpriced} calls without a known price)" if unpriced else "")
    tokens = f"{used.input_tokens:,} tokens in, {used.output_tokens:,} out"
    return f"usage: {used.calls} calls in {used.rounds} rounds, {tokens}, {price}"


def _numbered(title: str, lines: Sequence[str], most: int = 20) -> list[str]:
    if not lines:
        return []
    rest = [f"  … and {len(lines) - most} more: get_audit_trail lists everything"] if len(lines) > most else []
    return [f"{title}:", *(f"  {short(line, _SHORT)}" for line in lines[-most:]), *rest]


def get_audit_trail(scope: Scope, given: Mapping[str, object]) -> Answer:
    kind, agent = words(given, "kind") or "all", words(given, "agent")
    found = [
        one
        for one in record.trail(scope.engine, scope.run, number(given, "after", 0))
        if (kind == "all" or kind in one.kinds) and agent in ("", one.agent)
    ]
    if not found:
        return Answer(_none(given, f"There is no event of the kind {kind!r}" + (f" by {agent}" if agent else "")))
    return _events(f"audit trail, {kind}", [one.seq for one in found], [one.line() for one in found], given)


def get_chat_history(scope: Scope, given: Mapping[str, object]) -> Answer:
    agent, after = words(given, "agent"), number(given, "after", 0)
    found = [
        one
        for one in record.turns(scope.engine, scope.run)
        if one.seq > after and (not agent or one.who in (agent, f"tool for {agent}"))
    ]
    if not found:
        return Answer(_none(given, f"{agent or 'Nobody'} has said nothing"))
    lines = list[str]()
    for one in found:
        text = within(one.text, _OF_A_TURN)
        cut = f" (cut; all of it: event {one.seq})" if text != one.text else ""
        lines.append(f"event {one.seq}  {one.at[:19]}  {one.who}, {one.what}{cut}:\n{text}\n")
    return _events("turns", [one.seq for one in found], lines, given)


def get_todos(scope: Scope, given: Mapping[str, object]) -> Answer:
    now = record.todos_now(scope.engine, scope.run)
    parts = list[str]()
    if now is not None:
        rows = [one for one in now if isinstance(one, dict)]
        told = [f"[{'x' if one.get('done') else ' '}] {one.get('id')}: {one.get('text')}" for one in rows]
        parts += _numbered("todos.yaml as it is now", told, 100) or ["todos.yaml: there is none yet, or it is empty"]
    worked = record.todos_worked_at(scope.engine, scope.run)
    by_phase = dict[str, list[str]]()
    for one in worked:
        done = f"done, event {one.done}" if one.done else f"begun, event {one.begun}, not done"
        by_phase.setdefault(one.phase, []).append(f"[{'x' if one.done else ' '}] {one.key}: {one.title} ({done})")
    for phase, lines in by_phase.items():
        parts += _numbered(f"worked at in {phase}", lines, 100)
    standing = queries.show(scope.engine, scope.run).todo
    parts += _numbered("where the run stands", [f"[{'x' if one.done else ' '}] {one.what}" for one in standing])
    cites = ("todos.yaml",) if now else ()
    return Answer(within("\n".join([*(parts or ["There are no to-dos."]), f"({DATA})"])), cites)


def get_graph_changes(scope: Scope, given: Mapping[str, object]) -> Answer:
    after = number(given, "after", 0)
    changes = record.graph_changes(scope.engine, scope.run)
    found = [one for one in changes if one.seq > after]
    if not found:
        graphs = record.graph_sources(scope.engine, scope.run)
        if not graphs and not changes:
            return Answer("No graph: no graph data source is attached to this run.")
        return Answer(_none(given, f"Nothing was changed in {', '.join(graphs) or 'a graph'}"))
    lines = [
        f"event {one.seq}  {one.at[:19]}  {one.agent}"
        + (f", to-do {one.todo}" if one.todo else "")
        + f", {one.source}, {one.outcome}: {within(one.statement, _OF_A_TURN)}\n"
        + (", ".join(f"{name.replace('_', ' ')}: {count:,}" for name, count in one.counts.items()) or short(one.result))
        for one in found
    ]
    return _events("changes of graphs", [one.seq for one in found], lines, given)


def get_llm_request(scope: Scope, given: Mapping[str, object]) -> Answer:
    seq, part = number(given, "event", 0), words(given, "part") or "request"
    text = record.sent(scope.engine, scope.run, seq, part)
    if not text:
        return Answer(f"Of event {seq} no {part} is on record.", (f"event {seq}",))
    return paged(f"{part} of the model call at event {seq} ({DATA})", text, given, f"event {seq}")


def search_audit(scope: Scope, given: Mapping[str, object]) -> Answer:
    query, after = words(given, "query"), number(given, "after", 0)
    asked = query.casefold().split()
    lines, seqs = list[str](), list[int]()
    for seq, text in record.searched(scope.engine, scope.run, after):
        low = text.casefold()
        if all(word in low for word in asked):
            seqs.append(seq)
            lines.append(f"event {seq}  {_around(text, low, asked)}")
    if not seqs:
        return Answer(_none(given, f"Nothing on record holds all of the words {query!r}"))
    return _events(f"events with {query!r}", seqs, lines, given)


def _around(text: str, low: str, asked: Sequence[str]) -> str:
    at = low.find(asked[0]) if asked else 0
    return short(text[max(0, at - _SHORT // 3) :][: 2 * _SHORT], _SHORT)


def _none(given: Mapping[str, object], what: str) -> str:
    after = number(given, "after", 0)
    return f"{what} after event {after}." if after else f"{what}."


def _events(title: str, seqs: Sequence[int], lines: Sequence[str], given: Mapping[str, object]) -> Answer:
    on: Callable[[int], str] = lambda shown: f"after={seqs[shown - 1]}"  # noqa: E731
    cites = [f"event {seq}" for seq in seqs]
    return listed(f"{title} ({DATA})", lines, number(given, "limit", _USUAL), on, cites)


MADE: dict[str, Made] = {
    "get_job": get_job,
    "get_audit_trail": get_audit_trail,
    "get_chat_history": get_chat_history,
    "get_todos": get_todos,
    "get_graph_changes": get_graph_changes,
    "get_llm_request": get_llm_request,
    "search_audit": search_audit,
}
