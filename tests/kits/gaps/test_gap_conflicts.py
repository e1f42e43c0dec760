"""Conflicts: open disagreement, silence, unchanged sections and deflection, each with both positions and a ruling."""

from __future__ import annotations

import pytest
from gap_texts import (
    Value,
    begun,
    codes,
    gap,
    issue,
    ordered,
    played,
    proposals,
    response,
    review,
    solution,
    wrong_with,
)

from reconvene.kits.gaps.tracker import Config, Sources, track

BACK = {"GAP-FLOW-001": "needs revision"}


def criticised(severity: str = "HIGH") -> Value:
    """After round 1: a solution for GAP-FLOW-001 with a grave issue on it."""
    return played(
        begun(),
        1,
        proposals(solution("GAP-FLOW-001", "Files under 100 characters are empty.")),
        review(BACK, issue("ISSUE-R1-001", "GAP-FLOW-001", severity)),
    )


def answered(*parts: str, before: Value | None = None, n: int = 2, verdicts: dict[str, str] | None = None) -> Value:
    return played(before or criticised(), n, proposals(*parts), review(verdicts or {}))


def only(value: Value) -> dict[str, object]:
    (conflict,) = value["conflicts"]
    return conflict


def test_disagreement_shows_both_positions_where_they_stand():
    conflict = only(answered(response("ISSUE-R1-001", other="Configurable, 100 by default"), solution("GAP-FLOW-002")))
    assert (conflict["id"], conflict["kind"], conflict["gap"]) == ("ISSUE-R1-001", "explicit", "GAP-FLOW-001")
    assert conflict["reviewer"]["quote"] == "The threshold of 100 characters is arbitrary."
    assert conflict["reviewer"]["where"].startswith("round_001/reviewer.md, lines ")
    assert conflict["engineer"] == {
        "quote": "A schema costs more than it saves.",
        "where": "round_002/engineer.md, lines 3–13",
    }
    assert conflict["options"] == ["A: the engineer's way", "B: the reviewer's way", "C: Configurable, 100 by default"]
    assert [one["supporter"] for one in conflict["table"]] == ["Engineer", "Reviewer", "Engineer's alternative"]
    assert conflict["reading"] == "disagreement"
    assert "\n" not in conflict["text"]


def test_without_an_alternative_the_third_option_is_a_middle_ground():
    assert only(answered(response("ISSUE-R1-001")))["options"][2] == "C: a middle ground"


def test_the_mediator_sees_the_conflict_as_soon_as_the_engineer_has_answered():
    value = track(criticised(), Sources(2, proposals=proposals(response("ISSUE-R1-001"))), Config())
    assert only(value)["kind"] == "explicit"


def test_a_gap_that_is_approved_after_all_is_no_conflict():
    engineer = (response("ISSUE-R1-001"), solution("GAP-FLOW-001", "Another way."))
    value = answered(*engineer, verdicts={"GAP-FLOW-001": "APPROVED"})
    assert value["conflicts"] == []
    assert value["issues"][0]["state"] == "closed"


@pytest.mark.parametrize("severity", ["MEDIUM", "LOW"])
def test_small_issues_make_no_conflict(severity: str):
    value = answered(response("ISSUE-R1-001"), before=criticised(severity))
    assert value["conflicts"] == []
    assert value["issues"][0]["answer"] == "DISAGREE: A schema costs more than it saves."


def test_silence_about_an_untouched_gap_looks_like_an_oversight():
    conflict = only(answered(solution("GAP-FLOW-002")))
    assert (conflict["kind"], conflict["reading"]) == ("silence", "oversight")
    assert conflict["options"] == ["have it answered", "waive", "false alarm"]
    assert conflict["engineer"]["where"] == "round_002/engineer.md"
    assert "neither ISSUE-R1-001 nor a solution for GAP-FLOW-001" in conflict["evidence"]


def test_silence_beside_other_answers_looks_like_disagreement():
    both = issue("ISSUE-R1-001", "GAP-FLOW-001") + issue("ISSUE-R1-002", "GAP-FLOW-002", text="No owner is named.")
    before = played(begun(), 1, proposals(solution("GAP-FLOW-001"), solution("GAP-FLOW-002")), review(BACK, both))
    value = answered(response("ISSUE-R1-002", "AGREE"), solution("GAP-FLOW-002", "New."), before=before)
    assert (only(value)["issue"], only(value)["reading"]) == ("ISSUE-R1-001", "disagreement")


def test_silence_in_a_rewritten_section_looks_like_an_oversight():
    conflict = only(answered(solution("GAP-FLOW-001", "Files are checked against a schema.")))
    assert (conflict["kind"], conflict["reading"]) == ("silence", "oversight")
    assert "was rewritten" in conflict["evidence"]


def test_the_criticised_section_unchanged_is_a_conflict():
    conflict = only(answered(solution("GAP-FLOW-001", "Files under 100 characters are empty.")))
    assert (conflict["kind"], conflict["reading"]) == ("unchanged", "disagreement")
    assert conflict["engineer"]["quote"].startswith("Files under 100 characters")


