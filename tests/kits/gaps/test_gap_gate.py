"""The gate: every failure has its code, names gaps, and says what to do instead."""

from __future__ import annotations

import pytest
from gap_texts import (
    Value,
    begun,
    codes,
    issue,
    ordered,
    played,
    proposals,
    response,
    review,
    solution,
    states,
    wrong_with,
)

from reconvene.kits.gaps.tracker import Sources

GOOD = proposals(solution("GAP-FLOW-001"), solution("GAP-FLOW-002"))


def of_engineer(text: str, value: Value | None = None) -> str:
    return wrong_with(value or begun(), "proposals", text, Sources(1))


def of_reviewer(text: str) -> str:
    return wrong_with(begun(), "review", text, Sources(1, proposals=GOOD))


def test_good_outputs_pass():
    assert of_engineer(GOOD) == ""
    assert of_engineer(GOOD.replace("\n", "\r\n")) == ""
    assert of_reviewer(review({"GAP-FLOW-001": "APPROVED", "GAP-FLOW-002": "needs revision"})) == ""
    assert wrong_with(None, "found", "## Gaps\n- GAP-A-001: No clock\n", Sources(0)) == ""


@pytest.mark.parametrize(
    "text",
    [
        "## Gap Resolution: later\n\nThere is much to say about the depot, and I will say it next time.",
        "# Engineer Proposals\n\nNothing to propose.",
        "```\n" + solution("GAP-FLOW-001") + "\n```\nAn example only, of what could be done.",
        proposals(response("ISSUE-R1-001")),
    ],
)
def test_no_open_gap_addressed_names_gaps_to_address(text: str):
    wrong = of_engineer(text)
    assert wrong.startswith("NO_GAPS_ADDRESSED:")
    assert "Address GAP-FLOW-001 (Nobody says what happens when a parcel is refused)" in wrong


def test_an_idle_engineer_passes_when_everything_waits_for_a_person():
    value = begun(
        "- GAP-A-001: Which carrier?\n  - Blocked by: user decision\n"
        "- GAP-A-002: Its price\n  - Blocked by: GAP-A-001\n"
    )
    assert value["must_decide"] is True
    assert of_engineer("Nothing can be proposed before the decision.", value) == ""


def test_an_engineer_may_be_idle_when_no_gap_is_open():
    assert of_engineer("Nothing to do.", ordered(begun(), complete="forced")) == ""


def test_addressing_only_closed_gaps_is_addressing_nothing():
    value = ordered(begun(), defer={"GAP-ROLE-002": True})
    assert of_engineer(proposals(solution("GAP-ROLE-002")), value).startswith("NO_GAPS_ADDRESSED:")


def test_renamed_ids_are_unknown_and_the_nearest_is_named():
    wrong = of_engineer(proposals(solution("GAP-FLWO-002"), solution("GAP-XYZ-777")))
    assert wrong.startswith("UNKNOWN_GAP: GAP-FLWO-002 (did you mean GAP-FLOW-002?), GAP-XYZ-777")


def test_a_gap_introduced_in_the_same_output_is_known():
    text = proposals(solution("GAP-FLOW-001", new=["GAP-FLOW-009: Who is told?"]), solution("GAP-FLOW-009"))
    assert of_engineer(text) == ""


def test_two_sections_for_one_gap():
    assert of_engineer(proposals(solution("GAP-FLOW-001"), solution("GAP-FLOW-1"))).startswith(
        "DUPLICATE_GAP: GAP-FLOW-001"
    )


def test_a_new_gap_under_a_taken_id():
    wrong = of_engineer(proposals(solution("GAP-FLOW-001", new=["GAP-FLOW-003: Drivers sign nothing"])))
    assert wrong.startswith("DUPLICATE_GAP: GAP-FLOW-003 is taken (“Opening hours")


def test_naming_a_known_gap_again_is_no_duplicate():
    new = ["GAP-FLOW-003: Opening hours lack a time zone (already listed)"]
    assert of_engineer(proposals(solution("GAP-FLOW-001", new=new))) == ""


@pytest.mark.parametrize("text", ["", "  \r\n ", "---\n", "```\nall fine\n```"])
def test_a_review_of_nothing(text: str):
    assert of_reviewer(text).startswith("EMPTY_REVIEW:")


