"""A search for gaps that is done again: the second list counts, and nothing of the first is lost."""

from __future__ import annotations

from gap_texts import Value, gap, states

from reconvene.kits.gaps.tracker import Config, Sources, track

FIRST = """## GAP-FLOW-001: What happens when no box is free?

**Severity:** HIGH
**Blocking:** yes
**Blocked by:** none
**Lines:** 7-8

The courier stands there with the parcel.

## GAP-UX-001: Which colour has the door?

**Severity:** LOW
**Blocking:** no
**Lines:** 3

Wording.
"""
SECOND = FIRST.partition("## GAP-UX-001")[0].replace("HIGH", "CRITICAL").replace("Blocking:** yes", "Blocking:** no")


def searched(*lists: str) -> Value:
    value: Value | None = None
    for text in lists:
        value = track(value, Sources(0, found=text), Config())
    assert value is not None
    return value


def test_the_lines_a_gap_is_about_are_kept_as_the_reviewer_names_them():
    value = searched(FIRST)
    assert [gap(value, name)["spec_lines"] for name in ("GAP-FLOW-001", "GAP-UX-001")] == ["7–8", "3"]
    assert "Lines" not in str(gap(value, "GAP-FLOW-001")["detail"])


def test_a_second_list_rates_anew_and_keeps_the_first_rating_in_the_history():
    value = searched(FIRST, SECOND)
    one = gap(value, "GAP-FLOW-001")
    assert (one["severity"], one["blocking"], one["state"]) == ("CRITICAL", False, "open")
    assert one["history"][-1]["why"] == "severity HIGH → CRITICAL: looked at again"  # type: ignore[index]


def test_what_a_second_list_leaves_out_is_deferred_not_lost():
    value = searched(FIRST, SECOND)
    assert states(value) == {"GAP-FLOW-001": "open", "GAP-UX-001": "deferred"}
    assert value["open"] == 1


def test_what_a_third_list_takes_up_again_is_open_again():
    value = searched(FIRST, SECOND, FIRST + "\n")
    assert states(value) == {"GAP-FLOW-001": "open", "GAP-UX-001": "open"}
    assert gap(value, "GAP-FLOW-001")["severity"] == "HIGH"


def test_a_second_list_leaves_the_persons_own_gaps_alone():
    value = track(None, Sources(0, given="- GAP-BOX-001: Who pays?", found=FIRST), Config())
    value = track(value, Sources(0, given="- GAP-BOX-001: Who pays?", found=SECOND), Config())
    assert states(value)["GAP-BOX-001"] == "open"


def test_looking_again_is_the_same_however_often_it_is_asked():
    once = searched(FIRST, SECOND)
    assert track(once, Sources(0, found=SECOND), Config()) == once
