"""What an output is held against is told before the work, and what the engine can add itself it does not ask for."""

from __future__ import annotations

import pytest

from reconvene.adapters.agents import asking
from reconvene.core.definition.workflow import Agent, every_phase
from reconvene.errors import WorkflowError
from reconvene.ports import Assignment
from reconvene.prompts.compact_schema import compact, worked_example
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.contracts import problems
from reconvene.wire.packaged import packaged
from reconvene.wire.workflow_file import load_workflow, parse_workflow

WORKFLOW = """
name: formed
inputs: {spec: {type: text}}
gates:
  heard:
    if: "feedback.count > 0 && !output.text.includes('Taken up.')"
    append: "Taken up. ({{ feedback.count }})"
agents:
  a:
    gate:
      - {min_chars: 3, headings: [Findings, Summary]}
      - {if: "!/\\\\d/.test(output.text)", retry_with: "Give a figure for {{ inputs.spec }}."}
      - {if: "feedback.count > 0 && !output.text.includes('FB-')", retry_with: "Cite what the person said."}
      - {if: "!output.text.includes('spec')"}
      - {specific_to: [inputs.spec]}
      - {ask: "Is it concrete?"}
  b: {gate: {headings: [Memo], example: "# Memo\\n\\nAll is well."}}
phases:
  - id: p
    agents: [a]
    output: said
    checkpoint:
      options: [{label: Next, remark: optional, then: continue}, {label: Again, remark: optional, then: again}]
    rounds: {max: 3}
  - {id: q, agents: [b], output: {name: memo, file: memo.md}, gate: heard}
  - {id: r, agents: [b], writes: [note.md], output: note, gate: [heard, {min_chars: 12}]}
"""
GOOD = "## Findings\nThe spec has 3 doors.\n## Summary\nThree. [FB-001]"


def play() -> Play:
    return Play(parse_workflow(WORKFLOW), {"spec": "doors"})


def form(game: Play) -> str:
    (effect,) = game.effects()
    text = shown(game.state, game.book, effect.task).prompt
    return text[text.index("<form-") :]


def test_the_gates_of_agent_and_step_are_told_in_plain_words() -> None:
    told = form(play())
    for line in (
        "It is refused if\n- it has fewer than 3 characters\n",
        "\n- one of these headings is missing: Findings, Summary\n",
        "\n- this is true of it: `!output.text.includes('spec')`\n",
        "\n- nothing in it is about this case, that is, about what is particular in inputs.spec\n",
        "\n- the answer to this question about it is no: Is it concrete?\n",
        "It is also refused with one of these sentences, where it applies:\n- “Give a figure for doors.”\n",
    ):
        assert line in told, line


def test_a_rule_that_asks_for_nothing_yet_is_not_told_yet() -> None:
    game = play()
    assert "Cite what the person said." not in form(game)
    game.finish("a", GOOD)
    game.decide("Again", "Mind the doors.")
    assert "Cite what the person said." in form(game)


def test_one_worked_example_stands_at_the_end() -> None:
    game = play()
    game.finish("a", GOOD)
    game.decide("Next")
    (effect,) = game.effects()
    lines = shown(game.state, game.book, effect.task).prompt.rstrip().splitlines()
    assert lines[-2] == "All is well."
    assert lines[-1].startswith("</example-")


def to_memo(remark: str) -> Play:
    game = play()
    game.finish("a", GOOD)
    game.decide("Next", remark)
    return game


def test_a_sentence_that_the_engine_can_add_is_added_and_the_output_is_not_sent_back() -> None:
    game = to_memo("Mind the doors.")
    assert "This is added to your answer for you. Do not write it yourself:\n- “Taken up. (1)”" in form(game)
    game.finish("b", "# Memo\n\nAll is well.\n\n\n")
    file = game.state.world.files["memo.md"]
    assert game.book.text(file.digest) == "# Memo\n\nAll is well.\n\nTaken up. (1)\n"


def test_nothing_is_added_where_it_is_there_already_or_where_it_does_not_apply() -> None:
    for remark, said in (("", "# Memo\n\nAll is well."), ("Mind the doors.", "# Memo\n\nTaken up. All is well.")):
        game = to_memo(remark)
        game.finish("b", said)
        assert game.book.text(game.state.world.files["memo.md"].digest) == said


