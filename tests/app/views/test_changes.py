"""What another round changed, told from two texts and from a run: the conclusion first, figures first, and no noise."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import pytest

from reconvene.app import queries
from reconvene.app.views.changes import compared, sentences
from reconvene.app.views.opposites import turned
from reconvene.app.views.read_model import Change
from reconvene.core.facts.commands import AnswerCheckpoint, Rollback
from reconvene.kits.reading.feedback import parse_remark
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

FITS = "## Findings\nLong.\n\n## Summary\nWe looked. The plan fits, at 3.10x of 3.25x. Capital is cheap."
BREAKS = "## Findings\nLong.\n\n## Summary\nWe looked. The plan breaks it, at 3.89x of 3.25x. Capital is cheap."


def pair(before: str, after: str, *said: str, again: bool = True) -> tuple[str, str] | None:
    remarks = {f"FB-{number:03d}": text for number, text in enumerate(said, 1)}
    found = compared(before, after, remarks, again=again)
    return (found.was, found.now) if found else None


def test_the_sentence_with_other_figures_is_told_beside_the_one_it_replaces() -> None:
    assert pair(FITS, BREAKS) == ("The plan fits, at 3.10x of 3.25x.", "The plan breaks it, at 3.89x of 3.25x.")


def test_figures_count_more_than_what_comes_first() -> None:
    before = "The harbour is open. The route loses $4M a year."
    after = "The harbour is closed. The route earns $9M a year."
    assert pair(before, after) == ("The route loses $4M a year.", "The route earns $9M a year.")


def test_without_figures_the_first_sentence_that_differs_is_told() -> None:
    assert pair("Do not buy the two ships. Wait.", "Buy both of the ships at once. Wait.") == (
        "Do not buy the two ships.",
        "Buy both of the ships at once.",
    )


def test_the_summary_counts_before_the_rest() -> None:
    before = "## Findings\nTraffic is 5 percent up.\n\n## Summary\nThe road is safe today."
    after = "## Findings\nTraffic is 9 percent up.\n\n## Summary\nThe road is dangerous today."
    assert pair(before, after) == ("The road is safe today.", "The road is dangerous today.")


def test_where_the_summary_stands_the_rest_is_compared() -> None:
    before = "## Findings\nTraffic is 5 percent up.\n\n## Summary\nThe road is safe today."
    after = "## Findings\nTraffic is 9 percent up.\n\n## Summary\nThe road is safe today."
    assert pair(before, after) == ("Traffic is 5 percent up.", "Traffic is 9 percent up.")


def test_a_sentence_that_only_repeats_the_person_is_the_last_choice() -> None:
    before = "Debt is £100M. The furnace fits inside the covenant."
    after = "Debt is £150M, not £100M. The furnace breaks the covenant."
    assert pair(before, after, "Debt is £150M, not £100M") == (
        "The furnace fits inside the covenant.",
        "The furnace breaks the covenant.",
    )


def test_a_sentence_that_names_a_remark_is_told_before_others() -> None:
    before = "Prices rise. Nobody knows the buyer of the site."
    after = "Prices fall now. A buyer may settle it before the board does [FB-001]."
    assert pair(before, after, "We may be bought") == ("", "A buyer may settle it before the board does [FB-001].")


def test_what_is_no_longer_said_is_told_where_nothing_is_new() -> None:
    assert pair("It is dear. It is also too large for us.", "It is dear.") == ("It is also too large for us.", "")


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("The plan fits.", "The plan fits."),
        ("The plan **fits**.\n\nAll agree.", "The plan fits. All agree!"),
        ("- The plan fits.\n- All agree.", "1. the plan fits\n2. all agree"),
        ("The plan fits.", "The plan fits [FB-001]."),
        ("## Old\nThe plan fits.\n```\nx = 1\n```", "## New\nThe plan fits.\n```\nx  =  1\n```"),
        ("", ""),
        ("", "---"),
    ],
)
def test_where_no_sentence_differs_nothing_is_told(before: str, after: str) -> None:
    assert pair(before, after) is None


def test_numbers_in_names_are_no_figures() -> None:
    before = "Work went into GAP-FLOW-001 first. The price is 4 pounds a piece."
    after = "Work went into GAP-FLOW-002 first. The price is 5 pounds a piece."
    assert pair(before, after) == ("The price is 4 pounds a piece.", "The price is 5 pounds a piece.")


def test_the_next_round_of_a_plan_is_a_new_text_and_only_what_has_one_like_it_before_is_told() -> None:
    assert pair("Costs are high and rising fast.", "The harbour needs dredging before winter.", again=False) is None
    assert pair("A hall for 38 MW keeps it open.", "A hall for 60 MW keeps it open.", again=False) == (
        "A hall for 38 MW keeps it open.",
        "A hall for 60 MW keeps it open.",
    )


def test_a_long_sentence_is_cut() -> None:
    found = compared("Short and plain words here.", "word " * 500)
    assert found is not None
    assert len(found.now) == 300
    assert found.now.endswith("…")


def test_of_a_text_without_end_only_the_beginning_is_compared() -> None:
    assert len(sentences("Some words here. " * 100_000)) == 100
    beyond = Change("", also=("what comes after 20,000 characters",))
    assert compared("a. " * 400_000 + "(" * 100_000, "a. " * 400_000 + "*" * 100_000) == beyond
    assert compared("word " * 200_000 + "1", "word " * 200_000 + "2") == beyond
    assert compared("#" * 500_000, "\n\n" * 500_000) == beyond
    found = compared("``` " * 200_000, "- " * 200_000 + "`" * 100_000)
    assert found is not None
    assert found.also == ("code", *beyond.also)


TABLE = "| item | cost | when |\n|---|---|---|\n| kiln | £5M | May |\n| hall | £2M | June |\n"


@pytest.mark.parametrize(
    ("before", "after", "change"),
    [
        (TABLE, TABLE.replace("£5M", "£9M"), Change("", "kiln, cost: £5M", "kiln, cost: £9M")),
        (TABLE, TABLE.replace("May", "July").replace("£2M", "£3M"), Change("", "hall, cost: £2M", "hall, cost: £3M")),
        (TABLE, f"{TABLE}| crane | £1M | |\n", Change("", "", "crane | £1M")),
        (TABLE, TABLE.replace("| hall | £2M | June |\n", ""), Change("", "hall | £2M | June", "")),
        (TABLE, TABLE.replace("when", "date"), Change("", also=("a table",))),
        (
            f"The covenant holds at 3.1x.\n\n{TABLE}",
            f"The covenant breaks at 3.9x.\n\n{TABLE.replace('£5M', '£9M')}",
            Change(
                "", "The covenant holds at 3.1x.", "The covenant breaks at 3.9x.", ("a table (kiln, cost: £5M → £9M)",)
            ),
        ),
        (
            f"All is well with the kiln today.\n\n{TABLE}",
            f"All is fine with the kiln today.\n\n{TABLE.replace('£5M', '£9M')}",
            Change(
                "",
                "All is well with the kiln today.",
                "All is fine with the kiln today.",
                ("a table (kiln, cost: £5M → £9M)",),
            ),
        ),
        ("```\nreturn 1\n```", "```\nreturn 2\n```", Change("", also=("code",))),
        ("A is good.\nB is bad.", "B is bad.\nA is good.", Change("", also=("the order",))),
    ],
)
def test_tables_code_and_the_order_are_told(before: str, after: str, change: Change) -> None:
    assert compared(before, after) == change


def test_a_sentence_does_not_end_with_an_abbreviation() -> None:
    before = "Approx. 3.5 % of the e.g. Dr. Smith vs. Mr. Jones U.S. cost. It is fine."
    assert pair(before, before.replace("3.5", "4.5")) == (
        "Approx. 3.5 % of the e.g. Dr. Smith vs. Mr. Jones U.S. cost.",
        "Approx. 4.5 % of the e.g. Dr. Smith vs. Mr. Jones U.S. cost.",
    )


def test_a_word_under_a_heading_is_told_with_it() -> None:
    before = "# Plan\n\n## Cost\n5M\n\n## Risk\nlow"
    assert pair(before, before.replace("low", "high")) == ("Risk: low", "Risk: high")


def test_a_sentence_that_turns_into_its_opposite_counts_before_other_words() -> None:
    before = "The harbour is open today. We should build the plant."
    after = "The harbour is closed today. We should not build the plant."
    assert pair(before, after) == ("We should build the plant.", "We should not build the plant.")


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Do not buy: charter two ships for a season.", "Buy both ships, once the bank has agreed."),
        ("We recommend buying the plant.", "We recommend against buying the plant."),
        ("Accept the offer of the bank.", "Reject the offer of the bank."),
        ("Do not reject the offer.", "Reject the offer."),
        ("Go ahead with the launch in May.", "Postpone everything until the audit is done."),
        ("The plan fits inside the covenant.", "The plan breaks the covenant."),
        ("The change is safe to merge.", "Unsafe as it stands: two tests fail."),
        ("Die Anlage sollte gebaut werden.", "Die Anlage sollte nicht gebaut werden."),
        ("Wir empfehlen den Kauf.", "Wir raten ab: ablehnen."),
    ],
)
def test_a_conclusion_that_turned_round_counts_before_figures(was: str, now: str) -> None:
    before = f"{was} The debt is 3.29 times the earnings, and 1.1 million passengers come."
    after = f"{now} The debt is 3.06 times the earnings, and 1.1 million passengers come."
    assert turned(was, now)
    assert turned(now, was)
    assert pair(before, after) == (was, now)


@pytest.mark.parametrize(
    ("was", "now"),
    [
        ("Buy both ships.", "Buy both of the ships now."),
        ("Do not buy the ships.", "Do not buy the ships before May."),
        ("We accept the offer of 5 pounds.", "We accept the offer of 6 pounds."),
        ("The harbour lies in the north.", "The harbour lies in the west."),
    ],
)
def test_other_words_for_the_same_are_no_turn(was: str, now: str) -> None:
    assert not turned(was, now)


def test_where_long_sentences_begin_alike_the_part_that_differs_is_shown() -> None:
    long = "and so on " * 60
    found = compared(f"It is {long}worth 5 pounds.", f"It is {long}worth 6 pounds.")
    assert found is not None
    assert found.was.endswith("worth 5 pounds.")
    assert found.now.endswith("worth 6 pounds.")


# --- a run ------------------------------------------------------------------------------------------------------------

FLOW = """
name: flow
agents: {analyst: {command: x}, clerk: {command: x}}
phases:
  - id: draft
    rounds: {max: 4}
    steps: [{agents: [analyst, clerk], output: views}]
    checkpoint:
      options:
        - {label: Good, then: continue}
        - {label: Again, remark: optional, then: again}
        - {label: Drop it, undo: true, then: leave}
  - id: last
    agents: [clerk]
    checkpoint:
      options:
        - {label: Back, then: {goto: draft, rerun: true}}
        - {label: Done, then: continue}
