"""Workflow files that are refused: each mistake by its line, in words, with the nearest valid spelling."""

from __future__ import annotations

import pytest

from reconvene.errors import Problem, WorkflowError
from reconvene.wire.checkpoints import RESERVED_LABELS
from reconvene.wire.values import RESERVED_NAMES
from reconvene.wire.workflow_file import parse_workflow


def problems_of(text: str) -> list[Problem]:
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(text)
    return caught.value.problems


def the_problem(text: str) -> Problem:
    problems = problems_of(text)
    assert len(problems) == 1, problems
    return problems[0]


HEAD = "name: w\nagents: {writer: {}, reviewer: {}}\ngroups: {panel: [writer, reviewer]}\n"


def phase_problem(phase: str, *, extra: str = "") -> Problem:
    """One mistake in the second of three phases, which begins on line 6."""
    first = "- {id: first, agents: [writer], output: draft, checkpoint: true}"
    last = "- {id: last, agents: [writer], checkpoint: true}"
    problem = the_problem(f"{HEAD}phases:\n{first}\n{phase}\n{last}\n{extra}")
    assert problem.line == 6, problem
    assert problem.file == "workflow.yaml"
    return problem


def option_problem(option: str, phase: str = "id: here, agents: writer, rounds: {max: 2}") -> Problem:
    return phase_problem(f"- {{{phase}, checkpoint: {{options: [{option}]}}}}")


