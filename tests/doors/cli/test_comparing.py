"""`compare` and `fork` in the terminal: what is shared is said, and where two runs part comes first."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from commands import Command

FLOW = """
name: flow
agents:
  writer:
    command: ["sh", "-c", "(grep -q 'DEBT 150' && echo 'Do not buy.' || echo 'Buy.') > memo.md; cat memo.md"]
phases:
  - id: draft
    agents: [writer]
    rounds: {max: 3}
    checkpoint: {options: [{label: Go}, {label: Again, then: again, remark: optional}]}
"""


@pytest.fixture
def two(reconvene: Command, folder: Path) -> Command:
    """flow-1, and a fork of it that was told something else."""
    (folder / "flow.yaml").write_text(FLOW)
    assert reconvene("run", "flow.yaml", "--no-input").code == 3
    head = json.loads(reconvene("log", "flow-1", "--json").out.splitlines()[-1])["seq"]
    told = reconvene("fork", "flow-1", "--at", str(head))
    assert f"flow-1-fork-1 is flow-1 as it was at event {head}" in told.out
    assert f"shared: {head} events, 1 file, 0 remarks, 0 decisions" in told.out
    assert "not shared: its folder and branch" in told.out
    assert reconvene("decide", "flow-1", "--option", "Go", "--latest").code == 0
    again = ("--option", "Again", "--feedback", "DEBT 150", "--latest")
    assert reconvene("decide", "flow-1-fork-1", *again).code == 3
    return reconvene


def test_where_two_runs_part_comes_first_and_all_fits_on_80_columns(two: Command) -> None:
    out = two("compare", "flow-1-fork-1").out
    assert max(map(len, out.splitlines())) <= 80
    lines = out.splitlines()
    assert lines[0].startswith("flow-1-fork-1 was forked from flow-1 at event ")
    first = lines.index("First difference")
    assert first < lines.index("Decisions: 1 of 1 differ")
    assert "decided “Go” in draft, round 1" in lines[first + 1]
    assert "said “DEBT 150”" in lines[first + 2]
    for title in ("Remarks: 1 of 1 differ", "Outputs: 1 of 2 differ", "Conclusions: 1 of 1 differ"):
        assert title in lines
    assert "  memo.md  (differs)" in lines
    assert "agent task" in out


def test_scripts_get_all_of_it_and_a_file_is_shown_as_a_diff(two: Command) -> None:
    found = json.loads(two("compare", "flow-1", "flow-1-fork-1", "--json").out)
    assert found["fork"] == "flow-1-fork-1"
    assert found["first_there"]["words"] == "DEBT 150"
    assert found["took_there"]["own"]["calls"] == 1
    diff = two("compare", "flow-1", "flow-1-fork-1", "--file", "memo.md").out
    assert "-Buy." in diff
    assert "+Do not buy." in diff


def test_what_cannot_be_compared_is_said_with_the_next_command(two: Command) -> None:
    assert "flow-1 was not forked: name the run to compare it with" in two("compare", "flow-1").err
    assert "with itself" in two("compare", "flow-1", "flow-1").err
    assert two("compare", "flow-1", "nobody-1").code == 64
    gone = two("compare", "flow-1", "flow-1-fork-1", "--file", "none.md")
    assert "none.md is in neither of them" in gone.err
