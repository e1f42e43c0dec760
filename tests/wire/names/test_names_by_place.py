"""An unknown name is an error of every expression and every template, wherever it stands, with its line."""

from __future__ import annotations

from collections.abc import Mapping

import pytest

from reconvene.errors import Problem, WorkflowError
from reconvene.wire.workflow_file import parse_workflow

# One workflow with everything in it; a test puts one expression or template of its own into one place of it.
BASE = """\
name: w
run_id: {run_id}
workspace: {workspace}
inputs: {{topic: text, feature: json}}
settings:
  coder: {{type: text, default: ""}}
  deep: {{type: bool, default: {setting_default}}}
  wide: {{type: bool, expr: {setting_expr}}}
groups: {{both: [writer, critic]}}
gates: {{judged: {{if: {named_gate}, retry_with: {named_retry}}}}}
fields: {{asked: [{{each: {named_each}, into: yet_more}}, {{id: five, prompt: {named_field}}}]}}
agents:
  writer:
    prompt: {agent_prompt}
    gate: [{{if: {gate}, retry_with: {retry_with}}}]
  critic: {{contract: {{type: object, properties: {{risk: {{type: number}}}}}}}}
  coder: {{command: {command}, model: auto}}
checkpoints:
  shared:
    condition: {condition}
    prompt: {prompt}
    show_files: [{show_files}]
    feedback: {feedback}
    fields:
      - asked
      - {{id: one, into: answers.one, prompt: {field_prompt}, type: choice, options: {field_options}}}
      - {{id: two, type: number, default: {field_default}}}
      - {{id: three, type: number, expr: {field_expr}}}
      - {{each: {field_each}, into: more}}
    options:
      - label: Go
        when: {option_when}
        why_not: {why_not}
        recommend: {recommend}
        set: {{chosen.depth: 2}}
        fields: [{{id: four, into: why, prompt: {option_field}}}]
      - label: Split
        start: {{workflow: w, each: {start_each}, inputs: {{topic: {start_input}}}}}
        then: {{end: split}}
phases:
  - id: write
    when: {phase_when}
    rounds: {{until: {until}, max: 3, folder: {folder}}}
    track: {{kit: gaps, into: gaps, given: {given}, spec: {spec}, stall: {stall}, explosion: {explosion}}}
    steps:
      - agents: {agents}
        when: {step_when}
        prompt: {step_prompt}
        revise: {revise}
        writes: [{writes}]
        output: {{name: drafted, file: {output_file}}}
    check: {{rules: [{{if: {rule}, then: ask, say: {say}}}]}}
    checkpoint: shared
  - id: judge
    agents: [critic]
    gate: [judged, {{if: {step_gate}, retry_with: {step_retry}}}]
    output: analysis
  - id: chapter
    each: {{of: {each_of}, until: {each_until}}}
    phases:
      - {{id: inner, when: {inner_when}, agents: both, output: both}}
files:
  - {{path: {file_path}, template: {file_template}}}
  - {{path: {task_path}, each: tasks, from: output}}
outcome: {outcome}
closing: {closing}
"""
PLACES = {
    "run_id": "w-{{ n }}",
    "workspace": "runs/{{ run }}",
    "setting_default": "inputs.topic",
    "setting_expr": "settings.deep",
    "agent_prompt": "{{ context.analysis }}",
    "gate": "context.analysis && output.text",
    "retry_with": "{{ context.analysis.risk }}",
    "named_gate": "output.value.risk > context.analysis.risk",
    "named_retry": "{{ context.analysis.risk }}",
    "named_each": "context.gaps.list",
    "named_field": "{{ context.answers.one }}",
    "step_gate": "output.value.risk",
    "step_retry": "{{ context.analysis.risk }}",
    "command": "{{ settings.coder }}",
    "condition": "context.analysis.risk",
    "prompt": "{{ context.analysis.risk }}",
    "show_files": "{{ output_dir }}/{{ context.answers.one }}.md",
    "feedback": "{{ context.answers.one }}",
    "field_prompt": "{{ context.why }}",
    "field_options": "context.more",
    "field_default": "context.analysis.risk",
    "field_expr": "context.chosen.depth",
    "field_each": "context.gaps.list",
    "option_when": "context.gaps.warning",
    "why_not": "{{ context.gaps.warning.line }}",
    "recommend": "feedback.major && routing.affected.length",
    "option_field": "{{ context.drafted }}",
    "start_each": "context.gaps.list",
    "start_input": "item.title",
    "phase_when": "settings.wide",
    "until": "context.gaps.complete",
    "folder": "r{{ round.n }}-{{ settings.coder }}",
    "given": "inputs.topic",
    "spec": "inputs.topic",
    "stall": "settings.deep ? 1 : 2",
    "explosion": "settings.deep ? 1 : 2",
    "agents": "groups.both",
    "step_when": "!context.drafted",
    "step_prompt": "{{ inputs.topic }}",
    "revise": "{{ round.n }}",
    "writes": "{{ settings.coder }}.md",
    "output_file": "{{ phase.id }}.md",
    "rule": "context.analysis.risk > 3",
    "say": "{{ context.analysis.risk }}",
    "each_of": "context.drafted",
    "each_until": "context.both.critic.risk > 3",
    "inner_when": "items.chapter.c1.both.critic.risk > 3",
    "file_path": "{{ context.status }}.md",
    "file_template": "{{ context.checkpoints | length }}",
    "task_path": "{{ task.agent }}.md",
    "outcome": "context.phases.iteration_counts.write",
    "closing": "{{ project.branch }}",
}
ROOTED = ("context", "inputs", "settings", "items", "phase", "round", "groups", "feedback", "project", "task", "item")
ROOTED += ("output",)


