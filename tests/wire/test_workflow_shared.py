"""What is written once and used in several places: named gates, sets of fields, reads of a phase, names of rounds."""

from __future__ import annotations

import pytest

from reconvene.core.definition.workflow import Field, Gate, Phase, Workflow
from reconvene.errors import Problem, WorkflowError
from reconvene.wire.workflow_file import parse_workflow

HEAD = """\
name: w
inputs: {topic: text}
gates:
  long: {min_chars: 400}
  report: [{headings: [Findings]}, {if: "output.text.includes('TODO')", retry_with: Finish it.}]
fields:
  why: [{id: reason, required: true, into: said.reason}, {each: context.draft, into: said.more}]
agents: {writer: {gate: [long, {ask: Is it good?}]}, critic: {gate: report}}
phases:
- {id: first, agents: [writer], output: draft}
"""
USED = "- {id: used, checkpoint: {fields: why}}\n"


def flow(phases: str) -> Workflow:
    return parse_workflow(HEAD + USED + phases)


def phase(text: str) -> Phase:
    return flow(text).phases[2]


def the_problem(text: str) -> Problem:
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text)
    (problem,) = caught.value.problems
    return problem


# --- gates ------------------------------------------------------------------------------------------------------------


def test_agents_and_steps_use_gates_by_name_in_the_order_they_are_named() -> None:
    found = flow("- {id: p, agents: [writer], gate: [report, {min_chars: 5}]}")
    report = (Gate(headings=("Findings",)), Gate(when="output.text.includes('TODO')", retry_with="Finish it."))
    assert found.agents["writer"].gates == (Gate(min_chars=400), Gate(ask="Is it good?"))
    assert found.agents["critic"].gates == report
    assert found.phases[2].steps[0].gates == (*report, Gate(min_chars=5))


def test_a_step_has_gates_of_its_own() -> None:
    found = phase("- id: p\n  steps:\n  - {agents: [writer], gate: {min_chars: 7}}\n  - {agents: [writer]}\n")
    assert [step.gates for step in found.steps] == [(Gate(min_chars=7),), ()]


# --- sets of fields ---------------------------------------------------------------------------------------------------


def test_checkpoints_and_options_use_sets_of_fields_by_name() -> None:
    why = (
        Field(id="reason", required=True, into="said.reason"),
        Field(each="context.draft", into="said.more"),
    )
    found = phase(
        "- id: p\n  checkpoint:\n    options:\n    - {label: A, fields: why}\n"
        "    - {label: B, fields: [{id: own}, why]}\n    - {label: C}\n"
    ).checkpoint
    assert found is not None
    assert [option.fields for option in found.options] == [why, (Field(id="own"), *why), ()]


def test_a_field_of_a_set_is_asked_once() -> None:
    problem = the_problem(HEAD + "- {id: p, checkpoint: {fields: [why, {id: reason}]}}\n")
    assert (problem.line, problem.message) == (11, "the field 'reason' is asked twice")


# --- reads of a phase -------------------------------------------------------------------------------------------------


def test_steps_add_to_what_their_phase_reads() -> None:
    found = phase(
        "- id: p\n  reads: [inputs.topic, draft]\n  steps:\n  - {agents: [writer]}\n"
        "  - {agents: [writer], reads: [own.full, draft]}\n  - {agents: [writer], reads: []}\n"
    )
    shared = ("inputs.topic", "draft")
    assert [step.reads for step in found.steps] == [shared, (*shared, "own.full"), shared]


def test_phases_inside_add_to_it_too() -> None:
    found = phase(
        "- id: p\n  reads: draft\n  phases:\n  - {id: q, agents: [writer], reads: [inputs.topic]}\n"
        "  - {id: r, reads: [files], steps: [{agents: [writer], reads: [values]}]}\n  - {id: s, agents: [writer]}\n"
    )
    reads = [step.reads for inner in found.phases for step in inner.steps]
    assert reads == [("draft", "inputs.topic"), ("draft", "files", "values"), ("draft",)]


def test_a_misspelt_read_of_a_phase_is_told_once_at_its_line() -> None:
    problem = the_problem(f"{HEAD}{USED}- id: p\n  reads: [drft]\n  steps: [{{agents: writer}}, {{agents: critic}}]\n")
    assert (problem.line, problem.message) == (13, "reads: nothing writes a value 'drft'")
    assert problem.hint == "did you mean 'draft'?"


# --- rounds by name ---------------------------------------------------------------------------------------------------


