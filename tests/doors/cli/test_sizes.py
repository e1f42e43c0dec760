"""How large prompts are expected to be, against what models take: in `check --sizes`, and before a run starts."""

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
  small: {prompt: "You are small.", model: "openai:own", options: {window: 8000}}
  open: {prompt: "You are open.", model: "vllm:own"}
  large: {prompt: "You are large.", model: "vllm:own", options: {window: 100000}}
  shell: {command: ["cat"]}
  nobody: {model: "vllm:own", options: {window: 10}}
phases:
  - {id: draft, agents: [small, open, large, shell], reads: [inputs.brief], output: x}
"""


@pytest.fixture(autouse=True)
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "k")
    (tmp_path / "flow.yaml").write_text(FLOW, encoding="utf-8")
    (tmp_path / "brief.txt").write_text("word " * 9000, encoding="utf-8")


def test_check_tells_the_tokens_of_each_agent_and_phase_against_the_window(reconvene: Command) -> None:
    told = reconvene("check", "flow.yaml", "--sizes")
    rows = {line.split()[1]: line for line in told.out.splitlines() if line.startswith("draft ")}
    assert sorted(rows) == ["large", "open", "shell", "small"]
    assert rows["small"].endswith("8,000 (openai:own)")
    assert rows["open"].endswith("not known (vllm:own)")
    assert rows["large"].endswith("100,000 (vllm:own)")
    assert rows["shell"].endswith("not a model")
    assert "How many tokens vllm:own takes is not known" in told.out
    found = json.loads(reconvene("check", "flow.yaml", "--sizes", "--json").out)
    (one,) = [row for row in found["sizes"] if row["agent"] == "small"]
    assert (one["phase"], one["window"], one["model"], one["fits"]) == ("draft", 8000, "openai:own", True)
    assert one["expected"] == one["instructions"] + one["documents"] > 2000


def test_a_run_says_before_it_starts_what_is_not_expected_to_fit(reconvene: Command) -> None:
    told = reconvene("run", "flow.yaml", "--no-drive", "--input", "brief=@brief.txt")
    assert told.code == 0
    notes = [line for line in told.err.splitlines() if "tokens" in line]
    assert len(notes) == 2
    assert notes[0].startswith("draft: about 13,")
    assert "openai:own takes 8,000, of which 2,000 are for the reply (agent small)" in notes[0]
    assert "--model small=PROVIDER:NAME" in notes[0]
    assert notes[1].startswith("how many tokens vllm:own takes is not known; draft is expected to need 13,")


def test_a_run_whose_prompts_fit_says_nothing_of_it(reconvene: Command) -> None:
    told = reconvene("run", "flow.yaml", "--no-drive", "--input", "brief=short")
    assert "tokens" not in told.err


def test_check_counts_for_the_agents_that_a_settings_file_names(reconvene: Command, tmp_path: Path) -> None:
    (tmp_path / "reconvene.toml").write_text('[models]\nshell = "vllm:other"\n', encoding="utf-8")
    told = reconvene("check", "flow.yaml", "--sizes")
    (row,) = [line for line in told.out.splitlines() if line.split()[1:2] == ["shell"]]
    assert row.endswith("not known (vllm:other)")
    told = reconvene("check", "flow.yaml", "--sizes", "--model", "open=openai:gpt-4.1", "--model", "shell=vllm:own")
    rows = {line.split()[1]: line for line in told.out.splitlines() if line.startswith("draft ")}
    assert rows["open"].endswith("(openai:gpt-4.1)")
    assert "not known" not in rows["open"]
    assert rows["shell"].endswith("not known (vllm:own)")


def test_a_remark_that_no_window_holds_is_warned_about_when_it_is_made(reconvene: Command) -> None:
    reconvene("run", "flow.yaml", "--no-drive", "--input", "brief=short")
    told = reconvene("remark", "flow-1", "word " * 9000)
    assert told.code == 0
    (warned,) = [line for line in told.err.splitlines() if line.startswith("! what you say is about ")]
    assert "openai:own (small) takes 8,000, of which 2,000 are for the reply" in warned
    assert "--model small=PROVIDER:NAME" in told.err
    assert "tokens" not in reconvene("remark", "flow-1", "shorter").err
    assert "what you say is about" in reconvene("rollback", "flow-1", "--feedback", "word " * 9000).err


def test_a_run_that_is_taken_up_is_told_the_same(reconvene: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("RECONVENE_PROVIDER_WAIT", "0")
    first = reconvene("run", "flow.yaml", "--no-drive", "--anyway", "--input", "brief=@brief.txt")
    told = reconvene("resume", "flow-1", "--no-input", "--anyway")
    again = [line for line in told.err.splitlines() if "tokens" in line]
    assert again[0].startswith("draft: about 13,")
    assert "openai:own takes 8,000, of which 2,000 are for the reply (agent small)" in again[0]
    assert "is not known; draft is expected to need 13," in again[1]
    assert first.code in (0, 3)
