"""Other spellings mean the same, and messages keep them; keys that were taken out say what to write instead."""

from __future__ import annotations

import pytest

from reconvene.core.definition.workflow import Phase, Workflow
from reconvene.errors import Problem, WorkflowError
from reconvene.wire.grammar import REMOVED, TABLES
from reconvene.wire.spellings import SPELLINGS
from reconvene.wire.workflow_file import parse_workflow

HEAD = "name: w\nagents: {writer: {}, critic: {}}\nphases:\n- {id: first, agents: [writer], checkpoint: true}\n"
LAST = "\n- {id: last, agents: [writer]}\n"


def flow(text: str) -> Workflow:
    return parse_workflow(HEAD + text + LAST)


def here(text: str) -> Phase:
    return flow(text).phases[1]


def problems(text: str) -> list[Problem]:
    with pytest.raises(WorkflowError) as caught:
        flow(text)
    return caught.value.problems


PAIRS = [
    ("checkpoint: {approval_required: true}", "checkpoint: {}"),
    ("checkpoint: {approval_required: true, prompt: Good?}", "checkpoint: {prompt: Good?}"),
    ("checkpoint: {approval_required: false}", "checkpoint: false"),
    ("gap_check: {script: [x]}", "check: {script: [x]}"),
    (
        "gap_check: {criteria: [{condition: 'true', action: escalate, message: m}]}",
        "check: {rules: [{if: 'true', then: ask, say: m}]}",
    ),
    (
        "rounds: {max: 2}, check: {rules: [{if: 'true', action: spawn_additional, agents: critic}]}",
        "rounds: {max: 2}, check: {rules: [{if: 'true', then: {again: critic}}]}",
    ),
    ("check: {rules: [{if: 'true', then: retry_phase}]}", "check: {rules: [{if: 'true', then: retry}]}"),
    *(
        (f"checkpoint: {{options: [{{label: A, {seed}}}]}}", f"checkpoint: {{options: [{{label: A, {own}}}]}}")
        for seed, own in [
            ("with_feedback: true", "remark: optional"),
            ("with_feedback: false", "remark: none"),
            ("with_feedback: true, remark: required", "remark: required"),
            ("on_select: {action: continue}", "then: continue"),
            ("on_select: {action: repeat_phase}", "then: {goto: current, rerun: true}"),
            ("on_select: {action: repeat_phase, target: first}", "then: {goto: first, rerun: true}"),
            ("on_select: {action: skip_phases, phases: last}", "skip: last"),
            ("on_select: {action: abort}", "then: {end: aborted}"),
            ("as: mine, on_select: {action: abort}", "then: {end: aborted}, as: mine"),
        ]
    ),
]


@pytest.mark.parametrize(("seed", "own"), PAIRS)
def test_both_spellings_mean_the_same(seed: str, own: str) -> None:
    assert here(f"- {{id: here, agents: writer, {seed}}}") == here(f"- {{id: here, agents: writer, {own}}}")


@pytest.mark.parametrize(
    ("lines", "at", "message", "hint"),
    [
        ("gap_check: {}", 7, "a check needs 'rules' or 'script'", ""),
        ("gap_check:\n    criteria: [{condition: 'contxt.x', action: ask}]", 8, "'condition': 'contxt'", ""),
        ("gap_check:\n    criteria:\n    - condition: 'true'\n      action: rety", 10, "'action' must be", "'retry'?"),
        ("gap_check:\n    criteria:\n    - condition: 'true'\n      action: escalat", 10, "escalate", "'escalate'?"),
        (
            "gap_check:\n    criteria:\n    - condition: 'true'\n      message: '{{ x'\n      action: ask",
            10,
            "'message'",
            "",
        ),
        (
            "rounds: {max: 2}\n  gap_check:\n    criteria:\n    - condition: 'true'\n      action: spawn_additional\n"
            "      agents: 3",
            12,
            "'agents' must be text or a list, not the number 3",
            "",
        ),
        (
            "checkpoint: {options: [{label: A, skip: last, on_select: {action: skip_phases, phases: last}}]}",
            7,
            "'skip' and 'phases' say the same",
            "keep one",
        ),
        ("check: {rules: [{if: 'true', condition: 'true', then: ask}]}", 7, "'if' and 'condition' are two words", ""),
        ("gap_chek: {script: [x]}", 7, "unknown key 'gap_chek'", "did you mean 'gap_check'?"),
        ("checkpoint:\n    approval_required: yes", 8, "'approval_required' must be true or false", ""),
        ("checkpoint:\n    aproval_required: true", 8, "unknown key", "did you mean 'approval_required'?"),
        (
            "checkpoint:\n    options:\n    - label: A\n      on_select:\n        action: repeat_phase\n"
            "        target: frist",
            12,
            "target: there is no phase 'frist'",
            "did you mean 'first'?",
        ),
        (
            "checkpoint:\n    options:\n    - label: A\n      on_select:\n        action: repeat_phase\n"
            "        target: last",
            12,
            "target: phase 'last' comes after 'here'",
            "first, here",
        ),
        (
            "checkpoint:\n    options:\n    - label: A\n      on_select:\n        action: skip_phases\n"
            "        phases:\n        - lst",
            13,
            "phases: there is no phase 'lst'",
            "did you mean 'last'?",
        ),
        (
            "checkpoint:\n    options:\n    - label: A\n      on_select: {acton: abort}",
            10,
            "unknown key 'acton'",
            "action",
        ),
        ("checkpoint:\n    options:\n    - label: A\n      on_select: abort", 10, "'on_select' must be a mapping", ""),
        (
            "checkpoint:\n    options:\n    - label: A\n      on_selct: {action: abort}",
            10,
            "unknown key",
            "'on_select'?",
        ),
    ],
)
def test_a_mistake_is_told_by_its_own_line_in_the_words_of_the_file(
    lines: str, at: int, message: str, hint: str
) -> None:
    found = problems(f"- id: here\n  agents: writer\n  {lines}")
    (problem,) = [each for each in found if message in each.message]
    assert problem.line == at
    assert hint in problem.hint


def test_a_shared_checkpoint_that_is_never_asked_is_a_mistake() -> None:
    with pytest.raises(WorkflowError) as caught:
        parse_workflow("name: w\ncheckpoints: {no: {approval_required: false}}\nphases: [{id: a, checkpoint: no}]\n")
    (problem,) = caught.value.problems
    assert (problem.line, problem.hint) == (2, "remove it")


PLACES = {
    "workflow": "{}: 1",
    "limits": "limits: {{{}: 1}}",
    "agent": "agents: {{a: {{{}: 1}}}}",
    "gate": "gates: {{long: {{{}: 1}}}}",
}


@pytest.mark.parametrize(("table", "key"), [(table, key) for table, keys in REMOVED.items() for key in keys])
def test_a_key_that_was_taken_out_says_what_to_write_instead(table: str, key: str) -> None:
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(f"name: w\n{PLACES[table].format(key)}\nphases: [{{id: a}}]")
    (problem,) = [each for each in caught.value.problems if "no longer" in each.message]
    assert problem.line == 2
    assert f"'{key}' is no longer a key of" in problem.message
    assert problem.hint == REMOVED[table][key]


def test_no_key_is_in_the_grammar_and_taken_out_of_it() -> None:
    assert [(table, key) for table, keys in REMOVED.items() for key in keys if key in TABLES[table]] == []


def test_a_spelling_is_no_key_of_the_grammar() -> None:
    twice = [(name, key) for name, keys in SPELLINGS.items() for key in keys if key in TABLES.get(name, {})]
    assert twice == [("rule", "then")]  # with more words
