"""A job with documents, a graph and to-dos, driven by a model at a loopback server: what the companion's tools look at.

Two runs in one home. Each has words of its own, so that what leaks from one to the other is seen.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from pathlib import Path
from typing import NamedTuple

import pytest

from reconvene.adapters.agents import Agents
from reconvene.app.engine import Engine
from reconvene.companion.tool_scope import Scope
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.ports import Assignment, Listener
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from reconvene.tool_ports import ToolInfo, ToolResult
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine, open_index

SECRET = "s3cret-value-4711"  # of a variable that looks secret
FLOW = """\
name: job
kits: [planning]
inputs:
  description: {type: text, required: true}
  documents: {type: documents}
  sources: {type: sources}
agents:
  planner: {model: "openai:gpt-4o-mini", options: {base_url: "URL"}, tools: [files]}
  worker: {model: "openai:gpt-4o-mini", options: {base_url: "URL"}, tools: [files, graph]}
phases:
  - id: strategy
    rounds: {max: 9}
    agents: [planner]
    prompt: "Plan {{ inputs.description }}"
    checkpoint:
      status: pending_review
      question: Shall it be done so?
      prompt: Look at the plan.
      show_files: [plan.md]
      options:
        - {label: Approve, then: continue}
        - {label: Request changes, remark: required, then: again}
  - id: tactics
    each: {of: kit.planning.todos, key: id}
    agents: [worker]
    prompt: "Work at {{ item.text }}"
  - id: result
    checkpoint:
      status: result_review
      question: Is this what you wanted?
      prompt: Look at the result.
      options:
        - {label: Accept, then: continue}
"""
PHASES = "\n## Success\n\n1. It is counted.\n2. It is checked.\n\n## Phases\n\n1. The count.\n2. The page.\n   One.\n"
TODOS = "- {id: load, text: Load the figures}\n- {id: report, text: Write the report, after: [load]}\n"
_PATH: dict[str, object] = {"type": "object", "properties": {"path": {"type": "string"}, "text": {"type": "string"}}}
_CHANGE: dict[str, object] = {
    "type": "object",
    "properties": {"source": {"type": "string"}, "change": {"type": "string"}},
}


class _Box:
    def __init__(self, files: dict[str, bytes]) -> None:
        self._files = files

    def tools(self) -> tuple[ToolInfo, ...]:
        return (
            ToolInfo("write_file", "files", "Write a file.", _PATH, writes=True),
            ToolInfo("change_graph", "graph", "Change the graph.", _CHANGE, effects=True),
        )

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        if name == "change_graph":
            if "Broken" in str(arguments["change"]):
                return ToolResult("Parser exception: no such table Broken", failed=True)
            return ToolResult("nodes created: 2", counts={"nodes_created": 2})
        path, data = str(arguments["path"]), str(arguments["text"]).encode()
        self._files[path] = data
        return ToolResult("written", files={path: data})

    def read(self, path: str) -> bytes | None:
        return self._files.get(path)

    def files(self) -> Mapping[str, bytes]:
        return self._files

    def ignored(self) -> tuple[str, ...]:
        return ()


class _Boxes:
    @asynccontextmanager
    async def open(
        self, assignment: Assignment, changed: Mapping[str, bytes | None], listener: Listener
    ) -> AsyncIterator[_Box]:
        yield _Box({path: data for path, data in changed.items() if data is not None})


def _call(tool: str, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


def model(seen: Seen) -> Reply:
    messages = seen.body["messages"]
    assert isinstance(messages, list)
    turn, text = sum(message["role"] == "assistant" for message in messages), json.dumps(messages)
    word = "quagga" if "quagga" in text else "heron"
    if "Plan the" in text:
        if turn:
            return Say(f"The {word} plan is written. My key is {SECRET}.")
        plan = f"# Plan\n\n## Method\n\nCount every {word} twice.\n\n## Risk\n\nData validation is weak.\n{PHASES}"
        long = "".join(f"row {number} of the {word} count\n" for number in range(4000))
        files = {"plan.md": plan, "workspace.md": f"# Known\n\n{word}\n", "todos.yaml": TODOS, "data/long.txt": long}
        return Calls(tuple(_call("write_file", path=path, text=data) for path, data in files.items()))
    if turn:
        return Say(f"The {word} to-do is done.")
    if "Work at Load the figures" in text:
        made = f"CREATE (:Bird {{name: '{word}'}})"
        return Calls(
            (
                _call("change_graph", source="birds", change=made),
                _call("change_graph", source="birds", change="MATCH (n:Broken) DELETE n"),
            )
        )
    return Calls((_call("write_file", path="report.md", text=f"# Report\n\nOne {word}.\n"),))


class Job:
    """One run; `drive` and `decide` are what people do."""

    def __init__(self, engine: Engine, server: OpenAIServer, word: str) -> None:
        self.engine = engine
        notes = {
            "name": f"{word}.pdf",
            "media": "application/pdf",
            "digest": word,
            "parts": [{"place": "p. 1", "text": f"On the {word}."}, {"place": "p. 2", "text": "Wings\nand legs."}],
            "notes": [],
        }
        given = {
            "description": f"the {word} count",
            "documents": [notes],
            "sources": [{"name": "birds", "kind": "graph", "address": "/secret/place/birds.lbdb"}],
        }
        self.run = engine.start(parse_workflow(FLOW.replace("URL", server.url)), given, by="ann")

    def drive(self) -> None:
        asyncio.run(self.engine.drive(self.run, by="ann", door="test"))
        self.engine.commit_history(self.run)

    def decide(self, option: str, *said: str) -> None:
        remarks = tuple(RemarkIn(text) for text in said)
        self.engine.submit(self.run, AnswerCheckpoint("", option, remarks=remarks, by="ann", door="test"))
        self.drive()


def opened(home: Path) -> Engine:
    environ = {"OPENAI_API_KEY": "not-a-key"}
    return open_engine(home, runner=Agents(str(home / "scratch"), environ, toolboxes=_Boxes()))


class Two(NamedTuple):
    """`job` has been planned, changed, approved and carried out; `other` waits for the review of its plan."""

    job: Job
    other: Job
    home: Path
    environment: dict[str, str]

    def scope(self, job: Job | None = None) -> Scope:
        return Scope((job or self.job).engine, (job or self.job).run, open_index(self.home))


@contextmanager
def two_jobs(home: Path) -> Iterator[Two]:
    environment = {"SOME_SERVICE_TOKEN": SECRET, "XDG_CONFIG_HOME": f"{home}.config", "XDG_STATE_HOME": f"{home}.state"}
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(model) as server:
        for name, value in environment.items():
            patch.setenv(name, value)
        engine = opened(home)
        job, other = Job(engine, server, "heron"), Job(engine, server, "quagga")
        for one in (job, other):
            one.drive()
        job.decide("Request changes", "Say what a heron eats")
        job.decide("Approve")
        yield Two(job, other, home, environment)
        engine.log.close()
