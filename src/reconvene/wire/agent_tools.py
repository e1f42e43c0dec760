"""`tools:` of an agent: which tools a model may use, and when a person is asked first."""

from __future__ import annotations

from reconvene.core.definition.workflow import Tool
from reconvene.wire.problems import shown
from reconvene.wire.reading import CALL_ROOTS, Reading
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, items_of, plain

# tool → its options, beside `ask`
OPTIONS: dict[str, tuple[str, ...]] = {
    "files": ("read", "writes"),
    "documents": (),
    "sql": ("source",),
    "graph": ("source", "read"),
    "project": (),
    "shell": ("read", "timeout", "network"),
    "mcp": ("name", "command", "url", "headers", "env", "read", "reads", "tools", "timeout", "network"),
}
ALWAYS = "always"
READ = "read"  # all that only looks
_READING = ("files", "documents", "sql")


class Tools:
    def __init__(self, reading: Reading) -> None:
        self._reading = reading

    def of(self, agent: str, node: Mapping, *, uses_tools: bool) -> tuple[Tool, ...]:
        written = node.get("tools")
        if written is None:
            return ()
        line = node.line_of("tools")
        if not uses_tools:
            message = f"agent '{shown(agent)}': 'tools' are for a model; a program or a function has its own"
            self._reading.add(line, message, "remove 'tools', or let a model do the work")
            return ()
        found: dict[str, Tool] = {}
        for name, options, at in _entries(written, line):
            tool = self._tool(name, options, at)
            if tool is not None and tool.name in found:
                self._reading.add(at, f"'tools': {shown(tool.name)} is there twice", "keep one of them")
            elif tool is not None:
                found[tool.name] = tool
        return tuple(found.values())

    def _tool(self, name: str, options: Mapping, line: int) -> Tool | None:
        if name not in OPTIONS:
            self._reading.add_unknown(line, f"there is no tool '{shown(name)}'", name, tuple(OPTIONS))
            return None
        for key in options.entries:
            if key not in ("ask", *OPTIONS[name]):
                known = ", ".join(("ask", *OPTIONS[name]))
                self._reading.add(options.line_of(key), f"tool '{name}' has no '{shown(key)}'", f"it has {known}")
        given = {key: plain(value) for key, value in options.entries.items() if key != "ask"}
        if name == "mcp":
            self._check_server(options, line)
            name = f"mcp:{given.get('name', '')}"
        return Tool(name, self._ask(options), given, line)

    def _ask(self, options: Mapping) -> str:
        if options.text("ask") == ALWAYS:
            return ALWAYS
        return self._reading.expression(options, "ask", CALL_ROOTS)

    def _check_server(self, options: Mapping, line: int) -> None:
        if not options.text("name"):
            self._reading.add(line, "an MCP server needs a name", "such as mcp: {name: github, command: [github-mcp]}")
        ways = [key for key in ("command", "url") if options.get(key) is not None]
        if len(ways) != 1:
            message = "an MCP server is started by 'command', or found at 'url': it needs one of the two"
            self._reading.add(line, message, "such as mcp: {name: github, command: [github-mcp]}")


def _entries(written: Node, line: int) -> list[tuple[str, Mapping, int]]:
    """[files, shell: {ask: always}], {files: , shell: {…}} and files alone mean the same."""
    found: list[tuple[str, Mapping, int]] = []
    for item in items_of(written):
        if isinstance(item, Scalar) and item.value == READ:
            only = Mapping({"read": Scalar(True, item.line)}, item.line)
            none = Mapping({}, item.line)
            found += [(name, only if name == "files" else none, item.line) for name in _READING]
        elif isinstance(item, Scalar):
            found.append((str(item.value), Mapping({}, item.line), item.line))
        elif isinstance(item, Mapping):
            found += [(name, item.mapping(name), item.line_of(name)) for name in item.entries]
    return found or [("", Mapping({}, line), line)]
