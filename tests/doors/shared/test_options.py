"""Which option of a checkpoint a word means, and what the command line makes of it."""

from __future__ import annotations

import pytest

from reconvene.doors.cli.on_screen import example
from reconvene.doors.cli.typed_values import read_fields
from reconvene.doors.shared.options import fields_of, listed, match_option, on_offer, recommended
from reconvene.errors import Refused, UserError

from .made import checkpoint, field, option

CHECKPOINT = checkpoint(
    option("Accept", False, why_not="a question is open"),
    option("Another round", recommend=True, remark="required", fields=(field("why", required=True),)),
    "Again",
    "again, harder",
    "7",
    fields=(field("count", "number"), field("sure", "confirm"), field("who", "agents"), field("note")),
)


@pytest.mark.parametrize(
    ("typed", "label"),
    [
        ("Accept", "Accept"),
        ("accept", "Accept"),
        ("  ACCEPT ", "Accept"),
        ("acc", "Accept"),
        ("another", "Another round"),
        ("again", "Again"),
        ("again,", "again, harder"),
        ("1", "Accept"),
        ("4", "again, harder"),
        ("7", "7"),
    ],
)
def test_an_option_is_found_by_label_beginning_or_number(typed: str, label: str) -> None:
    assert match_option(CHECKPOINT, typed).label == label


@pytest.mark.parametrize("typed", ["A", "an option", "", "0", "6", "-1"])
def test_an_option_that_is_not_clear_is_refused_with_the_list(typed: str) -> None:
    with pytest.raises(Refused) as refused:
        match_option(CHECKPOINT, typed)
    assert refused.value.exit_code == 64
    assert "1. Accept (not available: a question is open); 2. Another round" in refused.value.hint


def test_a_beginning_that_several_options_have_names_them_and_hidden_ones_do_not_count() -> None:
    labels = ["Agree — quickly", "Agree — slowly", "Agree, with others", "Discuss"]
    several = checkpoint(*(option(label, offered=label != "Agree — quickly") for label in labels))
    with pytest.raises(Refused, match="option 'Agree' may be “Agree — slowly” or “Agree, with others”"):
        match_option(several, "Agree")
    assert match_option(several, "agree —").label == "Agree — slowly"
    assert match_option(several, "Agree — quickly").label == "Agree — quickly"  # refused, with its reason


def test_fields_take_their_own_types() -> None:
    fields = fields_of(CHECKPOINT, CHECKPOINT.options[1])
    typed = ["count=3", "sure=yes", "who=economist, contrarian", "note=a=b", "why=because"]
    assert read_fields(fields, typed) == {
        "count": 3,
        "sure": True,
        "who": ["economist", "contrarian"],
        "note": "a=b",
        "why": "because",
    }


@pytest.mark.parametrize(
    ("typed", "said"),
    [
        ("cuont=3", "did you mean count?"),
        ("count=three", "number"),
        ("sure=perhaps", "true or false"),
        ("note", "name=value"),
    ],
)
def test_a_bad_field_is_refused(typed: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_fields(fields_of(CHECKPOINT, None), [typed])
    assert said in refused.value.message + refused.value.hint


def test_the_example_command_takes_the_recommended_option_with_all_it_needs() -> None:
    assert example(CHECKPOINT, "x-1") == [
        "decide", "x-1", "--option", "Another round", "--field", "why=…", "--feedback", "comment: …",
    ]  # fmt: skip


def test_the_example_command_never_proposes_what_is_not_available() -> None:
    plain = checkpoint(CHECKPOINT.options[0], "Again")
    assert example(plain, "x-1") == ["decide", "x-1", "--option", "Again"]


def test_recommended_is_what_is_marked_then_what_can_be_chosen_then_the_first() -> None:
    closed = option("Accept", False)
    assert recommended(CHECKPOINT) == CHECKPOINT.options[1]
    assert recommended(checkpoint(closed, "Again")) == option("Again")
    assert recommended(checkpoint(closed)) == closed
    assert recommended(checkpoint()) is None


def test_what_is_not_on_offer_is_neither_listed_nor_numbered() -> None:
    hidden = checkpoint(
        option("Force it", False, offered=False, why_not="not offered here"),
        "Go on",
        option("Accept", False, why_not="a question is open"),
    )
    assert listed(on_offer(hidden.options)) == ["1. Go on", "2. Accept (not available: a question is open)"]
    assert match_option(hidden, "1").label == "Go on"
    assert match_option(hidden, "force").label == "Force it", "named, it is refused with the reason"
