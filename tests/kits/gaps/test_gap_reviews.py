"""The reviewer's output: verdicts from its words, issues, new gaps, checks, and the overall verdict."""

from __future__ import annotations

import json

import pytest
from gap_texts import begun, codes, gap, issue, played, proposals, review, solution, states

from reconvene.kits.gaps.review import review_in
from reconvene.kits.gaps.verdicts import opinion, phrase, verdict_in

ALL = ("GAP-FLOW-001", "GAP-FLOW-002", "GAP-FLOW-003", "GAP-ROLE-001", "GAP-ROLE-002")
EVERYTHING = proposals(*(solution(name) for name in ALL))


@pytest.mark.parametrize(
    ("said", "verdict"),
    [
        ("APPROVED", "approved"),
        ("**Approved.**", "approved"),
        ("✅ APPROVED", "approved"),
        ("Approve", "approved"),
        ("APPROVED with minor note", "approved with note"),
        ("approved with two small comments", "approved with note"),
        ("needs revision", "needs revision"),
        ("NEEDS_REVISION", "needs revision"),
        ("Needs minor revision: see below", "needs revision"),
        ("REVISE", "needs revision"),
        ("Changes requested", "needs revision"),
        ("NOT APPROVED", "needs revision"),
        ("cannot be approved yet", "needs revision"),
        ("REJECTED", "rejected"),
        ("Rejected because it repeats the question", "rejected"),
        ("approved vendors are listed", None),
        ("Approval flow", None),
        ("rejected parcels go back", None),
        ("", None),
    ],
)
def test_words_mean_a_verdict_or_none(said: str, verdict: str | None):
    assert phrase(said) == verdict
    found = opinion(said)
    assert found is None or not found.doubt


@pytest.mark.parametrize(
    "said",
    ["APPROVED once the limit is named", "Approved, but only if the limit is named", "Conditionally approved",
     "approved with changes", "APPROVED WITH CONDITIONS", "**APPROVED** once the retry is bounded"],
)  # fmt: skip
def test_an_approval_with_a_condition_is_doubtful_and_approves_nothing(said: str):
    found = opinion(said)
    assert found is not None
    assert found.doubt == "the approval has a condition"
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), review({"GAP-FLOW-001": said}))
    assert states(value)["GAP-FLOW-001"] == "proposed"
    (reading,) = value["readings"]
    assert (reading["gap"], reading["read"]) == ("GAP-FLOW-001", "approved with note")
    assert "round_001/reviewer.md, line 5" in reading["text"]


@pytest.mark.parametrize(
    ("item", "verdict"),
    [
        ("Error Recovery - **APPROVED**", "approved"),
        ("Rejected parcels - **APPROVED**", "approved"),
        ("Approved vendors: needs revision - see ISSUE-R2-001", "needs revision"),
        ("Handoff → rejected", "rejected"),
        ("Approved orders are never shipped", None),
    ],
)
def test_the_verdict_of_an_item_stands_at_a_break(item: str, verdict: str | None):
    assert verdict_in(item)[0] == verdict


def test_the_numbered_list_of_verdicts_with_notes():
    text = """## Review: Round 3 - Approval

### Proposals Reviewed
1. GAP-FLOW-001: Refusals - **APPROVED**
2. GAP-FLOW-002: Hand-over - **APPROVED with minor note**
   - Note: Consider a rota
3. GAP-FLOW-003: Hours - **APPROVED**

### Overall Assessment
All proposals meet the criteria.

### New Gaps Identified
None.
"""
    found = review_in(text, 3)
    assert [(one.gap, one.verdict, one.note) for one in found.verdicts] == [
        ("GAP-FLOW-001", "approved", ""),
        ("GAP-FLOW-002", "approved with note", "Consider a rota"),
        ("GAP-FLOW-003", "approved", ""),
    ]
    assert found.overall == "APPROVE"
    assert found.new == ()


