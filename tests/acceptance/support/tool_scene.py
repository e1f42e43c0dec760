"""A run whose model uses three tools of a test's own, at a loopback server."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from reconvene.adapters.agents import Agents
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.ports import Assignment, Listener
from reconvene.testing.openai_server import OpenAIServer
from reconvene.tool_ports import ToolInfo, ToolResult
from reconvene.wiring import open_engine
from support.stage import Stage

_TEXT: dict[str, object] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}


class Box:
    """Three tools: one looks, one writes a file, one pays. `paid` is what really happened."""

    def __init__(self, files: dict[str, bytes], made: Boxes) -> None:
        self._files = files
        self._made = made

    def tools(self) -> tuple[ToolInfo, ...]:
        return (
            ToolInfo("look", "files", "Look at something.", _TEXT),
            ToolInfo("note", "files", "Write it down.", _TEXT, writes=True),
            ToolInfo("pay", "shell", "Pay somebody.", _TEXT, effects=True),
        )

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        text = str(arguments["text"])
        if name == "pay":
            self._made.paid.append(text)
            self._made.broken(text)
            return self._made.result or ToolResult(f"paid {text}")
        if name == "note":
            self._files["workspace.md"] = text.encode()
            return ToolResult("noted", files={"workspace.md": text.encode()})
        return ToolResult(f"saw {text}")

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def files(self) -> Mapping[str, bytes]:
        return self._files

    def ignored(self) -> tuple[str, ...]:
        return ()


class Boxes:
    def __init__(self) -> None:
        self.paid: list[str] = []
        self.broken: Callable[[str], None] = lambda text: None
        self.kept: dict[str, bytes] = {}  # files that are there from the beginning
        self.result: ToolResult | None = None  # of paying, where it is not the usual one

    @asynccontextmanager
    async def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AsyncIterator[Box]:
        yield Box(self.kept | {path: data for path, data in changed.items() if data is not None}, self)


class Scene:
    """One run with a model at a loopback server; `again` opens the home anew, as another process would."""

    def __init__(self, tmp_path: Path, server: OpenAIServer, tools: str, more: str = "", agents: str = "[a]") -> None:
        self.server = server
        self.boxes = Boxes()
        each = f'{{model: "openai:gpt-4o-mini", options: {{base_url: "{server.url}"}}, tools: {tools}{more}}}'
        flow = f"name: flow\nagents: {{a: {each}, b: {each}}}\nphases: [{{id: work, agents: {agents}}}]\n"
        self.home = tmp_path / "home"
        self.stage = Stage(self.home, flow, {})
        self.again()

    def again(self) -> None:
        environ = {"OPENAI_API_KEY": "not-a-key"}
        scratch = str(self.home / "scratch")
        self.stage.engine = open_engine(self.home, runner=Agents(scratch, environ, toolboxes=self.boxes))

    def drive(self) -> str:
        return self.stage.drive().status

    def rule(self, option: str, *said: str, **fields: object) -> None:
        remarks = tuple(RemarkIn(text) for text in said)
        self.stage.engine.submit(self.stage.run, AnswerCheckpoint("", option, fields, remarks, by="ann", door="test"))

    def messages(self, number: int) -> list[dict[str, object]]:
        found = self.server.requests[number].body["messages"]
        assert isinstance(found, list)
        return found


def call(name: str, text: str) -> tuple[str, str]:
    return name, json.dumps({"text": text})
