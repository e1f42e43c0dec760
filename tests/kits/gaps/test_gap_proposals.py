"""The engineer's output: solutions, new gaps, splits and answers, and what they do to the gaps."""

from __future__ import annotations

import json

from gap_texts import (
    begun,
    codes,
    files,
    gap,
    ordered,
    played,
    proposals,
    response,
    review,
    solution,
    states,
    wrong_with,
)

from reconvene.kits.gaps.proposals import proposals_in
from reconvene.kits.gaps.tracker import Config, Sources, track


def after(text: str, value: object = None, n: int = 1) -> dict[str, object]:
    return track(value or begun(), Sources(n, proposals=text, **files(n)), Config())


def test_a_solution_makes_its_gap_proposed_with_confidence_and_place():
    text = proposals(solution("GAP-FLOW-001"))
    value = after(text)
    solved = gap(value, "GAP-FLOW-001")
    assert (solved["state"], solved["confidence"]) == ("proposed", "HIGH")
    assert solved["proposal"]["where"] == "round_001/engineer.md, lines 3–26"
    lines = text.split("\n")
    assert lines[2] == "## Gap Resolution: GAP-FLOW-001"
    assert lines[25] == "None."
    assert states(value)["GAP-FLOW-002"] == "open"


def test_new_gaps_are_raised_with_the_solution_that_brought_them_up():
    value = after(proposals(solution("GAP-FLOW-001", new=["GAP-FLOW-008 (HIGH): What is a refusal?", "Who is told?"])))
    named, unnamed = value["list"][-2:]
    assert (named["id"], named["severity"], named["source"], named["raised_by"]) == (
        "GAP-FLOW-008",
        "HIGH",
        "GAP-FLOW-001",
        "engineer",
    )
    assert (unnamed["id"], unnamed["title"], unnamed["raised_in"]) == ("GAP-FLOW-009", "Who is told?", 1)
    assert value["this_round"]["bred_ids"] == ["GAP-FLOW-008", "GAP-FLOW-009"]


def test_examples_never_count():
    value = after(proposals(solution("GAP-FLOW-001")))
    assert not any("EXAMPLE" in name for name in states(value))
    assert codes(value) == []


def test_the_closing_table_names_gaps_that_no_section_did():
    table = """## Summary

| Gap ID | Resolution Status | Confidence | New Gaps |
|--------|-------------------|------------|----------|
| GAP-FLOW-001 | Proposed | HIGH | 2 (GAP-FLOW-008, 009) |
| GAP-FLOW-002 | Proposed | HIGH | 0 |
"""
    value = after(proposals(solution("GAP-FLOW-001", new=["GAP-FLOW-008: What is a refusal?"]), table))
    assert [one["id"] for one in value["list"][-2:]] == ["GAP-FLOW-008", "GAP-FLOW-009"]
    assert value["list"][-1]["source"] == "GAP-FLOW-001"


def test_markup_may_vary():
    text = """# GAP-FLOW-001 — refusals
Confidence: medium
A box at the depot.

## **Proposal for:** gap-flow-2
__Confidence__: LOW
A rota.

## Resolution of: GAP‑FLOW‑003
UTC.
"""
    value = after(text.replace("\n", "\r\n"))
    assert [states(value)[f"GAP-FLOW-00{n}"] for n in (1, 2, 3)] == ["proposed"] * 3
    assert [gap(value, f"GAP-FLOW-00{n}")["confidence"] for n in (1, 2)] == ["MEDIUM", "LOW"]


def test_json_is_understood():
    text = json.dumps(
        {
            "resolutions": [
                {"gap_id": "GAP-FLOW-001", "solution": "A box.", "confidence": "high", "new_gaps": ["Which box?"]}
            ],
            "responses": [
                {"issue": "ISSUE-R1-001", "position": "DISAGREE", "rationale": "No.", "alternative": "Maybe."}
            ],
        }
    )
    found = proposals_in(text, 2)
    assert [(one.gap, one.confidence, [new.title for new in one.new]) for one in found.resolutions] == [
        ("GAP-FLOW-001", "HIGH", ["Which box?"])
    ]
    assert [(one.issue, one.position, one.alternative) for one in found.answers] == [
        ("ISSUE-R1-001", "DISAGREE", "Maybe.")
    ]


def test_a_renamed_gap_counts_for_nothing_and_the_nearest_is_named():
    value = after(proposals(solution("GAP-FLUX-001")))
    assert states(value)["GAP-FLOW-001"] == "open"
    assert codes(value) == ["UNKNOWN_GAP"]
    assert "GAP-FLOW-001 was probably meant" in value["errors"][0]["text"]


