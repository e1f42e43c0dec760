from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import UserError
from reconvene.kits.reading.feedback import KINDS, parse_remark


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_is_known_however_it_is_spelled(kind: str) -> None:
    for spelled in (kind, kind.upper(), kind.title(), kind.replace(" ", "_"), kind.replace(" ", "-"), f"  {kind} "):
        assert parse_remark(f"{spelled}: Revenue is $900M, not $850M") == RemarkIn("Revenue is $900M, not $850M", kind)


@pytest.mark.parametrize(
    ("typed", "target"),
    [
        ("reaction to economist: too gloomy", "economist"),
        ("Reaction_to_industry_analyst: too gloomy", "industry_analyst"),
        ("REACTION-TO-Contrarian: too gloomy", "Contrarian"),
        ("reaction  to  the economist : too gloomy", "the economist"),
    ],
)
def test_a_reaction_names_its_target(typed: str, target: str) -> None:
    assert parse_remark(typed) == RemarkIn("too gloomy", "reaction", target)


@pytest.mark.parametrize(
    "typed",
    [
        "shorter please",
        "note: this is not a kind",
        "see https://example.org",
        "reaction to: nobody",
        "10:30 works",
        "correction:",
    ],
)
def test_text_without_a_known_kind_is_a_comment_kept_whole(typed: str) -> None:
    assert parse_remark(typed) == RemarkIn(typed, "comment")


def test_only_the_first_colon_separates() -> None:
    assert parse_remark("new context: ratio is 3:1") == RemarkIn("ratio is 3:1", "new context")


def test_an_empty_remark_is_refused() -> None:
    with pytest.raises(UserError, match="empty"):
        parse_remark("  \n ")


@given(st.text())
def test_no_word_a_person_typed_is_lost(typed: str) -> None:
    if not typed.strip():
        return
    remark = parse_remark(typed)
    assert remark.text
    assert typed.strip().endswith(remark.text)
    if remark.kind == "comment" and not typed.strip().casefold().startswith("comment"):
        assert remark.text == typed.strip()
