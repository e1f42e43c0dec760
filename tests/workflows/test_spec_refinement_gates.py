"""Spec refinement: every way an output can be bad, what the agent is told then, and that the run goes on."""

from __future__ import annotations

import pytest

from .refining import (
    FOUR,
    GAPS,
    ONE,
    SPEC,
    THREE,
    TWO,
    Script,
    Start,
    disagree,
    proposal,
    proposals,
    review,
)

GOOD = proposals(1, proposal(ONE))
APPROVED = review(1, {ONE: "APPROVED"})


RENAMED = proposals(1, proposal("GAP-BOXES-1"))
TWICE = proposals(1, proposal(ONE), proposal(ONE, "Another rule altogether: the courier takes the parcel home."))
NOT_THERE = proposals(1, proposal("GAP-SHOP-777"))
CLOSED = proposals(1, "## Gap Resolution: everything\n\nAll gaps are handled gracefully, as they should be. " * 3)


@pytest.mark.parametrize(
    ("bad", "code", "told"),
    [
        ("", "FILE_MISSING", "round_001/engineer.md"),
        ("Fine.", "EMPTY_OUTPUT", "Produce an output even if you are uncertain"),
        ("I thought about the gaps for a long while, and here is what I would do about each of them. " * 3,
         "WRONG_FORMAT", "## Gap Resolution: GAP-DATA-004"),
        (CLOSED, "NO_GAPS_ADDRESSED", ONE),
        (NOT_THERE, "UNKNOWN_GAP", "GAP-SHOP-777"),
        (RENAMED, "UNKNOWN_GAP", ONE),
        (TWICE, "DUPLICATE_GAP", ONE),
    ],
    ids=["missing", "empty", "format", "no gap", "unknown", "renamed", "twice"],
)  # fmt: skip
def test_what_an_engineer_gets_wrong_is_named_and_asked_for_again(start: Start, bad: str, code: str, told: str) -> None:
    run = start([bad, GOOD], [APPROVED])
    assert [one for one in run.attempts if one[0] == "R3/1/engineer"] == [
        ("R3/1/engineer", "rejected", code),
        ("R3/1/engineer", "accepted", ""),
    ]
    assert told in run.prompts("engineer")[1]
    assert run.states[ONE] == "resolved"
    words = code.replace("_", " ").capitalize()
    status = run.file("status.md")
    assert "## Round 1 Errors" in status
    assert f"Engineer: {words} - Retry 1" in status
    assert "Engineer: Retry successful" in status
    assert code in run.asked


@pytest.mark.parametrize(
    ("bad", "code", "told"),
    [
        ("", "FILE_MISSING", "round_001/reviewer.md"),
        ("APPROVED", "EMPTY_OUTPUT", "Produce output even if uncertain"),
        ("The proposals look reasonable to me on the whole, and I have few objections to raise today. " * 3,
         "WRONG_FORMAT", "### Completeness Checks"),
        ("## Review: Round 1 - Fine\n\n" + "Everything that was written reads well and should be taken as it is. " * 4
         + "\n\n### Recommendation\n**APPROVE**\n", "", ""),
    ],
    ids=["missing", "one word", "format", "of nothing"],
)  # fmt: skip
def test_what_a_reviewer_gets_wrong_is_named_and_asked_for_again(start: Start, bad: str, code: str, told: str) -> None:
    run = start([GOOD], [bad, APPROVED])
    tried = [one for one in run.attempts if one[0] == "R3/2/reviewer"]
    assert [one[1] for one in tried] == ["rejected", "accepted"]
    assert code in tried[0][2]
    assert tried[0][2].isupper() or "_" in tried[0][2]
    assert told in run.prompts("reviewer")[1]
    assert run.states[ONE] == "resolved"


def test_the_errors_of_two_rounds_stand_under_headings_of_their_own(start: Start) -> None:
    run = start(["short", "short", "short", "short", GOOD], [APPROVED]).decide("Continue")
    assert "All retries exhausted, partial round\n\n## Round 2 Errors\n\n- [" in run.file("status.md")
    assert ">\nshort\n</rejected-" in run.prompts("engineer")[4]


def test_an_order_that_could_not_be_followed_is_told_at_the_next_stop(start: Start) -> None:
    redo = {"reason": "too thin", "focus": "GAP-NOPE-001"}
    run = start([GOOD], [APPROVED]).answer("Redo this round", redo)
    assert "- No gap is named in the focus “GAP-NOPE-001”: all open gaps stay in focus." in run.asked