@pytest.mark.parametrize(
    ("phase", "message", "hint"),
    [
        ("- {id: here, agnts: [writer]}", "unknown key 'agnts' in a phase", "did you mean 'agents'?"),
        ("- {id: here, chekpoint: true}", "unknown key 'chekpoint'", "did you mean 'checkpoint'?"),
        ("- {id: here, agents: writer, on: x}", "unknown key 'on' in a phase", "it is a key of: step"),
        ("- {id: here, agents: writer, reads: [inputs.q]}", "there is no input 'q'", "declare it: inputs: {q:"),
        ("- {id: here, agents: writer, reads: [zzz]}", "nothing writes a value 'zzz'", "output: zzz"),
        ("- {id: here, agents: writer, gate: none_such}", "there is no gate", "write it there: gates: {none_such:"),
        ("- {id: here, agents: writer, gate: {kit: reading}}", "'reading' names a kit and no gate", "specific_to"),
        ("- {id: here, agents: [writr]}", "no agent or group 'writr'", "did you mean 'writer'?"),
        ("- {id: here, agents: pannel}", "no agent or group 'pannel'", "did you mean 'panel'?"),
        ("- {id: here, agents: []}", "'agents' is empty", "at least one"),
        ("- {id: here, agents: 3}", "'agents' must be text or a list, not the number 3", "quotes"),
        ("- {id: here, agents: 'groups.panel ||'}", "'agents'", ""),
        ("- {id: here, steps: []}", "'steps' is empty", ""),
        ("- {id: here, steps: [{reads: [files]}]}", "a step needs 'agents'", ""),
        ("- {id: here, output: x}", "'output' needs 'agents'", ""),
        ("- {id: here, steps: [{agents: writer}], phases: [{id: x}]}", "either steps or phases", ""),
        ("- {id: here, agents: writer, steps: [{agents: writer}]}", "either 'agents' or 'steps'", "move 'agents'"),
        ("- {id: here, agents: writer, phases: [{id: x}]}", "either 'agents' or 'phases'", ""),
        ("- {id: first}", "the phase id 'first' is used twice, on lines 5 and 6", "unique"),
        ("- {id: current}", "'current' cannot be the id", ""),
        ("- {id: 'a/b'}", "'a/b' cannot be the name of a phase", "letters"),
        ("- {id: 7}", "'id' must be text, not the number 7", "quotes"),
        ("- {agents: writer}", "a phase needs 'id'", ""),
        ("- just text", "a phase must be a mapping", ""),
        ("- {id: here, each: {key: id}}", "'each' needs 'of'", "list"),
        ("- {id: here, each: context.list}", "'each' must be a mapping", ""),
        ("- {id: here, when: 'context.x ==='}", "'when'", ""),
        ("- {id: here, when: 'contxt.x'}", "'when': 'contxt' is not known here; did you mean 'context'?", ""),
        ("- {id: here, when: ''}", "'when' is empty", ""),
        ("- {id: here, agents: writer, track: {into: gaps}}", "'track' needs 'kit'", "gaps"),
        (
            "- {id: here, agents: writer, output: text, track: {kit: gaps, into: gaps, review: texd}}",
            "'review': no step of this phase has the output 'texd'",
            "text",
        ),
        ("- {id: here, rounds: {until: 'context.draft'}}", "a loop without a limit", "max: 10"),
        ("- {id: here, rounds: {plan: [a, b, c], max: 2}}", "plan holds 3 rounds, 'max' allows 2", "set max: 3"),
        ("- {id: here, rounds: {max: 0}}", "'max' must be at least 1, not 0", ""),
        ("- {id: here, rounds: {max: many}}", "'max' must be a whole number, not the text 'many'", ""),
        ("- {id: here, rounds: {max: true}}", "'max' must be a whole number, not true", ""),
        ("- {id: here, agents: writer, reads: [drft]}", "nothing writes a value 'drft'", "did you mean 'draft'?"),
        ("- {id: here, agents: writer, reads: [own.ful]}", "'own.ful' is not something to read", "own.full"),
        ("- {id: here, agents: writer, reads: [nxt.full]}", "'nxt.full' is not something to read", "'next.full'"),
        ("- {id: here, agents: writer, reads: [neer.summary]}", "'neer.summary' is not", "'near.summary'"),
        ("- {id: here, agents: writer, when: kit.gaps.open}", "'kit.gaps' is not known", "name it under kits"),
        ("- {id: here, agents: writer, reads: [inputs.x]}", "no input 'x'", ""),
        ("- {id: here, agents: writer, reads: [settings.x]}", "'settings.x' is not something to read", ""),
        ("- {id: here, agents: writer, reads: [../x.md]}", "cannot be used", "relative"),
        ("- {id: here, agents: writer, reads: [./x.md]}", "has a shorter spelling", "write 'x.md'"),
        ("- {id: here, agents: writer, writes: [/etc/passwd]}", "cannot be used", "relative"),
        ("- {id: here, agents: writer, writes: ['a/../../b']}", "cannot be used", ""),
        ("- {id: here, agents: writer, writes: ['{{run}}/../../b']}", "cannot be used", ""),
        ("- {id: here, agents: writer, writes: ['C:\\x']}", "cannot be used", ""),
        ("- {id: here, agents: writer, writes: [.git/config]}", ".git", ""),
        ("- {id: here, agents: writer, output: {file: ../x}}", "cannot be used", ""),
        ("- {id: here, agents: writer, output: a.b}", "'a.b' must be a name without dots", "file"),
        ("- {id: here, agents: writer, output: 9x}", "'9x' cannot be the name of a value", ""),
        ("- {id: here, agents: writer, output: phases}", "'phases' is kept by the engine", "another name"),
        ("- {id: here, agents: writer, output: {nme: x}}", "unknown key 'nme'", "did you mean 'name'?"),
        ("- {id: here, agents: writer, output: {schema: {type: nonsense}}}", "not a JSON Schema", ""),
        ("- {id: here, agents: writer, prompt: missing.md}", "no file 'missing.md' beside the workflow", ""),
        ("- {id: here, agents: writer, prompt: ../secret.md}", "outside the workflow's folder", ""),
        ("- {id: here, agents: writer, prompt: /etc/x.txt}", "outside the workflow's folder", ""),
        ("- {id: here, agents: writer, prompt: 'Hi {{ name'}", "'prompt'", ""),
        ("- {id: here, check: {}}", "a check needs 'rules' or 'script'", ""),
        ("- {id: here, check: {script: [x], rules: [{if: 'true', then: ask}]}}", "either rules or a script", ""),
        ('- {id: here, check: {script: "a \'b"}}', "not a command line", ""),
        ("- {id: here, check: {rules: [{then: ask}]}}", "a rule needs 'if'", ""),
        ("- {id: here, check: {rules: [{if: 'true'}]}}", "a rule needs 'then'", ""),
        ("- {id: here, check: {rules: [{if: 'true', then: rety}]}}", "'then' must be", "did you mean 'retry'?"),
        ("- {id: here, check: {rules: [{if: 'true', then: ask, agents: writer}]}}", "spawn_additional", ""),
        ("- {id: here, check: {rules: [{if: 'true', then: {goto: last, rerun: true}}]}}", "comes after", "here"),
        ("- {id: here, check: {script: [x]}, gap_check: {script: [x]}}", "two words", ""),
        (
            "- {id: here, agents: writer, gap_check: {criteria: [{if: 'true', action: spawn_additional}]}}",
            "another round of phase 'here' can never fit",
            "set rounds: {max: 2}",
        ),
        ("- {id: here, checkpoint: rview}", "no checkpoint 'rview'", ""),
        ("- {id: here, checkpoint: {options: []}}", "'options' is empty", ""),
        ("- {id: here, checkpoint: {show_files: ['{{ x']}}", "'show_files'", ""),
        ("- {id: here, checkpoint: {prompt: '{% if x %}'}}", "'prompt'", ""),
        ("- {id: here, checkpoint: {condition: 'routing.x'}}", "'routing' is not known here", ""),
        (
            "- {id: here, checkpoint: {approval_required: true, options: [{label: X}]}}",
            "'approval_required' brings its own options",
            "",
        ),
        ("- {id: here, checkpoint: {fields: [{type: text}]}}", "a field needs 'id'", ""),
        ("- {id: here, checkpoint: {fields: [{id: a, each: context.draft}]}}", "either 'id' or 'each'", ""),
        ("- {id: here, checkpoint: {fields: [{id: a}, {id: a}]}}", "'a' is asked twice", ""),
        ("- {id: here, checkpoint: {fields: [{id: a, type: chioce}]}}", "'type' must be", "did you mean 'choice'?"),
        ("- {id: here, checkpoint: {fields: [{id: a, type: choice}]}}", "needs 'options'", ""),
        ("- {id: here, checkpoint: {fields: [{id: a, type: item}]}}", "needs 'each'", ""),
        (
            "- {id: here, checkpoint: {fields: [{id: a, type: choice, options: [same, other], default: sme}]}}",
            "'sme' is not one of the options",
            "did you mean 'same'?",
        ),
        ("- {id: here, checkpoint: {fields: [{id: a, into: checkpoints.x}]}}", "kept by the engine", ""),
        ("- {id: here, checkpoint: {fields: [{id: a, into: a-b}]}}", "cannot be the name of a value", ""),
    ],
)
def test_a_mistake_in_a_phase(phase: str, message: str, hint: str) -> None:
    problem = phase_problem(phase)
    assert message in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize(
    ("option", "message", "hint"),
    [
        ("{then: continue}", "an option needs 'label'", ""),
        ("{label: ''}", "'label' is empty", ""),
        ("{label: 2026}", "'label' must be text, not the number 2026", "quotes"),
        ("{label: X, then: agian}", "'then' must be continue or leave or again", "did you mean 'again'?"),
        ("{label: X, then: {goto: frist}}", "no phase 'frist'", "did you mean 'first'?"),
        ("{label: X, then: {goto: last, rerun: true}}", "'last' comes after 'here'", "first, here"),
        ("{label: X, then: {goto: first, end: x}}", "a move is one of again, goto, end", ""),
        ("{label: X, then: {}}", "a move is one of again, goto, end", ""),
        ("{label: X, then: {end: x, rerun: true}}", "'rerun' belongs to goto", ""),
        ("{label: X, then: {goto: first, status: failed}}", "'status' belongs to end", ""),
        ("{label: X, then: {end: x, status: faild}}", "'status' must be", "did you mean 'failed'?"),
        ("{label: X, then: {again: [writr]}}", "no agent or group 'writr'", "did you mean 'writer'?"),
        ("{label: X, then: {goto: previous, rerun: true}}", "cannot be rerun", ""),
        ("{label: X, skip: [lst]}", "skip: there is no phase 'lst'", "did you mean 'last'?"),
        ("{label: X, then: continue, on_select: {action: continue}}", "say the same", "keep one"),
        ("{label: X, on_select: {action: repeat}}", "'action' must be", "did you mean 'repeat_phase'?"),
        ("{label: X, on_select: {target: first}}", "'on_select' needs 'action'", ""),
        ("{label: X, on_select: {action: skip_phases}}", "needs 'phases'", ""),
        ("{label: X, on_select: {action: skip_phases, phases: [nope]}}", "no phase 'nope'", "one of"),
        ("{label: X, on_select: {action: repeat_phase, target: nope}}", "no phase 'nope'", ""),
        ("{label: X, on_select: {action: abort, phases: [last]}}", "'phases' belongs to skip_phases", ""),
        ("{label: X, remark: maybe}", "'remark' must be none or optional or required", ""),
        ("{label: X, with_feedback: 'yes'}", "'with_feedback' must be true or false", ""),
        ("{label: X, start: {workflow: early-exit}}", "'start' needs 'each'", ""),
        (
            "{label: X, start: {workflow: erly-exit, each: '[1]'}}",
            "no workflow 'erly-exit'",
            "did you mean 'early-exit'?",
        ),
        ("{label: X, start: {workflow: early-exit, each: 'pieces.x'}}", "'pieces' is not known here", ""),
        ("{label: X, start: {workflow: early-exit, each: '[1]', inputs: {no: '1'}}}", "has no input 'no'", ""),
        ("{label: X, undo: true, start: {workflow: early-exit, each: '[1]'}}", "exclude each other", "two options"),
        ("{label: X, set: {phases.x: 1}}", "'phases' is kept by the engine", ""),
        ("{label: X, set: {'a b': 1}}", "cannot be the name of a value", ""),
        ("{label: X, recommend: 'feedback.'}", "'recommend'", ""),
        ("{label: X, when: 'output.x'}", "'output' is not known here", ""),
        ("{label: X}, {label: x}", "the label 'x' is used twice", "labels"),
        ("{label: Use the writer's version}", "is reserved", ""),
    ],
)
def test_a_mistake_in_an_option(option: str, message: str, hint: str) -> None:
    problem = option_problem(option)
    assert message in problem.message
    assert hint in problem.hint


