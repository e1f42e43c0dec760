"""Numbers in prose, and which of them takes the place of which."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.kits.reading.figures import asserted, corrections_in, stated_in
from reconvene.kits.reading.quantities import change, figures_in


@pytest.mark.parametrize(
    ("text", "value", "unit"),
    [
        ("$900M", 900e6, "USD"),
        ("US$5bn", 5e9, "USD"),
        ("€1.2 billion", 1.2e9, "EUR"),
        ("£800m", 800e6, "GBP"),
        ("¥3,000", 3000, "JPY"),
        ("CHF 1'200.50", 1200.5, "CHF"),
        ("USD 14,500", 14500, "USD"),
        ("2,4 Mio €", 2.4e6, "EUR"),
        ("5 Mrd. Euro", 5e9, "EUR"),
        ("$1.2T", 1.2e12, "USD"),
        ("3 trillion yen", 3e12, "JPY"),
        ("50k", 50e3, ""),
        ("900万元", 9e6, "元"),
        ("18%", 18, "%"),
        ("34 per cent", 34, "%"),
        ("-5 %", -5, "%"),
        ("−3 percentage points", -3, "pp"),
        ("1,234.5", 1234.5, ""),
        ("1.234,5", 1234.5, ""),
        ("1 234", 1234, ""),
        ("1\u202f234\u202f567", 1234567, ""),
        ("1.200.000", 1200000, ""),
        ("0,125", 0.125, ""),
        ("100 m", 100, "m"),
        ("2000 employees", 2000, "employees"),
        ("in 2021", 2021, "date"),
        ("two million", 2e6, ""),
        ("٩٠٠", 900, ""),
    ],
)
def test_a_figure_is_read_as_it_is_meant(text: str, value: float, unit: str) -> None:
    (figure,) = figures_in(text)
    assert figure.value == pytest.approx(value)
    assert figure.unit == unit
    assert text[figure.start : figure.end] == figure.text


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("10–15 %", 10, 15),
        ("$10-15M", 10e6, 15e6),
        ("$900,000 to $1.2M", 900e3, 1.2e6),
        ("between 3 and 5 staff", 3, 5),
        ("it ranges from 10 to 15", 10, 15),
    ],
)
def test_a_range_is_one_figure(text: str, low: float, high: float) -> None:
    (figure,) = figures_in(text)
    assert figure.low == pytest.approx(low)
    assert figure.high == pytest.approx(high)
    assert figure.value == pytest.approx((low + high) / 2)


@pytest.mark.parametrize(
    "text", ["Q3", "CO2", "FB-001", "v1.2.3", "#7", "2025-11-21", "14:30", "21.11.2025", "the 3rd", "none at all", ""]
)
def test_names_dates_and_ordinals_are_no_figures(text: str) -> None:
    assert figures_in(text) == ()


@pytest.mark.parametrize(
    ("text", "was", "now", "unit"),
    [
        ("Revenue is $900M, not $850M", 850e6, 900e6, "USD"),
        ("Revenue is $900M, not 850", 850e6, 900e6, "USD"),
        ("not $850M but $900M", 850e6, 900e6, "USD"),
        ("change it from $850M to $900M please", 850e6, 900e6, "USD"),
        ("Debt was $100M, is $150M", 100e6, 150e6, "USD"),
        ("use 900 instead of 850", 850, 900, ""),
        ("610 pupils (previously 640)", 640, 610, "pupils"),
        ("It isn’t $850M. It is $900M", 850e6, 900e6, "USD"),
        ("$850M is wrong, it should be $900M", 850e6, 900e6, "USD"),
        ("2.3%, you have 2.1%", 2.1, 2.3, "%"),
        ("850 → 900", 850, 900, ""),
        ("Replace “850M” with “$900M”.", 850e6, 900e6, "USD"),
        ("Replace “Revenue is $850M” with “Revenue is $900M”.", 850e6, 900e6, "USD"),
        ("Ersetze „850“ durch „900“.", 850, 900, ""),
        ("€1.2bn, not 800", 800e6, 1.2e9, "EUR"),
        ("1.200 hectares, not 900", 900, 1200, "hectares"),
        ("7 years, not 18 months", 18 * 30.44, 7 * 365.25, "days"),
        ("three ships, not two", 2, 3, "ships"),
        ("nicht 5 sondern 7 Mio. Euro", 5e6, 7e6, "EUR"),
        ("5 Prozent statt 3", 3, 5, "%"),
        ("收入是900万，不是850万", 8.5e6, 9e6, ""),
        ("10-15%, not 20-25%", 22.5, 12.5, "%"),
        ("Revenue is $900M, not $850M (10% higher than initial)", 850e6, 900e6, "USD"),
    ],
)
def test_a_correction_says_what_was_and_what_is(text: str, was: float, now: float, unit: str) -> None:
    (correction,) = corrections_in(text)
    assert correction.was == pytest.approx(was)
    assert correction.now == pytest.approx(now)
    assert correction.unit == unit
    assert correction.now_text in text
    assert correction.was_text in text


def test_several_corrections_in_one_sentence_do_not_mix() -> None:
    first, second = corrections_in("Revenue is $900M not $850M and debt is $150M not $100M")
    assert (first.was_text, first.now_text) == ("$850M", "$900M")
    assert (second.was_text, second.now_text) == ("$100M", "$150M")


@pytest.mark.parametrize(
    "text",
    [
        "sales were 5 and costs 7",
        "Of 20 staff, 3 were sick",
        "the economy will grow 3% and 4% next year",
        "the dry years were 2018 and 2022",
        "$900M, not 5%",
        "not $850M",
        "we have 5 ships and 3 cranes",
        "we replaced 5 ships; with 3 cranes we go on",
        "Delete “850” after “900”.",
    ],
)
def test_figures_side_by_side_correct_nothing(text: str) -> None:
    assert corrections_in(text) == ()


def test_change_is_relative_to_what_it_was() -> None:
    assert change(100, 150) == 0.5
    assert change(-100, -50) == 0.5
    assert change(0, 0) == 0
    assert math.isinf(change(0, 5))


def test_what_is_stated_leaves_out_what_is_denied_and_years() -> None:
    assert [stated.figure.text for stated in stated_in("Since 2021 it is $900M, not $850M")] == ["$900M"]
    assert stated_in("revenue is $900M")[0].plainly
    assert not stated_in("opening two stores")[0].plainly
    assert asserted("Revenue is $900M, not $850M").strip() == "Revenue is $900M,"


# Each of these makes a pattern with a careless repetition run for minutes or hours.
NASTY = [
    "9" * 100_000, "1 " * 50_000, "123 " * 25_000, "1,2." * 25_000, "$" * 100_000, "a" * 100_000, "-" * 100_000,
    "收" * 100_000, "1-" * 50_000, "not " * 25_000, "not 5" * 20_000, "from 1 to " * 10_000, "is " * 33_000 + "5",
    "we had " * 14_000, "x1" * 50_000, " " * 100_000 + "5", "1:" * 50_000, "was 5 " * 16_000, "n't" * 33_000,
]  # fmt: skip


@pytest.mark.parametrize("text", NASTY, ids=lambda text: repr(text[:6]))
def test_a_hundred_kilobytes_are_read_in_linear_time(text: str) -> None:
    for figure in figures_in(text):
        assert math.isfinite(figure.value)
    corrections_in(text)
    asserted(text)


@given(st.text(alphabet=st.sampled_from("0123456789.,-– $€%kMbn not is was from to;\n") | st.characters()))
def test_any_text_can_be_read_and_every_figure_lies_in_it(text: str) -> None:
    ends = 0
    for figure in figures_in(text):
        assert text[figure.start : figure.end] == figure.text
        assert figure.start >= ends
        assert math.isfinite(figure.value)
        ends = figure.end
    for correction in corrections_in(text):
        assert correction.change >= 0
