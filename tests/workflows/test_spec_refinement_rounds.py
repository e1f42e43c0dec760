"""Ten rounds of agents that work gap by gap, rulings that are followed or not, and doubts that wait for the person."""

from __future__ import annotations

import pytest

from .refining import GAPS, ONE, TWO, Refinement, Script, Start, disagree, proposal, proposals, review

TEN = [f"GAP-STEP-{n:03d}" for n in range(1, 11)]
LIST = "\n".join(f"- {gap} (HIGH): What happens in step {n}?" for n, gap in enumerate(TEN, 1))


def rule(n: int, more: str = "") -> str:
    return f"In step {n} the clerk waits {n * 7 + 20} seconds and writes step{n}.log. {more}"


def ten_rounds(start: Start, touched: bool) -> Refinement:
    """One gap per round. Each review sends the one before back with a HIGH issue, which the next round answers."""
    engineer: list[Script] = []
    reviewer: list[Script] = []
    for n in range(1, 11):
        parts = [proposal(TEN[n - 1], rule(n))]
        if n > 1 and (touched or n != 4):
            parts.append(
                proposal(TEN[n - 2], rule(n - 1, f"As ISSUE-R{n - 1}-001 asks, it stops after {n + 90} tries."))
            )
        engineer.append(proposals(n, *parts))
        verdicts = {TEN[n - 1]: "NEEDS REVISION" if n < 10 else "APPROVED"}
        if n > 1 and (touched or n != 4):
            verdicts[TEN[n - 2]] = "APPROVED"
        issues = [f"**ISSUE-R{n}-001** (HIGH, {TEN[n - 1]}): Step {n} never stops"] if n < 10 else []
        reviewer.append(review(n, verdicts, issues=issues, approve=n == 10 and touched))
    run = start(engineer, reviewer, gaps=LIST)
    return run


def test_ten_rounds_gap_by_gap_show_no_false_conflict(start: Start) -> None:
    run = ten_rounds(start, touched=True)
    for n in range(1, 10):
        assert run.conflicts == [], f"round {n}"
        outlook = run.gaps["outlook"]
        assert isinstance(outlook, dict)
        assert outlook["reading"] in ("planned work", "too early"), (n, outlook)
        assert run.recommended in (["Continue"], ["Accept complexity"])
        run.decide("Continue")
    assert run.state.outcome == "COMPLETE"


def test_a_grave_issue_that_is_never_touched_becomes_a_conflict(start: Start) -> None:
    run = ten_rounds(start, touched=False)
    seen = []
    for _ in range(1, 7):
        seen.append([one["id"] for one in run.conflicts])
        if run.conflicts:
            break
        if len(seen) == 4:
            assert "Not yet taken up: ISSUE-R3-001." in run.asked
        run.decide("Continue")
    assert seen == [[], [], [], [], ["ISSUE-R3-001"]]
    assert run.conflicts[0]["kind"] == "silence"
    field = next(one for one in run.open.fields if one.id == "ISSUE-R3-001")
    assert field.options == ("have it answered", "waive", "false alarm")


def test_real_churn_is_recommended_against_in_the_round_in_which_it_shows(start: Start) -> None:
    engineer = [proposals(1, proposal(ONE), proposal(TWO, "Four digits.")), proposals(2, proposal(TWO, "Five digits."))]
    reviewer = [
        review(1, {ONE: "APPROVED", TWO: "NEEDS REVISION"}),
        review(2, {TWO: "NEEDS REVISION", ONE: "REJECTED"}),
    ]
    run = start(engineer, reviewer)
    assert run.recommended == ["Continue"]
    run.decide("Continue")
    outlook = run.gaps["outlook"]
    assert isinstance(outlook, dict)
    assert (outlook["reading"], outlook["recommend"]) == ("churn", "stop and look")
    assert set(outlook["came_back"]) == {ONE, TWO}
    assert run.recommended == ["Redo this round"]
    assert f"Churn: {ONE}, {TWO} came back" in run.asked
    assert run.rows[-1][6] == "STALLED (1)", "the state is the seed's, whatever the second reading says"
    assert run.gaps["warning"] is None


# --- rulings ---

ISSUE = f"**ISSUE-R1-001** (HIGH, {ONE}): No rule for a full locker"