def test_verdicts_in_tables_headings_and_fields():
    text = """## Review: Round 1

| Gap | Verdict | Why |
|-----|---------|-----|
| GAP-FLOW-001 | needs revision | the box is not described |

### GAP-FLOW-002: Hand-over - APPROVED

### GAP-FLOW-003
Reads well.
**Verdict:** rejected

**GAP-ROLE-001** — approved

**Overall verdict:** REVISE
"""
    found = review_in(text.replace("\n", "\r\n"), 1)
    assert {one.gap: one.verdict for one in found.verdicts} == {
        "GAP-FLOW-001": "needs revision",
        "GAP-FLOW-002": "approved",
        "GAP-FLOW-003": "rejected",
        "GAP-ROLE-001": "approved",
    }
    assert found.verdicts[0].note == "the box is not described"


def test_a_gap_named_in_passing_is_not_judged():
    text = (
        "## Review\n\nI would have approved GAP-FLOW-001 had it been shorter.\n\nGAP-FLOW-002 is approved by nobody.\n"
    )
    assert review_in(text, 1).verdicts == ()


def test_examples_are_not_verdicts():
    assert review_in("## Review\n```\n1. GAP-FLOW-001: x - **APPROVED**\n**APPROVE**\n```\n", 1).verdicts == ()


def test_verdicts_move_gaps_and_a_gap_without_one_stays_proposed():
    verdicts = {"GAP-FLOW-001": "APPROVED", "GAP-FLOW-002": "needs revision", "GAP-FLOW-003": "REJECTED"}
    value = played(begun(), 1, EVERYTHING, review(verdicts))
    assert list(states(value).values()) == ["resolved", "needs revision", "needs revision", "proposed", "proposed"]
    assert [entry["state"] for entry in gap(value, "GAP-FLOW-001")["history"]] == ["open", "proposed", "resolved"]
    assert gap(value, "GAP-FLOW-003")["rejections"] == 1
    assert value["verdict"] == "REVISE"
    assert value["resolved_total"] == 1


def test_approving_what_nobody_proposed_closes_nothing():
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), review({"GAP-FLOW-002": "APPROVED"}))
    assert states(value)["GAP-FLOW-002"] == "open"
    assert "NOTHING_PROPOSED" in codes(value)


def test_two_verdicts_on_one_gap_count_as_the_stricter():
    text = review({"GAP-FLOW-001": "APPROVED"}) + "\n### GAP-FLOW-001\n**Verdict:** needs revision\n"
    value = played(begun(), 1, EVERYTHING, text)
    assert states(value)["GAP-FLOW-001"] == "needs revision"
    assert "TWO_VERDICTS" in codes(value)


def test_an_approval_that_sends_gaps_back_is_no_end():
    value = played(begun(), 1, EVERYTHING, review({"GAP-FLOW-001": "rejected"}, overall="APPROVE"))
    assert value["complete"] is False
    assert "CONTRADICTION" in codes(value)


def test_nothing_found_with_checks_listed_approves_the_round():
    text = """## Review: Round 1 - No Issues Found

### Summary
No critical, high, medium, or low priority issues identified.

### Completeness Checks
- [x] All addressed gaps have concrete solutions
- [x] No obvious edge cases missing

### Recommendation
**APPROVE** - Proposals are ready.
"""
    value = played(begun(), 1, EVERYTHING, text)
    assert set(states(value).values()) == {"resolved"}
    assert [check["done"] for check in value["checks"]] == [True, True]
    assert (value["complete"], value["outcome"], value["next"]) == (True, "COMPLETE", "COMPLETE")


def test_a_check_that_failed_approves_nothing():
    text = "## Review\n- [x] read\n- [ ] edge cases are missing\n\n**APPROVE**\n"
    assert states(played(begun(), 1, EVERYTHING, text))["GAP-FLOW-001"] == "proposed"


def test_zero_open_without_approve_goes_on():
    value = played(begun(), 1, EVERYTHING, review(dict.fromkeys(ALL, "APPROVED"), overall="REVISE"))
    assert (value["open"], value["complete"], value["next"], value["outcome"]) == (0, False, "continue", "")


def test_new_gaps_of_the_reviewer_are_the_reviewers():
    value = played(begun(), 1, EVERYTHING, review({}, new=["GAP-UX-001 (LOW): No example session"]))
    raised = gap(value, "GAP-UX-001")
    assert (raised["raised_by"], raised["severity"], raised["source"]) == ("reviewer", "LOW", "")


