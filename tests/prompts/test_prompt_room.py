"""What does not fit is left out by file, the largest first, and said; never what the person said or what is asked."""

from __future__ import annotations

import re

import pytest

from reconvene.adapters.agents.windows import window_of
from reconvene.app.sizes import sizes
from reconvene.core.definition.workflow import Agent
from reconvene.core.facts.events import LeftOut
from reconvene.prompts.context import Shown, shown
from reconvene.prompts.documents import said, tokens
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

WORKFLOW = """
name: room
inputs: {small: {type: text}, large: {type: text}, larger: {type: text}}
agents: {a: {prompt: "You are A."}, b: {prompt: "You are B."}}
phases:
  - {id: p, agents: [a], output: x, checkpoint: {options: [{label: Next, remark: optional, then: continue}]}}
  - id: q
    agents: [a, b]
    prompt: "Do it."
    reads: [inputs.larger, inputs.small, inputs.large]
    gate: {min_chars: 7}
"""


def play(large: int = 30_000, larger: int = 90_000) -> Play:
    given = {"small": "s" * 900, "large": "l" * large, "larger": "g" * larger}
    game = Play(parse_workflow(WORKFLOW), given)
    game.finish("a", "x")
    game.decide("Next", "The person said this. " * 100)
    return game


def views(game: Play, window: int) -> list[Shown]:
    return [shown(game.state, game.book, effect.task, window=window) for effect in game.effects()]


def test_everything_is_shown_where_it_fits() -> None:
    for view in views(play(), 200_000):
        assert view.left_out == ()
        assert "g" * 90_000 in view.prompt


def test_where_nobody_knows_the_window_a_document_is_cut_at_sixty_thousand_characters_and_it_is_said() -> None:
    for view in views(play(), 0):
        assert view.left_out == (LeftOut("inputs.larger", 60_000, 90_000),)
        assert "inputs.larger: its first 60,000 of 90,000 characters are shown" in view.prompt
        assert "l" * 30_000 in view.prompt


@pytest.mark.parametrize("window", [32_000, 16_000, 8_000, 6_000])
def test_the_largest_is_shortened_first_and_a_quarter_of_the_window_stays_free(window: int) -> None:
    for view in views(play(), window):
        assert tokens(view.system + view.prompt) <= window * 0.78
        assert view.left_out[0].name == "inputs.larger"
        assert "s" * 900 in view.prompt
        assert all(f"- {said(one)}" in view.prompt for one in view.left_out)
        for never in ("The person said this. " * 100, "Do it.", "fewer than 7 characters"):
            assert never.strip() in view.prompt


def test_the_agents_of_a_step_still_share_their_documents() -> None:
    one, other = (view.prompt.partition("<left-out-")[0] for view in views(play(), 16_000))
    assert one == other


def test_where_only_scraps_would_be_left_whole_documents_are_left_out() -> None:
    view = views(play(), 3_000)[0]
    assert LeftOut("inputs.larger", 0, 90_000) in view.left_out
    assert "- inputs.larger: left out, 90,000 characters" in view.prompt
    assert re.search(r'name="inputs.larger" shown="0 of 90000 characters">\n\(left out', view.prompt)


SUMMED_UP = """
name: summed-up
agents: {a: {}, b: {prompt: "You are B."}}
phases:
  - {id: p, agents: [a], output: x}
  - {id: q, agents: [b], reads: [x], prompt: "Do it."}
"""


@pytest.mark.parametrize(
    "text",
    ["g" * 50_000 + "\n\n## Summary\n\nIn short: no.\n", "## Summary\nIn short: no.\n\n## More\n" + "g" * 50_000],
)
def test_the_summary_that_an_agent_wrote_stands_in_place_of_what_does_not_fit(text: str) -> None:
    game = Play(parse_workflow(SUMMED_UP))
    game.finish("a", text)
    whole, short = (views(game, window)[0] for window in (60_000, 8_000))
    assert whole.left_out == ()
    assert "g" * 50_000 in whole.prompt
    (left_out,) = short.left_out
    assert (left_out.name, left_out.shown, left_out.summary) == ("x", 13, True)
    assert "g" * 100 not in short.prompt
    assert re.search(r'name="x" shown="its summary, in place of \d+ characters">\nIn short: no.\n<', short.prompt)
    assert "x: its summary is shown, 13 characters in place of" in short.prompt


def test_what_cannot_be_cut_is_sent_whole_even_where_it_does_not_fit() -> None:
    view = views(play(), 100)[0]
    assert "The person said this." in view.prompt
    assert len(view.left_out) == 3


def test_the_window_is_what_the_workflow_says_else_what_is_known_of_the_model() -> None:
    assert window_of(Agent("a", model="ollama:qwen3", options={"window": 32_000})) == 32_000
    assert window_of(Agent("a", model="ollama:qwen3")) == 0
    assert window_of(Agent("a", kind="command", command=("x",))) == 0
    assert window_of(Agent("a", model="openai:gpt-4o", options={"base_url": "http://127.0.0.1:1"})) == 0
    assert window_of(Agent("a", model="openai:there-is-no-such-model")) == 0


def test_sizes_are_told_for_each_agent_and_phase() -> None:
    workflow = parse_workflow(WORKFLOW)
    rows = sizes(workflow, {"larger": "g" * 90_000, "large": "l", "small": "s"}, lambda agent: 20_000)
    assert [(row.phase, row.agent, row.fits) for row in rows] == [
        ("p", "a", True),
        ("q", "a", False),
        ("q", "b", False),
    ]
    assert 25_000 < rows[1].expected < 28_000