@pytest.mark.parametrize("label", RESERVED_LABELS)
def test_labels_of_attention_checkpoints_are_reserved(label: str) -> None:
    assert "is reserved" in option_problem(f"{{label: {label.upper()}}}").message


@pytest.mark.parametrize("name", sorted(RESERVED_NAMES))
def test_names_that_the_engine_keeps_cannot_be_written(name: str) -> None:
    assert "kept by the engine" in phase_problem(f"- {{id: here, agents: writer, output: {name}}}").message


def test_another_round_that_can_never_fit_is_refused() -> None:
    for phase in ("id: here, agents: writer", "id: here, agents: writer, rounds: {plan: [a, b], max: 2}"):
        problem = option_problem("{label: More, then: again}", phase)
        assert "can never fit" in problem.message
    assert "set rounds: {max: 3}" in problem.hint


def test_plain_goto_needs_a_checkpoint_to_return_to() -> None:
    checkpoint = "{options: [{label: X, then: {goto: a}}]}"
    problem = the_problem(f"{HEAD}phases:\n- {{id: a, agents: writer}}\n- {{id: b, checkpoint: {checkpoint}}}")
    assert "phase 'a' has no checkpoint" in problem.message
    assert "rerun: true" in problem.hint


def test_goto_previous_needs_something_before_it() -> None:
    problem = the_problem("name: w\nphases:\n- {id: a, checkpoint: {options: [{label: X, then: {goto: previous}}]}}")
    assert "goto previous" in problem.message