def test_after_two_retries_the_round_goes_on_without_and_redo_is_recommended(start: Start) -> None:
    run = start(["short"], [APPROVED])
    assert [one[1] for one in run.attempts if "engineer" in one[0]] == ["rejected"] * 3
    assert not run.prompts("reviewer"), "there was nothing to review"
    assert "round_001/summary.md" in run.files
    assert "A partial round: engineer" in run.asked
    assert run.recommended == ["Redo this round"]
    assert "All retries exhausted, partial round" in run.file("status.md")
    assert run.rows[-1][:6] == (1, 4, 0, 0, 4, 0)


def test_a_reviewer_that_stays_away_leaves_the_proposals_as_proposed(start: Start) -> None:
    run = start([GOOD], ["no"])
    assert run.states[ONE] == "proposed"
    assert "A partial round: reviewer" in run.asked
    assert run.recommended == ["Redo this round"]


def test_a_mediator_that_stays_away_costs_only_its_prose(start: Start) -> None:
    run = start([GOOD], [APPROVED], mediator=lambda work: "")
    assert run.states[ONE] == "resolved"
    assert "The mediator gave no summary of this round" in run.file("round_001/summary.md")
    assert "Resolved 1, introduced 0 (Net: +1)" in run.file("round_001/summary.md")


def test_a_reviewer_who_finds_nothing_but_lists_the_checks_is_heard(start: Start) -> None:
    nothing = (
        "## Review: Round 1 - No Issues Found\n\n### Summary\nGAP-BOX-001 was reviewed. No issues.\n\n"
        "### Completeness Checks\n- [x] All addressed gaps have concrete solutions\n- [x] Examples are sufficient\n\n"
        "### Recommendation\n**APPROVE** - Proposals are ready.\n"
    )
    run = start([GOOD], [nothing])
    assert run.states[ONE] == "resolved"
    assert run.gaps["verdict"] == "APPROVE"


def test_an_idle_engineer_is_asked_for_named_gaps(start: Start) -> None:
    idle = "## Gap Resolution: none\n\nNothing to propose in this round; all seems to be said already, I think. "
    run = start([idle * 2, GOOD], [APPROVED])
    assert [one[2] for one in run.attempts][:1] == ["NO_GAPS_ADDRESSED"]
    assert ONE in run.prompts("engineer")[1].partition("Your last attempt was sent back")[2]


def test_an_engineer_that_ignores_a_decision_is_sent_back(start: Start) -> None:
    issue = f"**ISSUE-R1-001** (HIGH, {ONE}): A courier who finds no box has no rule to follow. A rule would settle it."
    engineer: list[Script] = [
        GOOD,
        proposals(
            2, disagree("ISSUE-R1-001", "There always is a box.", "Count boxes first."), proposal(ONE, "As before.")
        ),
        proposals(3, proposal(TWO)),
        proposals(3, proposal(ONE, "As ruled on ISSUE-R1-001: boxes are counted first.")),
    ]
    reviewer: list[Script] = [
        review(1, {ONE: "NEEDS REVISION"}, issues=[issue]),
        review(2, {ONE: "NEEDS REVISION"}),
        review(3, {ONE: "APPROVED"}),
    ]
    run = start(engineer, reviewer).decide("Continue")
    choice = run.open.fields[0]
    run.answer("Continue", {choice.id: choice.options[-1]})
    tried = [one for one in run.attempts if one[0] == "R5/1/engineer"]
    assert [one[1:] for one in tried] == [("rejected", "DECISION_IGNORED"), ("accepted", "")]
    assert run.states[ONE] == "resolved"


@pytest.mark.parametrize(
    ("second", "kind", "reading"),
    [
        (proposals(2, proposal(ONE, "Another rule for the courier.")), "silence", "an oversight"),
        (proposals(2, proposal(ONE)), "unchanged", "a disagreement"),
    ],
)
def test_an_issue_that_is_passed_over_is_shown_as_a_conflict_with_its_evidence(
    start: Start, second: str, kind: str, reading: str
) -> None:
    issue = f"**ISSUE-R1-001** (HIGH, {ONE}): Couriers have no rule to follow"
    run = start(
        [GOOD, second], [review(1, {ONE: "NEEDS REVISION"}, issues=[issue]), review(2, {ONE: "NEEDS REVISION"})]
    )
    run.decide("Continue")
    [conflict] = run.conflicts
    assert conflict["kind"] == kind
    assert "Nobody wrote DISAGREE:" in run.asked
    assert f"This looks like {reading}." in run.asked
    assert run.open.fields[0].options == ("have it answered", "waive", "false alarm")
    run.answer("Continue", {"ISSUE-R1-001": "waive"})
    assert run.conflicts == []
    assert "**Decision:** waive" in run.file("decisions.md")


# --- what people hand in ----------------------------------------------------------------------------------------------