@pytest.mark.parametrize("text", ["APPROVED", "LGTM", "## Review: Round 1\n\n**APPROVE**", "## Review\n\nApproved.\n"])
def test_everything_approved_in_a_word(text: str):
    wrong = of_reviewer(text)
    assert wrong.startswith("ONE_WORD:")
    assert "GAP-FLOW-001, GAP-FLOW-002" in wrong


def test_a_reviewer_who_lists_checks_and_finds_nothing_is_fine():
    text = (
        "## Review: Round 1 - No Issues Found\n\n"
        "### Checks\n- [x] read every section\n\n### Recommendation\n**APPROVE**\n"
    )
    assert of_reviewer(text) == ""


def test_a_review_that_names_nothing_of_the_engineer():
    text = "## Review: Round 1\n\n" + "The weather was fine and the coffee was good. " * 8 + "\n\n**REVISE**\n"
    assert of_reviewer(text).startswith("NO_CITATION:")


def test_a_review_without_a_verdict():
    text = "## Review: Round 1\n\n" + "GAP-FLOW-001 is about refusals, which is a wide field. " * 4
    wrong = of_reviewer(text)
    assert wrong.startswith("NO_VERDICT:")
    assert "GAP-FLOW-001, GAP-FLOW-002" in wrong


def test_issues_alone_are_no_verdict():
    assert of_reviewer("## Review\n\n" + issue("ISSUE-R1-001", "GAP-FLOW-001")).startswith("NO_VERDICT:")


def test_a_verdict_on_an_unknown_gap():
    also = "\n\nGAP-FLOW-001 was read, too.\n"
    wrong = of_reviewer(review({"GAP-FLOVV-002": "APPROVED"}) + also)
    assert wrong.startswith("UNKNOWN_GAP: GAP-FLOVV-002 (did you mean GAP-FLOW-002?)")


def test_a_verdict_on_a_gap_the_engineer_has_just_introduced_is_fine():
    engineer = proposals(solution("GAP-FLOW-001", new=["GAP-FLOW-009: Who is told?"]))
    text = review({"GAP-FLOW-001": "APPROVED", "GAP-FLOW-009": "needs revision"})
    assert wrong_with(begun(), "review", text, Sources(1, proposals=engineer)) == ""


def test_a_search_that_found_nothing_must_say_so():
    assert wrong_with(None, "found", "I read the specification and thought about it.", Sources(0)).startswith(
        "NO_GAPS_FOUND:"
    )
    assert wrong_with(None, "found", "## Gaps\n\nNo gaps found. I checked all sections.", Sources(0)) == ""


def test_a_search_that_uses_an_id_twice():
    text = "## Gaps\n- GAP-A-001: No clock\n- GAP-A-001: No currency\n"
    assert wrong_with(None, "found", text, Sources(0)).startswith("DUPLICATE_GAP: GAP-A-001")


def test_answering_an_issue_of_an_open_gap_addresses_it():
    value = played(begun(), 1, GOOD, review({"GAP-FLOW-001": "rejected"}, issue("ISSUE-R1-001", "GAP-FLOW-001")))
    assert wrong_with(value, "proposals", proposals(response("ISSUE-R1-001")), Sources(2)) == ""


def test_a_verdict_on_something_that_is_no_gap_is_no_mistake():
    text = review({"GAP-FLOW-001": "APPROVED"}).replace("1. GAP", "1. SHA-256: the digest - **APPROVED**\n2. GAP")
    assert of_reviewer(text) == ""
    assert codes(played(begun(), 1, GOOD, text)) == []


def test_what_is_good_beside_an_unknown_id_is_kept_and_the_unknown_one_is_noticed():
    text = proposals(solution("GAP-FLOW-001"), solution("GAP-FLWO-002"))
    said = review({"GAP-FLOW-001": "APPROVED", "GAP-FLOVV-002": "APPROVED"})
    assert (of_engineer(text), of_reviewer(said)) == ("", "")
    value = played(begun(), 1, text, said)
    assert states(value)["GAP-FLOW-001"] == "resolved"
    told = [one["text"] for one in value["errors"]]
    assert any(line.startswith("GAP-FLWO-002 is not a known gap; GAP-FLOW-002 was probably meant") for line in told)
