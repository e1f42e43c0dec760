"""How states of today are compared with what earlier releases wrote."""

from __future__ import annotations

from immutables import Map
from msgspec import Struct

from .canonical import CHANGES, GONE, Change, canonical, differences


class Part(Struct, frozen=True, tag="part"):
    name: str


class Whole(Struct, frozen=True):
    count: int = 0
    parts: Map[int, Part] = Map()
    words: tuple[str, ...] = ()


STATE = Whole(2, Map({7: Part("seven")}), ("a", "b"))


def test_a_state_is_plain_json_without_what_is_at_its_default() -> None:
    plain = {"count": 2, "parts": {"7": {"type": "part", "name": "seven"}}, "words": ["a", "b"]}
    assert canonical(STATE, "0.1.0") == plain
    assert canonical(Whole(), "0.1.0") == {}


def test_a_field_that_was_renamed_is_compared_under_the_name_it_had() -> None:
    change = Change("0.2.0", "Whole", "count", "number")
    then = {"number": 2, "parts": {"7": {"type": "part", "name": "seven"}}, "words": ["a", "b"]}
    assert list(differences(then, canonical(STATE, "0.1.0", [change]))) == []
    assert canonical(STATE, "0.2.0", [change]) == canonical(STATE, "0.2.0"), "homes of that release have the new name"


def test_releases_are_compared_as_numbers() -> None:
    change = Change("0.10.0", "Whole", "count", "number")
    assert canonical(Whole(1), "0.9.0", [change]) == {"number": 1}
    assert canonical(Whole(1), "0.10.1", [change]) == {"count": 1}


def test_a_rename_that_nobody_wrote_down_is_told() -> None:
    found = list(differences({"number": 2}, canonical(Whole(2), "0.1.0"), "state"))
    assert found == ["state.count: 2 is new", "state.number: 2 is missing"]


def test_a_field_that_was_added_is_left_out_of_what_had_none() -> None:
    change = Change("0.2.0", "Whole", "words", "")
    assert canonical(Whole(2, words=("a",)), "0.1.0", [change]) == {"count": 2}


def test_a_value_that_has_another_shape_today_is_told_as_it_was() -> None:
    change = Change("0.2.0", "Whole", "words", "text", lambda words: ", ".join(words))  # type: ignore[arg-type]
    assert canonical(Whole(words=("a", "b")), "0.1.0", [change]) == {"text": "a, b"}


def test_a_field_that_was_dropped_is_worked_out_or_not_compared() -> None:
    worked_out = Change("0.2.0", "Whole", "", "length", lambda whole: len(whole.words))  # type: ignore[attr-defined]
    assert canonical(Whole(words=("a", "b")), "0.1.0", [worked_out]) == {"words": ["a", "b"], "length": 2}
    gone = canonical(Whole(1), "0.1.0", [Change("0.2.0", "Whole", "", "length", lambda whole: GONE)])
    assert list(differences({"count": 1, "length": 5}, gone)) == []
    assert list(differences({"count": 1}, gone)) == []


def test_differences_name_the_place() -> None:
    found = differences({"a": [1, {"b": 2}], "c": [1]}, {"a": [1, {"b": 3}], "c": [1, 2]}, "state")
    assert list(found) == ["state.a[1].b: 2 became 3", "state.c: [1] became [1, 2]"]


def test_two_long_texts_are_told_from_shortly_before_they_part() -> None:
    (found,) = differences("a" * 500 + "b", "a" * 500 + "c", "state")
    assert found == f"state: …{'a' * 50}b' became …{'a' * 50}c'"


def test_what_people_are_shown_may_have_more_in_it_but_nothing_less() -> None:
    assert list(differences({"a": 1}, {"a": 1, "b": 2}, more=True)) == []
    assert list(differences({"a": 1, "b": 2}, {"a": 1}, more=True)) == [".b: 2 is missing"]


def test_every_change_says_in_which_release_it_came() -> None:
    assert [change for change in CHANGES if not change.since.replace(".", "").isdecimal()] == []
