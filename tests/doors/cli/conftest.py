"""Commands are called in a folder that holds the two-step workflow and its answers."""

from __future__ import annotations

from pathlib import Path

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


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "two-step.yaml").write_text(TWO_STEP, encoding="utf-8")
    (tmp_path / "answers.yaml").write_text(ANSWERS, encoding="utf-8")
    return tmp_path
