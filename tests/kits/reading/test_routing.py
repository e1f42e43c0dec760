"""Who is affected by what was said: a table written before the rules, and each rule by itself."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.core.extensions import AgentProfile, Concerned
from reconvene.core.facts.commands import RemarkIn
from reconvene.core.facts.events import RemarkAdded
from reconvene.kits.reading.routing import affected

TABLE = json.loads((Path(__file__).parents[2] / "golden" / "routing" / "remarks.json").read_text(encoding="utf-8"))
ALWAYS = tuple(TABLE["always"])


def team(outputs: dict[str, str] | None = None) -> dict[str, AgentProfile]:
    return {name: AgentProfile(name, remit, (outputs or {}).get(name, "")) for name, remit in TABLE["agents"].items()}


def routed(row: dict[str, object]) -> list[str]:
    remark = RemarkIn(str(row["text"]), str(row.get("kind", "comment")), str(row.get("target", "")))
    outputs = row.get("outputs")
    return [r.agent for r in affected([remark], team(outputs if isinstance(outputs, dict) else None), ALWAYS)]


def expected(row: dict[str, object]) -> list[str]:
    wanted = row["agents"]
    return list(TABLE["agents"]) if wanted == "everybody" else list(wanted)  # type: ignore[call-overload]


def one(text: str, agents: dict[str, AgentProfile], always: tuple[str, ...] = ()) -> dict[str, Concerned]:
    return {r.agent: r for r in affected([RemarkIn(text)], agents, always)}


# --- the table ---


def test_the_table_of_remarks_is_matched_exactly_on_at_least_18_of_20_and_never_misses_anybody() -> None:
    rows = TABLE["remarks"]
    assert len(rows) == 20
    wrong = {row["text"]: routed(row) for row in rows if routed(row) != expected(row)}
    assert len(wrong) <= 2, wrong
    assert all(set(expected(row)) <= set(routed(row)) for row in rows), wrong


def test_a_purely_economic_remark_calls_the_economist_and_the_contrarian_only() -> None:
    assert routed(TABLE["remarks"][0]) == ["economist", "contrarian"]


# --- rules ---


def test_the_rule_and_the_words_that_fired_it_are_shown() -> None:
    found = one("The inflation forecast is too low.", team(), ALWAYS)
    assert found["economist"] == Concerned("economist", "remit", "“inflation”: its remit is about economy")
    assert found["contrarian"] == Concerned("contrarian", "always", "part of every extra round")


def test_the_id_of_a_recorded_remark_is_part_of_the_reason() -> None:
    remark = RemarkAdded(at="2026-01-01T00:00:00.000Z", id="FB-003", number=3, kind="comment", text="Debt is higher.")
    (found,) = [r for r in affected([remark], team()) if r.agent == "economist"]
    assert found.why == "“Debt”: its remit is about economy [FB-003]"


@pytest.mark.parametrize("spelled", ["industry analyst", "Industry-Analyst's", "industry_analyst"])
def test_an_agent_is_mentioned_however_its_name_is_spelled(spelled: str) -> None:
    found = one(f"I doubt what the {spelled} wrote.", team())
    assert [(r.agent, r.rule) for r in found.values()] == [("industry_analyst", "mention")]


def test_a_name_inside_another_word_is_no_mention() -> None:
    agents = {"ana": AgentProfile("ana", "numbers"), "bo": AgentProfile("bo", "boats")}
    assert {r.rule for r in one("The analysis of bottles", agents).values()} == {"everybody"}


def test_a_remark_aimed_at_everybody_calls_everybody_by_mention() -> None:
    found = affected([RemarkIn("Shorter please", "comment", "everyone")], team())
    assert {r.rule for r in found} == {"mention"}
    assert len(found) == 7


def test_words_of_the_remit_itself_count_whatever_the_subject() -> None:
    agents = {"tailor": AgentProfile("tailor", "sleeves and buttons"), "cook": AgentProfile("cook", "soups")}
    found = one("Two buttons are missing", agents)
    assert [(r.agent, r.why) for r in found.values()] == [("tailor", "its remit says “buttons”")]


def test_known_phrases_are_not_taken_word_by_word() -> None:
    assert list(one("A new power plant will be built nearby.", team())) == ["ecologist"]
    assert list(one("Working capital is tied up.", team())) == ["economist"]
    assert list(one("This does not work for me, and power is not the point.", team())) == list(TABLE["agents"])


def test_the_same_amount_is_found_however_it_is_written() -> None:
    agents = {
        "a": AgentProfile("a", "", "We assume 850 million of it."),
        "b": AgentProfile("b", "", "Of $85M nothing is left."),
    }
    (found,) = one("It is $900M, not $850M", agents).values()
    assert (found.agent, found.rule, found.why) == ("a", "output", "its last output also says “$850M”")


def test_round_numbers_and_years_shared_by_chance_call_nobody() -> None:
    agents = {
        "a": AgentProfile("a", "", "Costs fall by 30% until 2030."),
        "b": AgentProfile("b", "", "Nothing in particular."),
    }
    assert {r.rule for r in one("By 2030 some 30% will have left us", agents).values()} == {"everybody"}


def test_what_most_outputs_say_tells_nobody_apart() -> None:
    shared = dict.fromkeys(TABLE["agents"], "Sales of $850M are assumed.")
    assert list(one("Revenue is $900M, not $850M", team(shared), ALWAYS)) == ["economist", "contrarian"]


def test_two_telling_words_in_one_sentence_are_the_same_subject_and_one_is_not() -> None:
    agents = {
        "a": AgentProfile("a", "", "The northern warehouse is the bottleneck."),
        "b": AgentProfile("b", "", "A warehouse is not needed. Northern lights are nice."),
    }
    (found,) = one("The warehouse in the northern part burnt down", agents).values()
    assert (found.agent, found.why) == ("a", "its last output speaks of “warehouse”, “northern”")


def test_an_edit_calls_those_whose_output_speaks_of_the_file() -> None:
    edit = RemarkAdded(
        at="2026-01-01T00:00:00.000Z", id="FB-001", number=1, kind="edit", text="Edited plan.md (+1 −1 lines)",
        path="plan.md",
    )  # fmt: skip
    agents = {"a": AgentProfile("a", "", "I wrote plan.md."), "b": AgentProfile("b", "", "I wrote notes.md.")}
    assert [(r.agent, r.rule) for r in affected([edit], agents)] == [("a", "output")]


def test_one_remark_that_points_to_nobody_calls_everybody_and_says_which() -> None:
    remarks = [RemarkIn("Debt is higher."), RemarkIn("The lighthouse was painted.")]
    found = {r.agent: r for r in affected(remarks, team(), ALWAYS)}
    assert len(found) == 7
    assert found["economist"].rule == "remit"
    assert found["sociologist"].why == "no rule says whom “The lighthouse was painted.” concerns"


def test_small_talk_beside_a_remark_with_an_addressee_calls_nobody_else() -> None:
    remarks = [RemarkIn("Debt is higher."), RemarkIn("Yes, do it.")]
    assert [r.agent for r in affected(remarks, team(), ALWAYS)] == ["economist", "contrarian"]


def test_without_remarks_everybody_runs() -> None:
    found = affected([], team(), ALWAYS)
    assert len(found) == 7
    assert found[0] == Concerned("economist", "everybody", "nothing was said that points to anybody")


def test_an_unknown_agent_that_should_always_run_is_passed_over() -> None:
    assert affected([RemarkIn("Debt")], {}, ("ghost",)) == ()


@given(st.lists(st.text(max_size=80), max_size=4), st.text(max_size=200))
def test_any_text_routes_somebody_and_never_fails(texts: list[str], output: str) -> None:
    agents = team(dict.fromkeys(TABLE["agents"], output))
    found = affected([RemarkIn(text) for text in texts], agents, ALWAYS)
    assert found
    assert len({r.agent for r in found}) == len(found)


# --- however much there is ---


def test_a_line_without_an_end_is_no_word_that_anybody_stems() -> None:
    """It would take minutes: the time of a stemmer grows with the square of a word's length."""
    output = "y" * 3_900_000
    assert list(one("yyy is 3, not 4", team({"economist": output}))) == list(TABLE["agents"])


def test_a_remark_as_long_as_a_book_concerns_everybody() -> None:
    found = one("the covenant. " * 10_000, team())
    assert list(found) == list(TABLE["agents"])
    assert {one.rule for one in found.values()} == {"everybody"}
    assert "too long to say whom it concerns" in found["economist"].why


def test_who_takes_for_granted_what_a_remark_contradicts_is_concerned_and_praise_concerns_nobody_else() -> None:
    outputs = {
        "economist": "## Assumptions\n- Rates stay at 3 %.\n",
        "industry_analyst": "## Assumptions\n- Almhof runs a cooling fleet of its own.\n",
        "contrarian": "## Assumptions\n- Nothing lasts.\n",
    }
    profiles = {name: AgentProfile(name, last_output=text) for name, text in outputs.items()}
    said = RemarkIn("We have no cooling fleet of our own, a contractor does it.", "correction")
    (found,) = affected([said], profiles)
    assert (found.agent, found.rule) == ("industry_analyst", "assumption")
    assert "Almhof runs a cooling fleet of its own." in found.why
    fine = RemarkIn("Looks mostly fine", "comment")
    assert [one.agent for one in affected([fine], profiles, always=("contrarian",))] == ["contrarian"]
