"""Places in the queue: there is always room between two of them, and texts sort as the queue does."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reconvene.core.facts.ids import at_the_end, between

NOW = "2026-03-01T09:30:00.125Z"


def test_runs_queued_together_stand_in_the_order_of_the_list_and_later_ones_behind() -> None:
    together = [at_the_end(NOW, number, f"run-1.{number}") for number in range(1, 60)]
    assert together == sorted(together)
    assert at_the_end("2026-03-01T09:30:00.126Z", 1, "run-2.1") > together[-1]


def test_two_of_the_same_moment_have_places_of_their_own() -> None:
    assert at_the_end(NOW, 1, "run-1.a") != at_the_end(NOW, 1, "run-2.a")


@given(st.lists(st.integers(min_value=0, max_value=1000), max_size=300))
def test_any_row_of_moves_gives_the_order_that_a_list_would(moves: list[int]) -> None:
    places = [at_the_end(NOW, number, f"run-1.{number}") for number in range(1, 6)]
    for move in moves:
        at = move % len(places)
        place = between(places[at - 1] if at else "", places[at])
        places.insert(at, place)
    assert places == sorted(places)
    assert len(set(places)) == len(places)


def test_a_thousand_moves_to_the_front_stay_short() -> None:
    place = at_the_end(NOW, 1, "run-1.a")
    for _ in range(1000):
        before = between("", place)
        assert before < place
        place = before
    assert len(place) < 400
