"""The filter `present`: what agents return, as text that a person reads."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.language.jinja.present import present
from reconvene.language.templates import render

TRIAGE = {"level": "complex", "reasoning": "Two systems.", "suggestedSkips": ["design"], "batches": []}
APPROACHES = {
    "reply": "I merged two.",
    "list": [
        {"id": "a", "title": "Small", "text": "Do little.", "pros": ["quick"], "cons": ["narrow"], "recommended": True},
        {"id": "b", "title": "Large"},
    ],
}


def test_a_level_comes_with_its_reasons_and_names_are_made_readable():
    assert present(TRIAGE) == "Level: complex\n\nTwo systems.\n\nSuggested skips:\n\n- design"


def test_approaches_are_a_numbered_list_with_what_speaks_for_and_against():
    assert present(APPROACHES) == (
        "I merged two.\n\n1. **Small** (a, recommended)\n\n   Do little.\n\n   Pros:\n\n   - quick\n\n   Cons:\n\n"
        "   - narrow\n2. **Large** (b)"
    )


def test_a_section_is_a_heading_and_its_text():
    section = {"title": "Storage", "text": "Rows.\n\nMore rows."}
    assert present(section) == "**Storage**\n\nRows.\n\nMore rows."
    assert present(section, 2) == "## Storage\n\nRows.\n\nMore rows."


def test_questions_are_headed_by_their_own_words():
    assert present([{"id": "q1", "text": "Why?"}]) == "1. **Why?** (q1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, ""), ("as it is", "as it is"), (3, "3"), (True, "yes"), ([], ""), ({}, ""), ([1, "b"], "- 1\n- b")],
)
def test_plain_values_stay_plain(value: object, text: str):
    assert present(value) == text


def test_it_is_a_filter_of_templates():
    assert render("{{ context.t | present }}", {"context": {"t": {"title": "T", "text": "x"}}}) == "**T**\n\nx"


def test_nesting_has_an_end():
    deep: object = "end"
    for _ in range(100):
        deep = [deep]
    assert present(deep).endswith("…")


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["id", "title", "text", "list", "pros", "recommended", "x_y"]), inner, max_size=4
        )
    ),
    max_leaves=12,
)


@given(VALUES)
def test_any_value_can_be_presented(value: object):
    assert isinstance(present(value), str)
