"""What did not fit into a prompt is told: at the stop, in `show`, beside the prompt, and in JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from commands import Command

FLOW = """
name: flow
inputs: {brief: {type: text}}
agents:
  writer: {command: ["sh", "-c", "cat >/dev/null; echo It is done."]}
  critic: {command: ["sh", "-c", "cat >/dev/null; echo It is seen."]}
phases:
  - id: draft
    reads: [inputs.brief]
    agents: [writer, critic]
    checkpoint: {options: [{label: Good}]}
"""
SAID = "inputs.brief: its first 60,000 of 70,000 characters are shown"


@pytest.fixture
def run(reconvene: Command, tmp_path: Path) -> str:
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    (tmp_path / "brief.txt").write_text("b" * 70_000, encoding="utf-8")
    told = reconvene("run", "flow.yaml", "--no-input", "--input", "brief=@brief.txt")
    assert told.code == 3
    assert f"! critic, writer (draft, round 1) were not shown everything: {SAID}" in told.out
    assert f"not all documents fit: {SAID}" in told.err
    return "flow-1"


def test_it_stands_beside_the_prompt(reconvene: Command, run: str) -> None:
    assert f"not all of it fitted: {SAID}" in reconvene("output", run, "writer", "--prompt").out
    (attempt,) = json.loads(reconvene("output", run, "writer", "--json").out)["attempts"]
    assert attempt["left_out"] == [{"name": "inputs.brief", "shown": 60_000, "of": 70_000}]
    assert f"- {SAID}" in attempt["prompt"]


def test_it_is_told_with_the_run_until_the_next_stop_and_stays_on_record(reconvene: Command, run: str) -> None:
    (row,) = json.loads(reconvene("show", run, "--json").out)["unshown"]
    assert (row["agents"], row["phase"], row["round"]) == (["critic", "writer"], "draft", 1)
    assert row["documents"] == [{"name": "inputs.brief", "shown": 60_000, "of": 70_000}]
    reconvene("decide", run, "--option", "Good")
    (listed,) = json.loads(reconvene("runs", "--json").out)
    assert (listed["status"], listed.get("unshown", [])) == ("completed", [])
    assert SAID in reconvene("show", run).out
