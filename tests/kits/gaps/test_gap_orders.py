"""What a person orders at a checkpoint: each order has its effect, is logged, and is refused with a reason if unfit."""

from __future__ import annotations

from gap_texts import begun, codes, gap, ordered, played, proposals, review, solution, states

MILD = """- GAP-M-001 (HIGH): Prices lack a currency
- GAP-M-002 (MEDIUM): Nobody owns the clock
- GAP-M-003 (LOW): A typo
"""


def stalled() -> dict[str, object]:
    value = begun()
    for n in (1, 2):
        value = played(value, n, proposals(solution("GAP-ROLE-001", f"Try {n}")), review({}))
    assert value["warning"]
    return value


def test_narrow_scope_defers_what_is_not_blocking():
    value = ordered(stalled(), scope="blocking")
    assert [one["id"] for one in value["deferred"]] == ["GAP-FLOW-002", "GAP-ROLE-001", "GAP-ROLE-002"]
    assert value["open_ids"] == ["GAP-FLOW-001", "GAP-FLOW-003"]
    assert value["scope"] == "blocking"
    assert value["decisions"][-1]["decision"].startswith("narrowed to blocking gaps; deferred: GAP-FLOW-002")


def test_what_a_blocking_gap_waits_for_stays_in_scope():
    text = (
        "- GAP-A-001 (LOW): x ray\n"
        "- GAP-A-002 (HIGH, blocking): yard. Blocked by: GAP-A-001\n"
        "- GAP-A-003 (LOW): zebra\n"
    )
    value = ordered(begun(text), scope="blocking")
    assert value["open_ids"] == ["GAP-A-001", "GAP-A-002"]


def test_new_gaps_outside_the_narrowed_scope_are_put_aside_and_not_counted():
    value = ordered(stalled(), scope="blocking")
    raised = ["GAP-UX-001 (LOW): No example session", "GAP-UX-002 (HIGH, blocking): No way to sign in"]
    value = played(value, 3, proposals(solution("GAP-FLOW-001", new=raised)), review({"GAP-FLOW-001": "APPROVED"}))
    assert (states(value)["GAP-UX-001"], states(value)["GAP-UX-002"]) == ("deferred", "open")
    row = value["rounds"][-1]
    assert (row["start"], row["resolved"], row["new"], row["end"]) == (2, 1, 1, 2)
    assert row["set_aside_ids"] == ["GAP-UX-001"]


def test_accept_complexity_resets_the_counter():
    value = ordered(stalled(), accept_complexity=True)
    assert (value["state"], value["stalled"], value["warning"]) == ("CONVERGING", 0, None)
    value = played(value, 3, proposals(solution("GAP-ROLE-001", "Try 3")), review({}))
    assert value["state"] == "STALLED (1)"


def test_force_complete_ends_with_known_gaps():
    value = ordered(stalled(), complete="forced")
    assert value["outcome"] == "USER_APPROVED"
    assert value["open"] == 0
    assert len(value["accepted"]) == 5
    assert (
        value["known"][0]
        == "GAP-FLOW-001: Nobody says what happens when a parcel is refused (accepted - completion was forced)"
    )


def test_accepting_is_refused_while_critical_or_blocking_gaps_are_open():
    value = begun()
    assert value["may_accept"] is False
    assert value["why_not_accept"].startswith(
        "CRITICAL gaps are open: GAP-FLOW-001; blocking gaps are open: GAP-FLOW-003."
    )
    value = ordered(value, complete="accepted", accept={"GAP-FLOW-001": True, "GAP-FLOW-002": True})
    assert value["outcome"] == ""
    assert states(value)["GAP-FLOW-001"] == "open"
    assert states(value)["GAP-FLOW-002"] == "accepted"
    assert codes(value) == ["ORDER_REFUSED", "ORDER_REFUSED"]


