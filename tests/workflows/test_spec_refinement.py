"""Spec refinement, played through: every file in its format, and a round taken back without a trace in the world."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
import yaml

from reconvene.core.facts import commands as c
from reconvene.core.facts.events import OutputForced, RoundUndone
from reconvene.errors import Refused
from reconvene.kits.gaps.vocabulary import SEVERITIES
from reconvene.wire.answers_file import read_answers
from reconvene.wire.workflow_file import load_workflow

from .refining import (
    FOLDER,
    FOUR,
    GAPS,
    ONE,
    THREE,
    TWO,
    Refinement,
    Script,
    Start,
    disagree,
    proposal,
    proposals,
    review,
)

GOLDEN = Path(__file__).parent.parent / "golden" / "spec-refinement"


ISSUE = f"""**ISSUE-R1-001** (HIGH, {TWO}): Codes of four digits can be guessed
  "four digits" gives ten thousand codes, and the box does not lock after a wrong one. More digits would settle it."""

INSTEAD = "Six digits for parcels over 100 euros"
ENGINEER: list[Script] = [
    "Nothing yet.",  # sent back, then:
    proposals(1, proposal(ONE), proposal(TWO, "The code has four digits and is sent by text message.")),
    proposals(
        2,
        disagree("ISSUE-R1-001", "Nobody tries ten thousand codes in the rain.", INSTEAD),
        proposal(TWO, "The code has four digits, is sent by text message, and works once."),
        proposal(THREE, new=["GAP-BOX-005 (HIGH): Who is told when the time is over?"]),
    ),
    proposals(3, proposal(TWO, "As ruled on ISSUE-R1-001, somehow.", new=[
        "GAP-BOX-006 (LOW): Which six digits are never used?", "GAP-BOX-007 (LOW): Who pays for the message?"])),
    proposals(3, proposal(TWO, "As ruled on ISSUE-R1-001: six digits for parcels over 100 euros, four for others.",
                          new=["GAP-BOX-008 (LOW): What counts as the price of a parcel?"])),
    proposals(4, proposal("GAP-BOX-010", new=["GAP-BOX-011 (LOW, blocking): Which key does the emptier use?"])),
    proposals(5, proposal("GAP-BOX-011"), proposal(FOUR)),
]  # fmt: skip
REVIEWER: list[Script] = [
    review(1, {ONE: "APPROVED", TWO: "NEEDS REVISION"}, issues=[ISSUE]),
    review(2, {THREE: "APPROVED"}),
    review(3, {TWO: "NEEDS REVISION"}),
    review(3, {TWO: "APPROVED with note"}),
    review(4, {"GAP-BOX-010": "APPROVED"}),
    review(5, {"GAP-BOX-011": "APPROVED", FOUR: "NEEDS REVISION"}),
]  # fmt: skip
REDO = {"reason": "Too vague: say how many digits", "adjust": "more context", "focus": TWO}


def played(start: Start) -> Refinement:
    """Conflict, decision, stall, a round taken back, a warning, a narrowed scope."""
    run = start(ENGINEER, REVIEWER, gaps=f"{GAPS}- GAP-BOX-010 (MEDIUM, blocking): Who empties a box?\n").decide(
        "Continue"
    )
    ruling = {"ISSUE-R1-001": "C", "rationale": "cheap parcels stay simple"}
    run.answer("Continue", ruling)
    run.answer("Redo this round", REDO, "clarification: parcels carry their price on the label")
    run.decide("Narrow scope")
    return run


def test_a_whole_run_leaves_every_file_in_its_format(start: Start) -> None:
    run = played(start)
    assert run.state.status == "waiting", run.state.outcome
    run.answer("Reopen a deferred gap", {FOUR: True, "GAP-BOX-005": True})
    run.answer("Accept as complete", {"GAP-BOX-005": True})
    assert (run.state.status, run.state.outcome) == ("completed", "USER_APPROVED")
    folder = Path(run.state.workspace)
    found = {path: (folder / path).read_text(encoding="utf-8") for path in run.files}
    if os.environ.get("GOLDEN") == "write":
        for path, text in found.items():
            (GOLDEN / path).parent.mkdir(parents=True, exist_ok=True)
            (GOLDEN / path).write_text(text, encoding="utf-8")
    expected = {
        str(path.relative_to(GOLDEN)): path.read_text(encoding="utf-8") for path in GOLDEN.rglob("*") if path.is_file()
    }
    assert sorted(found) == sorted(expected)
    for path in found:
        assert found[path] == expected[path], path


def test_the_prompts_of_the_next_round_carry_what_was_decided(start: Start) -> None:
    run = played(start)
    asked = run.prompts("engineer")
    third, again, fourth = asked[3], asked[4], asked[5]
    ruling = f"- Ruling on ISSUE-R1-001 ({TWO}): C: {INSTEAD} (because: cheap parcels stay simple)"
    assert ruling in third
    assert "This round runs again" not in third
    assert "An earlier attempt at this round was taken back by the person: Too vague: say how many digits" in again
    assert "The person gave more context" in again
    assert f"Focus on: {TWO}" in again
    assert f"Work on these gaps: {TWO}\n" in again
    assert "parcels carry their price on the label" in again
    assert "This round runs again" not in fourth
    assert "only blocking gaps count for now" in fourth
    assert all(meaning in prompt for meaning in SEVERITIES.values() for prompt in asked)
    assert "### Conflict: ISSUE-R1-001" in run.file("round_002/summary.md")
    told = run.prompts("reviewer")[2]
    assert f"- D-001 ({TWO}, ISSUE-R1-001): C: {INSTEAD}" in told
    assert "- D-001: FOLLOWED, or NOT FOLLOWED" in told


def test_the_written_severities_are_the_trackers_own() -> None:
    text = (FOLDER / "templates" / "severities.md.j2").read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if line.startswith("- ")] == [
        f"- **{name}**: {meaning}" for name, meaning in SEVERITIES.items()
    ]


# --- a round taken back -----------------------------------------------------------------------------------------------


def world(run: Refinement) -> dict[str, object]:
    """What a round may change: files of agents, values, where the run is."""
    now = run.state.world
    return {
        "files": {path: one.digest for path, one in now.files.items() if not one.rendered and not one.person},
        "decisions.md": now.files["decisions.md"].digest,
        "values": {key: one.ref.digest for key, one in now.values.items() if one.ref},
        "scope": now.top.scope,
    }


def two_rounds(start: Start, third: str = "") -> Refinement:
    engineer: list[Script] = [
        proposals(1, proposal(ONE)),
        proposals(2, proposal(TWO, "Something vague.", new=["GAP-BOX-005 (LOW): Which ink?"])),
        third or proposals(2, proposal(TWO, "Something definite: six digits, sent once.")),
    ]
    reviewer: list[Script] = [
        review(1, {ONE: "APPROVED"}),
        review(2, {TWO: "NEEDS REVISION"}),
        review(2, {TWO: "APPROVED"}),
    ]
    return start(engineer, reviewer)


def test_after_a_rollback_the_world_is_what_it_was_and_the_record_has_lost_nothing(start: Start) -> None:
    run = two_rounds(start)
    before = world(run)
    status = run.file("status.md")
    run.decide("Continue")
    assert world(run) != before
    bad = {path: run.file(path) for path in run.files if path.startswith("round_002/")}
    events = len(run.engine.log.read(run.run))
    run.engine.submit(run.run, c.Rollback(remarks=(c.RemarkIn("Too vague."),), by="ann"))
    run.state = run.engine.load(run.run)
    assert world(run) == before
    kept = [event for _, event in run.engine.log.read(run.run)]
    assert len(kept) > events
    undone = [event for event in kept if isinstance(event, RoundUndone)]
    assert [(one.n, one.folder, one.by) for one in undone] == [(2, "round_002_rolled_back", "ann")]
    run.state = run.engine.drive_sync(run.run)
    for path, text in bad.items():
        assert run.file(path.replace("round_002", "round_002_rolled_back")) == text
    now = run.file("status.md")
    assert "## Round 2 Rolled Back" in now
    assert '**Reason:** User request (ann) - "Too vague."' in now
    assert "**Original Files:** Archived in round_002_rolled_back/" in now
    assert "GAP-BOX-005" not in run.states, "what the bad round raised is gone from the world"
    assert run.states[TWO] == "resolved"
    assert [row[:2] for row in run.rows] == [(1, 4), (2, 3)]
    assert status.partition("## Convergence")[0].count(TWO) == 1


def test_agents_do_not_read_what_was_rolled_back(start: Start) -> None:
    run = two_rounds(start).decide("Continue")
    run.answer("Redo this round", {"reason": "Too vague"})
    assert "Something vague" not in run.prompts("engineer")[2]
    run.decide("Abandon")


def test_a_round_is_taken_back_at_most_twice_and_its_archives_do_not_collide(start: Start) -> None:
    run = two_rounds(start, third=proposals(2, proposal(TWO, "Still vague."))).decide("Continue")
    run.answer("Redo this round", {"reason": "first"}).answer(
        "Redo this round", {"reason": "second", "adjust": "narrower"}
    )
    archives = sorted({path.split("/")[0] for path in run.files if "rolled_back" in path})
    assert archives == ["round_002_rolled_back", "round_002_rolled_back_2"]
    assert "limit rounds.undo (2 per round) is reached: the round stands" in run.why_not("Redo this round")
    assert "Drop this round and go on" not in run.offered
    with pytest.raises(Refused, match=r"rounds\.undo"):
        run.answer("Redo this round", {"reason": "third"})
    assert run.file("status.md").count("## Round 2 Rolled Back") == 2
    assert "- Prompt: narrower" in run.file("status.md")


def test_at_the_limit_the_best_earlier_output_stands_in_for_one_that_fails(start: Start) -> None:
    engineer: list[Script] = [
        proposals(1, proposal(ONE, "A first rule, the best there is: the courier calls the office.")),
        proposals(1, proposal(ONE, "A second rule, which is worse.")),
        "short",
    ]
    run = start(
        engineer, [review(1, {ONE: "NEEDS REVISION"}), review(1, {ONE: "NEEDS REVISION"}), review(1, {ONE: "APPROVED"})]
    )
    run.answer("Redo this round", {"reason": "one"}).answer("Redo this round", {"reason": "two"})
    forced = [event for _, event in run.engine.log.read(run.run) if isinstance(event, OutputForced)]
    assert [one.passed for one in forced] == [True]
    assert "A second rule, which is worse." in run.file("round_001/engineer.md")
    assert run.states[ONE] == "resolved"


def test_five_rounds_may_be_taken_back_in_a_run(start: Start) -> None:
    vague = [proposals(n, proposal(ONE, f"Rule {n}.")) for n in range(1, 9)]
    run = start(vague, [review(9, {ONE: "APPROVED with note"}), review(9, {TWO: "REJECTED"})])
    for number in (1, 2):
        run.answer("Redo this round", {"reason": f"again {number}"})
    run.decide("Continue")
    for number in (3, 4):
        run.answer("Redo this round", {"reason": f"again {number}"})
    run.decide("Continue").answer("Redo this round", {"reason": "again 5"})
    assert "limit undo (5 per run) is reached" in run.why_not("Redo this round")
    assert run.decide("Continue").state.status == "waiting"


def test_dropping_a_round_goes_on_with_the_next_number(start: Start) -> None:
    run = two_rounds(start, third=proposals(3, proposal(TWO, "Six digits."))).decide("Continue")
    run.decide("Drop this round and go on", "that led nowhere")
    assert [row[0] for row in run.rows] == [1, 3]
    status = run.file("status.md")
    assert "## Round 2 Dropped" in status
    assert "that led nowhere" in status
    assert "GAP-BOX-005" not in run.states


# --- the package ------------------------------------------------------------------------------------------------------


def test_the_recorded_example_is_complete() -> None:
    workflow = load_workflow(FOLDER)
    assert workflow.name == FOLDER.name
    assert workflow.description
    assert read_answers((FOLDER / "answers.yaml").read_text(encoding="utf-8"), "answers.yaml")
    assert set(yaml.safe_load((FOLDER / "inputs.yaml").read_text(encoding="utf-8"))) == {"spec"}
    assert "spec-refinement" in (FOLDER / "README.md").read_text(encoding="utf-8")


def test_what_was_said_of_one_ruling_is_not_taken_for_the_next(start: Start) -> None:
    """The same field in a later round is asked anew, not answered with what was said before."""
    first, second = (f"**ISSUE-R{n}-001** (HIGH, {gap}): Nobody knows whom to call" for n, gap in ((1, ONE), (2, TWO)))
    engineer: list[Script] = [
        proposals(1, proposal(ONE)),
        proposals(2, disagree("ISSUE-R1-001", "Everybody does."), proposal(TWO)),
        proposals(3, disagree("ISSUE-R2-001", "Everybody does."), proposal(ONE, "As ruled on ISSUE-R1-001.")),
        proposals(4, proposal(TWO, "As ruled on ISSUE-R2-001.")),
    ]
    reviewer: list[Script] = [
        review(1, {ONE: "NEEDS REVISION"}, issues=[first]),
        review(2, {TWO: "NEEDS REVISION"}, issues=[second]),
        review(3, {ONE: "APPROVED"}),
        review(4, {TWO: "APPROVED"}),
    ]
    run = start(engineer, reviewer).decide("Continue")
    run.answer("Continue", {"ISSUE-R1-001": "A", "rationale": "it is cheaper"})
    run.answer("Continue", {"ISSUE-R2-001": "B"})
    decisions = run.gaps["decisions"]
    assert isinstance(decisions, list)
    assert [(one["issue"], one["rationale"]) for one in decisions] == [
        ("ISSUE-R1-001", "it is cheaper"),
        ("ISSUE-R2-001", ""),
    ]