def test_a_file_that_is_the_output_gets_the_sentence_too_and_other_files_do_not() -> None:
    game = to_memo("Mind the doors.")
    game.finish("b", "# Memo\n\nAll is well.")
    text = "# Memo: a note of its own\n"
    game.finish("b", text, files={"note.md": text})
    assert game.book.text(game.state.world.files["note.md"].digest).endswith("\n\nTaken up. (1)\n")


def test_other_rules_judge_what_the_agent_wrote_and_not_what_is_added() -> None:
    game = to_memo("Mind the doors.")
    game.finish("b", "# Memo\n\nAll is well.")
    game.finish("b", "# Memo", files={"note.md": "# Memo"})
    assert game.state.world.top.round is not None
    assert game.state.world.top.round.open is not None
    assert "EMPTY_OUTPUT" in game.state.world.top.round.open.tasks["b"].why


@pytest.mark.parametrize(
    ("gate", "said"),
    [
        ("{append: x}", "a gate needs one of"),
        ("{min_chars: 3, append: x}", "'append' goes with 'if' alone"),
        ("{if: 'true', append: x, retry_with: y}", "'append' beside 'retry_with'"),
        ("{if: 'true', append: '{{ feedback.cuont }}'}", "'feedback.cuont' is not known"),
    ],
)
def test_append_stands_beside_if_and_nothing_else(gate: str, said: str) -> None:
    with pytest.raises(WorkflowError) as caught:
        parse_workflow(f"name: n\nagents: {{a: {{gate: {gate}}}}}\nphases: [{{id: p, agents: [a]}}]\n")
    assert any(said in problem.message for problem in caught.value.problems)


SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "title": "Answer",
    "type": "object",
    "properties": {"title": {"type": "string", "title": "Title"}, "examples": {"enum": ["title"]}},
    "required": ["title"],
    "examples": [{"title": "a door"}],
}


def test_a_schema_is_told_compactly_once_inside_the_form() -> None:
    work = Assignment(
        "r", "R1/0/a", 1, Agent("a"), "head\n\n<form-0a>\nbe brief\n</form-0a>\n", {}, (), SCHEMA, mark="0a"
    )
    told = asking.compose(work._replace(system="RULES"), with_schema=True)
    compacted = (
        '{"type":"object","properties":{"title":{"type":"string"},"examples":{"enum":["title"]}},"required":["title"]}'
    )
    assert told.count(compacted) == 1
    assert told.endswith(f"\n\n{compacted}\n</form-0a>\n")
    assert "RULES" not in told
    assert asking.compose(work, with_schema=False) == work.prompt
    assert asking.whole(work._replace(system="RULES")).prompt.startswith("RULES\n\nhead\n\n")


def test_the_example_of_a_contract_is_the_worked_example_where_no_gate_has_one() -> None:
    agent = "a: {contract: {type: object, required: [title], examples: [{title: a door}]}}"
    text = f"name: n\nagents: {{{agent}}}\nphases: [{{id: p, agents: [a]}}]\n"
    game = Play(parse_workflow(text))
    (effect,) = game.effects()
    lines = shown(game.state, game.book, effect.task).prompt.rstrip().splitlines()
    assert lines[-2] == '{"title":"a door"}'
    assert lines[-1].startswith("</example-")


def test_what_a_schema_demands_is_not_lost_when_it_is_made_compact() -> None:
    assert compact({"enum": [{"title": 1}], "const": {"title": 2}, "items": [{"title": "x", "minimum": 1}]}) == {
        "enum": [{"title": 1}],
        "const": {"title": 2},
        "items": [{"minimum": 1}],
    }
    assert compact({"additionalProperties": False, "required": []}) == {"additionalProperties": False}


def test_every_contract_of_a_packaged_workflow_has_an_example_that_fits_it() -> None:
    found = 0
    for name, file in packaged().items():
        for phase in every_phase(load_workflow(file)):
            for step in phase.steps:
                if step.schema is not None:
                    found += 1
                    example = worked_example(step.schema)
                    assert example is not None, f"{name}, {phase.id}"
                    assert problems(step.schema, example) == [], f"{name}, {phase.id}"
    assert found > 7
