"""One Markdown page for each tool, made from its schema: what it does, what it takes, how it is called, and who has it.

A workflow asks for them with `files: [{path: tools, each: tools}]`. They are made when the first agent with tools
begins.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from reconvene.app.effects import Done
from reconvene.core.definition.workflow import Tool
from reconvene.core.facts.book import Book
from reconvene.core.facts.commands import RecordToolPages
from reconvene.core.facts.events import FileOut
from reconvene.core.facts.ids import digest_of
from reconvene.core.facts.state import RunState
from reconvene.core.shown.settled_agents import settled_agent
from reconvene.errors import ReconveneError
from reconvene.ports import AgentRunner, Assignment, ListsTools
from reconvene.tool_ports import ToolInfo

_OF_TYPE: Mapping[str, object] = {
    "string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}, "null": None,
}  # fmt: skip
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "array": "list"}


_KINDS = ("model", "recorded")  # of agents that work with tools


def folder_due(state: RunState, book: Book) -> str:
    """Where the pages go, as long as there are none of this workflow; "" = none are wanted, or they are there."""
    since = state.record.upgrades[-1].at if state.record.upgrades else ""
    there = any(state.world.files[path].at >= since for path in pages(state, book))
    return "" if there else _folder(book)


def pages(state: RunState, book: Book) -> list[str]:
    """The paths of those that there are."""
    folder = _folder(book)
    return [
        path for path, one in state.world.files.items() if folder and one.rendered and path.startswith(f"{folder}/")
    ]


def _folder(book: Book) -> str:
    return next((spec.path for spec in book.workflow.files if spec.each == "tools"), "")


async def made(runner: AgentRunner, state: RunState, book: Book, work: Assignment, folder: str) -> Done | None:
    """Of all agents that have tools. `work`: of one of them, with what the run was given."""
    if not isinstance(runner, ListsTools):
        return None
    tools: dict[str, ToolInfo] = {}
    owners: dict[str, dict[str, Tool]] = {}
    for name in [name for name, agent in book.workflow.agents.items() if agent.tools]:
        try:
            agent = settled_agent(state, book, name)
            found = await runner.tools(work._replace(agent=agent, files={}, writes=())) if agent.kind in _KINDS else ()
        except ReconveneError:  # said when it is to work
            continue
        entries = {entry.name: entry for entry in agent.tools}
        for tool in found:
            before = tools.setdefault(tool.name, tool)
            if tool.writes and not before.writes:
                tools[tool.name] = tool
            owners.setdefault(tool.name, {})[name] = entries.get(tool.of, Tool(tool.of))
    texts = {f"{folder}/{name}.md": page(tool, owners[name]).encode() for name, tool in tools.items()}
    files = tuple(FileOut(path, digest_of(data), len(data)) for path, data in sorted(texts.items()))
    return Done(RecordToolPages(files), {digest_of(data): data for data in texts.values()}) if files else None


def page(tool: ToolInfo, owners: Mapping[str, Tool] | None = None) -> str:
    """`owners`: the agents that have it, each with the entry of its `tools` that brings it."""
    properties = _object(tool.schema.get("properties"))
    given = tool.schema.get("required")
    required = set(map(str, given)) if isinstance(given, list) else set[str]()
    parts = [f"# {tool.name}", tool.description.strip()]
    parts += ["It acts on the world: what it did cannot be taken back."] if tool.effects else []
    parts += ["It changes files of your folder."] if tool.writes else []
    if properties:
        rows = [_row(name, _object(about), name in required) for name, about in properties.items()]
        parts.append("\n".join(["| argument | type | needed | meaning |", "|---|---|---|---|", *rows]))
    else:
        parts.append("It takes no arguments.")
    call = {"tool": tool.name, "arguments": _example(properties, required)}
    parts.append(f"An example:\n\n```json\n{json.dumps(call, ensure_ascii=False, indent=2)}\n```")
    if owners:
        rows = [f"| {name} | {_how(entry)} |" for name, entry in owners.items()]
        parts.append("\n".join(["| who has it | how |", "|---|---|", *rows]))
    return "\n\n".join(parts) + "\n"


def _how(entry: Tool) -> str:
    """In which ways the workflow holds it back."""
    options, said = entry.options, list[str]()
    if entry.ask:
        said.append("a person is asked first" + ("" if entry.ask == "always" else f", where `{entry.ask}`"))
    if options.get("read"):
        said.append("it may only read")
    if writes := options.get("writes"):
        said.append(f"it may write only {', '.join(map(str, writes if isinstance(writes, list) else [writes]))}")
    if options.get("network") is False:
        said.append("without a network")
    return "; ".join(said).replace("|", "\\|") or "freely"


def _row(name: str, about: Mapping[str, object], needed: bool) -> str:
    cells = (f"`{name}`", _type(about), "yes" if needed else "no", _meaning(about))
    return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |"


def _type(about: Mapping[str, object]) -> str:
    found = about.get("type", "anything")
    names = found if isinstance(found, list) else [found]
    return " or ".join(_WORDS.get(str(name), str(name)) for name in names)


def _meaning(about: Mapping[str, object]) -> str:
    said = str(about.get("description", "")).strip()
    choices = about.get("enum")
    if isinstance(choices, list):
        said += (
            (" " if said else "") + "One of " + ", ".join(json.dumps(one, ensure_ascii=False) for one in choices) + "."
        )
    limits = [(about.get("minimum"), "at least"), (about.get("maximum"), "at most")]
    told = [f"{word} {limit:,}" for limit, word in limits if isinstance(limit, int) and limit != 1]
    return said + (f" ({', '.join(told)})" if told else "")


def _example(properties: Mapping[str, object], required: set[str]) -> dict[str, object]:
    """What is needed, and whatever else has an example of its own."""
    shown = {name: _object(about) for name, about in properties.items()}
    return {name: _value(about) for name, about in shown.items() if name in required or "examples" in about}


def _value(about: Mapping[str, object]) -> object:
    for key in ("examples", "enum"):
        found = about.get(key)
        if isinstance(found, list) and found:
            return found[0]
    if "default" in about:
        return about["default"]
    kind = about.get("type")
    return _OF_TYPE.get(str(kind[0] if isinstance(kind, list) and kind else kind), "…")


def _object(value: object) -> Mapping[str, object]:
    return value if isinstance(value, dict) else {}