def test_agreeing_without_changing_anything_is_a_conflict():
    same = solution("GAP-FLOW-001", "Files under 100 characters are empty.")
    assert only(answered(response("ISSUE-R1-001", "AGREE"), same))["kind"] == "unchanged"


def test_an_answer_without_position_or_alternative_is_deflection():
    conflict = only(answered(response("ISSUE-R1-001", "NOTED", "We will look at it some day.")))
    assert conflict["kind"] == "deflection"
    assert conflict["engineer"]["quote"] == "We will look at it some day."


@pytest.mark.parametrize(
    "engineer",
    [
        (response("ISSUE-R1-001", "AGREE"), solution("GAP-FLOW-001", "A schema.")),
        (response("ISSUE-R1-001", "PARTIALLY AGREE", other="Both."),),
        (response("ISSUE-R1-001", "NOTED", other="Count words instead."),),
        (solution("GAP-FLOW-001", "A schema, as ISSUE-R1-001 asks."),),
    ],
)
def test_taking_an_issue_up_is_no_conflict(engineer: tuple[str, ...]):
    value = answered(*engineer)
    assert value["conflicts"] == []
    assert value["issues"][0]["state"] == "answered"


def test_an_example_does_not_answer():
    quoted = "```markdown\n## Response to ISSUE-R1-001\n**Engineer Position:** AGREE\n```\n"
    assert only(answered(quoted, solution("GAP-FLOW-002")))["kind"] == "silence"


def test_a_conflict_stays_until_somebody_moves():
    value = answered(response("ISSUE-R1-001"))
    value = answered(solution("GAP-FLOW-002"), before=value, n=3)
    assert only(value)["kind"] == "explicit"
    value = answered(response("ISSUE-R1-001", "AGREE"), solution("GAP-FLOW-001", "A schema."), before=value, n=4)
    assert value["conflicts"] == []


def test_a_partial_round_keeps_conflicts():
    value = played(answered(response("ISSUE-R1-001")), 3, None, None)
    assert only(value)["kind"] == "explicit"


def test_a_gap_in_conflict_waits_for_the_person():
    value = answered(response("ISSUE-R1-001"))
    assert [one["id"] for one in value["blocked"]] == ["GAP-FLOW-001"]
    assert "GAP-FLOW-001" not in value["focus"]


def test_a_ruling_is_logged_and_due():
    value = ordered(answered(response("ISSUE-R1-001", other="Configurable")), rulings={"ISSUE-R1-001": "C"})
    (decision,) = value["decisions"]
    assert decision["title"] == "ISSUE-R1-001 - Threshold"
    assert (decision["decision"], decision["by"], decision["at"]) == ("C: Configurable", "Ann", "2026-01-09T10:00:00Z")
    assert decision["conflict"] == "Engineer against reviewer on Threshold"
    assert decision["obeyed"] is None
    assert value["conflicts"] == []
    assert value["orders"] == {}
    assert [one["issue"] for one in value["due"]] == ["ISSUE-R1-001"]
    assert value["issues"][0]["state"] == "decided"


def test_words_of_ones_own_are_a_ruling_too():
    value = ordered(answered(response("ISSUE-R1-001")), rulings={"ISSUE-R1-001": "Ask the lawyers first"})
    assert value["decisions"][0]["decision"] == "Ask the lawyers first"


def test_an_engineer_that_ignores_the_decision_fails_the_gate():
    value = ordered(answered(response("ISSUE-R1-001")), rulings={"ISSUE-R1-001": "B"})
    sources = Sources(3)
    wrong = wrong_with(value, "proposals", proposals(solution("GAP-FLOW-002")), sources)
    assert wrong.startswith("DECISION_IGNORED:")
    assert "ISSUE-R1-001: B: the reviewer's way" in wrong
    for taken_up in ("As decided on ISSUE-R1-001, a schema.", "By the person's decision there is a schema."):
        text = proposals(solution("GAP-FLOW-001", taken_up))
        assert wrong_with(value, "proposals", text, sources) == ""
        after = track(value, Sources(3, proposals=text), Config())
        assert (after["decisions"][0]["obeyed"], after["due"]) == (True, [])


def test_a_decision_ignored_all_the_same_stays_due_and_is_noticed():
    value = ordered(answered(response("ISSUE-R1-001")), rulings={"ISSUE-R1-001": "B"})
    value = answered(solution("GAP-FLOW-002"), before=value, n=3)
    assert value["decisions"][0]["obeyed"] is False
    assert len(value["due"]) == 1
    assert "DECISION_IGNORED" in codes(value)
    assert value["conflicts"] == []


@pytest.mark.parametrize(("ruling", "state"), [("waive", "waived"), ("false alarm", "false alarm")])
def test_a_waived_issue_is_not_shown_again(ruling: str, state: str):
    value = ordered(answered(solution("GAP-FLOW-002")), rulings={"ISSUE-R1-001": ruling})
    assert (value["issues"][0]["state"], value["due"]) == (state, [])
    again = played(value, 3, proposals(solution("GAP-FLOW-002")), review(BACK, issue("ISSUE-R1-001", "GAP-FLOW-001")))
    assert again["conflicts"] == []
    assert again["issues"][0]["state"] == state


