"""The list of gaps is the person's: confirmed before any call, and changed at every stop."""

from __future__ import annotations

from .refining import FOUR, GAPS, ONE, THREE, TWO, Start, proposal, proposals, review

GIVEN = f"""{GAPS}- [x] GAP-BOX-007 (HIGH): Who cleans a box?
- GAP-BOX-008 (LOW, blocked by {ONE}): What does it say at noon? - DEFERRED
"""


def test_a_given_list_is_confirmed_before_any_call(start: Start) -> None:
    run = start([proposals(1, proposal(ONE))], [review(1, {ONE: "APPROVED"})], gaps=GIVEN, ask_all=True)
    assert run.phase == "confirm"
    assert run.agents.calls == []
    assert f"| {ONE} | HIGH | yes | open | - | What if no box is free? |" in run.asked
    assert "| GAP-BOX-007 | HIGH | no | resolved |" in run.asked
    assert "| GAP-BOX-008 | LOW | no | deferred | GAP-BOX-001 |" in run.asked
    run.answer("Change the list", {"list": f"rate {ONE} LOW\nblocking {ONE} no\ndrop GAP-NOPE-1"})
    assert run.phase == "confirm"
    assert run.agents.calls == []
    assert f"| {ONE} | LOW | no | open |" in run.asked
    assert "GAP-NOPE-1 is not a known gap" in run.asked
    run.decide("Begin")
    assert run.phase == "refine"
    assert "GAP-BOX-007" not in run.prompts("engineer")[0].partition("### The gaps")[2].partition("###")[0]


def test_auto_does_not_ask_about_the_list(start: Start) -> None:
    run = start([proposals(1, proposal(ONE))], [review(1, {ONE: "APPROVED"})], auto=True, max_rounds=1)
    assert run.state.outcome == "MAX_ROUNDS"


def test_the_list_is_changed_at_every_stop_and_the_same_stop_shows_it(start: Start) -> None:
    circle = GAPS + "- GAP-BOX-005 (LOW, blocked by GAP-BOX-006): a\n- GAP-BOX-006 (LOW, blocked by GAP-BOX-005): b\n"
    run = start([proposals(1, proposal(ONE))], [review(1, {ONE: "APPROVED"})], gaps=circle)
    calls = len(run.agents.calls)
    assert "GAP-BOX-005 waits for a gap that waits for it" in run.asked
    order = f"""unblock GAP-BOX-005 from GAP-BOX-006
    add HIGH blocking: Who pays for a lost parcel?
    merge {FOUR} into {THREE}
    split {TWO} into: How is the code made? | How is it checked?
    reopen {ONE}: it does not say what the screen shows
    defer GAP-BOX-006"""
    run.answer("Change the list", {"list": order})
    assert (run.phase, len(run.agents.calls)) == ("refine", calls), "nobody worked"
    states = run.states
    assert (states[ONE], states[FOUR], states[TWO], states["GAP-BOX-006"]) == ("open", "merged", "split", "deferred")
    added = [one for one in run.gaps["list"] if one["title"] == "Who pays for a lost parcel?"]  # type: ignore[attr-defined]
    assert [(one["severity"], one["blocking"], one["raised_by"]) for one in added] == [("HIGH", True, "person")]
    assert "Open Gaps: 6 (" in run.asked
    assert "split into" in run.file("decisions.md")
    assert "Who pays for a lost parcel?" in run.file("status.md")


def test_our_own_status_reads_back_exactly(start: Start) -> None:
    run = start(
        [proposals(1, proposal(ONE, new=["GAP-BOX-009 (CRITICAL): Which | bar?"]), proposal(TWO))],
        [review(1, {ONE: "APPROVED", TWO: "NEEDS REVISION"})],
    )
    order = f"defer {FOUR}; block {TWO} by {THREE}; split {THREE} into: How many hours? | Whose hours?"
    run.answer("Change the list", {"list": order})
    again = start(
        [proposals(1, proposal(TWO))], [review(1, {TWO: "APPROVED"})], gaps=run.file("status.md"), ask_all=True
    )

    def told(one: dict[str, object]) -> tuple[object, ...]:
        state = "open" if one["state"] in ("proposed", "needs revision") else one["state"]
        return one["id"], one["title"], one["severity"], one["blocking"], one["blocked_by"], state, one["children"]

    assert sorted(map(told, again.gaps["list"])) == sorted(map(told, run.gaps["list"]))  # type: ignore[call-overload]
