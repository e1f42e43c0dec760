"""The fact sheet: what the person said is right, what it replaced, and texts that still say what was."""

from __future__ import annotations

import pytest

from reconvene.core.extensions import Asked
from reconvene.kits.reading.fact_sheet import fact_sheet
from reconvene.kits.reading.old_figures import old_figures
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

COMPANY = """# Quillmark Paper

Quillmark makes paper in Tarnside for 40 customers. The new boiler costs $100M.

| figure | value |
|---|---|
| Revenue | $850M |
| Net debt | $100M |
| Market share | 31 % |
"""


def said(*texts: str, kind: str = "correction") -> list[Asked]:
    return [Asked(f"FB-{number:03d}", text, kind) for number, text in enumerate(texts, 1)]


def rows(*texts: str, kind: str = "correction") -> list[tuple[str, tuple[str, ...], tuple[str, ...]]]:
    return [(one.value, one.replaced, one.ids) for one in fact_sheet(said(*texts, kind=kind), [COMPANY])]


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        (["Revenue is $900M, not $850M"], [("$900M", ("$850M",), ("FB-001",))]),
        (["Revenue is $900M"], [("$900M", ("$850M",), ("FB-001",))]),
        (["Our market share is 24 %"], [("24 %", ("31 %",), ("FB-001",))]),
        (["Der Umsatz beträgt 900 Mio. Euro, nicht 850"], [("900 Mio. Euro", ("850",), ("FB-001",))]),
        (
            ["Net debt is $150M, not $100M", "Net debt is $170M, not $150M"],
            [("$170M", ("$100M", "$150M"), ("FB-001", "FB-002"))],
        ),
        (
            ["Net debt is $150M, not $100M", "Sorry: net debt is $100M after all, not $150M"],
            [("$100M", ("$150M",), ("FB-001", "FB-002"))],
        ),
        (["The plant is in Tarnside, not in Bowbridge"], [("", (), ("FB-001",))]),
    ],
)
def test_the_last_word_on_each_subject_holds_with_all_that_it_replaced(
    texts: list[str], expected: list[tuple[str, tuple[str, ...], tuple[str, ...]]]
) -> None:
    assert rows(*texts) == expected


def test_a_reaction_names_nothing_as_right() -> None:
    assert rows("Interesting point about the river", kind="reaction") == []
    assert rows("We are in acquisition talks", kind="new context") == [("", (), ("FB-001",))]


@pytest.mark.parametrize(
    ("remark", "text", "lines"),
    [
        ("Revenue is $900M, not $850M", "Fine.\n\nWith $850M of revenue it can pay.", [3]),
        ("Revenue is $900M, not $850M", "With USD 850 million it can pay.", [1]),
        ("Revenue is $900M, not $850M", "Revenue was taken as $850M; it is $900M.", []),
        ("Revenue is $900M, not $850M", "Revenue is $900M.\n\nLater, on $850M:", [3]),
        ("Revenue is $900M, not $850M", "| a | b |\n|---|---|\n| now | $900M |\n| then | $850M |", [4]),
        ("Revenue is $900M, not $850M", "- revenue: $850M\n- but really $900M", [1]),
        ("Revenue is $900M, not $850M", "It lies between $800M and $900M, so $850M is not far.", []),
        ("Revenue is $900M, not $850M", "```\nrevenue = $850M\n```", []),
        # The boiler costs as much as the debt was said to be: only a sentence about debt is wrong.
        ("Net debt is $150M, not $100M", "The boiler takes $100M.", []),
        ("Net debt is $150M, not $100M", "A debt of $100M is easy to carry.", [1]),
        # A share is wrong only where it is told of the same thing.
        ("Our market share is 24 %, not 31 %", "Energy is 31 % of all costs.", []),
        ("Our market share is 24 %, not 31 %", "The market share of 31 % is safe.", [1]),
        ("The grid connection comes in 2034, not 2030", "In 2030 elections are held.", []),
        ("The grid connection comes in 2034, not 2030", "In 2030 the grid connection is there.", [1]),
    ],
)
def test_an_old_figure_without_the_new_one_in_its_paragraph_is_found_by_its_line(
    remark: str, text: str, lines: list[int]
) -> None:
    sheet = fact_sheet(said(remark), [COMPANY])
    assert [found.line for found in old_figures(text, sheet, [COMPANY])] == lines


# --- the gate ---

WORKFLOW = """
name: n
kits: [reading]
inputs: {company: {type: file}}
agents: {a: {retries: 1}}
phases:
  - {id: ask, checkpoint: {prompt: Anything wrong?, options: [{label: Go on, then: continue}]}}
  - id: write
    agents: [a]
    output: {name: plan, file: plan.md}
    gate: {kit: reading.holds_facts, about: [inputs.company]}
files:
  - {path: "{% if kit.reading.facts %}facts.md{% endif %}",
     template: "{% for one in kit.reading.facts %}{{ one.value }} was {{ one.was | join }} ({{ one.id }}){% endfor %}"}
"""
OLD, NEW = "The revenue of $850M carries the loan.", "The revenue of $900M carries the loan."


@pytest.fixture
def game() -> Play:
    play = Play(parse_workflow(WORKFLOW), {"company": COMPANY})
    play.decide("Go on", "correction: Revenue is $900M, not $850M")
    return play


def test_what_is_right_is_a_file_of_the_run(game: Play) -> None:
    assert game.book.text(game.state.world.files["facts.md"].digest) == "$900M was $850M (FB-001)"


def test_an_output_with_an_old_figure_is_sent_back_with_its_line_and_what_holds(game: Play) -> None:
    game.finish("a", f"# Plan\n\n{OLD}")
    told = shown(game.state, game.book, "R2/0/a").prompt
    assert "OLD_FIGURE: line 3, says $850M and not $900M [FB-001]: “The revenue of $850M carries the loan.”" in told
    game.finish("a", f"# Plan\n\n{NEW}")
    assert game.state.status == "completed"


def test_the_person_may_take_an_output_that_a_gate_sent_back_as_it_is(game: Play) -> None:
    game.finish("a", OLD)
    game.finish("a", OLD)
    point = game.state.world.open
    assert point is not None
    assert point.attention
    assert "OLD_FIGURE: line 1, says $850M" in point.prompt
    assert [option.label for option in point.options][:2] == ["Try again", "Take the output as it is"]
    game.decide("Take the output as it is")
    assert game.state.status == "completed"
    assert game.book.text(game.state.world.files["plan.md"].digest) == OLD
