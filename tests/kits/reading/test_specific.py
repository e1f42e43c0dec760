"""The gate against generic filler: an output must name something of the documents it is about."""

from __future__ import annotations

import pytest

from reconvene.kits.reading.terms import names_something
from reconvene.kits.reading.terms import particular as terms
from reconvene.prompts.context import shown
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

COMPANY = (
    """# Company
Aldersund Seafood farms salmon in the Trondelag fjords. Its revenue was 412 million kroner; Mowi and SalMar compete.
"""
    + "It is a company like others and has customers. " * 20
)
QUESTION = "Should we build closed pens before the licence round of 2031?"


@pytest.mark.parametrize(
    ("text", "specific"),
    [
        ("Costs matter and the market may change over the years.", False),
        ("Aldersund should wait.", True),
        ("A rival such as mowi will move first.", True),
        ("Revenue of 412 million leaves little room.", True),
        ("Closed pens are dear.", True),
        ("", False),
    ],
)
def test_only_what_the_documents_name_makes_a_text_specific(text: str, specific: bool):
    assert names_something(text, terms([COMPANY, QUESTION])) is specific


def test_where_there_is_nothing_to_name_everything_passes():
    assert names_something("anything", terms([]))


def test_other_scripts_count_as_names():
    assert names_something("中远海运 的 运力 增长", terms(["公司 中远海运 经营 航线"]))


def test_filler_is_sent_back_once_with_the_reason_and_then_let_through():
    game = Play(
        parse_workflow(
            "name: n\ninputs: {company: {type: file}}\nphases: [{id: p, agents: [a]}]\n"
            "agents: {a: {retries: 3, gate: [{specific_to: [inputs.company]}]}}\n"
        ),
        {"company": COMPANY},
    )
    game.finish("a", "Costs matter and the market may change.")
    assert "GENERIC: nothing in it is about this case" in shown(game.state, game.book, "R1/0/a").prompt
    game.finish("a", "Costs still matter.")
    assert game.state.status == "completed"
