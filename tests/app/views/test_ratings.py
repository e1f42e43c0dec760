"""The stop meter: reading ratings, the RAND/UCLA rule by hand-computed cases, stability, findings, the same item."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.app.views.encoding import encoded
from reconvene.app.views.ratings import (
    Argument,
    Joined,
    Meter,
    Move,
    Rating,
    measure,
    parse_ratings,
    percentile,
    spread,
    with_unheard,
)


def rated(*values: float, item: str = "EV adoption") -> dict[str, list[Rating]]:
    """One round: agents a, b, c… rate one item."""
    return {chr(97 + at): [Rating(item, value, f"because {value:g}")] for at, value in enumerate(values)}


def only(meter: Meter) -> tuple[str, str]:
    (item,) = meter.items
    return item.verdict, item.why


# --- reading ---


def test_a_table_is_read_by_its_header_in_any_order() -> None:
    text = """# Findings
| item | rating | reason |
|---|---|---|
| not this one | 1 | it stands outside the section |

## Ratings

| # | Reason | Item | Rating (1-9) |
|---|:---|---|---:|
| 1 | costs fall \\| fast | **EV adoption** | 7 |
| 2 |  | Oil price | 3/9 |

## Next
| item | rating | reason |
"""
    assert parse_ratings(text).given == (Rating("EV adoption", 7, "costs fall | fast"), Rating("Oil price", 3, ""))
    assert parse_ratings(text).problems == ()


def test_list_lines_are_read_with_every_usual_dash() -> None:
    text = """## Ratings
- EV adoption: 7 — costs fall
* Oil price: above $80: **3** - demand is weak
3. Trade war = 9/9
- Skills: 5 because schools are slow
  and this line goes on
"""
    assert parse_ratings(text).given == (
        Rating("EV adoption", 7, "costs fall"),
        Rating("Oil price: above $80", 3, "demand is weak"),
        Rating("Trade war", 9, ""),
        Rating("Skills", 5, "because schools are slow"),
    )


def test_json_is_read_from_the_value_or_from_the_text() -> None:
    value = {
        "summary": "…",
        "ratings": [{"item": "Rates", "rating": 8, "reason": "debt"}, {"item": "Tax", "rating": "4"}],
    }
    expected = (Rating("Rates", 8, "debt"), Rating("Tax", 4, ""))
    assert parse_ratings("whatever", value).given == expected
    assert parse_ratings(json.dumps(value)).given == expected
    assert parse_ratings("", {"ratings": {"Rates": 8, "Tax": {"rating": 4}}}).given == (
        Rating("Rates", 8, ""),
        Rating("Tax", 4, ""),
    )


def test_what_is_no_rating_is_reported_and_costs_the_others_nothing() -> None:
    text = """## Ratings
