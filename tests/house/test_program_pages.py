"""The programs on the pages about Python and about HTTP run, and do what the pages say."""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest
from test_docs import ROOT, TITLE, blocks

from reconvene import open_engine, parse_workflow
from reconvene.testing.scripted import ScriptedAgents
from served_home import ground, on_a_port

FLOW = """
name: flow
agents: {writer: {}}
phases:
  - id: draft
    rounds: {max: 3}
    agents: [writer]
    checkpoint: {question: Good?, options: [{label: Go on, then: continue}, {label: Again, then: again}]}
"""


def saved(page: str, folder: Path) -> None:
    for block in blocks(ROOT / "docs" / page):
        if block.info == "python" and (title := TITLE.match(block.text)):
            (folder / title[1]).write_text(block.text, encoding="utf-8")


def imported(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"of_the_page_{file.stem}", file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_a_run_from_its_start_to_its_end_and_followed(tmp_path: Path) -> None:
    saved("python.md", tmp_path)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    printed = [
        subprocess.run(
            [sys.executable, file], cwd=tmp_path, env=environment, capture_output=True, text=True, check=True
        ).stdout
        for file in ("one_run.py", "follow.py")
    ]
    assert "Is the draft good? ['Go on', 'Once more']" in printed[0]
    assert printed[0].rstrip().endswith("completed")
    lines = printed[1].splitlines()
    assert lines[0].startswith("1 ")
    assert lines[-1] == f"the last one is {len(lines) - 1}"


def test_the_web_application_on_the_page_serves_and_takes_decisions(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from fastapi.testclient import TestClient

    saved("python.md", tmp_path)
    monkeypatch.chdir(tmp_path)
    engine = open_engine("home", runner=ScriptedAgents({}, default="done"))
    run = engine.start(parse_workflow(FLOW), by="ada")
    engine.drive_sync(run)
    with TestClient(imported(tmp_path / "web.py").app) as client:
        assert client.get("/waiting").json() == [{"run": run, "question": "Good?"}]
        shown = client.get(f"/waiting/{run}").json()
        assert shown["options"] == ["Go on", "Again"]
        headers = {"if-match": shown["version"], "user": "ada"}
        assert client.post(f"/waiting/{run}", json={"option": "Nowhere"}, headers=headers).status_code == 422
        assert client.post(f"/waiting/{run}", json={"option": "Go on"}, headers=headers).status_code == 200
        late = client.post(f"/waiting/{run}", json={"option": "Again"}, headers={**headers, "user": "bob"})
        assert late.status_code in (409, 422)
    assert next(iter(engine.load(run).record.decisions.values())).by == "ada"
    engine.log.close()


def test_the_bot_on_the_page_tells_what_waits_and_decides(tmp_path: Path) -> None:
    saved("rest.md", tmp_path)
    with ground(tmp_path) as made, on_a_port(made) as (url, _):
        run = made.parked()
        token = made.person("ada")["authorization"].removeprefix("Bearer ")
        bot = imported(tmp_path / "bot.py").Bot(url, token)
        assert bot.waiting() == [f"{run}: Is the draft good? (1 Go on, 2 Once more, 3 Stop)"]
        assert bot.waiting() == []
        assert "needs your words" in bot.heard(f"{run} 2")
        assert bot.heard(f"{run} 2 shorter, please").startswith(f"{run}: Once more")
        assert "decided already" in imported(tmp_path / "bot.py").Bot.heard(bot, f"{run} 3")
        decision = next(iter(made.state(run).record.decisions.values()))
        assert (decision.option, decision.door) == ("Once more", "rest")
