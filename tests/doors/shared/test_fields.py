"""The fields of a checkpoint: which are open, and what an answer must be before it is given."""

from __future__ import annotations

import pytest

from reconvene.app.views.read_model import Field
from reconvene.doors.shared.fields import answer_in, asked, needed, unanswered, worded, wrong
from reconvene.errors import UserError

from .made import checkpoint, field

WHO = field("who", "agents", options=("economist", "contrarian"), required=True)
TONE = field("tone", "choice", "Which tone?", options=("plain", "warm"))
COUNT = field("count", "number")
SURE = field("sure", "confirm", "Sure?", required=True)


def test_open_fields_are_those_without_an_answer_and_needed_ones_those_of_them_that_must_have_one() -> None:
    point = checkpoint("Go on", fields=(WHO, TONE, COUNT, SURE), answers={"tone": "warm", "sure": False})
    assert unanswered(point) == [WHO, COUNT]
    assert needed(point) == [WHO]


def test_where_answers_were_not_looked_up_every_field_is_open() -> None:
    assert unanswered(checkpoint("Go on", fields=(TONE, COUNT))) == [TONE, COUNT]


@pytest.mark.parametrize(
    ("asks", "answer", "why"),
    [
        (TONE, "warm", ""),
        (TONE, "wa", ""),  # the beginning that only one has
        (TONE, None, ""),
        (TONE, "cold", "tone: 'cold' is not one of plain, warm."),
        (field("tone", "choice", options=("plain",), other=True), "cold", ""),
        (COUNT, 3, ""),
        (COUNT, "three", "count: 'three' is not a number."),
        (SURE, True, ""),
        (SURE, None, "Sure? needs an answer"),
        (WHO, ["economist"], ""),
        (WHO, [], "choose at least one"),
        (WHO, ["poet"], "who: unknown agents poet (known: economist, contrarian)."),
    ],
)
def test_what_is_wrong_with_an_answer_is_told_before_it_is_given(asks: Field, answer: object, why: str) -> None:
    assert wrong(asks, answer) == why


def test_what_was_typed_becomes_the_fields_own_type() -> None:
    assert answer_in(COUNT, "3") == 3
    assert answer_in(SURE, "yes") is True
    assert answer_in(WHO, "economist, contrarian") == ["economist", "contrarian"]
    assert answer_in(TONE, "yes") == "yes"
    with pytest.raises(UserError, match="field 'count' must be a number, not 'many'"):
        answer_in(COUNT, "many")


def test_questions_and_answers_read_as_people_read_them() -> None:
    assert asked(SURE) == "Sure? (needed)"
    assert [worded(SURE, True), worded(WHO, []), worded(WHO, ["economist"])] == ["yes", "nobody", "economist"]
