"""Workflow files that load: the long and short forms, and what they come to."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from reconvene.core.definition.workflow import (
    Again,
    Checkpoint,
    Continue,
    End,
    Gate,
    Goto,
    Limits,
    Option,
    Phase,
    Rule,
    Workflow,
)
from reconvene.errors import StoreError
from reconvene.wire.pins import pin, unpin
from reconvene.wire.workflow_file import load_workflow, parse_workflow

SKETCHES = sorted((Path(__file__).parents[1] / "fixtures" / "sketches").glob("*.yaml"))


def phases(text: str, extra: str = "") -> tuple[Phase, ...]:
    agents = "agents: {writer: {}, reviewer: {}, judge: {}}\ngroups: {panel: [reviewer, judge]}\n"
    return parse_workflow(f"name: w\n{agents}{extra}phases:\n{text}").phases


def checkpoint(text: str, phase: str = "id: b, agents: [writer], rounds: {max: 3}") -> Checkpoint:
    """A checkpoint of the second of three phases."""
    body = (
        "- {id: a, agents: [writer], output: draft, checkpoint: true}\n"
        f"- {{{phase}, checkpoint: {text}}}\n- {{id: c, agents: [writer]}}\n"
    )
    found = phases(body)[1].checkpoint
    assert found is not None
    return found


def option(text: str) -> Option:
    return checkpoint(f"{{options: [{{label: X, {text}}}]}}").options[0]


@pytest.mark.parametrize("file", SKETCHES, ids=lambda file: file.stem)
def test_the_sketches_load_and_survive_pinning(file: Path) -> None:
    workflow = load_workflow(file)
    assert workflow.name == file.stem
    assert workflow.file == file.name
    assert workflow.source == file.read_text()
    assert unpin(pin(workflow)) == workflow


def test_all_five_sketches_are_there() -> None:
    assert len(SKETCHES) == 5


def test_a_damaged_pinned_workflow_is_the_stores_trouble() -> None:
    with pytest.raises(StoreError):
        unpin(b'{"name": 3}')


def test_resuming_a_run_does_not_pay_for_reading_yaml() -> None:
    program = "import sys; from reconvene.wire.pins import pin, unpin; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert not {"yaml", "jinja2", "jsonschema"} & set(loaded)


def test_short_form_is_one_round_of_one_step() -> None:
    (phase,) = phases("- {id: a, agents: [writer], output: draft, writes: d.md, reads: [files], prompt: Write it.}")
    (step,) = phase.steps
    assert (step.agents, step.output, step.writes, step.reads) == (("writer",), "draft", ("d.md",), ("files",))
    assert step.prompt == "Write it."
    assert (phase.rounds.plan, phase.rounds.max, phase.rounds.open_ended) == (("main",), 1, False)


def test_when_beside_a_short_form_is_the_phases_own() -> None:
    (phase,) = phases('- {id: a, when: "inputs.x", agents: [writer]}', "inputs: {x: bool}\n")
    assert (phase.when, phase.steps[0].when) == ("inputs.x", "")


def test_agents_may_be_a_group_an_agent_a_mixed_list_or_an_expression() -> None:
    found = phases(
        "- id: a\n  steps:\n  - {agents: panel}\n  - {agents: writer}\n  - {agents: [judge, panel, writer, judge]}\n"
        '  - {agents: "round.agents || groups.panel"}\n'
    )[0].steps
    assert [step.agents for step in found] == [
        ("reviewer", "judge"),
        ("writer",),
        ("judge", "reviewer", "writer"),
        (),
    ]
    assert found[3].agents_expr == "round.agents || groups.panel"


def test_reads_left_out_means_everything_and_an_empty_list_means_nothing() -> None:
    found = phases("- id: a\n  steps: [{agents: writer}, {agents: writer, reads: []}]")[0].steps
    assert [step.reads for step in found] == [None, ()]


def test_output_may_name_a_value_a_file_and_a_schema() -> None:
    (phase,) = phases("- {id: a, agents: [writer], output: {name: d, file: out/d.md, schema: {type: object}}}")
    (step,) = phase.steps
    assert (step.output, step.output_file, step.schema) == ("d", "out/d.md", {"type": "object"})


def test_rounds_with_a_plan_end_with_it_unless_max_allows_more() -> None:
    found = phases("- {id: a, agents: writer, rounds: {plan: [one, two]}}\n- {id: b, agents: writer, rounds: {max: 4}}")
    assert [(phase.rounds.plan, phase.rounds.max) for phase in found] == [(("one", "two"), 2), (("main",), 4)]


def test_until_without_a_plan_is_open_ended_up_to_max() -> None:
    (phase,) = phases('- {id: a, agents: writer, output: text, rounds: {until: "context.text", max: 9}}')
    assert (phase.rounds.open_ended, phase.rounds.max, phase.rounds.until) == (True, 9, "context.text")


def test_approval_offers_exactly_continue_and_abort() -> None:
    for text in ("true", "{approval_required: true}", "{}"):
        found = checkpoint(text)
        assert found.prompt == "Continue with next phase?"
        assert [(each.label, each.then, each.alias, each.remark) for each in found.options] == [
            ("Continue", Continue(), "continue", "none"),
            ("Abort", End("aborted", "aborted"), "abort", "none"),
        ]


def test_a_checkpoint_with_only_a_prompt_offers_the_usual_options() -> None:
    found = checkpoint("{prompt: Fine?}")
    assert found.prompt == "Fine?"
    assert [each.label for each in found.options] == ["Continue", "Abort"]


def test_a_checkpoint_turned_off_is_none() -> None:
    found = phases("- {id: a, agents: writer, checkpoint: false}\n- {id: b, checkpoint: {approval_required: false}}")
    assert [phase.checkpoint for phase in found] == [None, None]


@pytest.mark.parametrize(
    ("text", "move", "alias"),
    [
        ("then: continue", Continue(), "continue"),
        ("remark: optional", Continue(), "continue"),
        ("then: again", Again(), "again"),
        ("then: {again: [panel]}", Again(("reviewer", "judge")), "again"),
        ("then: {goto: a}", Goto("a"), "goto"),
        ("then: {goto: previous}", Goto("previous"), "goto"),
        ("then: {goto: a, rerun: true}", Goto("a", True), "repeat_phase"),
        ("then: {goto: current, rerun: true}", Goto("b", True), "repeat_phase"),
        ("skip: [c], then: continue", Continue(), "skip_phases"),
        ("then: {end: done}", End("done", "completed"), "end"),
        ("then: {end: ABANDONED}", End("ABANDONED", "aborted"), "abort"),
        ("then: {end: MAX_ROUNDS, status: failed}", End("MAX_ROUNDS", "failed"), "end"),
        ("then: {end: failed, status: completed}", End("failed", "completed"), "end"),
        ("then: continue, as: waved_through", Continue(), "waved_through"),
        ("on_select: {action: continue}", Continue(), "continue"),
        ("on_select: {action: repeat_phase, target: current}", Goto("b", True), "repeat_phase"),
        ("on_select: {action: repeat_phase}", Goto("b", True), "repeat_phase"),
        ("on_select: {action: repeat_phase, target: a}", Goto("a", True), "repeat_phase"),
        ("on_select: {action: skip_phases, phases: [c]}", Continue(), "skip_phases"),
        ("on_select: {action: abort}", End("aborted", "aborted"), "abort"),
    ],
)
def test_both_spellings_of_the_moves(text: str, move: object, alias: str) -> None:
    found = option(text)
    assert (found.then, found.alias) == (move, alias)
    assert found.skip == (("c",) if alias == "skip_phases" else ())


def test_with_feedback_asks_for_an_optional_remark() -> None:
    assert option("with_feedback: true").remark == "optional"
    assert option("remark: required").remark == "required"
    assert option("then: continue").remark == "none"


def test_a_shared_checkpoint_means_the_phase_that_uses_it() -> None:
    shared = "checkpoints: {ask: {options: [{label: Redo, on_select: {action: repeat_phase, target: current}}]}}\n"
    found = phases("- {id: a, agents: writer, checkpoint: ask}\n- {id: b, agents: writer, checkpoint: ask}", shared)
    assert [phase.checkpoint and phase.checkpoint.options[0].then for phase in found] == [
        Goto("a", True),
        Goto("b", True),
    ]


def test_fields_carry_choices_defaults_and_where_they_go() -> None:
    found = checkpoint(
        "{fields: ["
        "{id: why, type: text, required: true, into: redo.reason, default: none given}, "
        '{id: pick, type: choice, options: ["yes", "no"], default: "no"}, '
        "{id: from, type: choice, options: context.draft}, "
        "{id: who, type: agents, default: routing.affected}, "
        '{each: context.draft.questions, type: item, into: answers, blank: "as you like"}]}'
    ).fields
    assert [field.default for field in found] == ["none given", "no", None, None, None]
    assert [field.options for field in found] == [(), ("yes", "no"), (), (), ()]
    assert found[2].options_expr == "context.draft"
    assert found[3].default_expr == "routing.affected"
    assert (found[4].each, found[4].key, found[4].into, found[4].blank) == (
        "context.draft.questions",
        "id",
        "answers",
        "as you like",
    )


def test_undo_set_when_and_recommend_belong_to_an_option() -> None:
    found = option('undo: true, then: again, set: {draft.level: 3}, when: "round.n > 1", recommend: "feedback.major"')
    assert found.undo
    assert found.set == {"draft.level": 3}
    assert (found.when, found.recommend) == ("round.n > 1", "feedback.major")


def test_an_undone_round_needs_no_room_for_another() -> None:
    found = checkpoint("{options: [{label: Redo, undo: true, then: again}]}", "id: b, agents: writer")
    assert found.options[0].then == Again()


def test_a_check_in_both_spellings() -> None:
    for check in (
        'check: {rules: [{if: "true", then: {goto: current, rerun: true}, say: s}, {if: "true", then: ask}]}',
        'gap_check: {criteria: [{condition: "true", action: retry, message: s}, {if: "true", action: escalate}]}',
        'gap_check: {criteria: [{condition: "true", action: retry_phase, message: s}, {if: "true", then: escalate}]}',
    ):
        (phase,) = phases(f"- {{id: a, agents: writer, {check}}}")
        assert phase.check is not None
        assert phase.check.rules == (Rule("true", Goto("a", True), "s"), Rule("true", None))
        assert phase.check.max == 2


def test_a_rule_may_spawn_agents_or_abort() -> None:
    (phase,) = phases(
        "- {id: a, agents: writer, rounds: {max: 2}, gap_check: {max: 1, criteria: ["
        '{condition: "true", action: spawn_additional, agents: [panel]}, {condition: "true", action: abort}]}}'
    )
    assert phase.check is not None
    assert phase.check.max == 1
    assert [rule.then for rule in phase.check.rules] == [Again(("reviewer", "judge")), End("gap check", "failed")]


def test_a_check_may_be_a_script_as_list_or_command_line() -> None:
    for script in ('["python3", "gaps.py", "a b"]', "\"python3 gaps.py 'a b'\""):
        (phase,) = phases(f"- {{id: a, agents: writer, check: {{script: {script}, timeout: 1m}}}}")
        assert phase.check is not None
        assert phase.check.script == ("python3", "gaps.py", "a b")
        assert phase.check.timeout == 60


def one(text: str) -> Workflow:
    return parse_workflow(f"name: w\n{text}\nphases: [{{id: a}}]")


def test_agents_of_every_kind() -> None:
    found = one(
        "agents:\n  plain:\n"
        "  shell: {command: echo hi, env: [LANG, TZ], timeout: 1h30m, effects: true}\n"
        "  argv: {command: [echo, hi], retries: 0, timeout: 90}\n"
        "  code: {python: my.module:make}\n"
        "  asked: {model: 'openai:gpt', tools: read, options: {top_p: 1, temperature: 0.2}, remit: sums, prompt: Hi}\n"
    ).agents
    assert [agent.kind for agent in found.values()] == ["model", "command", "command", "python", "model"]
    assert found["plain"].model == "auto"
    assert (found["shell"].command, found["shell"].timeout, found["shell"].env) == (
        ("sh", "-c", "echo hi"),
        5400,
        ("LANG", "TZ"),
    )
    assert found["argv"].command == ("echo", "hi")
    assert found["argv"].retries == 0
    assert found["asked"].options == {"top_p": 1, "temperature": 0.2}
    assert [tool.name for tool in found["asked"].tools] == ["files", "documents", "sql"]
    assert (found["asked"].remit, found["asked"].prompt) == ("sums", "Hi")


def test_gates_as_a_list_or_spread_from_one_mapping() -> None:
    found = one(
        "agents:\n"
        "  a: {gate: {min_chars: 100, headings: [One, Two]}}\n"
        '  b: {gate: [{min_chars: 5}, {if: "output.text.length > 9", retry_with: shorter}, {ask: Is it good?}]}\n'
    ).agents
    assert found["a"].gates == (Gate(min_chars=100), Gate(headings=("One", "Two")))
    assert found["b"].gates == (
        Gate(min_chars=5),
        Gate(when="output.text.length > 9", retry_with="shorter"),
        Gate(ask="Is it good?"),
    )


def test_inputs_in_long_and_short_form() -> None:
    found = one("inputs: {a: , b: file, c: {type: number, default: 3, required: true, description: how many}}").inputs
    assert [each.type for each in found.values()] == ["text", "file", "number"]
    assert (found["c"].default, found["c"].required, found["c"].description) == (3, True, "how many")


def test_a_settings_string_is_an_expression_unless_its_type_is_text() -> None:
    found = one(
        "inputs: {x: number, y: text}\n"
        'settings: {a: {type: bool, default: "inputs.x > 1"}, b: {type: text, default: "inputs.x"}, '
        'c: {default: true}, d: {type: text, expr: "inputs.y"}, e: {default: 3}}'
    ).settings
    assert [(each.type, each.default, each.expr) for each in found.values()] == [
        ("bool", None, "inputs.x > 1"),
        ("text", "inputs.x", ""),
        ("bool", True, ""),
        ("text", None, "inputs.y"),
        ("number", 3, ""),
    ]


def test_limits_count_calls_in_total_or_by_group() -> None:
    agents = "agents: {a: {}}\ngroups: {g: [a]}\n"
    assert one("limits: {calls: 7, entries: 3, undo: 0}").limits == Limits(calls=7, entries=3, undo=0)
    assert one(agents + "limits: {calls: {g: 5, total: 9}}").limits == Limits(calls=9, group_calls={"g": 5})
    assert one(agents + "limits: {calls: {g: 5}}").limits == Limits(group_calls={"g": 5})


def test_values_live_in_the_innermost_loop_that_holds_all_their_writers() -> None:
    found = parse_workflow(
        "name: w\nagents: {x: {}}\nphases:\n"
        "- {id: first, agents: x, output: everywhere}\n"
        "- id: outer\n  each: {of: context.everywhere}\n  phases:\n"
        "  - {id: start, agents: x, output: shared}\n"
        "  - id: inner\n    each: {of: item.parts}\n    agents: x\n    output: mine\n"
        "    checkpoint: {options: [{label: A, set: {shared.note: 1, everywhere.n: 2, flag: true}}],\n"
        "                 fields: [{id: f, into: answers.f}]}\n"
    ).names
    assert found == {
        "everywhere": "",
        "shared": "outer",
        "mine": "inner",
        "flag": "inner",
        "answers": "inner",
    }


def test_sibling_loops_share_nothing_but_the_run() -> None:
    found = parse_workflow(
        "name: w\nagents: {x: {}}\nphases:\n"
        "- {id: a, each: {of: inputs.feature}, agents: x, output: v}\n"
        "- {id: b, each: {of: inputs.feature}, agents: x, output: v}\n"
    ).names
    assert found == {"v": ""}


def test_reopen_run_id_and_workspace_are_kept() -> None:
    found = one("reopen: a\nrun_id: 'R-{{ year }}'\nworkspace: 'runs/{{ run }}'\ndescription: d")
    assert (found.reopen, found.run_id, found.workspace, found.description) == (
        "a",
        "R-{{ year }}",
        "runs/{{ run }}",
        "d",
    )


def test_goto_may_rerun_what_is_here_earlier_or_around() -> None:
    body = (
        "- {id: early, agents: writer}\n"
        "- id: group\n  phases:\n  - {id: one, agents: writer}\n  - id: two\n    agents: writer\n"
        "    checkpoint: {options: ["
        + ", ".join(f"{{label: {to}, then: {{goto: {to}, rerun: true}}}}" for to in ("early", "group", "one", "two"))
        + "]}\n"
    )
    asked = phases(body)[1].phases[1].checkpoint
    assert asked is not None
    assert [each.then for each in asked.options] == [Goto(to, True) for to in ("early", "group", "one", "two")]


def test_expressions_may_be_written_as_plain_booleans_and_numbers() -> None:
    (phase,) = phases("- {id: a, when: true, agents: writer, checkpoint: {condition: 1}}")
    assert phase.when == "true"
    assert phase.checkpoint is not None
    assert phase.checkpoint.condition == "1"
