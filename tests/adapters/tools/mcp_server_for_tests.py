"""A real MCP server, written with the official library. Started as a program; `http` serves on loopback instead."""

from __future__ import annotations

import asyncio
import os
import sys
from pathlib import Path

from mcp.server import MCPServer
from mcp.server.mcpserver.exceptions import ToolError

server = MCPServer("bookkeeping")


@server.tool()
def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@server.tool()
def secrets() -> str:
    """Shows what it was given."""
    return "\n".join(f"{name}={value}" for name, value in sorted(os.environ.items()))


@server.tool()
def fails() -> str:
    """Always fails."""
    raise ToolError(f"no luck with {os.environ.get('LEDGER_TOKEN', 'nothing')}")


@server.tool()
def large(size: int) -> str:
    """Gives so many characters."""
    return "x" * size


@server.tool()
async def slow(seconds: float) -> str:
    """Takes its time."""
    await asyncio.sleep(seconds)
    return "done"


@server.tool()
def ends() -> str:
    """Ends the server in the middle of a call."""
    print("it is all over", file=sys.stderr, flush=True)
    os._exit(7)


@server.tool()
def look(path: str) -> str:
    """Reads a file, if it can."""
    try:
        return Path(path).read_text()
    except OSError as error:
        return f"refused: {error.strerror}"


@server.tool()
def spawn(mark: str) -> str:
    """Leaves a process behind."""
    import subprocess

    subprocess.Popen(["sleep", mark], start_new_session=True)
    return f"started {os.getpid()}"


if __name__ == "__main__":
    if sys.argv[1:2] == ["http"]:
        server.run("streamable-http", host="127.0.0.1", port=int(sys.argv[2]))
    else:
        server.run("stdio")
