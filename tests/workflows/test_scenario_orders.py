"""What a person tells the engine to do at a checkpoint: the option that does it is found, in English and German."""

from __future__ import annotations

import pytest

from reconvene.app.ordered_option import option_meant, ordered

from .boards import LOOKS_GOOD, MORE, OPT_OUT, SKIP, Sit


@pytest.mark.parametrize(
    ("words", "option"),
    [
        ("Actually, run one more round", MORE),
        ("Let's have the specialists take another look at this", MORE),
        ("proceed", LOOKS_GOOD),
        ("No more rounds, let's proceed", OPT_OUT),
        ("keine weiteren Runden, bitte weiter", OPT_OUT),
        ("Skip the checkpoint, I'm good", SKIP),
        ("Pause here, I need to think", ""),
        ("Debt is $150M, not $100M", ""),
    ],
)
def test_an_order_names_its_option(board: Sit, words: str, option: str) -> None:
    run = board().on_to("predetermined")
    meant, said = option_meant(run.engine, run.run, ordered(("reading",), words))
    assert meant == option
    assert said == (f"understood as: {option}" if option else "")


def test_an_order_that_cannot_be_carried_out_is_said_to_be_so(board: Sit) -> None:
    run = board().on_to("predetermined").decide(MORE, gap="the river")
    assert option_meant(run.engine, run.run, "another round") == (
        "",
        "“another round” is not possible here; choose among these",
    )
