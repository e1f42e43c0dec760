"""What a server offers its clients: the companion's tools for every run, or for one, and lists of runs.

A server that serves one run knows no other: its tools take no name of a run, and its lists hold that one alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app import index as rows
from reconvene.app import queries
from reconvene.app.engine import Engine
from reconvene.app.index import Listed
from reconvene.companion import tools as companion
from reconvene.companion.paging import listed, number, within, words
from reconvene.companion.tool_scope import DATA, Answer, CompanionTool, Drafts, Scope, WebSearch
from reconvene.doors.shared.glance import found_lines, project_lines
from reconvene.doors.shared.harmless import clean, one_line
from reconvene.doors.shared.whole_checkpoint import describe
from reconvene.errors import ReconveneError, UserError
from reconvene.search_ports import SearchIndex

_USUAL = 50
_STATUSES = ("queued", "running", "waiting", "paused", "completed", "failed", "aborted")
_RUN: dict[str, object] = {"type": "string", "minLength": 1, "description": "The run's id, as list_runs names it."}
_LIST: dict[str, object] = {
    "limit": {"type": "integer", "minimum": 1, "maximum": 200, "description": "At most so many."},
    "after": {"type": "string", "description": "The run that the page before ended with."},
}
Start = Callable[[str, Mapping[str, object]], str]  # a workflow by name and its inputs → the new run


class Served(Struct, frozen=True):
    engine: Engine
    index: SearchIndex
    run: str = ""  # the only one; "" = all of the home
    start: Start | None = None  # None = nothing is started here
    drafts: Drafts | None = None
    web: WebSearch | None = None  # None = not configured

    def find(self, arguments: Mapping[str, object]) -> str:
        """The run that is meant. What the server does not serve is not there."""
        return self.run or self.engine.find(words(arguments, "run"))

    def scope(self, arguments: Mapping[str, object]) -> Scope:
        return Scope(self.engine, self.find(arguments), self.index)


# --- which tools there are ---


def tools(served: Served) -> tuple[CompanionTool, ...]:
    """All but those that ask the person: `decide` and `web_search`."""
    found = [*(tool for tool in companion.all_tools() if tool.name not in _ELSEWHERE), _SHOW_CHECKPOINT]
    found = found if served.run else [_for_any_run(tool) for tool in found]
    found += [_LIST_RUNS, _INBOX]
    if served.drafts is not None and not served.run:
        found.append(_UPDATE_INSTRUCTIONS)
    if served.start is not None:
        found.append(_START_RUN)
    return tuple(found)


_ELSEWHERE = ("web_search", "update_instructions")


def _for_any_run(tool: CompanionTool) -> CompanionTool:
    return replace(tool, parameters=_with(tool.parameters, "run", _RUN))


def _with(parameters: dict[str, object], name: str, spec: dict[str, object]) -> dict[str, object]:
    takes, needs = parameters.get("properties"), parameters.get("required", [])
    assert isinstance(takes, dict)
    assert isinstance(needs, list)
    return {**parameters, "properties": {name: spec, **takes}, "required": [name, *needs]}


def _tool(name: str, description: str, takes: dict[str, object], *, reads: bool = True) -> CompanionTool:
    schema: dict[str, object] = {"type": "object", "properties": takes, "additionalProperties": False}
    return CompanionTool(name, "basic", description, schema, reads_only=reads)


_LIST_RUNS = _tool(
    "list_runs",
    "The runs, the one that was started last first: status, phase, workflow.",
    {"status": {"type": "string", "enum": list(_STATUSES), "description": "Only these."}, **_LIST},
)
_INBOX = _tool("inbox", "The runs that wait for a person, or for a provider, each with its question.", dict(_LIST))
_SHOW_CHECKPOINT = _tool(
    "show_checkpoint",
    "The open checkpoint of a run in full: what there is to read, the question, the options and what each leads to, "
    "the fields, and its version. Showing it decides nothing: a person does.",
    {},
)
_START_RUN = CompanionTool(
    "start_run",
    "basic",
    "Start a workflow. It works until it waits for a person, and get_job tells where it stands.",
    {
        "type": "object",
        "properties": {
            "workflow": {"type": "string", "minLength": 1, "description": "Its name."},
            "inputs": {
                "type": "object",
                "additionalProperties": {"type": "string"},
                "description": "What it is given, by name. Files are named by paths below the server's folder.",
            },
        },
        "required": ["workflow"],
        "additionalProperties": False,
    },
    reads_only=False,
)
_UPDATE = next(tool for tool in companion.all_tools() if tool.name == "update_instructions")
_UPDATE_INSTRUCTIONS = replace(
    _UPDATE,
    parameters=_with(_UPDATE.parameters, "draft", {"type": "string", "minLength": 1, "description": "Its name."}),
)


# --- calling them ---


def call(served: Served, name: str, arguments: Mapping[str, object]) -> Answer:
    """What is wrong with a call is a failed answer in words. Nothing that a terminal acts upon is left in it."""
    known = {tool.name: tool for tool in tools(served)}
    if name not in known:
        return Answer(f"There is no tool {name!r} here. There is: {', '.join(known)}.", failed=True)
    from reconvene.wire import replies

    if problems := replies.wrong_arguments(known[name].parameters, arguments):
        return Answer(f"{name} was not called: {'; '.join(problems)}.", failed=True)
    try:
        answer = _called(served, name, arguments)
    except ReconveneError as error:
        answer = Answer(told(error), failed=True)
    return replace(answer, text=within(clean(answer.text)))


def told(error: ReconveneError) -> str:
    changes = getattr(error, "changes", ())
    return "\n".join(filter(None, (error.message, *(f"  {change}" for change in changes), error.hint)))


def _called(served: Served, name: str, arguments: Mapping[str, object]) -> Answer:
    match name:
        case "list_runs":
            return _list(served, words(arguments, "status") or None, arguments)
        case "inbox":
            return _list(served, "waiting", arguments)
        case "show_checkpoint":
            return show_checkpoint(served, served.find(arguments))
        case "start_run":
            assert served.start is not None
            given = arguments.get("inputs")
            run = served.start(words(arguments, "workflow"), given if isinstance(given, dict) else {})
            return Answer(f"{run} was started. get_job with run={run!r} tells where it stands.")
        case "update_instructions":
            scope = Scope(served.engine, draft=words(arguments, "draft"), drafts=served.drafts)
            return companion.call(scope, name, _without(arguments, "draft"))
        case _:
            return companion.call(served.scope(arguments), name, _without(arguments, "run"))


def _without(arguments: Mapping[str, object], name: str) -> dict[str, object]:
    return {key: value for key, value in arguments.items() if key != name}


def _list(served: Served, status: str | None, arguments: Mapping[str, object]) -> Answer:
    log, limit, after = served.engine.log, number(arguments, "limit", _USUAL), words(arguments, "after")
    if served.run:
        own = rows.one(log, served.run)
        found = [own] if own is not None and status in (None, own.status) and not after else []
        more = ""
    else:
        found, more = rows.page(log, status, after, limit)
    if not found:
        return Answer("Nothing waits for a person." if status == "waiting" else "There are no such runs.")
    answer = listed(
        f"runs ({DATA})", [_line(one) for one in found], limit, lambda shown: f"after={found[shown - 1].run!r}"
    )
    return answer if not more else replace(answer, text=f"{answer.text}\nThere are more: go on with after={more!r}.")


def _line(one: Listed) -> str:
    waits = f"  {one.asked_as or 'provider'}: {one_line(one.asks, 200)}" if one.status == "waiting" else ""
    where = f" at {one.phase}" if one.phase else ""
    return f"{one.run}  {one.status}{where}  {one.workflow}  {one.updated[:16].replace('T', ' ')}{waits}"


def show_checkpoint(served: Served, run: str) -> Answer:
    standing = queries.standing(served.engine, run)
    point = standing.checkpoint
    if point is None:
        why = f" It waits for {standing.provider.model}." if standing.provider else ""
        raise UserError(f"{run} is {standing.status}: there is no checkpoint to decide.{why}")
    where = f"{run} waits at {standing.phase}" + (f", round {standing.round}" if standing.round else "")
    lines = [where, *found_lines(standing), *project_lines(standing.project), describe(point)]
    secrets = served.engine.discretion.of(served.engine.session(run).book.workflow)
    text = (
        secrets.blank("\n".join(lines).encode("utf-8", "replace")).decode("utf-8", "replace")
        if secrets
        else "\n".join(lines)
    )
    shown = within(text, 20_000)
    cut = "" if shown == text else f"Cut: the person reads all of it with: reconvene show {run}"
    return Answer("\n".join(filter(None, (shown, cut, f"version {point.digest} ({DATA})"))))
