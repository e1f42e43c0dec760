"""`check` warns where a role takes in what an agent wrote: it would stand among the instructions."""

from __future__ import annotations

from pathlib import Path

import pytest

from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import workflow_warnings

FLOW = """\
name: flow
inputs:
  topic: {type: text, default: otters}
agents:
  judge:
    model: ollama:qwen3
    contract: {type: object, properties: {level: {enum: [low, high]}, why: {type: string}, points: {type: number}}}
  writer: {model: "ollama:qwen3"}
  editor:
    model: ollama:qwen3
    prompt: |
      You are the editor.
      ROLE
phases:
  - id: page
    steps:
      - {agents: [writer], output: page}
      - {agents: [judge], output: verdict}
      - {agents: [writer, editor], output: both, prompt: "Mend {{ context.page }}"}
    checkpoint:
      options:
        - {label: On, then: continue, fields: [{id: gap, prompt: "Which?", type: text, into: gap}]}
"""


def warned(folder: Path, role: str) -> list[tuple[str, int]]:
    (folder / "flow.yaml").write_text(FLOW.replace("ROLE", role), encoding="utf-8")
    return [(one.file, one.line) for one in workflow_warnings(folder / "flow.yaml")]


@pytest.mark.parametrize(
    "role",
    [
        "{{ context.page }}",
        "{{- context.page | trim }}",
        "{% if context.page %}It says {{ context.page }}{% endif %}",
        "{{ context.verdict }}",
        "{{ context.verdict.why }}",
        "{{ context.both.writer }}",
        "{% for row in context.both %}{{ row }}{% endfor %}",
        "{{ (context.page or 'x') | upper }}",
    ],
)
def test_words_of_an_agent_in_a_role_are_warned_about(tmp_path: Path, role: str) -> None:
    assert warned(tmp_path, role) == [("flow.yaml", 13)]


@pytest.mark.parametrize(
    "role",
    [
        "{{ inputs.topic }}",
        "{{ context.gap }}",  # what the person answered
        "{% if context.page %}Go on.{% endif %}",
        "{{ context.verdict.level }}",  # one of two words
        "{{ context.verdict.points }}",
        "{{ context.page | quote_lines }}",
        "the document page",
    ],
)
def test_what_no_agent_can_put_words_into_is_not(tmp_path: Path, role: str) -> None:
    assert warned(tmp_path, role) == []


def test_a_prompt_in_a_file_is_warned_about_with_the_line_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/writer.md").write_text("You write.\n\nMind {{ context.verdict.why }}.\n", encoding="utf-8")
    assert warned(tmp_path, "Edit.") == [("prompts/writer.md", 3)]
    (one,) = workflow_warnings(tmp_path / "flow.yaml")
    assert "{{ context.verdict.why }}" in one.message
    assert one.hint == "add verdict to the `reads` of the step, and write in the role: what the document “verdict” says"


@pytest.mark.parametrize("name", packaged())
def test_the_packaged_workflows_give_no_cause(name: str) -> None:
    assert workflow_warnings(packaged()[name]) == []
