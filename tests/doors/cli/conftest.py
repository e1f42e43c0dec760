"""The real command in a real process, in a folder that holds the two-step workflow and its answers."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

TWO_STEP = """\
name: two-step
agents:
  writer:   {command: ["sh", "-c", "cat >/dev/null; echo '# Draft'; echo hello > draft.md"]}
  reviewer: {command: ["sh", "-c", "cat; echo reviewed"]}
phases:
  - id: draft
    agents: [writer]                 # short for one round of one step
    checkpoint: {approval_required: true}
  - id: review
    agents: [reviewer]
    checkpoint:
      prompt: "Good enough?"
      options:
        - {label: "Accept", on_select: {action: continue}}
        - {label: "Again",  with_feedback: true, on_select: {action: repeat_phase, target: draft}}
"""

ANSWERS = """\
- {option: Continue}
- {option: Again, feedback: ["correction: Revenue is $900M, not $850M", "shorter please"]}
- {option: Continue}
- {option: Accept}
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> object:
        return json.loads(self.out)

    @property
    def object(self) -> dict[str, object]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def objects(self) -> list[dict[str, object]]:
        found = json.loads(self.out)
        assert isinstance(found, list)
        return found


Command = Callable[..., Done]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two-step.yaml").write_text(TWO_STEP, encoding="utf-8")
    (tmp_path / "answers.yaml").write_text(ANSWERS, encoding="utf-8")
    return tmp_path


@pytest.fixture
def reconvene(folder: Path) -> Command:
    """Call it like the command; every call also proves that no traceback is ever shown."""

    def call(*words: str, cwd: Path = folder) -> Done:
        done = subprocess.run(
            [sys.executable, "-m", "reconvene.doors.cli", *words],
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=300,
            check=False,
        )
        assert "Traceback" not in done.stderr, done.stderr
        assert "this is a bug" not in done.stderr, done.stderr
        return Done(done.returncode, done.stdout, done.stderr)

    return call
