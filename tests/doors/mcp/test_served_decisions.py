"""Decisions and starts through real servers: what is allowed by which option, and that the run goes on."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import ExitStack
from pathlib import Path

import httpx2
import pytest
from mcp import Client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Tool
from tests.doors.mcp.clients import Person, over_http, stdio, text

from commands import Command
from hasty import until
from reconvene.wiring import open_log

FLOW = """\
name: two-step
inputs: {topic: {type: text, required: true}, notes: {type: file}}
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo '# Draft'; echo hello > draft.md"]}
phases:
  - {id: draft, agents: [writer], checkpoint: {approval_required: true}}
  - {id: polish, agents: [writer]}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    return tmp_path


def waiting(reconvene: Command) -> str:
    done = reconvene("run", "flow.yaml", "--input", "topic=birds", "--no-input", "--json")
    assert done.code == 3, done.err
    return str(done.object["run"])


def told(folder: Path, run: str) -> tuple[str, str]:
    """How the run stands, and how it was last decided."""
    log = open_log(folder / ".reconvene")
    try:
        row = log.index_row(run)
        doors = [getattr(event, "door", "") for _, event in log.read(run) if type(event).__name__ == "DecisionRecorded"]
        return (row.status if row else "", ",".join(doors))
    finally:
        log.close()


def asked(
    folder: Path, words: tuple[str, ...], asking: Callable[[Client], Awaitable[CallToolResult]], person: Person,
    *, http: bool = False, mode: str = "auto",
) -> CallToolResult:  # fmt: skip
    async def once(client: Client) -> CallToolResult:
        async with client:
            return await asking(client)

    with ExitStack() as stack:
        if http:
            url, token = stack.enter_context(over_http(folder / ".reconvene", *words))
            given = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=300)
            return asyncio.run(
                once(Client(streamable_http_client(url, http_client=given), elicitation_callback=person, mode=mode))
            )
        return asyncio.run(once(Client(stdio(folder / ".reconvene", *words), elicitation_callback=person, mode=mode)))


@pytest.mark.parametrize(("http", "mode"), [(False, "auto"), (True, "legacy"), (True, "auto")])
def test_a_person_decides_over_every_transport(folder: Path, reconvene: Command, http: bool, mode: str) -> None:
    run, person = waiting(reconvene), Person("accept", {"option": "Continue"})
    result = asked(
        folder, ("--allow-decide", "--no-drive", "--by", "Ada"),
        lambda client: client.call_tool("decide", {"run": run}), person, http=http, mode=mode,
    )  # fmt: skip
    assert not result.is_error, text(result)
    assert f"resume {run}" in text(result)
    assert len(person.asked) == 1
    assert told(folder, run) == ("running", "mcp")
    assert "Ada" in reconvene("show", run).out
    assert reconvene("verify", run).code == 0


def test_a_decided_run_goes_on_by_itself_though_the_client_leaves(folder: Path, reconvene: Command) -> None:
    run, person = waiting(reconvene), Person("accept", {"option": "Continue"})
    only = ("--allow-decide", "--run", run)
    result = asked(folder, only, lambda client: client.call_tool("decide", {}), person, mode="legacy")
    assert "The run goes on." in text(result)
    asyncio.run(until(lambda: told(folder, run)[0] == "completed"))
    assert told(folder, run) == ("completed", "mcp")


def test_a_client_starts_only_what_the_person_lets_it_start(folder: Path, reconvene: Command) -> None:
    (folder / "notes.md").write_text("Birds fly.", encoding="utf-8")
    (folder / "evil.yaml").write_text(FLOW.replace("two-step", "evil"), encoding="utf-8")
    results = list[CallToolResult]()
    tools = list[Tool]()

    async def start(client: Client) -> CallToolResult:
        tools.extend((await client.list_tools()).tools)
        for workflow, inputs in (
            ("evil", {"topic": "x"}),
            ("evil.yaml", {"topic": "x"}),
            ("two-step", {"topic": "@/etc/passwd"}),
            ("two-step", {"topic": "x", "notes": "/etc/passwd"}),
            ("two-step", {"topic": "x", "notes": "../outside.md"}),
            ("two-step", {}),
            ("two-step", {"topic": "birds", "unknown": "x"}),
            ("two-step", {"topic": "birds", "notes": "notes.md"}),
        ):
            results.append(await client.call_tool("start_run", {"workflow": workflow, "inputs": inputs}))
        return results[-1]

    asked(folder, ("--allow-start", "--workflow", "flow.yaml", "--no-drive"), start, Person("decline"))
    assert [result.is_error for result in results] == [True] * 7 + [False]
    for result, why in zip(results, ("may be started here", "may be started here", "begins with @", "not below")):
        assert why in text(result)
    (listed,) = reconvene("runs", "--json").objects
    assert listed["run"] in text(results[-1])
    shown = reconvene("log", str(listed["run"]), "--json").out
    assert '"door":"mcp"' in shown.replace(" ", "")
    assert "decide" not in {tool.name for tool in tools}
    (starting,) = [tool for tool in tools if tool.name == "start_run"]
    assert starting.annotations is not None
    assert starting.annotations.read_only_hint is False


@pytest.mark.parametrize("option", ["--allow-decide", "--allow-start"])
def test_below_an_agent_of_a_run_nothing_can_be_allowed(folder: Path, reconvene: Command, option: str) -> None:
    waiting(reconvene)
    refused = reconvene("mcp", option, RECONVENE_TASK="R1/0/writer")
    assert refused.code == 64
    assert "is for people, and here an agent of a run is at work" in refused.err
    assert refused.out == ""


def test_options_that_contradict_each_other_are_refused(folder: Path, reconvene: Command) -> None:
    run = waiting(reconvene)
    assert "add --allow-start" in reconvene("mcp", "--workflow", "flow.yaml").err
    assert "leave one of them out" in reconvene("mcp", "--run", run, "--allow-start").err
    assert "There is no run 'nothing'" in reconvene("mcp", "--run", "nothing").err
    assert reconvene("mcp", "--home", str(folder / "elsewhere")).code == 64
