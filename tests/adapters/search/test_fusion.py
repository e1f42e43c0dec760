"""Two rankings become one, and what full text is sure of keeps its place among the first."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reconvene.adapters.search.fusion import FIRST, fused

RANKING = st.lists(st.integers(0, 30), unique=True, max_size=20)


def order(*given: object) -> list[int]:
    return [one for one, _ in fused(*given)]  # type: ignore[arg-type]


def test_what_both_find_comes_before_what_one_finds():
    assert order([1, 2, 3], [4, 2, 5])[0] == 2


def test_without_meanings_the_order_is_that_of_words():
    assert order([3, 1, 2]) == [3, 1, 2]


def test_what_words_are_sure_of_is_not_pushed_out_of_the_first_places():
    words, meaning = [1, *range(10, 20)], [*range(10, 20)]
    assert 1 not in order(words, meaning)[:FIRST]
    assert 1 in order(words, meaning, {1})[:FIRST]


@given(RANKING, RANKING, st.sets(st.integers(0, 30)))
def test_the_first_places_hold_all_that_full_text_is_sure_of_and_nothing_is_lost(
    words: list[int], meaning: list[int], sure: set[int]
):
    found = order(words, meaning, sure)
    assert sorted(found) == sorted({*words, *meaning})
    assert {one for one in words[:FIRST] if one in sure} <= set(found[:FIRST])