def test_a_step_names_the_rounds_in_which_it_runs() -> None:
    found = phase(
        "- id: p\n  rounds: {plan: [alone, together, attack], max: 4}\n  steps:\n  - {agents: [writer], on: alone}\n"
        "  - {agents: [writer], on: [together, attack]}\n  - {agents: [writer], on: extra, when: inputs.topic}\n"
        "  - {agents: [critic]}\n"
    )
    assert [step.when for step in found.steps] == [
        'round.name === "alone"',
        '["together", "attack"].includes(round.name)',
        'round.name === "extra" && (inputs.topic)',
        "",
    ]


def test_a_name_of_a_round_may_hold_anything() -> None:
    found = phase('- id: p\n  rounds: {plan: ["it\'s \\"1\\""]}\n  steps: [{agents: writer, on: "it\'s \\"1\\""}]')
    assert found.steps[0].when == 'round.name === "it\'s \\"1\\""'


# --- mistakes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("- {id: p, agents: writer, gate: reprt}", "there is no gate 'reprt' under 'gates'", "did you mean 'report'?"),
        ("- {id: p, agents: writer, gate: [5]}", "a gate must be a mapping", "quotes"),
        ("- {id: p, gate: long}", "'gate' needs 'agents' in the same phase", "who"),
        ("- {id: p, gate: long, steps: [{agents: writer}]}", "either 'gate' or 'steps'", "move 'gate'"),
        ("- {id: p, checkpoint: {fields: wy}}", "there is no set of fields 'wy' under 'fields'", "'why'"),
        ("- {id: p, checkpoint: {options: [{label: A, fields: [wyh]}]}}", "no set of fields 'wyh'", "'why'"),
        ("- {id: p, reads: [draft]}", "'reads' needs 'agents' in the same phase", "who"),
        ("- {id: p, agents: writer, on: main}", "unknown key 'on' in a phase", ""),
        ("- {id: p, steps: [{agents: writer, on: mian}]}", "phase 'p' has no round 'mian'", "did you mean 'main'?"),
        ("- {id: p, steps: [{agents: writer, on: extra}]}", "can have no extra round", "set rounds: {max: 2}"),
        ("- {id: p, steps: [{agents: writer, on: []}]}", "'on' is empty", ""),
        ("- {id: p, agents: writer, rounds: {plan: [a, extra]}}", "'extra' cannot be the name of a round", "again"),
    ],
)
def test_a_mistake_has_its_line_and_the_nearest_name(text: str, message: str, hint: str) -> None:
    problem = the_problem(HEAD + USED + text)
    assert message in problem.message
    assert hint in problem.hint
    assert problem.line == 12


@pytest.mark.parametrize(
    ("text", "message", "hint"),
    [
        ("gates: {long: {min_chars: 1}}", "no agent or step uses the gate 'long'", "write gate: long"),
        ("fields: {why: [{id: a}]}", "no checkpoint or option uses the set of fields 'why'", "write fields: why"),
        ("gates: {'a b': {min_chars: 1}}", "'a b' cannot be the name of a gate", ""),
        ("gates: {long: {min_char: 1}}", "unknown key 'min_char' in gate 'long'", "did you mean 'min_chars'?"),
        ("gates: {long: []}", "gate 'long' is empty", ""),
        ("fields: {why: {id: a}}", "'why' in 'fields' must be a list", ""),
        ("fields: {why: [{id: a, typ: text}]}", "unknown key 'typ' in a field", "did you mean 'type'?"),
    ],
)
def test_a_mistake_in_what_is_shared(text: str, message: str, hint: str) -> None:
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(f"name: w\n{text}\nphases: [{{id: a}}]")
    found = next(problem for problem in caught.value.problems if message in problem.message)
    assert found.line == 2
    assert hint in found.hint


def test_a_mistake_in_a_gate_that_two_use_is_told_once() -> None:
    problem = the_problem(
        "name: w\ngates: {good: {if: output.tekst}}\nagents: {a: {gate: good}, b: {gate: good}}\n"
        "phases: [{id: p, agents: [a, b]}, {id: q, agents: [a], gate: good}]"
    )
    assert (problem.line, problem.message) == (2, "'if': 'output.tekst' is not known")


def test_a_gate_of_a_step_sees_the_contract_of_that_step_only() -> None:
    text = (
        "name: w\nagents: {a: {}}\nphases:\n"
        "- id: p\n  agents: [a]\n  gate: {if: output.value.%s > 3}\n"
        "  output: {name: one, schema: {properties: {risk: {type: number}}}}\n"
        "- {id: q, agents: [a], output: {name: two, schema: {properties: {cost: {type: number}}}}}\n"
    )
    parse_workflow(text % "risk")
    problem = the_problem(text % "cost")
    assert problem.line == 6
    assert "output.value.cost" in problem.message
