"""A toolbox in a folder of its own, over whatever keeps programs in on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, TypeVar

from reconvene.adapters.sandbox import Sandboxes
from reconvene.adapters.tools import Reach, Toolboxes
from reconvene.core.definition.workflow import Agent
from reconvene.ports import Assignment, Progress, ProjectWork
from reconvene.tool_ports import Toolbox, ToolResult

_Any = TypeVar("_Any")


class Entry(NamedTuple):
    name: str
    options: Mapping[str, object] = {}


class Bench:
    """`with_(entry, …)` opens the box, and hands it to a coroutine function. Nothing may be left afterwards."""

    def __init__(self, root: Path, usual: str, environ: Mapping[str, str]) -> None:
        self.root = root
        self.environ = dict(environ)
        self.sandbox = Sandboxes(str(root / "attempts"), self.environ, lambda: [str(root / "attempts")], usual)
        self.told: list[Progress] = []
        self.files: dict[str, bytes] = {}
        self.changed: dict[str, bytes | None] = {}
        self.writes: tuple[str, ...] = ()
        self.env: tuple[str, ...] = ()
        self.reach = Reach()
        self.work: ProjectWork | None = None

    async def opened(self, entries: Sequence[Entry], work: Callable[[Toolbox], Awaitable[_Any]]) -> _Any:
        agent = Agent(name="writer", env=self.env)
        assignment = Assignment(
            "run-1", "R1/0/writer", 1, agent, "do it", self.files, self.writes, None, project=self.work
        )
        boxes = Toolboxes(self.sandbox, self.environ, reach=self.reach)
        async with boxes.opened(assignment, entries, self.changed, self.told.append) as box:
            return await work(box)

    def with_(self, entries: Sequence[Entry], work: Callable[[Toolbox], Awaitable[_Any]]) -> _Any:
        return self.run(self.opened(entries, work))

    def run(self, work: Coroutine[object, object, _Any]) -> _Any:
        try:
            return asyncio.run(work)
        finally:
            scratch = Path(self.sandbox.scratch())
            left = [path for path in scratch.rglob("*") if path.name != "empty"]
            assert left == []

    def call(self, entry: Entry, name: str, /, **arguments: object) -> ToolResult:
        return self.with_([entry], lambda box: box.call(name, arguments))

    def calls(self, entry: Entry, *calls: tuple[str, Mapping[str, object]]) -> list[ToolResult]:
        async def all_of_them(box: Toolbox) -> list[ToolResult]:
            return [await box.call(name, arguments) for name, arguments in calls]

        return self.with_([entry], all_of_them)