def test_goto_cannot_lead_into_a_group_that_has_ended() -> None:
    for rerun, words in (("true", "is not on the way to"), ("false", "lies inside 'group'")):
        problem = the_problem(
            "name: w\nphases:\n- {id: group, phases: [{id: inside, checkpoint: true}]}\n"
            f"- {{id: b, checkpoint: {{options: [{{label: X, then: {{goto: inside, rerun: {rerun}}}}}]}}}}"
        )
        assert words in problem.message


@pytest.mark.parametrize(
    ("text", "line", "message", "hint"),
    [
        ("agents: {a: {}}", 1, "the workflow needs 'name'", ""),
        ("name: w", 1, "the workflow needs 'phases'", ""),
        ("name: w\nphases: []", 2, "'phases' is empty", ""),
        ("name: w\nphases: {id: a}", 2, "'phases' must be a list", ""),
        ("name: two words\nphases: [{id: a}]", 1, "cannot be the name of a workflow", ""),
        ("name: w\nphase: []\nphases: [{id: a}]", 2, "unknown key 'phase'", "did you mean 'phases'?"),
        ("name: w\nreopen: b\nphases: [{id: aa}]", 2, "reopen: there is no phase 'b'", ""),
        ("name: w\nworkspace: /tmp\nphases: [{id: a}]", 2, "cannot be used", ""),
        ("name: w\nphases: [{id: a}]\ncheckpoints: {ask: {prompt: x}}", 3, "no phase uses the checkpoint 'ask'", ""),
        ("name: w\ninputs: {a: txt}\nphases: [{id: a}]", 2, "input 'a' must be", "did you mean 'text'?"),
        ("name: w\ninputs: {a: {type: fil}}\nphases: [{id: a}]", 2, "'type' must be", "did you mean 'file'?"),
        ("name: w\ninputs: {a: {type: number, default: x}}\nphases: [{id: a}]", 2, "of type number", ""),
        ("name: w\nsettings: {a: {type: bool}}\nphases: [{id: a}]", 2, "setting 'a' needs 'default'", ""),
        ("name: w\nsettings: {a: {type: bool, default: context.x}}\nphases: [{id: a}]", 2, "'context' is not", ""),
        ("name: w\nsettings: {a: {default: 1, expr: '1'}}\nphases: [{id: a}]", 2, "both 'default' and 'expr'", ""),
        ("name: w\nlimits: {call: 3}\nphases: [{id: a}]", 2, "unknown key 'call'", "did you mean 'calls'?"),
        ("name: w\nlimits: {calls: {team: 3}}\nphases: [{id: a}]", 2, "no group 'team'", "total"),
        ("name: w\nlimits: {entries: 0}\nphases: [{id: a}]", 2, "at least 1", ""),
        ("name: w\nagents: {a: {}}\ngroups: {a: [a]}\nphases: [{id: a}]", 3, "both an agent and a group", ""),
        ("name: w\nagents: {abc: {}}\ngroups: {g: [abd]}\nphases: [{id: a}]", 3, "no agent 'abd'", "'abc'"),
        ("name: w\nfiles: [{path: x.md}]\nphases: [{id: a}]", 2, "a file needs 'template'", ""),
        ("name: w\nfiles: [{template: 'a b'}]\nphases: [{id: a}]", 2, "a file needs 'path'", ""),
        ("name: w\nfiles: [{path: ../x, template: 'a b'}]\nphases: [{id: a}]", 2, "cannot be used", ""),
        ("name: w\nfiles: [{path: x, template: t.j2}]\nphases: [{id: a}]", 2, "no file 'templates/t.j2'", ""),
        ("name: w\nfiles: [{path: x, template: ../t.j2}]\nphases: [{id: a}]", 2, "outside the workflow's folder", ""),
        ("name: w\nfiles: [{path: x, each: tasks, from: input.x}]\nphases: [{id: a}]", 2, "not a part", "output.full"),
        ("name: w\nfiles: [{path: x, template: 'a b', after: b}]\nphases: [{id: aa}]", 2, "no phase 'b'", ""),
        ("name: w\nfiles: [{path: x, each: tools, after: a}]\nphases: [{id: a}]", 2, "no meaning", "remove one"),
        ("name: w\nfiles: [{path: x, each: tools, template: t}]\nphases: [{id: a}]", 2, "its own pages", "path: tools"),
        ("name: w\nfiles: [{path: '{{ run }}', each: tools}]\nphases: [{id: a}]", 2, "its own pages", "path: tools"),
        ("name: w\nfiles: [{path: x, each: tool}]\nphases: [{id: a}]", 2, "'each'", "did you mean 'tools'?"),
        ("name: w\nfiles: [{path: x, each: tools, from: output}]\nphases: [{id: a}]", 2, "needs 'each: tasks'", ""),
        (
            "name: w\nfiles: [{path: x, template: 'a b', section: y}]\nphases: [{id: a}]",
            2,
            "not a Markdown heading",
            "",
        ),
        ("- a\n- b\n", 1, "a workflow is a mapping", ""),
        ("hello", 1, "a workflow is a mapping", ""),
    ],
)
def test_a_mistake_at_the_top(text: str, line: int, message: str, hint: str) -> None:
    problems = problems_of(text)
    found = next(problem for problem in problems if message in problem.message)
    assert found.line == line
    assert hint in found.hint