| item | rating | reason |
|--|--|--|
| Rates | 12 | too high |
| Tax | high | |
| | 5 | nameless |
| Wages | 6 | |
| wages | 7 | again |
"""
    read = parse_ratings(text)
    assert read.given == (Rating("wages", 7, "again"),)
    assert read.problems == (
        "“Rates”: 12 is not a rating from 1 to 9",
        "“Tax”: high is not a rating from 1 to 9",
        "a rating of 5 names no item",
        "“wages” is rated twice: the last one counts",
    )


def test_a_reply_without_ratings_gives_none() -> None:
    assert parse_ratings("We rate nothing.\n- Tax: 7").given == ()
    assert parse_ratings("{broken").given == ()
    assert parse_ratings("", [1, 2]).given == ()


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str) -> None:
    read = parse_ratings("## Ratings\n" + text)
    assert all(1 <= rating.rating <= 9 for rating in read.given)


# --- the rule ---


@pytest.mark.parametrize(
    ("values", "p30", "p70", "ipr", "ipras", "disagree"),
    [
        # n = 7: P30 lies at place 6 · 0.3 = 1.8, P70 at 4.2 (counted from 0)
        ([7, 7, 8, 8, 9, 9, 9], 7.8, 9.0, 1.2, 7.45, False),  # centre 8.4: 2.35 + 1.5 · 3.4
        ([1, 2, 3, 5, 7, 8, 9], 2.8, 7.2, 4.4, 2.35, True),  # centre 5
        ([4, 4, 5, 5, 6, 6, 6], 4.8, 6.0, 1.2, 2.95, False),  # centre 5.4: 2.35 + 1.5 · 0.4
        ([1, 1, 1, 1, 9, 9, 9], 1.0, 9.0, 8.0, 2.35, True),  # centre 5
        # n = 5: places 1.2 and 2.8
        ([1, 1, 1, 9, 9], 1.0, 7.4, 6.4, 3.55, True),  # centre 4.2: 2.35 + 1.5 · 0.8
        ([5, 5, 5, 5, 5], 5.0, 5.0, 0.0, 2.35, False),
        # n = 2: places 0.3 and 0.7
        ([1, 9], 3.4, 6.6, 3.2, 2.35, True),
        ([6], 6.0, 6.0, 0.0, 3.85, False),
    ],
)
def test_disagreement_follows_the_rand_ucla_rule(
    values: list[float], p30: float, p70: float, ipr: float, ipras: float, disagree: bool
) -> None:
    found = spread(values)
    assert (found.p30, found.p70, found.ipr, found.ipras) == pytest.approx((p30, p70, ipr, ipras))
    assert found.disagreement is disagree


def test_an_ipr_equal_to_its_ipras_is_no_disagreement() -> None:
    # n = 11: places 3 and 7, so P30 = 3.825 and P70 = 6.175: both sides are 2.35
    values = [3.825] * 4 + [5.0] * 3 + [6.175] * 4
    assert (spread(values).ipr, spread(values).ipras, spread(values).disagreement) == (2.35, 2.35, False)


def test_percentiles_interpolate_between_the_sorted_values() -> None:
    assert percentile([9, 1], 0.5) == 5
    assert percentile([3, 1, 2], 0.0) == 1
    assert percentile([3, 1, 2], 1.0) == 3


@pytest.mark.parametrize(
    ("values", "band"), [([3, 3], "low"), ([3, 4], "middle"), ([6, 7], "high"), ([6, 6], "middle")]
)
def test_a_median_between_two_bands_belongs_to_the_higher(values: list[float], band: str) -> None:
    assert spread(values).band == band


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12))
def test_the_order_of_raters_and_turning_the_scale_round_change_nothing(values: list[int]) -> None:
    there, back = spread(values), spread([10 - value for value in reversed(values)])
    assert there.ipr == pytest.approx(back.ipr)
    assert there.disagreement == back.disagreement


# --- between rounds ---


def test_the_first_round_has_nothing_to_compare_with() -> None:
    meter = measure([rated(7, 8, 7)])
    assert only(meter) == ("single", "the first round")
    assert meter.advice == "One round only: how stable the ratings are shows after another."


def test_small_moves_are_stable() -> None:
    meter = measure([rated(7, 8, 7, 7), rated(8, 8, 7, 8)])
    assert only(meter) == ("settled", "stable, no disagreement")
    assert meter.items[0].moved == (Move("a", 7, 8), Move("d", 7, 8))
    assert meter.advice == "Another round would likely change little."


@pytest.mark.parametrize(
    ("before", "now", "why"),
    [
        ((6, 6, 6), (7, 7, 7), "the median went from middle (6) to high (7)"),
        ((7, 7, 7), (9, 9, 9), "the median moved from 7 to 9"),
        ((4, 4, 6, 6), (3, 3, 7, 7), "disagreement appeared"),
        ((4, 4, 5, 6, 6), (6, 6, 5, 4, 4), "4 of 5 raters moved by 2 or more"),
    ],
)
def test_each_part_of_the_rule_makes_an_item_unstable(
    before: tuple[float, ...], now: tuple[float, ...], why: str
) -> None:
    meter = measure([rated(*before), rated(*now)])
    assert only(meter) == ("open", why)
    assert meter.advice == "Another round would likely change “EV adoption”."


def test_missing_raters_keep_an_item_open() -> None:
    meter = measure([rated(7, 7, 7), rated(7, 7)])
    assert only(meter) == ("open", "not rated by c")


def test_an_item_that_is_new_or_was_rated_by_others_is_open() -> None:
    first, second = rated(7, 7), {"a": [Rating("Tax", 5)], "b": [Rating("Tax", 6)]}
    meter = measure([first, second])
    assert only(meter) == ("open", "new in this round")
    assert meter.dropped == ("EV adoption",)
    others = measure([{"x": [Rating("Tax", 5)]}, {"x": [Rating("Tax", 5)]}])
    assert only(others) == ("open", "fewer than two rated it in both rounds")


def test_a_lasting_disagreement_is_a_finding_with_the_best_argument_of_each_side() -> None:
    meter = measure([rated(1, 2, 8, 9, 9), rated(1, 2, 8, 9, 9)])
    (item,) = meter.findings
    assert item.arguments_high == (Argument("d", 9, "because 9"), Argument("e", 9, "because 9"))
    assert item.arguments_low == (Argument("a", 1, "because 1"),)
    assert "lasting disagreement" in meter.advice
    shown = "\n".join(meter.lines)
    assert "≠ EV adoption: median 8 (was 8), 1–9, 5 raters: the raters disagree" in shown
    assert "for (9, d): because 9" in shown
    assert "against (1, a): because 1" in shown


def test_where_the_extreme_raters_gave_no_reason_the_next_on_their_side_speaks() -> None:
    round_ = rated(1, 2, 8, 9)
    round_["a"], round_["d"] = [Rating("EV adoption", 1)], [Rating("EV adoption", 9)]
    (item,) = measure([round_, round_]).findings
    assert [a.agent for a in (*item.arguments_high, *item.arguments_low)] == ["c", "b"]


# --- the same item ---


def test_numbering_case_and_order_of_words_do_not_part_an_item_and_the_joining_is_shown() -> None:
    first = {"a": [Rating("1. Pace of EV adoption", 7)], "b": [Rating("**pace of EV adoption**", 7)]}
    second = {"a": [Rating("EV adoption: pace", 7)], "b": [Rating("U1: Pace of EV adoptions", 7)]}
    meter = measure([first, second])
    assert only(meter)[0] == "settled"
    assert meter.joined == (Joined("1. Pace of EV adoption", ("EV adoption: pace", "U1: Pace of EV adoptions")),)
    assert "taken for one item" in "\n".join(meter.lines)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("Government support", "Goverment support", True),
        ("Organise the buyers", "organize buyers", True),
        ("Rates above 5%", "Rates above 7%", False),
        ("Rates above 5%", "Rates below 5%", False),
        ("A stable grid", "An unstable grid", False),
        ("Export ban", "Import ban", False),
        ("Oil price", "Oil price volatility", False),
        ("Tariffs on steel", "No tariffs on steel", False),
        ("Item 1", "Item 2", False),
        ("利率上升", "利率下降", False),
        ("利率上升", "利率上升", True),
    ],
)
def test_only_near_duplicates_are_joined(one: str, other: str, same: bool) -> None:
    meter = measure([{"a": [Rating(one, 5)], "b": [Rating(other, 5)]}])
    assert (len(meter.items) == 1) is same


def test_the_wording_of_the_phase_stands_for_its_items() -> None:
    meter = measure([{"a": [Rating("ev ADOPTION", 5)]}], items=["EV adoption", "Never rated"])
    assert [item.item for item in meter.items] == ["EV adoption"]


# --- for people and scripts ---


def test_nothing_rated_is_said_plainly() -> None:
    assert measure([]).advice == "Nothing was rated, so there is nothing to measure."
    assert measure([{}]).lines == ("Nothing was rated, so there is nothing to measure.",)


def test_problems_of_the_last_round_are_shown_with_their_agent() -> None:
    meter = measure([{"a": parse_ratings("## Ratings\n- Tax: 12\n- Wages: 5")}])
    assert meter.problems == ("a: “Tax”: 12 is not a rating from 1 to 9",)
    assert meter.lines[-1] == "  not understood: a: “Tax”: 12 is not a rating from 1 to 9"


def test_the_meter_is_plain_json() -> None:
    row = json.loads(encoded(measure([rated(1, 9), rated(1, 9)])))
    assert (
        row["advice"]
        == "Another round would likely change little. 1 lasting disagreement(s) are findings in themselves."
    )
    (item,) = row["items"]  # type: ignore[misc]
    assert (item["verdict"], item["now"]["disagreement"], item["now"]["median"]) == ("disagreement", True, 5.0)


# --- who stands where ---


def test_one_who_stands_far_from_the_others_is_named_with_the_reason_and_never_called_settled() -> None:
    twice = rated(8, 7, 7, 9, 5, 9, 1)
    meter = measure([twice, twice])
    (item,) = meter.items
    assert item.verdict == "apart"
    assert item.why == "stable; far from the others: g 1"
    assert item.apart == (Argument("g", 1, "because 1"),)
    assert [one.rating for one in item.stands] == [9, 9, 8, 7, 7, 5, 1]
    assert item.chart == "▁···▁·▂▁▂"
    assert "g gives “EV adoption” 1 against a median of 7" in meter.advice
    assert "      g (1): because 1" in meter.lines
    assert any("1 ▁···▁·▂▁▂ 9" in line for line in meter.lines)
    assert "no disagreement" not in "\n".join(meter.lines)


def test_in_the_first_round_one_who_stands_apart_is_named_too() -> None:
    meter = measure([rated(8, 7, 7, 9, 5, 9, 1)])
    assert only(meter) == ("single", "the first round; far from the others: g 1")
    assert "g gives" in meter.advice


def test_those_who_were_not_asked_again_are_not_called_stable() -> None:
    twice = rated(7, 7, 8, 7)
    meter = measure([twice, twice], asked=["a", "b"])
    assert only(meter) == ("unasked", "not asked again: c, d")
    assert meter.advice == "Those asked again hold still; nobody knows about c, d, who were not asked."
    assert only(measure([twice, twice], asked=["a", "b", "c", "d"])) == ("settled", "stable, no disagreement")


def test_a_major_remark_that_nobody_has_analysed_comes_first() -> None:
    meter = with_unheard(measure([rated(7, 7)]), ["FB-002"])
    assert meter.lines[0] == "FB-002 (major) has not been analysed by anybody yet."
    assert meter.advice.startswith(meter.lines[0])
    assert with_unheard(meter, []) == meter