def test_a_resolved_gap_can_be_reopened_and_that_is_recorded():
    value = played(begun(), 1, EVERYTHING, review({"GAP-FLOW-001": "APPROVED"}))
    value = played(value, 2, proposals(solution("GAP-FLOW-002")), review({"GAP-FLOW-001": "rejected"}))
    again = gap(value, "GAP-FLOW-001")
    assert again["state"] == "open"
    assert again["history"][-1]["why"].startswith("reopened")
    assert value["rounds"][-1]["reopened_ids"] == ["GAP-FLOW-001"]
    assert value["rounds"][-1]["new"] == 1


def test_a_split_that_is_sent_back_reopens_the_parent_and_keeps_the_parts():
    more = "\n**Split into:** GAP-FLOW-001a, GAP-FLOW-001b\n"
    text = proposals(solution("GAP-FLOW-001", more=more))
    value = played(begun(), 1, text, review({"GAP-FLOW-001": "rejected"}))
    assert states(value)["GAP-FLOW-001"] == "needs revision"
    assert states(value)["GAP-FLOW-001B"] == "open"


@pytest.mark.parametrize(
    "text",
    [
        issue("ISSUE-R1-001", "GAP-FLOW-001"),
        "### Issues\n- **ISSUE-R1-001** (HIGH) GAP-FLOW-001: The threshold of 100 characters is arbitrary.\n",
        "| Issue | Gap | Severity | Concern |\n|---|---|---|---|\n"
        "| ISSUE-R1-001 | GAP-FLOW-001 | HIGH | The threshold of 100 characters is arbitrary. |\n",
        "### High Priority Issues\n\n- GAP-FLOW-001: The threshold of 100 characters is arbitrary.\n",
        "### GAP-FLOW-001\n- ISSUE-1 [HIGH]: The threshold of 100 characters is arbitrary.\n",
    ],
)
def test_issues_in_every_dress(text: str):
    value = played(begun(), 1, EVERYTHING, review({"GAP-FLOW-001": "needs revision"}, text))
    (raised,) = value["issues"]
    assert (raised["id"], raised["gap"], raised["severity"]) == ("ISSUE-R1-001", "GAP-FLOW-001", "HIGH")
    assert raised["text"] == "The threshold of 100 characters is arbitrary."
    assert raised["where"].startswith("round_001/reviewer.md, line")


def test_an_issue_id_used_twice_gets_a_second_number():
    both = issue("ISSUE-R1-001", "GAP-FLOW-001") + issue("ISSUE-R1-001", "GAP-FLOW-002", text="Another thing.")
    value = played(begun(), 1, EVERYTHING, review({}, both))
    assert [one["id"] for one in value["issues"]] == ["ISSUE-R1-001", "ISSUE-R1-002"]
    assert "DUPLICATE_ISSUE" in codes(value)


def test_json_reviews_are_understood():
    text = json.dumps(
        {
            "verdicts": [
                {"gap": "GAP-FLOW-001", "verdict": "APPROVED"},
                {"gap": "GAP-FLOW-002", "verdict": "needs revision"},
            ],
            "issues": [{"id": "ISSUE-R1-001", "gap": "GAP-FLOW-002", "severity": "HIGH", "text": "No owner."}],
            "new_gaps": [{"id": "GAP-UX-001", "title": "No example", "severity": "LOW"}],
            "checks": ["read it all"],
            "overall": "REVISE",
        }
    )
    value = played(begun(), 1, EVERYTHING, text)
    assert (states(value)["GAP-FLOW-001"], states(value)["GAP-FLOW-002"]) == ("resolved", "needs revision")
    assert value["issues"][0]["severity"] == "HIGH"
    assert value["verdict"] == "REVISE"
    assert "GAP-UX-001" in states(value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("### Recommendation\n**APPROVE** - ready", "APPROVE"),
        ("**Recommendation:** REVISE", "REVISE"),
        ("Overall: approved with notes", "APPROVE"),
        ("LGTM", "APPROVE"),
        ("### Recommendation\nAPPROVE\n\n**Verdict:** REVISE", "REVISE"),
        ("### Overall\nIt is hard to approve of this.", "NONE"),
        ("All is said.", "NONE"),
    ],
)
def test_the_overall_verdict(text: str, said: str):
    assert review_in(text, 1).overall == said


