"""In a hurry nothing is begun that may take time, and nobody takes that for a failure."""

from __future__ import annotations

import pytest

from reconvene.core import kit_finder
from reconvene.language.expressions import evaluate, truth
from reconvene.language.haste import TakesTime, in_a_hurry, may_take_time
from reconvene.language.templates import render
from reconvene.wire.replies import validate


def test_what_is_quick_for_certain_is_done() -> None:
    with in_a_hurry():
        assert render("{{ a.b }} and {{ c }}", {"a": {"b": 1}, "c": "d"}) == "1 and d"
        assert truth("true", {}) is True


@pytest.mark.parametrize(
    "slow",
    [
        lambda: render("{{ a | upper }}", {"a": "b"}),
        lambda: render("{{ missing }}", {}),
        lambda: evaluate("a + 1", {"a": 1}),
        lambda: validate({"type": "string"}, "a"),
        lambda: kit_finder.find("gaps"),
    ],
    ids=["a template", "a name that is not there", "an expression", "a schema", "a kit"],
)
def test_what_may_take_time_is_not_begun(slow: object) -> None:
    assert callable(slow)
    with in_a_hurry(), pytest.raises(TakesTime):
        slow()


def test_a_hurry_ends_with_its_block_however_that_ends() -> None:
    with pytest.raises(TakesTime), in_a_hurry():
        may_take_time()
    may_take_time()


def test_it_is_no_failure_of_a_workflow() -> None:
    assert not issubclass(TakesTime, Exception)
