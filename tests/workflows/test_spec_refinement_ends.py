"""Spec refinement: how it converges, what a person may choose, and how it ends."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reconvene.app import queries
from reconvene.core.facts import commands as c
from reconvene.doors.shared.options import on_offer
from reconvene.errors import Refused
from reconvene.ports import Assignment

from .refining import FOUR, ONE, SPEC, THREE, TWO, Refinement, Script, Start, disagree, proposal, proposals, review

ALL = (ONE, TWO, THREE, FOUR)


def closing(n: int, *gaps: str, approve: bool = False) -> tuple[str, str]:
    """A round in which these are proposed and approved."""
    return proposals(n, *map(proposal, gaps)), review(n, dict.fromkeys(gaps, "APPROVED"), approve=approve)


# --- the table of the seed --------------------------------------------------------------------------------------------


def seed_gap(n: int) -> str:
    return f"GAP-SEED-{n:03d}"


_SUBJECTS = (
    "opening hours", "box sizes", "lost codes", "wet parcels", "power cuts", "broken doors", "refunds", "returns",
    "children", "night light", "noise", "snow", "vandalism", "postcodes", "couriers", "insurance", "weights",
    "animals", "food", "screens", "languages", "receipts", "queues", "cameras", "keys", "wheels", "signs", "rain",
    "stairs", "fences", "lamps", "dogs", "bells", "paint", "bolts", "roofs", "floors", "gates",
)  # fmt: skip


def seed_line(n: int) -> str:
    severity = ("HIGH", "MEDIUM", "LOW")[n % 3]
    marks = f"{severity}, blocking" if 20 < n <= 25 else severity
    return f"{seed_gap(n)} ({marks}): What is the rule about {_SUBJECTS[n]}?"


def seed_round(n: int, closed: range, new: range) -> tuple[str, str]:
    ids = [seed_gap(k) for k in closed]
    parts = [proposal(gap, new=[seed_line(k) for k in new] if gap == ids[0] else ()) for gap in ids]
    return proposals(n, *parts), review(n, dict.fromkeys(ids, "APPROVED"))


def diverged(start: Start, *further: tuple[str, str]) -> Refinement:
    """25/3/2, 24/4/4, 24/1/5: the three rounds of the seed."""
    rounds = [
        seed_round(1, range(1, 4), range(26, 28)),
        seed_round(2, range(4, 8), range(28, 32)),
        seed_round(3, range(8, 9), range(32, 37)),
        *further,
    ]
    gaps = "\n".join(f"- {seed_line(k)}" for k in range(1, 26))
    run = start([one for one, _ in rounds], [two for _, two in rounds], gaps=gaps)
    return run.decide("Continue").decide("Continue")


def test_the_seeds_own_rounds_give_the_seeds_own_table(start: Start) -> None:
    run = diverged(start)
    assert run.rows == [
        (1, 25, 3, 2, 24, 1, "CONVERGING"),
        (2, 24, 4, 4, 24, 0, "STALLED (1)"),
        (3, 24, 1, 5, 28, -4, "DIVERGENCE_WARNING"),
    ]
    assert (
        "| Round | Gaps Start | Resolved | New | Gaps End | Net | State |\n"
        "|-------|------------|----------|-----|----------|-----|-------|\n"
        "| 1     | 25         | 3        | 2   | 24       | +1  | CONVERGING |\n"
        "| 2     | 24         | 4        | 4   | 24       | 0   | STALLED (1) |\n"
        "| 3     | 24         | 1        | 5   | 28       | -4  | DIVERGENCE_WARNING |\n"
    ) in run.file("status.md")
    assert "No net progress this round." in run.file("round_002/summary.md")
    assert "No net progress this round." not in run.file("round_001/summary.md")
    assert "Divergence Warning" not in run.file("round_002/summary.md")


def test_the_warning_opens_the_checkpoint_and_offers_its_four_choices(start: Start) -> None:
    run = diverged(start)
    warning = run.gaps["warning"]
    assert isinstance(warning, dict)
    assert run.asked.startswith(str(warning["line"]))
    assert "Session Progress: Round 3 of max 10\nOpen Gaps: 28 (" in run.asked
    assert "Round 2: Resolved 4, Introduced 4 (Net: 0)\nRound 3: Resolved 1, Introduced 5 (Net: -4)" in run.asked
    assert {"Narrow scope", "Accept complexity", "Pause for input", "Force complete"} < set(run.offered)
    assert run.recommended == ["Redo this round"], "net below -2: take it back"


def test_without_a_warning_its_choices_are_not_offered(start: Start) -> None:
    run = start(*zip(closing(1, ONE)))
    assert run.offered == ["Continue", "Redo this round", "Drop this round and go on", "Change the list", "Abandon"]
    assert run.recommended == ["Continue"]
    shown = queries.summary(run.engine, run.run).checkpoint
    assert shown is not None
    listed = [option.label for option in on_offer(shown.options)]
    more = ["Redo this round", "Drop this round and go on", "Change the list", "Abandon"]
    assert listed == ["Continue", "Accept as complete", *more]


def test_narrow_scope_defers_what_blocks_nothing(start: Start) -> None:
    blocking = [seed_gap(k) for k in range(21, 26)]
    run = diverged(start, closing(4, *blocking[:4])).decide("Narrow scope")
    assert [gap for gap, state in run.states.items() if state not in ("resolved", "deferred")] == blocking[4:]
    asked = run.prompts("engineer")[3]
    named, _, rest = asked.partition("Work on these gaps: ")[2].partition("\n")
    assert sorted(named.split(", ")) == blocking
    assert rest.startswith("(The person narrowed the scope")
    assert "**Scope:** blocking gaps only" in run.file("status.md")
    assert run.rows[3][:6] == (4, 5, 4, 0, 1, 4)


def test_a_deferred_gap_can_be_reopened_by_name(start: Start) -> None:
    run = diverged(start, closing(4, seed_gap(21)), closing(5, seed_gap(22))).decide("Narrow scope")
    assert run.states[seed_gap(9)] == "deferred"
    run.answer("Reopen a deferred gap", {seed_gap(9): True})
    assert run.states[seed_gap(9)] == "open"
    assert run.states[seed_gap(10)] == "deferred"
    assert seed_gap(9) in run.prompts("engineer")[4]


def test_accept_complexity_begins_the_count_anew(start: Start) -> None:
    run = diverged(start, seed_round(4, range(9, 10), range(37, 38))).decide("Accept complexity")
    assert run.rows[3][-1] == "STALLED (1)"
    assert "Narrow scope" not in run.offered


def test_pause_for_input_needs_words_and_takes_them_to_the_engineer(start: Start) -> None:
    run = diverged(start, closing(4, seed_gap(9)))
    with pytest.raises(Refused, match="needs your words"):
        run.decide("Pause for input")
    run.decide("Pause for input", "new context: the lockers stand indoors")
    assert "the lockers stand indoors" in run.prompts("engineer")[3]


def test_force_complete_overrides_and_ends_with_known_gaps(start: Start) -> None:
    run = diverged(start)
    assert "Accept as complete" not in run.offered
    run.decide("Force complete")
    assert (run.state.status, run.state.outcome) == ("completed", "USER_APPROVED")
    assert set(run.states.values()) == {"resolved", "accepted"}
    status = run.file("status.md")
    assert "**Status:** USER_APPROVED" in status
    assert "| Accepted as-is | 28 |" in status
    assert f"- {seed_gap(9)}: What is the rule about {_SUBJECTS[9]}? (accepted - high priority)" in status
    assert run.file("specs/lockers_v1.0.md").startswith("# Parcel Lockers")


def test_a_count_that_cries_wolf_is_put_right_by_the_first_line(start: Start) -> None:
    gaps = "\n".join(f"- GAP-A-00{n} (HIGH): What is the rule about {_SUBJECTS[n]}?" for n in range(1, 6))
    rounds = []
    for n in range(1, 5):
        new = [f"GAP-A-01{n} (LOW): What is the wording about {_SUBJECTS[n + 20]}?"]
        rounds.append((proposals(n, proposal(f"GAP-A-00{n}", new=new)), review(n, {f"GAP-A-00{n}": "APPROVED"})))
    run = start([one for one, _ in rounds], [two for _, two in rounds], gaps=gaps).decide("Continue")
    assert [row[-1] for row in run.rows] == ["STALLED (1)", "DIVERGENCE_WARNING"]
    for n, (closed, found) in ((2, (8, 2)), (3, (12, 3)), (4, (16, 4))):
        assert run.rows[-1] == (n, 5, 1, 1, 5, 0, "DIVERGENCE_WARNING")
        assert run.asked.splitlines()[0] == (
            f"Converging by weight and by identity: weight {closed} closed against {found} found over {n} rounds, "
            "and no gap came back. Only the counts stand still."
        )
        run.decide("Continue") if n < 4 else None


def test_how_long_a_stall_may_last_can_be_set(start: Start) -> None:
    idle = [(proposals(n, proposal(ONE, f"Try {n}.")), review(n, {})) for n in range(1, 4)]
    reviews = [review(n, {ONE: "APPROVED with note"}, new=[f"GAP-B-00{n} (LOW): Which {_SUBJECTS[n]}?"]) for n in (1,)]
    run = start([one for one, _ in idle], [*reviews], stall=1)
    assert run.rows[0][-1] == "DIVERGENCE_WARNING"


# --- good enough ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("line", ["GAP-X-001 (CRITICAL): Who is hurt?", "GAP-X-001 (LOW, blocking): Which colour?"])
def test_accepting_is_refused_while_something_critical_or_blocking_is_open(start: Start, line: str) -> None:
    run = start(*zip(closing(1, "GAP-X-002")), gaps=f"- {line}\n- GAP-X-002 (LOW): Which font?\n")
    assert "GAP-X-001" in run.why_not("Accept as complete")
    with pytest.raises(Refused, match="GAP-X-001"):
        run.decide("Accept as complete")


def test_every_open_high_gap_is_accepted_by_name(start: Start) -> None:
    gaps = "- GAP-X-001 (HIGH): Who pays?\n- GAP-X-002 (LOW): Which font?\n- GAP-X-003 (MEDIUM): How many boxes?\n"
    run = start(*zip(closing(1, "GAP-X-003")), gaps=gaps)
    option = next(one for one in run.open.options if one.label == "Accept as complete")
    assert [(field.id, field.type, field.required) for field in option.fields] == [("GAP-X-001", "confirm", True)]
    with pytest.raises(Refused, match="needs an answer"):
        run.decide("Accept as complete")
    with pytest.raises(Refused, match="needs an answer"):
        run.answer("Accept as complete", {"GAP-X-001": False})
    run.answer("Accept as complete", {"GAP-X-001": True})
    assert (run.state.status, run.state.outcome) == ("completed", "USER_APPROVED")
    assert run.states == {"GAP-X-001": "accepted", "GAP-X-002": "accepted", "GAP-X-003": "resolved"}
    status = run.file("status.md")
    assert "| Resolved | 1 |\n| Accepted as-is | 2 |\n| Deferred | 0 |\n| Total | 3 |" in status
    assert "- GAP-X-002: Which font? (accepted - low priority)" in status


# --- the decision tree ------------------------------------------------------------------------------------------------


def test_nothing_open_and_approved_is_complete_without_a_question(start: Start) -> None:
    run = start(*zip(closing(1, *ALL, approve=True)))
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    status = run.file("status.md")
    assert "## Session Complete\n\n**Status:** COMPLETE\n**Rounds:** 1\n**Duration:** " in status
    assert "### Known Limitations\nNone.\n" in status
    assert "Final spec written to: `specs/lockers_v1.0.md`" in status
    assert "round_001/summary.md" in run.files


def test_nothing_open_without_approval_goes_on(start: Start) -> None:
    run = start(*zip(closing(1, *ALL)))
    assert run.gaps["open"] == 0
    assert run.state.status == "waiting"
    assert "Open Gaps: 0 (0 Critical, 0 High, 0 Medium, 0 Low)" in run.asked
    assert "No gap is open, but the reviewer has not approved." in run.asked
    assert {"Continue", "Accept as complete"} <= set(run.offered)


CLOSING = (
    "## Review: Round 2 - it can be built\n\nThe four resolutions of GAP-BOX-001 to GAP-BOX-004 fit together.\n\n"
    "### Completeness Checks\n- [x] No resolution contradicts another\n\n### Recommendation\n**APPROVE**\n"
)


@pytest.mark.parametrize("auto", [False, True])
def test_with_nothing_open_only_the_reviewer_is_asked_for_a_closing_word(start: Start, auto: bool) -> None:
    run = start([closing(1, *ALL)[0]], [closing(1, *ALL)[1], CLOSING], auto=auto)
    if not auto:
        run.decide("Continue")
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    assert len(run.prompts("engineer")) == 1, "there is nothing to propose"
    assert "No gap is open any more" in run.prompts("reviewer")[1]


def test_a_closing_review_may_open_a_gap_again(start: Start) -> None:
    run = start([closing(1, *ALL)[0]], [closing(1, *ALL)[1], review(2, {TWO: "NEEDS REVISION"})]).decide("Continue")
    assert run.states[TWO] == "open"
    assert run.rows[-1][:6] == (2, 0, 0, 1, 1, -1)


def test_an_automatic_run_that_is_never_approved_says_that_nothing_is_open(start: Start) -> None:
    run = start([closing(1, *ALL)[0]], [closing(1, *ALL)[1], review(2, {})], auto=True, max_rounds=3)
    assert (run.state.status, run.state.outcome) == ("failed", "MAX_ROUNDS")
    assert "no gap is open, but the reviewer did not approve" in run.state.why


def wrote(text: str) -> Callable[[Assignment], object]:
    """A mediator that gives this text back as the specification, whatever is asked."""
    return lambda work: {"text": "done", "files": {work.writes[0]: text}} if work.writes else "A round went by. " * 4


def final_codes(run: Refinement) -> list[tuple[str, str]]:
    return [one[1:] for one in run.attempts if one[0].endswith("0/mediator")]


def test_a_text_about_the_specification_is_not_taken_for_it(start: Start) -> None:
    about = wrote("It has been explained that everything is dealt with. " * 40)
    run = start(*zip(closing(1, *ALL, approve=True)), mediator=about)
    assert final_codes(run) == [("rejected", "NOT_WORKED_IN")] * 3
    assert "specs/lockers_v1.0.md" not in run.state.world.files


@pytest.mark.parametrize("auto", [False, True])
def test_a_mediator_that_returns_the_draft_unchanged_ends_nothing(start: Start, auto: bool) -> None:
    run = start(*zip(closing(1, *ALL, approve=True)), mediator=wrote(SPEC), auto=auto)
    assert final_codes(run) == [("rejected", "UNCHANGED")] * 3
    assert run.state.status == "waiting"
    assert run.point.attention
    assert all(gap in run.point.prompt for gap in ALL)
    run.engine.submit(run.run, c.AnswerCheckpoint("", "Go on without it", by="ann"))
    run.state = run.engine.drive_sync(run.run)
    if not auto:  # a person sees what is missing, and cannot take it for the specification
        assert run.phase == "final"
        assert "**nowhere**" in run.asked
        assert run.offered == ["Send back", "I have edited spec.md", "Change the list", "Abandon"]
        assert ONE in run.why_not("Accept")
        return
    assert (run.state.status, run.state.outcome) == ("failed", "NOT_WORKED_IN")
    assert "specs/lockers_v1.0.md" not in run.state.world.files
    assert "No specification was released: not worked in: " in run.file("status.md")
    assert "## Final Specification: Errors" in run.file("status.md")


def test_no_gaps_found_completes_at_once_and_says_so(start: Start) -> None:
    run = start(gaps=None, found=["No gaps found.\n\n- [x] Every step has an actor\n- [x] Every limit has a number\n"])
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    assert [work.agent.name for work in run.agents.calls] == ["reviewer"]
    assert "No gaps were found in this specification" in run.file("status.md")
    assert run.file("specs/lockers_v1.0.md").startswith("# Parcel Lockers")


def test_a_reviewer_who_cannot_list_gaps_is_no_proof_that_there_are_none(start: Start) -> None:
    run = start(gaps=None, found=["hm"])
    assert run.state.world.open is not None
    assert run.state.world.open.attention
    run.engine.submit(run.run, c.AnswerCheckpoint("", "Go on without it", by="ann"))
    run.state = run.engine.drive_sync(run.run)
    assert (run.state.status, run.state.outcome) == ("failed", "NO_GAPS_LISTED")
    assert "--input gaps=FILE" in run.state.why


def test_what_was_found_is_shown_before_the_first_round_and_may_be_looked_at_again(start: Start) -> None:
    first = f"## {ONE}: What if no box is free?\n\n**Severity:** HIGH\n**Blocking:** yes\n\nNothing is said.\n"
    second = first + f"\n## {TWO}: How is the code made?\n\n**Severity:** LOW\n**Blocking:** no\n\nNothing is said.\n"
    run = start(*zip(closing(1, ONE)), gaps=None, found=[first, second])
    assert run.offered == ["Begin", "Change the list", "Look again", "Abandon"]
    run.decide("Look again", "missing factor: nobody says how the code is made")
    assert list(run.states) == [ONE, TWO]
    assert "nobody says how the code is made" in run.prompts("reviewer")[1]
    assert "Write the whole list again" in run.prompts("reviewer")[1]
    assert run.decide("Begin").rows == [(1, 2, 1, 0, 1, 1, "CONVERGING")]


def test_what_the_second_look_leaves_out_or_rates_anew_is_shown(start: Start) -> None:
    marks = "**Severity:** HIGH\n**Blocking:** yes\n**Lines:** 7-8"
    one = f"## {ONE}: What if no box is free?\n\n{marks}\n\nNothing is said.\n"
    two = f"\n## {TWO}: Which colour?\n\n**Severity:** LOW\n**Blocking:** no\n\nNothing is said.\n"
    run = start(*zip(closing(1, ONE)), gaps=None, found=[one + two, one.replace("HIGH", "CRITICAL")])
    run.decide("Look again", "correction: the colour is no gap")
    assert f"- {ONE} (CRITICAL, blocking): What if no box is free?" in run.asked
    assert f"(deferred, not lost):\n- {TWO} (LOW): Which colour?" in run.asked
    run.decide("Begin")
    assert (
        f"- {ONE} (CRITICAL, blocking, lines 7–8): “What if no box is free?” “Nothing is said.”"
        in run.prompts("engineer")[0]
    )
    assert run.rows == [(1, 1, 1, 0, 0, 1, "CONVERGING")]


def test_a_second_look_that_finds_nothing_ends_complete(start: Start) -> None:
    one = f"## {ONE}: What if no box is free?\n\n**Severity:** HIGH\n\nNothing is said.\n"
    run = start(gaps=None, found=[one, "No gaps found.\n\n- [x] Every step has an actor\n"])
    run.decide("Look again", "correction: there always is a box")
    assert "None is left." in run.asked
    run.decide("Begin")
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    assert f"- {ONE}: What if no box is free? (deferred - high priority)" in run.file("status.md")
    assert "Known Limitations" in run.file("specs/lockers_v1.0.md")


def test_abandoning_counts_as_aborted_and_is_on_file(start: Start) -> None:
    run = start(*zip(closing(1, ONE))).decide("Abandon", "we buy one instead")
    assert (run.state.status, run.state.outcome) == ("aborted", "ABANDONED")
    status = run.file("status.md")
    assert "**Status:** ABANDONED" in status
    assert "| Still open | 3 |" in status
    assert "No specification was written." in status
    assert not any(path.startswith("specs/") for path in run.files)


def test_round_ten_is_a_stop_like_any_other_when_a_person_is_there(start: Start) -> None:
    rounds = [closing(1, ONE), (proposals(2, proposal(TWO)), review(2, {TWO: "APPROVED"})), closing(3, THREE)]
    run = start([one for one, _ in rounds], [two for _, two in rounds], max_rounds=2).decide("Continue")
    assert "Session Progress: Round 2 of max 2" in run.asked
    assert "You may go on all the same." in run.asked
    assert run.decide("Continue").rows[-1][0] == 3


# --- by itself --------------------------------------------------------------------------------------------------------


def test_auto_goes_on_without_a_stop_until_it_is_complete(start: Start) -> None:
    rounds = [closing(1, ONE, TWO), closing(2, THREE), closing(3, FOUR, approve=True)]
    run = start([one for one, _ in rounds], [two for _, two in rounds], auto=True)
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    assert run.state.record.checkpoints == 0
    assert [f"round_00{n}/summary.md" in run.files for n in (1, 2, 3)] == [True] * 3
    assert "Round 2 brought what the verdicts say" in run.file("round_002/summary.md")


def test_auto_stops_at_max_rounds_as_failed_and_leaves_what_there_is(start: Start) -> None:
    run = start(
        *zip(closing(1, ONE), closing(2, TWO), (proposals(3, proposal(THREE)), review(3, {}))), auto=True, max_rounds=4
    )
    assert (run.state.status, run.state.outcome) == ("failed", "MAX_ROUNDS")
    assert run.rows[-1][0] == 4
    assert "status.md" in run.state.why
    assert "specs/lockers_draft.md" in run.files
    assert "specs/lockers_v1.0.md" not in run.files
    status = run.file("status.md")
    assert "**Status:** MAX_ROUNDS" in status
    assert "| Still open | 2 |" in status
    assert f"- {FOUR}: What does the screen say at night? (open - low priority)" in status


def test_auto_asks_only_when_every_open_gap_waits_for_a_decision(start: Start) -> None:
    gaps = f"- {ONE} (HIGH): What if no box is free?\n- {TWO} (LOW): How is the code made?\n"
    issue = f"**ISSUE-R1-001** (HIGH, {ONE}): There is no rule for a full locker. A rule would settle it."
    refuse = disagree("ISSUE-R1-001", "There always is a box.", "Count the boxes first.")
    engineer: list[Script] = [
        proposals(1, proposal(ONE)),
        proposals(2, refuse, proposal(ONE, "As before."), proposal(TWO)),
        proposals(3, proposal(ONE, "As ruled on ISSUE-R1-001, boxes are counted.")),
    ]
    reviewer: list[Script] = [
        review(1, {ONE: "NEEDS REVISION"}, issues=[issue]),
        review(2, {ONE: "NEEDS REVISION", TWO: "APPROVED"}),
        review(3, {ONE: "APPROVED"}, approve=True),
    ]
    run = start(engineer, reviewer, gaps=gaps, auto=True)
    assert run.rows[-1][0] == 2, "round 1 went by without a stop"
    assert "Every open gap waits for your decision" in run.asked
    field = next(one for option in run.open.options if option.label == "Continue" for one in option.fields)
    with pytest.raises(Refused, match="needs an answer"):
        run.decide("Continue")
    run.answer("Continue", {field.id: field.options[2]})
    assert (run.state.status, run.state.outcome) == ("completed", "COMPLETE")
    assert f"Ruling on ISSUE-R1-001 ({ONE}): {field.options[2]}" in run.prompts("engineer")[2]


def test_both_silent_with_gaps_that_nobody_blocks_is_shown_to_a_person(start: Start) -> None:
    run = start(["-"], ["-"], mediator=lambda work: "")
    assert "A partial round: engineer, mediator" in run.asked
    assert run.recommended == ["Redo this round"]
    assert set(run.states.values()) == {"open"}