def test_a_number_without_zeros_is_the_same_gap():
    assert states(after(proposals(solution("GAP-FLOW-1"))))["GAP-FLOW-001"] == "proposed"


def test_a_section_without_an_id_is_known_by_its_title():
    assert states(after(proposals(solution("Who may cancel a booking?"))))["GAP-ROLE-001"] == "proposed"


def test_two_sections_for_one_gap_are_noticed_and_the_first_counts():
    value = after(proposals(solution("GAP-FLOW-001", "First."), solution("GAP-FLOW-001", "Second.")))
    assert codes(value) == ["DUPLICATE_GAP"]
    assert "First." in gap(value, "GAP-FLOW-001")["proposal"]["quote"]


def test_a_split_closes_the_parent_and_its_parts_are_new_and_name_it():
    more = "\n**Split into:**\n- GAP-FLOW-001a: Refused at the door\n- GAP-FLOW-001b: Refused at the depot\n"
    value = after(proposals(solution("GAP-FLOW-001", more=more)))
    assert states(value)["GAP-FLOW-001"] == "split"
    assert gap(value, "GAP-FLOW-001")["children"] == ["GAP-FLOW-001A", "GAP-FLOW-001B"]
    assert [(one["parent"], one["state"]) for one in value["list"][-2:]] == [("GAP-FLOW-001", "open")] * 2
    row = value["this_round"]
    assert (row["resolved"], row["new"], row["end"]) == (1, 2, 6)


def test_a_new_gap_that_is_part_of_another_splits_it():
    value = after(proposals(solution("GAP-FLOW-002", new=["GAP-FLOW-010: Refused at sea (split from GAP-FLOW-001)"])))
    assert states(value)["GAP-FLOW-001"] == "split"
    assert gap(value, "GAP-FLOW-010")["parent"] == "GAP-FLOW-001"


def test_what_only_a_person_can_decide_waits_for_them():
    more = "\n**Blocked by:** user decision - which carrier?\n"
    value = after(proposals(solution("GAP-FLOW-001", more=more)))
    assert states(value)["GAP-FLOW-001"] == "open"
    assert value["questions"] == [{"id": "GAP-FLOW-001", "text": "GAP-FLOW-001: user decision - which carrier?"}]
    assert [one["id"] for one in value["blocked"]] == ["GAP-FLOW-001"]
    assert value["must_decide"] is False


def test_a_dependency_on_a_waiting_gap_waits_too():
    text = proposals(
        solution("GAP-FLOW-001", more="\n**Blocked by:** user decision - which carrier?\n"),
        *(
            solution(f"GAP-{name}", more="\n**Blocked by:** GAP-FLOW-001\n")
            for name in ("FLOW-002", "FLOW-003", "ROLE-001")
        ),
        solution("GAP-ROLE-002", more="\n**Blocked by:** GAP-ROLE-001\n"),
    )
    value = after(text)
    assert value["all_blocked"] is True
    assert value["must_decide"] is True
    assert value["next"] == "present decisions"


def test_answers_carry_position_rationale_and_alternative():
    (answer,) = proposals_in(proposals(response("ISSUE-R2-001", other="Configurable, 100 by default")), 3).answers
    assert answer.position == "DISAGREE"
    assert answer.rationale == "A schema costs more than it saves."
    assert answer.alternative == "Configurable, 100 by default"
    assert answer.lines == "3–13"


def test_an_answer_without_a_middle_ground_has_no_alternative():
    for other in ("", "None.", "N/A", "[If there's a middle ground]"):
        (answer,) = proposals_in(proposals(response("ISSUE-R2-001", other=other)), 3).answers
        assert answer.alternative == ""


def test_an_id_already_taken_by_another_gap_gets_a_fresh_one():
    value = after(proposals(solution("GAP-FLOW-001", new=["GAP-FLOW-003: Drivers sign nothing"])))
    assert codes(value) == ["DUPLICATE_GAP"]
    assert value["list"][-1]["id"] == "GAP-FLOW-004"
    assert value["list"][-1]["title"] == "Drivers sign nothing"
    assert gap(value, "GAP-FLOW-003")["title"] == "Opening hours are named without a time zone"


def test_a_silent_engineer_is_empty_and_asked_by_name():
    value = after("I have nothing to propose this time, sorry about that.")
    assert value["engineer_empty"] is True
    assert value["assign"].startswith("Address GAP-FLOW-001 (Nobody says what happens when a parcel is refused);")