@pytest.mark.parametrize(
    ("agent", "message", "hint"),
    [
        ("{comand: x}", "unknown key 'comand' in agent 'a'", "did you mean 'command'?"),
        ("{python: module}", "does not name a function", "package.module:function"),
        ("{python: 'os; rm:x'}", "does not name a function", ""),
        ("{command: x, python: 'm:f'}", "agent 'a' has command and python", "keep one"),
        ("{command: []}", "'command' is empty", ""),
        ("{recorded: true}", "no file 'recorded/a.yaml'", ""),
        ("{recorded: ../../x}", "outside the workflow's folder", ""),
        ("{timeout: soon}", "not a duration", "10m"),
        ("{timeout: 0}", "not a duration", ""),
        ("{retries: -1}", "at least 0", ""),
        ("{env: ['A=b']}", "not the name of an environment variable", "names only"),
        ("{contract: {type: 3}}", "not a JSON Schema", ""),
        ("{contract: some words}", "must be a JSON Schema", ""),
        ("{gate: [{}]}", "a gate needs one of", ""),
        ("{gate: [{min_char: 3, if: 'true'}]}", "unknown key 'min_char' in a gate", "did you mean 'min_chars'?"),
        ("{gate: [{if: 'outptu.text'}]}", "'outptu' is not known here", ""),
        ("{gate: 5}", "'gate' must be a list or a mapping", ""),
        ("text", "agent 'a' must be a mapping", ""),
        ("{prompt: 'Hi {{ x'}", "'prompt'", ""),
        ("{effects: 'yes'}", "'effects' must be true or false", ""),
    ],
)
def test_a_mistake_in_an_agent(agent: str, message: str, hint: str) -> None:
    problem = the_problem(f"name: w\nagents:\n  a: {agent}\nphases: [{{id: x, agents: [a]}}]")
    assert message in problem.message
    assert problem.line == 3
    assert hint in problem.hint


