"""spec.md: it lives from the first round on, what is resolved stands in it, and the last look finds what does not."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from reconvene.app.reopening import reopen
from reconvene.core.facts import commands as c
from reconvene.ports import Assignment

from .refining import (
    FOUR,
    ONE,
    SPEC,
    THREE,
    TWO,
    Refinement,
    Script,
    Start,
    disagree,
    mediated,
    proposal,
    proposals,
    review,
    worked_in,
)

ALL = (ONE, TWO, THREE, FOUR)
RULES = {
    ONE: "A courier who finds no box calls 0800 17 17 and waits 12 minutes; the log is full.log.",
    TWO: "The code has 8 digits and is checked against codes.db within 3 seconds.",
    THREE: "A parcel stays for 72 hours, then return_parcel is called.",
    FOUR: "From 22:00 the screen says Closed for deliveries.",
}


def solved(n: int, *gaps: str) -> str:
    return proposals(n, *(proposal(gap, RULES[gap]) for gap in gaps))


def approved(n: int, *gaps: str, approve: bool = False) -> str:
    return review(n, dict.fromkeys(gaps, "APPROVED"), approve=approve)


def test_what_was_approved_is_worked_in_after_the_decision_and_undo_restores_it(start: Start) -> None:
    run = start(
        [solved(1, ONE), solved(2, TWO), solved(2, THREE)], [approved(1, ONE), approved(2, TWO), approved(2, THREE)]
    )
    assert run.file("spec.md") == SPEC, "the person has not decided yet"
    assert f"Next, the mediator works into spec.md: {ONE}." in run.asked
    run.decide("Continue")
    assert run.file("spec.md") == f"{SPEC}\n{RULES[ONE]}\n"
    assert RULES[ONE] in run.prompts("engineer")[1], "the engineer reads the text as it stands"
    run.answer("Redo this round", {"reason": "too thin"})
    first = Path(run.state.workspace, "round_002_rolled_back")
    assert first.is_dir()
    assert run.file("spec.md") == f"{SPEC}\n{RULES[ONE]}\n", "worked in anew, on the text as it was before"
    run.decide("Drop this round and go on")
    assert RULES[THREE] not in run.file("spec.md")


def test_a_gap_that_is_reopened_takes_its_text_out_and_edits_of_the_person_stay(start: Start) -> None:
    run = start(
        [solved(1, ONE, TWO), solved(2, THREE), solved(3, FOUR)],
        [approved(1, ONE, TWO), approved(2, THREE), approved(3, FOUR)],
    )
    run.decide("Continue")
    assert RULES[ONE] in run.file("spec.md")
    path = Path(run.state.workspace, "spec.md")
    path.write_text(path.read_text().replace("A parcel stays for a while.", "A parcel stays for a while, says Ann."))
    run.answer("Change the list", {"list": f"reopen {ONE}: couriers have no phone"})
    assert f"Next, the mediator works into spec.md: {THREE}, {ONE}." in run.asked
    run.decide("Continue")
    text = run.file("spec.md")
    assert RULES[ONE] not in text
    assert RULES[TWO] in text
    assert RULES[THREE] in text
    assert "says Ann" in text


def complete(start: Start, mediator: Callable[[Assignment], object] = mediated, **more: object) -> Refinement:
    return start([solved(1, *ALL)], [approved(1, *ALL, approve=True)], mediator=mediator, ask_all=False, **more)


def test_the_final_text_is_shown_with_its_map_and_difference_and_accepted(start: Start) -> None:
    run = start([solved(1, *ALL)], [approved(1, *ALL, approve=True)], ask_all=True).decide("Begin")
    assert run.phase == "final"
    assert run.offered == ["Accept", "Send back", "I have edited spec.md", "Change the list", "Abandon"]
    assert "All that was resolved and decided is in the text." in run.asked
    assert f"| {TWO}: How is the code made and checked? | 16 | codes.db, 8, 3 |" in run.asked
    assert f"+{RULES[THREE]}" in run.asked
    run.decide("Send back", "clarification: say 73 hours, not 72")
    assert run.phase == "final"
    assert "73 hours" in run.prompts("mediator")[-1]
    run.decide("Accept")
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    assert run.file("specs/lockers_v1.0.md") == run.file("spec.md")


def test_an_edit_at_the_last_stop_is_looked_at_again_before_it_counts(start: Start) -> None:
    run = start([solved(1, *ALL)], [approved(1, *ALL, approve=True)], ask_all=True).decide("Begin")
    path = Path(run.state.workspace, "spec.md")
    whole = path.read_text()
    path.write_text(whole.replace(RULES[TWO], ""))
    run.decide("Accept")
    assert run.phase == "final", "the rule of a resolved gap is gone"
    assert f"not worked in: {TWO}" in run.asked
    path.write_text(whole.replace(RULES[TWO], "The code: 8 digits, `codes.db`, 3 seconds. Ann."))
    run.decide("I have edited spec.md")
    assert run.state.outcome == "COMPLETE"
    assert "3 seconds. Ann." in run.file("specs/lockers_v1.0.md")


@pytest.mark.parametrize(
    ("spoil", "code"),
    [
        (lambda text: text.replace(RULES[TWO], ""), "NOT_WORKED_IN"),
        (lambda text: text.replace(RULES[TWO], "The code is made and checked well."), "NOT_WORKED_IN"),
        (lambda text: text.replace("## Limits\n\nA parcel stays for a while.\n", ""), "SHORTENED"),
        (lambda text: text.replace(RULES[TWO], RULES[TWO] + " Every 45 days audit.log goes to Legal."), "INVENTED"),
        (lambda text: SPEC, "UNCHANGED"),
    ],
    ids=["drops", "without figures", "shortens", "invents", "unchanged"],
)  # fmt: skip
@pytest.mark.parametrize("auto", [False, True])
def test_a_mediator_that_drops_shortens_or_invents_is_caught(
    start: Start, spoil: Callable[[str], str], code: str, auto: bool
) -> None:
    def bad(work: Assignment) -> object:
        return {"text": "done", "files": {"spec.md": spoil(worked_in(work))}} if work.writes else mediated(work)

    run = complete(start, bad, auto=auto)
    assert [one[2] for one in run.attempts if one[0].endswith("0/mediator")] == [code] * 3
    assert (run.state.status, run.point.attention != ()) == ("waiting", True)
    assert run.state.outcome == ""
    kept = [path for path in run.files if path.startswith("final/rejected/mediator")]
    assert len(kept) == 3, "what was sent back is kept"


def test_a_mediator_that_drops_a_decision_is_caught(start: Start) -> None:
    issue = f"**ISSUE-R1-001** (HIGH, {ONE}): Nobody answers the phone at night"
    engineer: list[Script] = [
        solved(1, *ALL),
        proposals(
            2,
            disagree("ISSUE-R1-001", "Somebody does.", "An answering machine after 19:30"),
            proposal(ONE, RULES[ONE] + " Always."),
        ),
        proposals(3, proposal(ONE, RULES[ONE] + " As ruled on ISSUE-R1-001, a machine answers.")),
    ]
    reviewer: list[Script] = [
        review(1, {**dict.fromkeys(ALL[1:], "APPROVED"), ONE: "NEEDS REVISION"}, issues=[issue]),
        review(2, {ONE: "NEEDS REVISION"}),
        review(3, {ONE: "APPROVED"}, approve=True),
    ]  # fmt: skip

    def forgets(work: Assignment) -> object:
        text = worked_in(work)
        lines = [line for line in text.split("\n") if "19:30" not in line]
        return {"text": "done", "files": {"spec.md": "\n".join(lines)}} if work.writes else mediated(work)

    run = start(engineer, reviewer, mediator=forgets).decide("Continue")
    run.answer("Continue", {"ISSUE-R1-001": "C"})
    assert run.point.attention
    assert [one[2] for one in run.attempts if one[0].endswith("0/mediator")][-1] == "NOT_WORKED_IN"
    assert "D-001" in run.point.prompt


def test_what_is_accepted_or_deferred_stands_under_known_limitations(start: Start) -> None:
    def silent(work: Assignment) -> object:
        text = worked_in(work).replace(f"- {FOUR}:", "-")
        return {"text": "done", "files": {"spec.md": text}} if work.writes else mediated(work)

    run = start([solved(1, ONE, TWO)], [approved(1, ONE, TWO)], mediator=silent)
    run.decide("Accept as complete")
    assert [one[2] for one in run.attempts if one[0].endswith("0/mediator")] == ["LIMITATIONS_MISSING"] * 3
    assert FOUR in run.point.prompt


def test_a_person_may_say_that_it_is_in_the_text_but_not_of_the_draft(start: Start) -> None:
    words = "The screen speaks of the night in its own way."
    bad: Callable[[Assignment], object] = lambda work: (  # noqa: E731
        {"text": "done", "files": {"spec.md": worked_in(work).replace(RULES[FOUR], words)}}
        if work.writes
        else mediated(work)
    )
    run = complete(start, bad)
    run.engine.submit(run.run, c.AnswerCheckpoint("", "Go on without it", by="ann"))
    run.state = run.engine.drive_sync(run.run)
    assert "Accept, it is in the text" not in run.offered, "the file is still the draft"
    path = Path(run.state.workspace, "spec.md")
    path.write_text(SPEC + "\n".join(RULES[gap] for gap in ALL[:3]) + f"\n\n{words}\n\n## Known Limitations\n\nNone.\n")
    run.decide("I have edited spec.md")
    assert f"not worked in: {FOUR}" in run.asked
    run.answer("Accept, it is in the text", {FOUR: True})
    assert run.state.outcome == "COMPLETE"
    assert words in run.file("specs/lockers_v1.0.md")


# --- failure stays visible ---


def test_the_same_failure_three_rounds_in_a_row_parks_an_automatic_run(start: Start) -> None:
    run = start(["short"], [approved(1, ONE)], auto=True)
    assert run.state.status == "waiting"
    assert run.rows[-1][0] == 3
    assert not run.point.attention
    assert len([path for path in run.files if path.startswith("round_001/rejected/engineer_")]) == 3


def test_a_crash_is_in_the_status_with_its_cause(start: Start) -> None:
    def crash(work: Assignment) -> object:
        raise RuntimeError("the disk of the model is full")

    run = start([crash], [approved(1, ONE)])
    assert "the disk of the model is full" in run.file("status.md")


def test_a_run_that_came_to_its_limit_can_be_taken_up_again(start: Start) -> None:
    run = start([solved(1, ONE), solved(2, TWO)], [approved(1, ONE), approved(2, TWO)], auto=True, max_rounds=1)
    assert (run.state.status, run.state.outcome) == ("failed", "MAX_ROUNDS")
    assert RULES[ONE] in run.file("specs/lockers_draft.md")
    first = run.file("round_001/engineer.md")
    reopen(run.engine, run.run, "refine", by="ann")
    run.state = run.engine.drive_sync(run.run)
    assert run.rows[-1][0] == 2
    assert run.file("round_001/engineer.md") == first, "what was written before stays as it was"
    assert TWO in run.file("round_002/engineer.md")
    assert "round 2" in run.prompts("reviewer")[-1]
    assert {"round_002/reviewer.md", "round_002/summary.md"} <= set(run.files)
