"""`check` warns where a prompt takes in what an agent wrote: it would stand among the instructions."""

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
      - {agents: [writer, editor], output: both, prompt: "TASK"}
    checkpoint:
      options:
        - {label: On, then: continue, fields: [{id: gap, prompt: "Which?", type: text, into: gap}]}
"""


def warned(folder: Path, role: str, task: str = "Mend it.") -> list[tuple[str, int]]:
    (folder / "flow.yaml").write_text(FLOW.replace("ROLE", role).replace("TASK", task), encoding="utf-8")
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
        "{% for row in context.both.values() %}{{ row }}{% endfor %}",
        "{{ (context.page or 'x') | upper }}",
        "{% set page = context.page %}{{ page ~ '.' }}",
        "{% macro told(what) %}{{ what }}{% endmacro %}{{ told(context.page) }}",
        "{{ [context.verdict.level, context.page] | join(' ') }}",
        "{{ context.page.split(' ')[0] }}",
        "{{ context.verdict.values() | first }}",
    ],
)
def test_words_of_an_agent_in_a_role_or_a_task_are_warned_about(tmp_path: Path, role: str) -> None:
    assert warned(tmp_path, role) == [("flow.yaml", 13)]
    assert warned(tmp_path, "Edit.", role) == [("flow.yaml", 19)]


@pytest.mark.parametrize(
    "role",
    [
        "{{ inputs.topic }}",
        "{{ context.gap }}",  # what the person answered
        "{% if context.page %}Go on.{% endif %}",
        "{{ context.verdict.level }}",  # one of two words
        "{{ context.verdict.points }}",
        "{{ context.page | quote_lines }}",
        "{{ context.page | trim | quote }}",
        "{{ context.page | length }}",
        "{{ context.page is defined }}",
        "the document page",
    ],
)
def test_what_no_agent_can_put_words_into_is_not(tmp_path: Path, role: str) -> None:
    assert warned(tmp_path, role, role) == []


def test_a_prompt_in_a_file_is_warned_about_with_the_line_of_that_file(tmp_path: Path) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts/writer.md").write_text("You write.\n\nMind {{ context.verdict.why }}.\n", encoding="utf-8")
    assert warned(tmp_path, "Edit.") == [("prompts/writer.md", 3)]
    (one,) = workflow_warnings(tmp_path / "flow.yaml")
    assert "{{ context.verdict.why }}" in one.message
    assert one.hint == (
        "add verdict to the `reads` of the step, and write: what the document “verdict” says. Or quote it: "
        "{{ context.verdict.why | quote_lines }}, or on one line {{ context.verdict.why | quote }}"
    )


LOOP = """\
name: loop
inputs: {project: {type: project}}
agents:
  planner:
    model: ollama:qwen3
    contract:
      type: object
      properties:
        tasks:
          type: array
          items: {type: object, properties: {id: {type: string, pattern: "^[a-z]+$"}, what: {type: string}}}
  coder: {model: "ollama:qwen3", gate: {if: "!output.text", retry_with: "Not so: {{ context.plan.tasks[0].what }}"}}
  scout: {survey: project}
phases:
  - {id: plan, agents: [planner], output: plan}
  - id: tasks
    each: {of: "(context.plan || {}).tasks.map(one => ({id: one.id, what: one.what, title: `Do ${one.what}`}))"}
    rounds: {max: 2}
    agents: [coder]
    prompt: prompts/code.md
    revise: "Again: {{ item.title }}"
    checkpoint: {prompt: "Is {{ item.what }} done?", options: [{label: More, remark: required, then: again}]}
  - {id: look, agents: [scout], prompt: "{{ context.plan }}", output: seen}
"""


def test_items_revised_prompts_reasons_and_included_templates_are_looked_at_and_what_a_person_reads_is_not(
    tmp_path: Path,
) -> None:
    (tmp_path / "prompts").mkdir()
    (tmp_path / "templates").mkdir()
    (tmp_path / "prompts/code.md").write_text('`{{ item.id }}`\n{{ item.what }}\n{% include "more.md" %}\n', "utf-8")
    (tmp_path / "templates/more.md").write_text("And\nthen\n{{ item.what | upper }}\n", encoding="utf-8")
    (tmp_path / "loop.yaml").write_text(LOOP, encoding="utf-8")
    found = workflow_warnings(tmp_path / "loop.yaml")
    assert [(one.file, one.line, one.message.partition(",")[0]) for one in found] == [
        ("loop.yaml", 12, "what sends an output back takes in {{ context.plan.tasks[…].what }}"),
        ("loop.yaml", 21, "a prompt of phase tasks takes in {{ item.title }}"),
        ("prompts/code.md", 2, "a prompt of phase tasks takes in {{ item.what }}"),
        ("templates/more.md", 3, "a prompt of phase tasks takes in {{ item.what }}"),
    ]


def test_what_a_kit_follows_is_the_agents_unless_the_kit_says_otherwise(tmp_path: Path) -> None:
    prompt = "{% for gap in context.gaps.list %}{{ gap.id }} {{ gap.severity }} {{ gap.title }}{% endfor %}"
    (tmp_path / "gaps.yaml").write_text(
        "name: gaps\ninputs: {spec: {type: text}}\nagents: {a: {model: 'ollama:qwen3'}}\nphases:\n"
        "  - {id: p, agents: [a], output: found, track: {kit: gaps, into: gaps, spec: inputs.spec, found: found}}\n"
        f"  - {{id: q, agents: [a], prompt: {prompt!r}}}\n",
        encoding="utf-8",
    )
    assert ["{{ gap.title }}" in one.message for one in workflow_warnings(tmp_path / "gaps.yaml")] == [True]


@pytest.mark.parametrize("name", packaged())
def test_the_packaged_workflows_give_no_cause(name: str) -> None:
    assert workflow_warnings(packaged()[name]) == []
