"""The server in a process of its own: every tool, over both transports and both ages of the protocol; who is kept out.

All of it with the official client.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
from collections.abc import Awaitable, Callable

import httpx2
import pytest
from mcp import Client
from mcp.client.stdio import StdioServerParameters
from mcp.client.streamable_http import streamable_http_client
from mcp_types import Tool
from tests.companion.planned_job import SECRET, Two
from tests.doors.mcp.clients import EVERY, WORDS, over_http, stdio, text

READING = (
    *("read_workspace_file", "list_workspace_files", "search_workspace", "vector_search", "git_log", "git_diff"),
    *("git_show", "get_job", "get_audit_trail", "get_chat_history", "get_todos", "get_graph_changes"),
    *("get_llm_request", "search_audit", "show_checkpoint", "list_runs", "inbox"),
)
EXPECTED = {  # what each tool says of the job, with these arguments
    "read_workspace_file": ({"path": "plan.md"}, "Count every heron twice."),
    "list_workspace_files": ({}, "report.md"),
    "search_workspace": ({"query": "data validation"}, "plan.md:"),
    "vector_search": ({"query": "wings and legs"}, "heron.pdf p. 2"),
    "git_log": ({}, "strategy: Request changes"),
    "get_job": ({}, "the heron count"),
    "get_audit_trail": ({"kind": "error"}, "no such table Broken"),
    "get_chat_history": ({"limit": 200}, "The heron plan is written."),
    "get_todos": ({}, "[ ] load: Load the figures"),
    "get_graph_changes": ({}, "nodes created: 2"),
    "search_audit": ({"query": "parser exception"}, "Broken"),
    "show_checkpoint": ({}, "Is this what you wanted?"),
    "inbox": ({}, "Is this what you wanted?"),
    "list_runs": ({"status": "waiting"}, "waiting at result"),
}
Connected = Callable[[str], Client]


async def every_tool(client: Client, two: Two, scoped: bool) -> list[Tool]:
    """Each tool is called; what it says is as expected, and nothing of another run where one alone is served."""
    named = {} if scoped else {"run": two.job.run}
    tools = (await client.list_tools()).tools
    seen = list[str]()
    for tool, (arguments, expected) in EXPECTED.items():
        own = {} if tool in ("inbox", "list_runs") else named
        result = await client.call_tool(tool, {**own, **arguments})
        assert not result.is_error, text(result)
        assert expected in text(result), (tool, text(result))
        assert len(text(result).encode()) <= 25_000
        seen.append(text(result))
    newest, *_, oldest = (line.split()[0] for line in text(await client.call_tool("git_log", named)).split("\n")[1:])
    assert f"commit {oldest}" in text(await client.call_tool("git_show", {**named, "commit": oldest}))
    assert "+One heron." in text(await client.call_tool("git_diff", {**named, "old": oldest, "new": newest}))
    trail = text(await client.call_tool("get_audit_trail", {**named, "kind": "model"}))
    event = int(trail.split("\n")[1].split()[1])
    seen.append(text(await client.call_tool("get_llm_request", {**named, "event": event})))
    assert "Plan the heron count" in seen[-1]
    wrong = await client.call_tool("read_workspace_file", {**named, "path": "nothing.md"})
    assert wrong.is_error
    assert "There is no file or document" in text(wrong)
    assert (await client.call_tool("no_such_tool", {})).is_error
    whole = "\n".join(seen)
    assert SECRET not in whole
    assert not scoped or ("quagga" not in whole and two.other.run not in whole)
    return tools


def ask(client: Client, asking: Callable[[Client], Awaitable[list[Tool]]]) -> list[Tool]:
    async def once() -> list[Tool]:
        async with client:
            return await asking(client)

    return asyncio.run(once())


@pytest.mark.parametrize(("mode", "scoped"), [("legacy", False), ("auto", True)])
def test_every_tool_answers_over_the_standard_streams(two: Two, mode: str, scoped: bool) -> None:
    only = ("--run", two.job.run) if scoped else ()
    server = stdio(two.home, *only, **two.environment)
    tools = ask(Client(server, mode=mode), lambda client: every_tool(client, two, scoped))
    assert {tool.name for tool in tools} == {*READING, *(() if scoped else ("update_instructions",))}
    for tool in tools:
        assert tool.annotations is not None
        assert tool.annotations.read_only_hint is (tool.name in READING)
        takes = tool.input_schema.get("properties")
        assert isinstance(takes, dict)
        assert ("run" in takes) == (not scoped and tool.name not in ("inbox", "list_runs", "update_instructions"))


def test_a_server_of_one_run_lists_shows_and_finds_no_other(two: Two) -> None:
    async def probe(client: Client) -> list[Tool]:
        for tool in ("get_job", "show_checkpoint", "get_todos"):
            refused = await client.call_tool(tool, {"run": two.other.run})
            assert refused.is_error
            assert "quagga" not in text(refused)
        for tool, arguments in (("list_runs", {}), ("inbox", {}), ("list_runs", {"after": two.other.run})):
            assert two.other.run not in text(await client.call_tool(tool, arguments))
        for tool in ("search_workspace", "vector_search", "search_audit"):
            found = text(await client.call_tool(tool, {"query": "quagga"}))
            assert found.replace("'quagga'", "").count("quagga") == 0
        return []

    server = stdio(two.home, "--run", two.job.run, **two.environment)
    ask(Client(server), probe)


def test_nothing_but_the_protocol_is_printed(two: Two) -> None:
    hello = {
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}},
    }
    done = subprocess.run(
        [*WORDS, "--home", str(two.home), "mcp"],
        input=f"{json.dumps(hello)}\nthis is no message\n",
        env=_environment(stdio(two.home, **two.environment)),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert lines[0]["result"]["serverInfo"]["name"] == "reconvene"
    assert all(line["jsonrpc"] == "2.0" for line in lines)


def _environment(server: StdioServerParameters) -> dict[str, str]:
    import os

    return {**os.environ, **(server.env or {})}


def _client(url: str, token: str, mode: str) -> Client:
    http = httpx2.AsyncClient(headers={"Authorization": f"Bearer {token}"}, timeout=120)
    return Client(streamable_http_client(url, http_client=http), mode=mode)


def test_every_tool_answers_over_http_and_nobody_gets_in_without_the_token(two: Two) -> None:
    with over_http(two.home, **two.environment) as (url, token):
        for mode in EVERY:
            tools = ask(_client(url, token, mode), lambda client: every_tool(client, two, False))
            assert {tool.name for tool in tools} == {*READING, "update_instructions"}
        own = {"Authorization": f"Bearer {token}"}
        host = url.split("/")[2]

        def status(**headers: str) -> int:
            return httpx2.post(url, json={}, headers=headers).status_code

        assert status() == 401
        assert status(Authorization="Bearer wrong") == 401
        assert status(Authorization=token) == 401
        assert status(**own, Origin="https://evil.example") == 403
        assert status(**own, Origin="null") == 403
        assert status(**own, Origin=f"http://{host}.evil.example") == 403
        assert status(**own, Host="evil.example") == 421
        assert status(**own, Host=f"{host}0") == 421
        assert status(**own, Origin=f"http://{host}") not in (401, 403)
        assert status(**own) not in (401, 403)


def test_a_token_that_is_given_counts_and_one_that_can_be_guessed_is_refused(two: Two) -> None:
    given = "a-token-of-my-own-0123456789"
    with over_http(two.home, RECONVENE_MCP_TOKEN=given, **two.environment) as (_, token):
        assert token == given
    refused = subprocess.run(
        [*WORDS, "--home", str(two.home), "mcp", "--http"],
        env={**_environment(stdio(two.home, **two.environment)), "RECONVENE_MCP_TOKEN": "short"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert refused.returncode == 64
    assert "a token is at least 16" in refused.stderr
    assert "short" not in refused.stdout
