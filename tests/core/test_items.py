"""What each item of a loop came to, seen from outside; and what a person sees of an answer that cannot be used."""

from __future__ import annotations

from reconvene.core.shown.scope import for_expression
from reconvene.language.expressions import evaluate
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

LOOPS = """
name: loops
agents: {planner: {}, writer: {}, reader: {}}
phases:
  - id: batch
    each: {of: "['one', 'two']"}
    phases:
      - {id: plan, agents: [planner], output: plan}
      - id: task
        each: {of: "['x', 'y']"}
        phases: [{id: write, agents: [writer], output: text}]
  - id: read
    agents: [reader]
    check:
      rules:
        - {if: "items.batch.two.task.y.text === 'output of writer'", then: ask, say: "Both: {{ items.batch | length }}"}
"""


def test_the_values_of_all_items_are_seen_after_the_loop():
    game = Play(parse_workflow(LOOPS))
    while game.phase != "read":
        game.finish_all()
    source = "[Object.keys(items.batch), items.batch.one.plan, items.batch.two.task.y.text]"
    assert evaluate(source, for_expression(game.state, game.book, source)) == [
        ["one", "two"],
        "output of planner",
        "output of writer",
    ]


def test_until_sees_the_values_of_the_item_that_was_just_done():
    text = """
    name: chapters
    agents: {writer: {}}
    phases:
      - id: chapter
        each: {of: "['a', 'b', 'c']", until: "context.enough && item.key === 'b'"}
        phases:
          - id: write
            agents: [writer]
            checkpoint:
              options: [{label: Next, then: continue}, {label: That is enough, set: {enough: true}, then: continue}]
    """
    game = Play(parse_workflow(text))
    for option in ("That is enough", "That is enough"):
        game.finish_all()
        game.decide(option)
    assert game.state.ended == "completed"
    assert len([scope for scope in game.entered() if scope.endswith("write#1")]) == 2


def test_what_a_check_says_is_a_template():
    game = Play(parse_workflow(LOOPS))
    game.finish_all()
    assert game.state.world.open is not None
    assert "Both: 2" in game.state.world.open.prompt


def test_a_key_with_brackets_does_no_harm():
    game = Play(parse_workflow(LOOPS.replace("['one', 'two']", "['a]/b[c', 'd:e']").replace("if: ", "if: false && ")))
    game.finish_all()
    assert game.state.ended == "completed"
    source = "Object.keys(items.batch).length > 0"
    assert evaluate(source, for_expression(game.state, game.book, source)) is True


def test_the_person_sees_what_came_from_an_agent_whose_answers_cannot_be_used():
    game = Play(parse_workflow(
        "name: n\nagents: {a: {retries: 1, contract: {type: object}}}\nphases: [{id: p, agents: [a], output: x}]\n"
    ))  # fmt: skip
    game.finish("a", "First, some prose.")
    game.finish("a", "More prose\nin two lines.")
    point = game.state.world.open
    assert point is not None
    assert point.attention
    assert "What came from a" in point.prompt
    assert "> More prose\n> in two lines." in point.prompt
    assert "First, some prose" not in point.prompt
    assert "Try again" in point.prompt
    assert "by hand" in point.prompt