def ruled(start: Start, third: str) -> Refinement:
    engineer: list[Script] = [
        proposals(1, proposal(ONE)),
        proposals(
            2, disagree("ISSUE-R1-001", "There always is a box.", "Count the boxes"), proposal(ONE, "As before.")
        ),
        proposals(3, proposal(ONE, "As ruled on ISSUE-R1-001, the courier waits 15 minutes.")),
    ]
    reviewer: list[Script] = [
        review(1, {ONE: "NEEDS REVISION"}, issues=[ISSUE]), review(2, {ONE: "NEEDS REVISION"}), third,
    ]  # fmt: skip
    return start(engineer, reviewer).decide("Continue")


def test_a_ruling_in_the_persons_own_words_that_is_not_followed_is_a_conflict_again_at_once(start: Start) -> None:
    third = (
        review(3, {ONE: "NEEDS REVISION"})
        + "\n### Rulings\n- D-001: NOT FOLLOWED - it waits instead of calling 0800 5\n"
    )
    run = ruled(start, third)
    run.answer("Continue", {"ISSUE-R1-001": "Call 0800 5 at once"})
    [conflict] = run.conflicts
    assert (conflict["kind"], conflict["gap"]) == ("disobeyed", ONE)
    assert "Nobody wrote DISAGREE" not in run.asked
    assert "you decided “Call 0800 5 at once”" in run.asked
    assert "it waits instead of calling 0800 5" in run.asked
    run.answer("Continue", {"ISSUE-R1-001": "hold to the decision"})
    assert f"- Ruling on ISSUE-R1-001 ({ONE}): Call 0800 5 at once" in run.prompts("engineer")[-1]


def test_a_reviewer_that_says_nothing_of_a_ruling_is_asked(start: Start) -> None:
    third = "## Review of round 3\n\n" + review(3, {ONE: "APPROVED"}).partition("\n")[2]
    run = ruled(start, third.replace("## Review of", "# Review of"))
    run.answer("Continue", {"ISSUE-R1-001": "Call 0800 5 at once"})
    codes = [one[2] for one in run.attempts if one[0].endswith("reviewer")][-3:]
    assert codes == ["RULING_NOT_CHECKED"] * 3


# --- doubts ---


def test_an_approval_beside_a_grave_issue_goes_back_as_a_question_and_then_waits_for_the_person(start: Start) -> None:
    both = review(1, {ONE: "APPROVED"}, issues=[f"**ISSUE-R1-001** (HIGH, {ONE}): No rule for a full locker"])
    run = start([proposals(1, proposal(ONE))], [both])
    assert [one[1:] for one in run.attempts if one[0].endswith("reviewer")] == [
        ("rejected", "CONTRADICTION"),
        ("accepted", ""),
    ]
    assert "Which is meant?" in run.prompts("reviewer")[1]
    assert run.states[ONE] == "proposed"
    assert "I read it so, and it can be read otherwise." in run.asked
    run.answer("Continue", {f"READ-{ONE}": "approved"})
    assert run.states[ONE] == "resolved"
    assert "the verdict is read as “approved”" in run.file("decisions.md")


@pytest.mark.parametrize("auto", [False, True])
def test_a_doubtful_reading_is_never_an_approval_by_itself(start: Start, auto: bool) -> None:
    said = "I could live with it I guess, if somebody checks the phone number before it goes in. It reads well enough."
    text = f"# Notes on round 1\n\n**{ONE} (the full locker)**\n\n{said}\n"
    run = start([proposals(1, proposal(ONE))], [text], auto=auto, max_rounds=1)
    assert run.states[ONE] == "proposed"
    if not auto:
        assert "round_001/reviewer.md, line 5" in run.asked  # the words themselves, not the heading above them


def test_what_text_and_json_say_differently_is_shown_and_approves_nothing(start: Start) -> None:
    block = (
        f'\n```json\n{{"verdicts": {{"{ONE}": "NEEDS REVISION"}}, "issues": [], "new_gaps": [], "checks": []}}\n```\n'
    )
    run = start([proposals(1, proposal(ONE))], [review(1, {ONE: "APPROVED"}) + block])
    assert run.states[ONE] == "proposed"
    assert f"{ONE}: the text says approved, its JSON block needs revision." in run.asked


def test_new_gaps_without_a_severity_are_asked_about_once(start: Start) -> None:
    bare = proposals(1, proposal(ONE, new=["GAP-BOX-021: Who is told?"]))
    run = start([bare], [review(1, {ONE: "APPROVED"})], gaps=GAPS)
    assert [one[1:] for one in run.attempts if one[0].endswith("engineer")] == [
        ("rejected", "UNRATED"),
        ("accepted", ""),
    ]