def test_each_high_gap_must_be_accepted_by_name():
    value = begun(MILD)
    assert value["may_accept"] is True
    assert [one["id"] for one in value["highs"]] == ["GAP-M-001"]
    refused = ordered(value, complete="accepted")
    assert (refused["outcome"], refused["open"]) == ("", 3)
    assert "Accept each by name" in refused["errors"][0]["text"]
    accepted = ordered(value, complete="accepted", accept={"GAP-M-001": True})
    assert (accepted["outcome"], accepted["open"]) == ("USER_APPROVED", 0)
    assert [one["decision"] for one in accepted["decisions"]] == [
        "accepted as a known gap",
        "accepted as complete; known gaps: GAP-M-002, GAP-M-003",
    ]


def test_a_confirmation_that_was_declined_is_no_order():
    value = ordered(begun(MILD), accept={"GAP-M-001": False, "GAP-M-002": "no"})
    assert set(states(value).values()) == {"open"}
    assert value["decisions"] == []


def test_deferring_and_reopening_by_name():
    value = ordered(begun(MILD), defer={"gap-m-3": True})
    assert states(value)["GAP-M-003"] == "deferred"
    value = ordered(value, reopen={"GAP-M-003": True})
    assert [entry["state"] for entry in gap(value, "GAP-M-003")["history"]] == ["open", "deferred", "open"]


def test_similar_gaps_are_merged_or_kept_apart_by_the_person():
    text = "- GAP-A-001 (LOW): Examples are missing\n- GAP-B-001 (HIGH, blocking): Examples are missing\n"
    merged = ordered(begun(text), similar={"GAP-B-001": "merge"})
    assert states(merged) == {"GAP-A-001": "open", "GAP-B-001": "merged"}
    assert (gap(merged, "GAP-A-001")["severity"], gap(merged, "GAP-A-001")["blocking"]) == ("HIGH", True)
    assert merged["merges"][0]["by"] == "Ann"
    apart = ordered(begun(text), similar={"GAP-B-001": "keep apart"})
    assert (apart["open"], apart["similar"]) == (2, [])
    solved = played(merged, 1, proposals(solution("GAP-B-001")), review({"GAP-B-001": "APPROVED"}))
    assert states(solved) == {"GAP-A-001": "resolved", "GAP-B-001": "merged"}


def test_a_redo_carries_its_adjustments_into_the_round_and_no_further():
    value = ordered(
        begun(), redo={"reason": "too abstract", "adjust": "more context", "focus": "GAP-FLOW-001, GAP-ROLE-002"}
    )
    assert value["adjustments"]["reason"] == "too abstract"
    assert value["focus"] == ["GAP-FLOW-001", "GAP-ROLE-002"]
    value = played(value, 1, proposals(solution("GAP-FLOW-001")), review({}))
    assert (value["adjustments"]["adjust"], value["adjustments"]["round"]) == ("more context", 1)
    assert len(value["focus"]) == 5
    value = played(value, 2, proposals(solution("GAP-FLOW-001")), review({}))
    assert value["adjustments"] is None
    assert [one["reason"] for one in value["redos"]] == ["too abstract"]


def test_a_narrower_redo_without_names_takes_the_gravest_gaps():
    value = ordered(begun(), redo={"reason": "too much", "adjust": "narrower", "focus": ""})
    assert value["focus"] == ["GAP-FLOW-001", "GAP-FLOW-003", "GAP-FLOW-002"]


def test_a_focus_that_names_nothing_known_is_said():
    value = ordered(begun(), redo={"reason": "x", "adjust": "same prompt", "focus": "the thing with the box"})
    assert len(value["focus"]) == 5
    assert codes(value) == ["ORDER_REFUSED"]


def test_orders_that_do_not_fit_are_refused_with_a_reason():
    value = ordered(
        begun(),
        rulings={"ISSUE-R9-001": "A"},
        answers={"GAP-FLOW-001": "yes"},
        similar={"GAP-FLOW-001": "merge"},
        reopen={"GAP-FLOW-001": True, "GAP-FLUX-001": True},
        defer=["GAP-FLOW-001"],
        scope="everything",
        nonsense=True,
    )
    assert set(codes(value)) == {"ORDER_REFUSED"}
    assert len(value["errors"]) == 8
    assert states(value) == states(begun())
    assert any("did you mean GAP-FLOW-001?" in one["text"] for one in value["errors"])
    assert value["orders"] == {}


def test_settling_without_orders_changes_nothing():
    value = stalled()
    assert ordered(value) == value