def test_a_field_asked_by_checkpoint_and_option_alike_is_refused() -> None:
    text = "- {id: here, checkpoint: {fields: [{id: a}], options: [{label: X, fields: [{id: a}]}]}}"
    assert "'a' is asked twice" in phase_problem(text).message


def test_all_problems_come_at_once_sorted_by_line() -> None:
    problems = problems_of(
        "name: a b\nagents: {x: {comand: y}}\nphases:\n- id: p\n  agents: [z]\n  checkpoint:\n    options:\n"
        "    - {label: A, then: {goto: q}}\n    - {label: A, skip: [r]}\n    show_file: x\nsettings: 3\n"
    )
    assert [problem.line for problem in problems] == [1, 2, 5, 8, 9, 9, 10, 11]


def test_a_mistake_in_a_shared_checkpoint_is_told_once() -> None:
    problem = the_problem(
        "name: w\ncheckpoints: {ask: {options: [{label: A, then: {goto: nowhere}}]}}\n"
        "phases:\n- {id: a, checkpoint: ask}\n- {id: b, checkpoint: ask}\n"
    )
    assert problem.line == 2


def test_a_template_mistake_inside_a_block_is_told_by_its_own_line() -> None:
    problem = the_problem(
        "name: w\nphases:\n- id: a\n  checkpoint:\n    prompt: |\n      fine\n      {% broken %}\n      fine\n"
    )
    assert problem.line == 7


def test_an_agent_with_a_mistake_is_still_known_to_the_steps() -> None:
    assert "agent 'a'" in the_problem("name: w\nagents: {a: 5}\nphases: [{id: x, agents: [a]}]").message


def test_large_hostile_files_are_refused_with_a_bounded_list() -> None:
    phases = "".join(
        f"- {{id: p{n}, checkpoint: {{options: [{{label: X, then: {{goto: p{n + 1}, rerun: true}}}}]}}}}\n"
        for n in range(3000)
    )
    assert len(problems_of(f"name: w\nphases:\n{phases}")) == 101
    assert "too long" in phase_problem(f"- {{id: here, agents: writer, writes: ['{'{' * 400_000}']}}").message