def test_having_it_answered_makes_silence_a_conflict_again():
    value = ordered(answered(solution("GAP-FLOW-002")), rulings={"ISSUE-R1-001": "have it answered"})
    assert [one["issue"] for one in value["due"]] == ["ISSUE-R1-001"]
    again = answered(solution("GAP-FLOW-002"), before=value, n=3)
    assert only(again)["kind"] == "silence"
    good = answered(response("ISSUE-R1-001", "AGREE"), solution("GAP-FLOW-001", "A schema."), before=value, n=3)
    assert (good["conflicts"], good["due"]) == ([], [])


def test_a_question_is_answered_by_a_person_and_due():
    asked = solution("GAP-FLOW-001", more="\n**Blocked by:** user decision - which carrier?\n")
    value = ordered(answered(asked), answers={"GAP-FLOW-001": "The blue one"}, rationale="It is cheaper")
    assert value["questions"] == []
    assert gap(value, "GAP-FLOW-001")["question"] == ""
    assert (value["due"][0]["decision"], value["due"][0]["rationale"]) == ("The blue one", "It is cheaper")


def test_an_issue_about_no_known_gap_is_noticed():
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), review(BACK, issue("ISSUE-R1-001", "GAP-FLUX-001")))
    assert codes(value) == ["UNKNOWN_GAP"]
    assert value["issues"][0]["gap"] == ""


def test_an_issue_raised_again_in_the_same_round_does_not_hide_the_conflict():
    again = review(BACK, issue("ISSUE-R1-001", "GAP-FLOW-001", text="Still arbitrary."))
    value = played(criticised(), 2, proposals(response("ISSUE-R1-001")), again)
    assert only(value)["kind"] == "explicit"
    assert value["issues"][0]["state"] == "disputed"
    silent = played(criticised(), 2, proposals(solution("GAP-FLOW-002")), again)
    assert only(silent)["kind"] == "silence"


def test_an_issue_raised_again_after_it_was_answered_is_open_again():
    answer = proposals(response("ISSUE-R1-001", "AGREE"), solution("GAP-FLOW-001", "A schema."))
    value = played(criticised(), 2, answer, review(BACK, issue("ISSUE-R1-001", "GAP-FLOW-001", text="Which schema?")))
    assert (value["conflicts"], value["issues"][0]["state"]) == ([], "open")
    value = answered(solution("GAP-FLOW-002"), before=value, n=3)
    assert only(value)["reviewer"]["quote"] == "Which schema?"


def test_a_decision_about_a_gap_that_was_settled_is_due_no_more():
    value = ordered(answered(response("ISSUE-R1-001")), rulings={"ISSUE-R1-001": "B"})
    value = answered(solution("GAP-FLOW-001", "A schema."), before=value, n=3, verdicts={"GAP-FLOW-001": "APPROVED"})
    assert value["due"] == []
    assert value["decisions"][0]["obeyed"] is False
    assert wrong_with(value, "proposals", proposals(solution("GAP-FLOW-002")), Sources(4)) == ""


def test_to_dispute_a_ruling_again_is_to_ignore_it():
    text = proposals(response("ISSUE-R1-001"), solution("GAP-FLOW-001", "As before."))
    ruled = ordered(answered(response("ISSUE-R1-001")), rulings={"ISSUE-R1-001": "B"})
    assert wrong_with(ruled, "proposals", text, Sources(3)).startswith("DECISION_IGNORED:")
    mine = ordered(answered(response("ISSUE-R1-001")), rulings={"ISSUE-R1-001": "A"})
    assert wrong_with(mine, "proposals", text, Sources(3)) == "", "the ruling was that the engineer is right"


def test_an_answer_that_was_asked_for_may_be_a_disagreement():
    passed_over = answered(solution("GAP-FLOW-002"))
    value = ordered(passed_over, rulings={"ISSUE-R1-001": "have it answered"})
    text = proposals(response("ISSUE-R1-001"), solution("GAP-FLOW-001", "As before."))
    assert wrong_with(value, "proposals", text, Sources(3)) == ""
    assert only(answered(text, before=value, n=3))["kind"] == "explicit"


def test_a_grave_issue_that_names_no_gap_is_said_and_waits_only_until_it_is_answered():
    loose = "### Issues\n- **ISSUE-R1-001** (HIGH): The whole reads like two documents\n"
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), review(BACK, loose))
    assert "NO_GAP_NAMED" in codes(value)
    assert [one["state"] for one in answered(solution("GAP-FLOW-002"), before=value)["issues"]] == ["open"]
    cited = answered(solution("GAP-FLOW-002", "One voice now, as ISSUE-R1-001 asks."), before=value)
    assert [one["state"] for one in cited["issues"]] == ["answered"]
    assert cited["conflicts"] == []


def test_a_small_issue_that_is_cited_is_answered():
    value = answered(
        solution("GAP-FLOW-001", "Two hundred, see ISSUE-R1-001."), before=criticised("LOW"), verdicts=BACK
    )
    assert [one["state"] for one in value["issues"]] == ["answered"]
