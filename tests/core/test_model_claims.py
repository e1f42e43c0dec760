"""What a model says of a claim counts only where the words that it relies on stand as it says."""

from __future__ import annotations

import pytest

from reconvene.app.views.ledger import Entry, ledger
from reconvene.core.facts import commands as c
from reconvene.errors import Refused
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

FLOW = """
name: council
agents: {lawyer: {}}
phases:
  - id: views
    rounds: {max: 5}
    agents: [lawyer]
    checkpoint:
      options:
        - {label: Again, then: again}
"""
BEFORE = "The recordings may be used.\n\nRaw audio is deleted after 90 days."
AFTER = "Only with opt-in of the caller.\n\nRaw audio is deleted after 90 days."


@pytest.fixture
def play() -> Play:
    found = Play(parse_workflow(FLOW))
    found.finish("lawyer", BEFORE)
    found.decide("Again", "People tell us about their illnesses")
    found.finish("lawyer", AFTER)
    return found


def entry(play: Play) -> Entry:
    return ledger(play.log, lambda ref: play.blobs[ref.digest].decode()).entries[0]


def opinion(was: str, now: str, task: str = "R2/0/lawyer") -> c.JudgeClaim:
    return c.JudgeClaim("FB-001", task, "m:1", was, now, why="it asks for consent")


def test_a_model_closes_what_rules_left_open_by_words_that_stand_there(play: Play) -> None:
    assert entry(play).status == "claimed"
    play.do(opinion("The recordings may be used.", "Only with opt-in of the caller."))
    found = entry(play)
    assert (found.status, found.answers[-1].rule, found.answers[-1].evidence[0].line) == ("addressed", "m:1 1", 1)


@pytest.mark.parametrize(
    ("was", "now", "why"),
    [
        ("", "Consent is asked for", "words that do not stand there"),
        ("", "Raw audio is deleted after 90 days.", "words that stood there before"),
        ("The moon is green", "Only with opt-in of the caller.", "words that did not stand there before"),
        ("Raw audio is deleted", "Only with opt-in of the caller.", "words that still stand there"),
        ("", "", "no words at all"),
    ],
)
def test_words_that_do_not_stand_so_do_not_count(play: Play, was: str, now: str, why: str) -> None:
    with pytest.raises(Refused, match=why):
        play.do(opinion(was, now))
    assert entry(play).open


def test_no_model_talks_away_a_figure_that_still_stands() -> None:
    play = Play(parse_workflow(FLOW))
    play.finish("lawyer", "The cap is £100M.\n\nIt binds.")
    play.decide("Again", "The cap is £150M, not £100M")
    play.finish("lawyer", "The cap is £100M.\n\nIt binds as of 2027.")
    with pytest.raises(Refused, match="still stands in the text of lawyer"):
        play.do(opinion("It binds.", "It binds as of 2027."))
    assert entry(play).status == "claimed"


def test_a_task_that_left_nothing_open_is_not_judged(play: Play) -> None:
    with pytest.raises(Refused, match="has left nothing open"):
        play.do(opinion("", "Only with opt-in", task="R1/0/lawyer"))
