"""Lists of gaps in every dress: what is raised, under which id, from which lines."""

from __future__ import annotations

import json

import pytest
from gap_texts import LIST, begun, codes, gap, states

from reconvene.kits.gaps.lists import gaps_listed, says_none
from reconvene.kits.gaps.tracker import Config, Sources, track


def ids(text: str, *, strict: bool = False) -> list[str]:
    return [found.id or found.title for found in gaps_listed(text, strict=strict)]


def test_a_bulleted_list_keeps_ids_ratings_and_lines():
    value = begun()
    assert list(states(value)) == ["GAP-FLOW-001", "GAP-FLOW-002", "GAP-FLOW-003", "GAP-ROLE-001", "GAP-ROLE-002"]
    refused = gap(value, "GAP-FLOW-001")
    assert refused["title"] == "Nobody says what happens when a parcel is refused"
    assert (refused["severity"], refused["blocking"], refused["lines"]) == ("CRITICAL", True, "5")
    assert (refused["raised_by"], refused["where"]) == ("person", "the list of gaps, line 5")
    assert gap(value, "GAP-FLOW-003")["blocking"] is True
    assert gap(value, "GAP-FLOW-002")["blocking"] is False
    assert value["by_severity"] == {"CRITICAL": 1, "HIGH": 2, "MEDIUM": 1, "LOW": 1}


def test_windows_line_endings_change_nothing():
    assert begun(LIST.replace("\n", "\r\n"))["list"] == begun()["list"]


def test_items_without_ids_get_one_from_their_heading_and_never_a_taken_one():
    value = begun(
        "## Payment gaps\n- No refund\n- GAP-PAYMENT-001: No currency\n\n# Gaps\n- Something else is missing\n"
    )
    assert list(states(value)) == ["GAP-PAYMENT-002", "GAP-PAYMENT-001", "GAP-SPEC-001"]


def test_a_table_is_read_by_the_names_of_its_columns():
    text = """| ID | Gap | Severity | Blocking | Blocked by |
|----|-----|----------|----------|------------|
| GAP-A-001 | No log | HIGH | yes | GAP-A-002 |
| GAP-A-002 | No clock | low | no | - |
|           | No owner | Critical | | |
"""
    first, second, third = gaps_listed(text, strict=False)
    assert (first.id, first.title, first.severity, first.blocking) == ("GAP-A-001", "No log", "HIGH", True)
    assert first.blocked_by == ("GAP-A-002",)
    assert (second.severity, second.blocking, second.blocked_by) == ("LOW", False, ())
    assert (third.id, third.title, third.severity) == ("", "No owner", "CRITICAL")


def test_headings_with_ids_take_the_fields_below_them():
    text = """### GAP-UX-007: No empty state

**Severity:** High
**Blocking:** yes
**Blocked by:** user decision - which tone of voice?

Long words about it.
- and a bullet that belongs to it

### GAP-UX-008
No error page at all.
"""
    first, second = gaps_listed(text, strict=True)
    assert (first.severity, first.blocking, first.question) == ("HIGH", True, "user decision - which tone of voice?")
    assert first.lines == "1–8"
    assert second.title == "No error page at all."


def test_sub_bullets_are_details_not_gaps():
    text = "- No backup plan\n  - Severity: HIGH\n  - the database is on one disk\n- No restore plan\n"
    first, second = gaps_listed(text, strict=False)
    assert (first.title, first.severity, first.detail) == ("No backup plan", "HIGH", "the database is on one disk")
    assert second.title == "No restore plan"


def test_a_heading_rates_the_items_below_it():
    found = gaps_listed(
        "## Critical\n- one thing\n## Low priority\n- another thing\n## Tier 1 - Blocking\n- a third\n", strict=False
    )
    assert [(one.severity, one.blocking) for one in found] == [("CRITICAL", None), ("LOW", None), (None, True)]


def test_json_lists_are_lists():
    text = json.dumps(
        {"gaps": [{"id": "GAP-J-001", "title": "No schema", "severity": "high", "blocking": True}, "No index"]}
    )
    first, second = gaps_listed(text, strict=True)
    assert (first.id, first.title, first.severity, first.blocking) == ("GAP-J-001", "No schema", "HIGH", True)
    assert second.title == "No index"
    assert ids(f"```json\n{text}\n```") == ["GAP-J-001", "No index"]


def test_plain_text_is_a_list_too():
    assert ids("no retry is described\nno timeout is described\n") == [
        "no retry is described",
        "no timeout is described",
    ]
    assert ids("First gap, on\ntwo lines.\n\nSecond gap.\n") == ["First gap, on two lines.", "Second gap."]
    assert ids("FLOW-3: nobody owns it\nFLOW-4: nobody tests it\n") == ["FLOW-3", "FLOW-4"]