def problems(places: Mapping[str, str]) -> list[Problem]:
    try:
        parse_workflow(BASE.format(**{name: f"'{text}'" for name, text in places.items()}))
    except WorkflowError as error:
        return list(error.problems)
    return []


def line_of(place: str) -> int:
    return next(n for n, line in enumerate(BASE.splitlines(), 1) if f"{{{place}}}" in line)


def misspelt(text: str) -> tuple[str, str]:
    """The text with its last look-up misspelt, and the name as it is then."""
    words = text.replace("}", " ").replace(")", " ").split()
    path = next(word for word in reversed(words) if "." in word and word.split(".")[0].lstrip("!(") in ROOTED)
    name = path.split(".")[-1]
    wrong = name[:-1] + "qq"
    return text.replace(path, path.removesuffix(name) + wrong), wrong


def test_what_is_known_loads() -> None:
    assert problems(PLACES) == []


def test_the_table_names_every_place() -> None:
    assert all(f"{{{place}}}" in BASE for place in PLACES)


@pytest.mark.parametrize("place", [name for name, text in PLACES.items() if name not in ("run_id", "workspace")])
def test_a_misspelt_name_is_an_error_at_its_line(place: str) -> None:
    text, wrong = misspelt(PLACES[place])
    (problem,) = problems({**PLACES, place: text})
    assert problem.line == line_of(place)
    assert wrong in problem.message
    assert problem.column > 0


@pytest.mark.parametrize(
    ("place", "text"),
    [
        ("run_id", "w-{{ year }}-{{ nn }}"),
        ("workspace", "runs/{{ n }}"),
        ("command", "{{ settings.coder }} {{ context.analysis }}"),
        ("prompt", "{{ contxt.analysis }}"),
        ("prompt", "{{ task.agent }}"),
        ("file_path", "{{ task.agent }}.md"),
        ("closing", "{% if machine.model %}x{% endif %}"),
    ],
)
def test_a_template_may_use_only_the_roots_of_its_place(place: str, text: str) -> None:
    (problem,) = problems({**PLACES, place: text})
    assert "is not known here" in problem.message
    assert problem.line == line_of(place)


@pytest.mark.parametrize("place", ["condition", "prompt"])
def test_the_nearest_name_is_named(place: str) -> None:
    text = PLACES[place].replace("analysis", "anaylsis")
    (problem,) = problems({**PLACES, place: text})
    assert problem.message == f"'{place}': nothing writes 'context.anaylsis'"
    assert problem.hint == "did you mean 'context.analysis'?"


def test_a_misspelt_checkpoint_that_two_phases_share_is_reported_once() -> None:
    base = BASE.replace("    output: analysis\n", "    output: analysis\n    checkpoint: shared\n")
    text = base.format(**{name: f"'{text}'" for name, text in {**PLACES, "condition": "context.nobody"}.items()})
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text)
    assert len(caught.value.problems) == 1


@pytest.mark.parametrize("style", ["|", ">-", '"', "'", ""])
def test_the_line_is_right_however_the_text_is_written(style: str) -> None:
    quote = style if style in ('"', "'") else ""
    opening = style if style in ("|", ">-") else ""
    text = (
        "name: w\nagents: {a: {}}\nphases:\n  - id: one\n    agents: [a]\n    output: plan\n"
        f"    when: {opening}\n      {quote}context.plan\n      &&\n      context.plann.x{quote}\n"
        "    title: context.plann\n"
    )
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text)
    (problem,) = caught.value.problems
    assert (problem.line, problem.column) == (10, 15)


def test_a_file_is_named_with_its_own_line() -> None:
    text = "name: w\nagents: {a: {}}\nphases: [{id: one, agents: [a], output: plan, prompt: ask.md}]\n"
    beside = {"ask.md": "one\n{% include 'part.md' %}\n{{ context.pln }}", "templates/part.md": "\n{{ context.plam }}"}
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text, resources=beside)
    assert [(each.file, each.line) for each in caught.value.problems] == [("ask.md", 3), ("templates/part.md", 2)]


def test_a_file_that_does_not_fit_the_grammar_is_mended_first() -> None:
    """What did not fit was left out, and might have written any name."""
    text = "name: w\nagents: {a: {}}\nphases: [{id: one, agents: [a], outputt: plan, when: context.plan}]\n"
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text)
    (problem,) = caught.value.problems
    assert "outputt" in problem.message


def test_other_mistakes_are_reported_together_with_names() -> None:
    text = "name: w\nagents: {a: {}}\nphases: [{id: one, agents: [b], output: plan, when: context.plam}]\n"
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text)
    assert len(caught.value.problems) == 2


def test_a_setting_sees_only_those_before_it() -> None:
    (problem,) = problems({**PLACES, "setting_default": "settings.wide"})
    assert problem.hint == "a setting sees only those that are written before it"