"""


class Told:
    def __init__(self, home: Path, flow: str, agents: dict[str, object]) -> None:
        self.engine = open_engine(home, runner=ScriptedAgents(agents))
        self.run = self.engine.start(parse_workflow(flow), by="ann")
        self.state = self.engine.drive_sync(self.run)

    def decide(self, option: str, *said: str) -> list[Change]:
        assert self.state.world.open is not None
        remarks = tuple(parse_remark(text) for text in said)
        self.engine.submit(self.run, AnswerCheckpoint(self.state.world.open.id, option, remarks=remarks, by="ann"))
        self.state = self.engine.drive_sync(self.run)
        return self.changed

    @property
    def changed(self) -> list[Change]:
        point = queries.standing(self.engine, self.run).checkpoint
        shown = queries.show(self.engine, self.run).checkpoint
        assert point is not None
        assert shown is not None
        assert shown.changed == point.changed
        return list(point.changed)

    @property
    def since_try(self) -> bool:
        point = queries.standing(self.engine, self.run).checkpoint
        return point is not None and point.since_try


@pytest.fixture
def told(tmp_path: Path) -> Iterator[Told]:
    """An analyst with another figure each time, and a clerk who never changes a word."""
    says = [f"The cost is {number} pounds a year." for number in range(1, 9)]
    one = Told(tmp_path / "home", FLOW, {"analyst": says, "clerk": "I keep the books in order."})
    yield one
    asyncio.run(one.engine.close())


def row(was: int, now: int) -> Change:
    return Change("analyst", f"The cost is {was} pounds a year.", f"The cost is {now} pounds a year.")


def test_after_the_first_round_nothing_has_changed(told: Told) -> None:
    assert told.changed == []


def test_after_another_round_only_those_are_told_who_say_something_else(told: Told) -> None:
    assert told.decide("Again", "correction: look again") == [row(1, 2)]
    assert told.decide("Again") == [row(2, 3)]


def test_a_phase_that_is_entered_again_is_compared_with_the_time_before(told: Told) -> None:
    assert told.decide("Good") == []
    assert told.decide("Back") == [row(1, 2)]


def test_a_round_that_was_taken_back_is_compared_with_what_the_person_had_seen(told: Told) -> None:
    told.engine.submit(told.run, Rollback(by="ann"))
    told.state = told.engine.drive_sync(told.run)
    assert told.changed == [row(1, 2)]
    assert told.since_try


def test_the_round_after_is_compared_with_the_one_that_stands(told: Told) -> None:
    told.decide("Again")
    assert not told.since_try
    told.engine.submit(told.run, Rollback(by="ann"))
    told.state = told.engine.drive_sync(told.run)
    assert (told.changed, told.since_try) == ([row(2, 3)], True)
    assert told.decide("Again") == [row(3, 4)]
    assert not told.since_try


def test_a_try_that_was_taken_back_for_good_is_passed_over(told: Told) -> None:
    told.decide("Again")
    assert told.decide("Drop it") == []  # the round of 2 is gone, and the run is at the next phase
    assert told.decide("Back") == [row(1, 3)]


def test_changes_of_figures_come_before_other_words(tmp_path: Path) -> None:
    says = {"analyst": ["It looks good to all of us.", "It looks fair to all of us."],
            "clerk": ["It costs 5 pounds a year.", "It costs 6 pounds a year."]}  # fmt: skip
    one = Told(tmp_path / "home", FLOW, says)
    assert [change.agent for change in one.decide("Again")] == ["clerk", "analyst"]
    asyncio.run(one.engine.close())


TOGETHER = FLOW.replace(
    "agents: {analyst: {command: x}, clerk: {command: x}}",
    "agents: {analyst: {command: x}, clerk: {command: x}, moderator: {command: x}}",
).replace(
    "steps: [{agents: [analyst, clerk], output: views}]",
    "steps: [{agents: [analyst, clerk], output: views}, {agents: [moderator], output: all}]",
)


@pytest.mark.parametrize(
    ("analyst", "moderator", "order"),
    [
        (("Debt is 5.", "Debt is 6."), ("Do not buy the ships.", "Buy the ships."), ["moderator", "analyst"]),
        (("It fits.", "It breaks."), ("We accept the plan.", "We reject the plan."), ["moderator", "analyst"]),
        (("Debt is 5.", "Debt is 6."), ("Charter for a season.", "Build new ferries."), ["moderator", "analyst"]),
        (
            ("Debt is 5.", "Debt is 6."),
            ("It looks good to me now.", "It looks fair to me now."),
            ["analyst", "moderator"],
        ),
        (("It fits.", "It breaks."), ("Revenue is 5 pounds.", "Revenue is 6 pounds."), ["analyst", "moderator"]),
    ],
)
def test_who_draws_together_what_others_wrote_is_told_first(
    tmp_path: Path, analyst: tuple[str, str], moderator: tuple[str, str], order: list[str]
) -> None:
    says = {"analyst": list(analyst), "clerk": "I keep the books in order.", "moderator": list(moderator)}
    one = Told(tmp_path / "home", TOGETHER, says)
    assert [change.agent for change in one.decide("Again")] == order
    asyncio.run(one.engine.close())


def test_a_field_of_a_form_that_turned_is_no_conclusion() -> None:
    assert not turned("job_complete: False", "job_complete: True")
    assert turned("The page is not ready.", "The page is ready.")


def test_what_an_agent_answers_to_a_remark_is_no_conclusion_of_its_own() -> None:
    from reconvene.app.views.changes import _sentences

    text = 'Revenue is $900M.\nFB-001: taken up: "Revenue is $900M."\n- [FB-002]: declined: the survey has no data'
    assert _sentences(text) == ("Revenue is $900M.",)
