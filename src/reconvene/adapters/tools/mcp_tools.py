"""`mcp`: the tools of the MCP servers that a workflow names, under names of their own.

What a server says of its tools is not believed where it matters: each has effects unless the workflow says that it only
reads.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from reconvene.adapters.tools import cutting
from reconvene.adapters.tools.mcp_server import MOST_TOOLS, Listed, McpServer, Settings
from reconvene.adapters.tools.offered import Arguments, Brought, Entry, Offered, ToolFailed
from reconvene.adapters.tools.shell_tool import Programs
from reconvene.tool_ports import ToolInfo, ToolResult
from reconvene.wire import contracts

_UNSAFE = re.compile(r"[^A-Za-z0-9_-]+")
_VARIABLE = re.compile(r"\$\{([A-Za-z_][A-Za-z0-9_]*)\}")
_LONGEST_NAME = 64  # what every provider takes
_LONGEST_ABOUT = 2_000
_SECONDS = 60.0


async def brought(entries: Sequence[Entry], programs: Programs, stack: AsyncExitStack) -> list[Brought]:
    """All servers are started at the same time, and closed with the stack."""
    try:
        import mcp  # noqa: F401
    except ImportError:
        why = "the library for MCP is not installed: pip install 'reconvene[mcp]'"
        return [Brought(left_out={f"{_prefix(_name(entry))}*": why for entry in entries})]
    servers = [(entry, McpServer(_settings(entry, programs.environ), programs)) for entry in entries]
    for _, server in servers:
        stack.push_async_callback(server.close)
    taken: set[str] = set()
    found = await asyncio.gather(*(_listed(server) for _, server in servers))
    return [_of(entry, server, listed, taken) for (entry, server), listed in zip(servers, found, strict=True)]


async def _listed(server: McpServer) -> list[Listed] | str:
    """The reason where it does not tell them."""
    try:
        return await server.tools()
    except ToolFailed as error:
        return str(error)


def _of(entry: Entry, server: McpServer, listed: list[Listed] | str, taken: set[str]) -> Brought:
    """Of a server that could not be started only those tools are known that the workflow names: a call starts it."""
    name, reads, only = _name(entry), _names(entry, "reads"), _names(entry, "tools")
    left_out: dict[str, str] = {}
    if isinstance(listed, str):
        left_out[f"{_prefix(name)}*"] = listed
        about = f"(When the work began: {listed} A call tries to start it anew.)"
        listed = [Listed(tool, about, {"type": "object"}) for tool in only or reads]
    tools: list[Offered] = []
    for tool in listed[:MOST_TOOLS]:
        if only and tool.name not in only:
            continue
        called = _called(name, tool.name, taken)
        if entry.options.get("read") and tool.name not in reads:
            left_out[called] = "it may change something, and here one may only read"
            continue
        if wrong := contracts.wrong_with(tool.schema):
            left_out[called] = f"what it takes cannot be checked: {wrong}"
            continue
        about = cutting.line(cutting.printable(tool.description).strip(), _LONGEST_ABOUT)
        info = ToolInfo(
            called,
            entry.name,
            about or f"The tool {tool.name} of the MCP server {name}.",
            {"type": "object", **tool.schema},
            effects=tool.name not in reads,
        )
        tools.append(_offered(info, server, tool))
    if missing := [tool for tool in only if tool not in {one.name for one in listed}]:
        left_out |= {f"{_prefix(name)}{tool}": f"the MCP server {name} has no such tool" for tool in missing}
    return Brought(tuple(tools), left_out)


def _offered(info: ToolInfo, server: McpServer, tool: Listed) -> Offered:
    async def carry_out(arguments: Arguments) -> ToolResult:
        given = await server.call(tool, arguments)
        return ToolResult(given.text, given.failed, sandbox=given.sandbox)

    return Offered(info, carry_out)


def _called(server: str, tool: str, taken: set[str]) -> str:
    """SERVER_TOOL, as providers take names, and no other tool's."""
    plain = _UNSAFE.sub("_", f"{server}_{tool}")
    name = plain[:_LONGEST_NAME]
    if name != f"{server}_{tool}" and (name in taken or len(plain) > _LONGEST_NAME):
        name = f"{plain[: _LONGEST_NAME - 7]}_{hashlib.sha256(f'{server}_{tool}'.encode()).hexdigest()[:6]}"
    taken.add(name)
    return name


def _prefix(server: str) -> str:
    return _UNSAFE.sub("_", server) + "_"


def _name(entry: Entry) -> str:
    return str(entry.options.get("name") or "mcp")


def _names(entry: Entry, key: str) -> list[str]:
    given = entry.options.get(key) or []
    return [str(one) for one in given] if isinstance(given, list | tuple) else [str(given)]


def _settings(entry: Entry, environ: Mapping[str, str]) -> Settings:
    given = entry.options.get("timeout", _SECONDS)
    timeout = float(given) if isinstance(given, int | float) and given > 0 else _SECONDS
    env = tuple(_names(entry, "env"))
    url = _filled(str(entry.options.get("url") or ""), env, environ)
    headers = entry.options.get("headers")
    sent = (
        {str(key): _filled(str(text), env, environ) for key, text in headers.items()}
        if isinstance(headers, dict)
        else {}
    )
    network = entry.options.get("network", True) is not False
    return Settings(_name(entry), tuple(_names(entry, "command")), url, sent, env, timeout, network)


def _filled(text: str, env: tuple[str, ...], environ: Mapping[str, str]) -> str:
    """`${NAME}` stands for a variable that `env` names."""
    given = {name: value for name, value in environ.items() if name in env}
    return _VARIABLE.sub(lambda found: given.get(found[1], "") if found[1] in env else found[0], text)
