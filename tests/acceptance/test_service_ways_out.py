"""An agent that the server itself drives tries to decide through that server, in twenty ways: none succeeds."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

import reconvene as package
from commands import call
from reconvene.core.facts.events import AttemptEnded, DecisionRecorded
from reconvene.wiring import open_log

PROGRAM = Path(__file__).parent / "support" / "server_ways.py"
SOURCE = Path(package.__file__).resolve().parents[1]
VICTIM = """
name: victim
agents: {writer: {command: "cat >/dev/null; echo text > draft.md", sandbox: "off"}}
phases: [{id: draft, agents: [writer], checkpoint: {approval_required: true}}]
"""
_FEWEST = 20  # ways


@pytest.mark.parametrize("sandbox", ["", "off"], ids=["sandbox", "none"])
def test_no_way_for_an_agent_to_decide_through_the_server_succeeds(
    folder: Path, monkeypatch: pytest.MonkeyPatch, sandbox: str
) -> None:
    if sandbox:
        monkeypatch.setenv("RECONVENE_SANDBOX", sandbox)
    else:
        monkeypatch.delenv("RECONVENE_SANDBOX")
    (folder / "victim.yaml").write_text(VICTIM)
    assert call("run", "victim.yaml", "--no-input", cwd=folder).code == 3
    point = call("show", "victim-1", "--json", cwd=folder).object["checkpoint"]
    assert isinstance(point, dict)
    command = [
        sys.executable,
        "-m",
        "reconvene.doors.cli",
        "serve",
        "--json",
        "--port",
        "0",
        "--workflow",
        "attack.yaml",
    ]
    (folder / "attack.yaml").write_text(json.dumps(flow([])))
    with subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as server:
        try:
            assert server.stdout is not None
            told = json.loads(server.stdout.readline())
            words = [told["url"], "victim-1", str(point["digest"]), str(folder / ".reconvene")]
            (folder / "attack.yaml").write_text(json.dumps(flow(words)))
            run = post(told, "/api/v1/runs", {"workflow": "attack"})["run"]
            text = said(folder, told, run)
        finally:
            server.terminate()
            server.communicate()
    answers = dict(line.rsplit(": ", 1) for line in text.strip().splitlines())
    assert answers["control: the server is there"] == "200", "where the server is not reached, nothing is shown"
    assert len(answers) >= _FEWEST, text
    print(text)
    for way, answer in answers.items():
        if not way.startswith("control"):
            assert answer not in ("200", "303", "exit 0"), f"{way}: {answer}"
    with closing(open_log(folder / ".reconvene")) as log:
        assert not [event for _, event in log.read("victim-1") if isinstance(event, DecisionRecorded)]


def flow(words: list[str]) -> dict[str, Any]:
    agent = {"command": [sys.executable, str(PROGRAM), *words, str(SOURCE)], "retries": 0, "prompt": "."}
    return {"name": "attack", "agents": {"agent": agent}, "phases": [{"id": "all", "agents": ["agent"]}]}


def post(server: dict[str, Any], path: str, body: object) -> Any:
    headers = {"Authorization": f"Bearer {server['token']}", "Content-Type": "application/json"}
    asks = urllib.request.Request(f"{server['url']}{path}", json.dumps(body).encode(), headers)
    with urllib.request.urlopen(asks, timeout=60) as answer:
        return json.load(answer)


def said(folder: Path, server: dict[str, Any], run: str) -> str:
    """What the agent printed, once its attempt is over: the stream tells."""
    asks = urllib.request.Request(
        f"{server['url']}/api/v1/runs/{run}/stream", headers={"Authorization": f"Bearer {server['token']}"}
    )
    with urllib.request.urlopen(asks, timeout=300) as lines:
        for line in lines:
            if b'"AttemptEnded"' in line:
                break
    with closing(open_log(folder / ".reconvene")) as log:
        ended = [event for _, event in log.read(run) if isinstance(event, AttemptEnded)]
        assert ended[0].output is not None, ended[0]
        return log.artefact(ended[0].output.digest).decode()