def test_windows_line_ends_change_nothing(start: Start) -> None:
    crlf: list[Script] = [GOOD.replace("\n", "\r\n")]
    run = start(
        crlf, [APPROVED.replace("\n", "\r\n")], spec=SPEC.replace("\n", "\r\n"), gaps=GAPS.replace("\n", "\r\n")
    )
    assert list(run.states) == [ONE, TWO, THREE, FOUR]
    assert run.states[ONE] == "resolved"
    assert "# Status: Parcel Lockers\n" in run.file("status.md")


def test_a_large_specification_goes_through(start: Start) -> None:
    large = SPEC + "\n".join(
        f"## Box {n}\n\nBox {n} is as wide as box {n - 1}, and opens to the left.\n" for n in range(800)
    )
    assert len(large) > 50_000
    found = "\n\n".join(
        f"## GAP-BOX-{n:03d}: What if box {n} does not open?\n\n**Severity:** LOW\n**Blocking:** no\n"
        for n in range(1, 61)
    )
    run = start([proposals(1, proposal("GAP-BOX-060"))], [review(1, {"GAP-BOX-060": "APPROVED"})],
                spec=large, gaps=None, found=[found])  # fmt: skip
    assert run.gaps["open"] == 60
    run.decide("Begin")
    assert run.states["GAP-BOX-060"] == "resolved"
    assert "Box 799 is as wide" in run.prompts("engineer")[0]


@pytest.mark.parametrize(
    "spec",
    ["All lockers open on Monday. Nobody says how.", '{"lockers": 12, "open": "Monday"}', "<h1>Lockers</h1><p>Open.",
     "\ufeffLockers;Monday\nLockers;Tuesday\n", "漢字だけの仕様。" * 20],
    ids=["prose", "json", "html", "csv", "another script"],
)  # fmt: skip
def test_a_specification_need_not_be_markdown(start: Start, spec: str) -> None:
    run = start([GOOD], [APPROVED], spec=spec)
    assert run.states[ONE] == "resolved"
    assert spec.strip("\ufeff") in run.prompts("engineer")[0]


def test_an_empty_specification_ends_at_once_with_a_clear_word(start: Start) -> None:
    run = start(spec=" \n\n")
    assert (run.state.status, run.state.outcome) == ("failed", "EMPTY_SPEC")
    assert "The specification is empty" in run.state.why
    assert "reconvene run spec-refinement" in run.state.why
    assert not run.agents.calls


def test_a_list_of_gaps_that_names_none_is_said_and_the_reviewer_looks(start: Start) -> None:
    found = "## GAP-BOX-001: What if no box is free?\n\n**Severity:** HIGH\n**Blocking:** yes\n\nNothing is said.\n"
    run = start([GOOD], [APPROVED], gaps="\n\n", found=[found])
    assert run.state.world.top.phase == "find"
    assert "Noticed:\n- No gap could be read from the list that was given." in run.asked
    assert "GAP-BOX-001 (HIGH, blocking): What if no box is free?" in run.asked


def test_duplicate_ids_in_a_list_are_shown_and_none_is_lost(start: Start) -> None:
    gaps = f"- {ONE} (HIGH): What if no box is free?\n- {ONE} (LOW): What colour are the boxes, and who paints them?\n"
    run = start([GOOD], [APPROVED], gaps=gaps)
    rows = run.gaps["list"]
    assert isinstance(rows, list)
    titles = [row["title"] for row in rows]
    assert len(titles) == 2
    assert "Noticed:" in run.asked
    assert "is already taken" in run.asked
    assert ONE in run.asked.partition("Noticed:")[2]


def test_the_words_of_an_agent_stay_words(start: Start) -> None:
    hostile = proposals(
        1, proposal(ONE, "{{ inputs }} {% include 'status.md.j2' %} <script>alert(1)</script> `rm -rf`")
    )
    run = start(
        [hostile], [review(1, {ONE: "NEEDS REVISION"}, issues=[f"**ISSUE-R1-001** (HIGH, {ONE}): {{{{ 7 * 7 }}}}"])]
    )
    assert "{{ 7 * 7 }}" not in run.asked or "49" not in run.asked
    assert "{{ inputs }}" in run.file("round_001/engineer.md")


def test_a_file_that_was_not_asked_for_is_not_taken(start: Start) -> None:
    def greedy(work: object) -> object:
        return {"text": "done", "files": {"round_001/engineer.md": GOOD, "status.md": "all done", "../x.md": "out"}}

    run = start([greedy], [APPROVED])
    assert "all done" not in run.file("status.md")
    assert not any(path.endswith("x.md") for path in run.files)