@pytest.mark.parametrize(
    "line",
    ["- GAP-FLOW-002: HIGH to LOW - the depot is closed", "- **GAP-FLOW-002**: HIGH → **LOW**: the depot is closed",
     "GAP-FLOW-002: LOW (the depot is closed)"],
)  # fmt: skip
def test_a_reviewer_may_rate_a_gap_anew_and_it_stays_in_its_history(line: str):
    text = review({"GAP-FLOW-001": "APPROVED"}) + f"\n### Severities Changed\n\n{line}\n"
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), text)
    one = gap(value, "GAP-FLOW-002")
    assert (one["severity"], one["state"]) == ("LOW", "open")
    assert one["history"][-1]["why"] == "severity HIGH → LOW: the depot is closed"
    assert "The reviewer rates GAP-FLOW-002 LOW, not HIGH: the depot is closed." in [e["text"] for e in value["errors"]]
    assert value["by_severity"] == {"CRITICAL": 0, "HIGH": 1, "MEDIUM": 1, "LOW": 2}


def test_a_rating_of_a_gap_that_is_settled_or_unknown_changes_nothing():
    text = review({"GAP-FLOW-001": "APPROVED"})
    done = played(begun(), 1, proposals(solution("GAP-FLOW-001")), text)
    again = text + "\n### Severities Changed\n- GAP-FLOW-001: CRITICAL to LOW\n- GAP-FLAW-001: LOW\n- None.\n"
    value = played(done, 2, proposals(solution("GAP-FLOW-002")), again)
    assert gap(value, "GAP-FLOW-001")["severity"] == "CRITICAL"
    assert "UNKNOWN_GAP" in codes(value)


def test_an_approval_beside_a_grave_issue_on_the_same_gap_waits_for_the_person():
    text = review({"GAP-FLOW-001": "APPROVED"}, issue("ISSUE-R1-001", "GAP-FLOW-001"), overall="APPROVE")
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), text)
    assert states(value)["GAP-FLOW-001"] == "proposed"  # no verdict is on record that nobody gave
    assert "CONTRADICTION" in codes(value)
    assert [one["state"] for one in value["issues"]] == ["open"]
    (reading,) = value["readings"]
    assert (reading["read"], reading["doubt"]) == ("approved", "a HIGH issue is raised on it")


@pytest.mark.parametrize(("name", "severity"), [("ISSUE-R1-001", "LOW"), ("ISSUE-R0-001", "HIGH")])
def test_a_small_issue_or_one_of_an_earlier_round_takes_no_approval_back(name: str, severity: str):
    text = review({"GAP-FLOW-001": "APPROVED"}, issue(name, "GAP-FLOW-001", severity))
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), text)
    assert states(value)["GAP-FLOW-001"] == "resolved"


@pytest.mark.parametrize("title", ["as read", "Disputed findings", "New issues"])
def test_what_stands_below_a_verdict_is_its_note(title: str):
    text = review({"GAP-FLOW-001": "NEEDS REVISION"}).replace("as read", title)
    text = text.replace("**NEEDS REVISION**", "**NEEDS REVISION**\n   - Proposed Solution: nobody reads the record")
    value = played(begun(), 1, proposals(solution("GAP-FLOW-001")), text)
    assert gap(value, "GAP-FLOW-001")["note"] == "Proposed Solution: nobody reads the record"


def test_an_issue_over_several_lines_has_its_first_line_as_its_headline():
    text = "## Review\n\n### Issues\n- **ISSUE-R1-001** (HIGH) GAP-FLOW-001: The wrong test\n  A count says nothing.\n"
    (found,) = review_in(text, 1).issues
    assert (found.title, found.text) == ("The wrong test", "The wrong test. A count says nothing.")
