"""One Markdown page for each tool, made from its schema: what it does, what it takes, how it is called. Pure."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from reconvene.tool_ports import ToolInfo

_OF_TYPE: Mapping[str, object] = {
    "string": "text", "integer": 1, "number": 1.5, "boolean": True, "array": [], "object": {}, "null": None,
}  # fmt: skip
_WORDS = {"string": "text", "integer": "whole number", "boolean": "true or false", "array": "list"}


def pages(tools: Iterable[ToolInfo]) -> dict[str, str]:
    """`tools/NAME.md` → its page."""
    return {f"tools/{tool.name}.md": page(tool) for tool in tools}


def page(tool: ToolInfo) -> str:
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
    return "\n\n".join(parts) + "\n"


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
