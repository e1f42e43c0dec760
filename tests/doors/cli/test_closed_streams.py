"""A caller may close the streams (`>&-`): the command does its work and exits with its usual code."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from commands import Command
from reconvene.doors.cli.main import run

FLOW = """\
name: flow
agents: {writer: {command: [echo, hello]}}
phases:
- {id: draft, agents: [writer], checkpoint: {approval_required: true}}
"""


@pytest.fixture
def parked(folder: Path, reconvene: Command) -> str:
    (folder / "flow.yaml").write_text(FLOW, encoding="utf-8")
    assert reconvene("run", "flow.yaml").code == 3
    return "flow-1"


def _close(patch: pytest.MonkeyPatch) -> None:
    """As Python starts where file descriptors 0 to 2 are closed."""
    for name in ("stdin", "stdout", "stderr"):
        patch.setattr(sys, name, None)
        patch.setattr(sys, f"__{name}__", None)


def test_a_decision_is_recorded_where_nobody_listens(
    parked: str, reconvene: Command, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch:
        _close(patch)
        assert run(["show", parked]) == 0
        assert run(["show", "nobody"]) == 64
        assert run(["decide", parked, "--option", "Continue"]) == 0
    assert reconvene("show", parked, "--json").object["status"] == "completed"
