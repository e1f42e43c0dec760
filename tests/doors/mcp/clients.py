"""The official client, and people behind it: what a test asks, over which transport, and what the person answers."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from mcp import Client
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import StdioServerParameters
from mcp_types import CallToolResult, ElicitRequestFormParams, ElicitRequestParams, ElicitResult, TextContent

WORDS = [sys.executable, "-m", "reconvene.doors.cli"]
EVERY = ("legacy", "auto")  # how the versions of the protocol are agreed on: a handshake before, by discovery since
Content = dict[str, str | int | float | bool | list[str] | None]


def text(result: CallToolResult) -> str:
    return "\n".join(part.text for part in result.content if isinstance(part, TextContent))


def stdio(home: Path, *words: str, **environment: str) -> StdioServerParameters:
    given = {name: value for name, value in os.environ.items() if name.startswith(("RECONVENE_", "XDG_", "PYTHON"))}
    return StdioServerParameters(
        command=WORDS[0],
        args=[*WORDS[1:], "--home", str(home), "mcp", *words],
        env={**given, **environment},
        cwd=home.parent,
    )


@contextmanager
def over_http(home: Path, *words: str, **environment: str) -> Iterator[tuple[str, str]]:
    """A server in a process of its own: its address and its token."""
    server = subprocess.Popen(
        [*WORDS, "--home", str(home), "--json", "mcp", "--http", *words],
        cwd=home.parent,
        env={**os.environ, **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    )
    try:
        assert server.stdout is not None
        told = json.loads(server.stdout.readline())
        yield told["url"], told["token"]
    finally:
        server.terminate()
        server.communicate(timeout=60)
        assert server.returncode in (0, -15)


class Person:
    """Sits before a client. `meanwhile`: what happens between the question and the answer."""

    def __init__(
        self,
        action: str,
        content: Content | None = None,
        meanwhile: Callable[[], None] = lambda: None,
    ) -> None:
        self._action = action
        self._content = content
        self._meanwhile = meanwhile
        self.asked: list[ElicitRequestFormParams] = []

    async def __call__(self, context: ClientRequestContext, params: ElicitRequestParams) -> ElicitResult:
        assert isinstance(params, ElicitRequestFormParams)
        self.asked.append(params)
        if len(self.asked) == 1:
            self._meanwhile()
        accepted = self._content if self._action == "accept" else None
        return ElicitResult(action=self._action, content=accepted)  # type: ignore[arg-type]


Asking = Callable[[Client], Awaitable[CallToolResult]]