def test_examples_in_fences_are_never_gaps():
    assert ids("- real\n```\n- GAP-X-001: example\n```\n~~~markdown\n- GAP-X-002: example\n~~~\n") == ["real"]


def test_an_answer_wrapped_in_one_fence_is_unwrapped():
    assert ids("```markdown\n## Gaps\n- GAP-X-001: real\n```\n", strict=True) == ["GAP-X-001"]


def test_a_fence_that_never_closes_hides_nothing():
    assert ids("- GAP-X-001: one\n```python\n- GAP-X-002: two\n", strict=True) == ["GAP-X-001", "GAP-X-002"]


def test_an_agents_other_bullets_are_not_gaps():
    text = "## Method\n- I read the specification twice\n\n## Gaps\n- GAP-X-001: No owner\n- No deputy\n"
    assert ids(text, strict=True) == ["GAP-X-001", "No deputy"]


@pytest.mark.parametrize("text", ["No gaps found. I checked every section.", "None.", "## Gaps\n\nNone identified\n"])
def test_saying_that_there_are_none_is_understood(text: str):
    assert says_none(text)
    assert gaps_listed(text, strict=True) == []


def test_a_gap_about_nothing_is_still_a_gap():
    assert ids("- None of the errors has a code\n- Nothing says who pays\n") == [
        "None of the errors has a code",
        "Nothing says who pays",
    ]


def test_a_severity_in_passing_rates_nothing():
    (found,) = gaps_listed("- GAP-F-012: Need severity definitions (CRITICAL/HIGH/MEDIUM/LOW)\n", strict=True)
    assert found.severity is None


def test_the_same_list_with_every_call_raises_nothing_twice():
    once = track(None, Sources(1, given=LIST), Config())
    again = track(once, Sources(2, given=LIST), Config())
    assert states(again) == states(once)


def test_an_id_used_for_two_gaps_is_shown_and_neither_is_lost():
    value = begun("- GAP-A-001: No clock anywhere\n- GAP-A-001: Prices lack a currency\n")
    assert list(states(value)) == ["GAP-A-001", "GAP-A-002"]
    assert codes(value) == ["DUPLICATE_GAP"]
    assert "GAP-A-002" in value["errors"][0]["text"]


def test_the_same_words_are_merged_and_shown():
    value = begun("- GAP-A-001 (LOW): No **clock** anywhere!\n- GAP-A-002 (HIGH): no clock anywhere\n")
    assert states(value) == {"GAP-A-001": "open", "GAP-A-002": "merged"}
    assert gap(value, "GAP-A-001")["severity"] == "HIGH"
    assert gap(value, "GAP-A-001")["merged"] == ["GAP-A-002"]
    assert value["merges"] == [
        {
            "round": 0,
            "id": "GAP-A-002",
            "into": "GAP-A-001",
            "title": "no clock anywhere",
            "why": "the same words",
            "by": "the tracker",
        }
    ]


def test_the_same_words_in_two_areas_are_for_the_person_to_judge():
    value = begun("- GAP-PAY-001: Examples are missing\n- GAP-AUTH-001: Examples are missing\n")
    assert value["open"] == 2
    assert [(one["id"], one["of"]) for one in value["similar"]] == [("GAP-AUTH-001", "GAP-PAY-001")]
    assert value["similar"][0]["options"] == ["merge", "keep apart"]


def test_nearly_the_same_is_shown_never_merged():
    value = begun(
        "- GAP-A-001: Retry limit of failed uploads is undefined\n"
        "- GAP-A-002: The retry limit for failed uploads is not defined\n"
        "- GAP-A-003: Retry limit of 5 failed uploads is undefined\n"
    )
    assert value["open"] == 3
    assert [(one["id"], one["of"]) for one in value["similar"]] == [("GAP-A-002", "GAP-A-001")]


def test_a_quote_or_a_line_number_leads_back_to_the_specification():
    spec = "# Courier\n\nParcels are stored.\nRefused parcels go back at once.\n"
    value = track(
        None,
        Sources(0, spec=spec, given="- “go back at once” has no limit\n- see lines 3-4: no owner\n- no place named\n"),
        Config(),
    )
    assert [one["spec_lines"] for one in value["list"]] == ["4", "3–4", ""]


def test_gaps_that_wait_in_a_circle_are_noticed():
    value = begun(
        "- GAP-A-001: x one. Blocked by: GAP-A-002\n"
        "- GAP-A-002: y two (depends on GAP-A-001)\n- GAP-A-003: z (blocked by GAP-A-001)\n"
    )
    assert [one["gap"] for one in value["errors"] if one["code"] == "CIRCLE"] == ["GAP-A-001", "GAP-A-002"]


def test_a_specification_that_is_no_markdown_is_no_trouble():
    value = track(None, Sources(1, spec="%PDF-1.7 \x00\x01\x02 <html>{\\rtf1}", given="\x00- one\x00 gap"), Config())
    assert value["open"] == 1
