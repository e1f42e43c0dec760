"""The decision tree and the table of empty outputs, as the seed draws them."""

from __future__ import annotations

import pytest
from gap_texts import begun, ordered, played, proposals, review, solution

from reconvene.kits.gaps.endings import both_empty, decide
from reconvene.kits.gaps.vocabulary import SEVERITIES, STATES, WEIGHTS


@pytest.mark.parametrize(
    ("open_gaps", "approved", "all_blocked", "user_approved", "ending"),
    [
        (0, True, False, False, "COMPLETE"),
        (0, False, False, False, "continue"),
        (0, False, False, True, "continue"),
        (3, False, True, False, "present decisions"),
        (3, True, True, True, "present decisions"),
        (3, False, False, True, "USER_APPROVED"),
        (3, True, False, False, "continue"),
    ],
)
def test_the_decision_tree(open_gaps: int, approved: bool, all_blocked: bool, user_approved: bool, ending: str):
    assert decide(open_gaps, approved, all_blocked, user_approved) == ending


@pytest.mark.parametrize(
    ("open_gaps", "all_blocked", "meaning"), [(0, False, "complete"), (4, True, "waiting"), (4, False, "escalate")]
)
def test_both_roles_empty(open_gaps: int, all_blocked: bool, meaning: str):
    assert both_empty(open_gaps, all_blocked) == meaning


def test_the_value_says_what_two_empty_outputs_mean():
    idle, nothing = "Nothing to propose.", "## Review\n\n- [x] looked\n\n**APPROVE**\n"
    value = played(begun(), 1, idle, nothing)
    assert (value["engineer_empty"], value["reviewer_empty"], value["both_empty"]) == (True, True, "escalate")
    blocked = begun("- GAP-A-001: Which carrier?\n  - Blocked by: user decision\n")
    assert played(blocked, 1, idle, nothing)["both_empty"] == "waiting"
    assert played(ordered(begun(), complete="forced"), 1, idle, nothing)["both_empty"] == "complete"
    assert played(begun(), 1, proposals(solution("GAP-FLOW-001")), nothing)["both_empty"] == ""


def test_a_round_whose_outputs_are_missing_is_empty():
    assert played(begun(), 1, None, None)["both_empty"] == "escalate"


def test_every_severity_and_state_has_a_written_definition_and_weights_rise():
    assert list(SEVERITIES) == list(WEIGHTS) == ["CRITICAL", "HIGH", "MEDIUM", "LOW"]
    assert all(len(text) > 20 for text in (*SEVERITIES.values(), *STATES.values()))
    assert sorted(WEIGHTS.values(), reverse=True) == list(WEIGHTS.values())


def test_counts_add_up_to_the_total():
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), review({"GAP-FLOW-001": "APPROVED"}))
    assert list(value["counts"]) == list(STATES)
    assert sum(value["counts"].values()) == value["total"] == 5
