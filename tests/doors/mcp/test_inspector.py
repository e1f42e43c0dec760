"""The MCP inspector's command line, from npm, as a client that nobody here wrote. With `make torture`: it is fetched.

Skipped where there is no node, or the package cannot be had.
"""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.companion.planned_job import Two
from tests.doors.mcp.clients import WORDS, over_http, stdio

INSPECTOR = ["npx", "--yes", "@modelcontextprotocol/inspector@2.12.0", "--cli", "--connect-timeout", "0"]
pytestmark = pytest.mark.torture


def inspect(two: Two, *words: str) -> subprocess.CompletedProcess[str]:
    given = stdio(two.home, **two.environment).env or {}
    return subprocess.run(
        [*INSPECTOR, *words],
        env={"PATH": _path(), "HOME": str(Path.home()), **given},
        cwd=two.home.parent,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=400,
        check=False,
    )


def _path() -> str:
    import os

    return os.environ.get("PATH", "")


@pytest.fixture(scope="module")
def inspector(two: Two) -> Two:
    if shutil.which("npx") is None:
        pytest.skip("there is no npx here")
    try:
        tried = inspect(two, "--help")
    except subprocess.TimeoutExpired:
        pytest.skip("the inspector could not be fetched in time")
    if tried.returncode:
        pytest.skip(f"the inspector cannot be had: {tried.stderr[-200:]}")
    return two


def asked(two: Two, target: list[str], method: str, *more: str) -> dict[str, object]:
    done = inspect(two, *target, "--method", method, *more)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def test_the_inspector_lists_and_calls_tools_over_the_standard_streams(inspector: Two) -> None:
    server = [*WORDS, "--home", str(inspector.home), "mcp"]
    assert server[0] == sys.executable
    allowing = [*server, "--allow-start", "--allow-decide"]
    tools = asked(inspector, allowing, "tools/list", "--strict")["tools"]  # fails on schemas that clients cannot take
    assert isinstance(tools, list)
    assert {"decide", "start_run"} <= {tool["name"] for tool in tools}
    tools = asked(inspector, server, "tools/list")["tools"]
    assert isinstance(tools, list)
    assert {"read_workspace_file", "inbox", "show_checkpoint"} <= {tool["name"] for tool in tools}
    changing = [tool["name"] for tool in tools if not tool["annotations"]["readOnlyHint"]]
    assert changing == ["update_instructions"]
    named = ("--tool-arg", f"run={inspector.job.run}", "path=plan.md")
    called = asked(inspector, server, "tools/call", "--tool-name", "read_workspace_file", *named)
    assert "Count every heron twice." in json.dumps(called)


def test_the_inspector_gets_in_over_http_with_the_token_alone(inspector: Two) -> None:
    with over_http(inspector.home, "--run", inspector.job.run, **inspector.environment) as (url, token):
        target = [url, "--transport", "http"]
        header = ("--header", f"Authorization: Bearer {token}")
        called = asked(inspector, target, "tools/call", "--tool-name", "get_job", *header)
        assert "the heron count" in json.dumps(called)
        assert inspect(inspector, *target, "--method", "tools/list").returncode != 0


def test_the_inspector_cannot_ask_a_person_and_so_decides_nothing(inspector: Two) -> None:
    server = [*WORDS, "--home", str(inspector.home), "mcp", "--allow-decide", "--no-drive"]
    before = inspector.job.engine.log.head(inspector.job.run)
    named = ("--tool-name", "decide", "--tool-arg", f"run={inspector.job.run}")
    done = inspect(inspector, *server, "--method", "tools/call", *named)
    assert "cannot ask its person" in done.stdout + done.stderr
    assert inspector.job.engine.log.head(inspector.job.run) == before