def test_a_split_into_gaps_that_exist_already_is_none():
    value = after(proposals(solution("GAP-FLOW-001", more="\n**Split into:** GAP-FLOW-002, GAP-FLOW-003\n")))
    assert states(value)["GAP-FLOW-001"] == "proposed"
    assert value["total"] == 5


def test_a_heading_that_only_sounds_like_a_split_or_an_id_is_neither():
    text = solution(
        "GAP-FLOW-001", "One queue.\n\n### Split brain\n\n- two depots answer\n\n### UTF-8: encoding\n\nAlways."
    )
    value = after(proposals(text, "## SHA-256: why\n\nBecause.\n"))
    assert (value["total"], states(value)["GAP-FLOW-001"], codes(value)) == (5, "proposed", [])


def test_being_part_of_something_is_not_a_split():
    value = after(proposals(solution("GAP-FLOW-002", new=["GAP-FLOW-010: Lost at sea, part of GAP-FLOW-001 in a way"])))
    assert states(value)["GAP-FLOW-001"] == "open"


def test_a_number_given_out_never_meets_another_gaps():
    value = begun("- GAP-01-002: One thing\n- GAP-1-001: Another matter\n")
    value = after(proposals(solution("GAP-1-001", new=["Who pays the bill?"])), value)
    assert list(states(value)) == ["GAP-01-002", "GAP-1-001", "GAP-1-003"]


def test_the_parent_named_as_the_form_asks_for_it_splits_the_gap_and_leaves_the_title():
    parts = ["GAP-FLOW-010 (LOW): Refused at sea; Parent: GAP-FLOW-001", "GAP-FLOW-011: By air. `Parent: GAP-FLOW-001`"]
    value = after(proposals(solution("GAP-FLOW-001", new=parts)))
    assert states(value)["GAP-FLOW-001"] == "split"
    assert [gap(value, name)["parent"] for name in ("GAP-FLOW-010", "GAP-FLOW-011")] == ["GAP-FLOW-001"] * 2
    assert [gap(value, name)["title"] for name in ("GAP-FLOW-010", "GAP-FLOW-011")] == ["Refused at sea", "By air"]


def test_a_reviewer_cannot_approve_a_question_that_only_the_person_can_answer():
    text = proposals(solution("GAP-FLOW-001", "**Needs decision:** Which carrier?"))
    value = played(begun(), 1, text, review({"GAP-FLOW-001": "APPROVED"}))
    assert states(value)["GAP-FLOW-001"] == "open"
    assert value["questions"] == [{"id": "GAP-FLOW-001", "text": "GAP-FLOW-001: Which carrier?"}]
    assert "NEEDS_DECISION" in codes(value)
    told = ordered(value, answers={"GAP-FLOW-001": "Ours"})
    text = proposals(solution("GAP-FLOW-001", "By the person's decision, our own carrier."))
    assert states(played(told, 2, text, review({"GAP-FLOW-001": "APPROVED"})))["GAP-FLOW-001"] == "resolved"


def test_a_part_that_does_not_say_is_as_grave_as_the_whole_and_blocks_as_it_did():
    parts = [
        "GAP-FLOW-010: By night; Parent: GAP-FLOW-003",
        "GAP-FLOW-011 (LOW, non-blocking): By day; Parent: GAP-FLOW-003",
    ]
    value = after(proposals(solution("GAP-FLOW-003", new=parts)))
    rated = [(gap(value, name)["severity"], gap(value, name)["blocking"]) for name in ("GAP-FLOW-010", "GAP-FLOW-011")]
    assert rated == [("HIGH", True), ("LOW", False)]


def test_a_list_that_names_no_gap_is_said():
    assert codes(begun("\n\n")) == ["NO_GAPS_LISTED"]
    assert codes(begun()) == []


def test_the_answer_to_a_question_is_taken_up_by_its_own_id():
    asked = played(begun(), 1, proposals(solution("GAP-FLOW-001", "**Needs decision:** Which carrier?")), None)
    told = ordered(asked, answers={"GAP-FLOW-001": "Ours"})
    (ruling,) = told["due"]
    for text, code in ((f"Ours ({ruling['id']}).", ""), ("Some carrier or other.", "DECISION_IGNORED")):
        wrong = wrong_with(told, "proposals", proposals(solution("GAP-FLOW-001", text)), Sources(2))
        assert wrong.partition(":")[0] == code
