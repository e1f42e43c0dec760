"""A run whose model works with tools, in processes that a fuse kills anywhere on the way.

Started as a program it imports everything once, and forks for each line that it reads: `home url place at`.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from reconvene.adapters.agents import Agents, model
from reconvene.adapters.sqlite import SqliteLog
from reconvene.core.facts.commands import AnswerCheckpoint
from reconvene.ports import Append, Assignment, Listener
from reconvene.tool_ports import ToolInfo, ToolResult
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine
from support.fuse import Fuse, note

RUN = "flow-1"
ROUNDS = 3
_TEXT: dict[str, object] = {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]}
_FLOW = """
name: flow
agents:
  a:
    model: openai:gpt-4o-mini
    options: {{base_url: "{url}"}}
    tools: [files, shell: {{ask: "args.text === 'pay 1'"}}]
phases: [{{id: work, agents: [a]}}]
"""


class Box:
    def __init__(self, files: dict[str, bytes], paid: str, fuse: Fuse) -> None:
        self._files, self._paid, self._fuse = files, paid, fuse

    def tools(self) -> tuple[ToolInfo, ...]:
        return (
            ToolInfo("note", "files", "Write it down.", _TEXT, writes=True),
            ToolInfo("pay", "shell", "Pay somebody.", _TEXT, effects=True),
        )

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        text = str(arguments["text"])
        self._fuse(f"before {name}")
        if name == "note":
            old = self._files.get("workspace.md", b"").decode()
            self._files["workspace.md"] = f"{old}{text}\n".encode()
            result = ToolResult("noted", files={"workspace.md": self._files["workspace.md"]})
        else:
            note(self._paid, text)
            result = ToolResult("paid")
        self._fuse(f"after {name}")
        return result

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def files(self) -> Mapping[str, bytes]:
        return self._files

    def ignored(self) -> tuple[str, ...]:
        return ()


class Boxes:
    def __init__(self, paid: str, fuse: Fuse) -> None:
        self._paid, self._fuse = paid, fuse

    @asynccontextmanager
    async def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AsyncIterator[Box]:
        yield Box({path: data for path, data in changed.items() if data is not None}, self._paid, self._fuse)


class CrashingLog(SqliteLog):
    fuse = Fuse()

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        self.fuse("before append")
        head = super().append(run, expected_seq, append)
        self.fuse("after append")
        return head


def play(home: str, url: str, place: str, at: int) -> str:
    """To the end, with a person who allows every call: also what may have been made already."""
    import reconvene.adapters.sqlite as sqlite

    fuse = Fuse(place, at)
    CrashingLog.fuse = fuse
    sqlite.SqliteLog = CrashingLog  # type: ignore[misc]
    asked = model.ask

    async def asks(*given: object) -> object:
        fuse("before ask")
        response = await asked(*given)  # type: ignore[arg-type]
        fuse("after ask")
        return response

    model.ask = asks  # type: ignore[assignment]
    runner = Agents(os.path.join(home, "scratch"), {"OPENAI_API_KEY": "no"}, toolboxes=Boxes(f"{home}.paid", fuse))
    engine = open_engine(home, runner=runner)
    if not engine.log.head(RUN):
        engine.start(parse_workflow(_FLOW.format(url=url)), by="ann")
    while True:
        state = asyncio.run(engine.drive(RUN, by="ann", door="test"))
        point = state.world.open
        if point is None:
            return state.status
        fuse("before rule")
        label = next(one.label for one in point.options if one.label in ("Approve", "Make them again"))
        engine.submit(RUN, AnswerCheckpoint("", label, by="ann", door="test"))
        fuse("after rule")


def main() -> None:
    for line in sys.stdin:
        home, url, place, at = json.loads(line)
        child = os.fork()
        if child == 0:
            code = 1
            try:
                status = play(home, url, place, at)
                os.write(1, (json.dumps(status) + "\n").encode())
                code = 0
            finally:
                os._exit(code)
        _, status = os.waitpid(child, 0)
        if not os.WIFEXITED(status) or os.WEXITSTATUS(status):
            os.write(1, (json.dumps(f"ended {status}") + "\n").encode())


if __name__ == "__main__":
    import openai  # noqa: F401
    import pydantic_ai.direct
    import pydantic_ai.models.openai  # noqa: F401

    main()
