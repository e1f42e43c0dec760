"""The table of field types: every row says what an answer is, and takes its own answers for such."""

from __future__ import annotations

import pytest

from reconvene.core.definition.field_types import TYPES, fits, typed
from reconvene.core.facts.events import FieldAsked
from reconvene.errors import Refused

GIVEN = {"text": "plain", "number": "3", "choice": "wa", "confirm": "yes", "agents": "poet, critic"}
OPTIONS = {"choice": ("warm", "cold"), "agents": ("poet", "critic")}
NO_ANSWER = {"number": "three", "choice": "tepid", "confirm": "perhaps", "agents": "baker"}


def asked(name: str) -> FieldAsked:
    return FieldAsked("it", name, options=OPTIONS.get(name, ()), blank="none")


@pytest.mark.parametrize("name", TYPES)
def test_an_answer_in_its_own_type_fits_and_stays_what_it_is(name: str) -> None:
    answer = typed(asked(name), GIVEN[name])
    assert fits(asked(name), answer)
    assert typed(asked(name), answer) == answer


@pytest.mark.parametrize("name", sorted(set(TYPES) - {"text"}))
def test_what_is_no_answer_is_refused_by_the_name_of_the_field_and_does_not_fit(name: str) -> None:
    with pytest.raises(Refused, match=r"^it: .*"):
        typed(asked(name), NO_ANSWER[name])
    assert not fits(asked(name), NO_ANSWER[name])


@pytest.mark.parametrize("name", TYPES)
def test_what_stands_in_for_no_answer_fits_every_type(name: str) -> None:
    assert fits(asked(name), "none")
