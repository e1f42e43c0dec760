"""Remarks that were labelled by somebody who knew no rule: how many are read as they were meant."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from tests.kits.reading.blind_remarks import BLIND, measured, share

from reconvene.kits.reading.engine_orders import order
from reconvene.kits.reading.quantities import figures_in
from reconvene.kits.reading.understanding import remarks_in


def test_kind_and_level_together_are_right_for_most_remarks_by_the_rules_alone() -> None:
    scored = measured(BLIND / "remarks.jsonl")
    wrong = [str(one.row["text"]) for one in scored if not one.right]
    assert len(scored) == 120
    assert share(scored) >= 0.95, wrong


def test_in_other_languages_figures_decide_the_level() -> None:
    scored = measured(BLIND / "third.jsonl")
    assert all(one.right for one in scored), [one.row["text"] for one in scored if not one.right]


def test_whom_a_remark_concerns_is_found_where_it_names_or_contradicts_somebody() -> None:
    targets = [each for one in measured(BLIND / "remarks.jsonl") for each in one.targets]
    assert sum(targets) / len(targets) >= 0.8


@pytest.mark.skipif("RECONVENE_REMARKS" not in os.environ, reason="no other file was named")
def test_another_file_of_remarks_is_measured() -> None:
    scored = measured(Path(os.environ["RECONVENE_REMARKS"]))
    print(f"{share(scored):.1%} of {len(scored)}")
    assert share(scored) >= 0.85


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("Actually, run one more round", "another round"),
        ("noch eine Runde bitte", "another round"),
        ("No more rounds, let's proceed", "proceed"),
        ("keine weiteren Runden, bitte weiter", "proceed"),
        ("Skip the checkpoint, I'm good", "skip"),
        ("Pause here, I need to think", "pause"),
        ("We are raising another round of funding", ""),
        ("We skip the dividend this year", ""),
        ("We pause the expansion", ""),
        ("continue with Brazil", ""),
        ("looks good", ""),
    ],
)
def test_an_order_is_told_from_words_that_only_sound_like_one(text: str, told: str) -> None:
    assert order(text) == told
    if told:
        assert remarks_in(text) == ()


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("four hundred and fifty million", 450e6),
        ("twelve hundred people", 1200),
        ("zweihundertvierzig Millionen Liter", 240e6),
        ("fünfundvierzig Mitarbeiter", 45),
        ("eighteen months", 18 * 30.44),
    ],
)
def test_figures_in_words_are_read_whole(text: str, value: float) -> None:
    (figure,) = figures_in(text)
    assert figure.value == pytest.approx(value)
