"""Text is cut along headings and paragraphs into passages of bounded size, each with the lines where it stands."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from reconvene.app.cut_passages import MOST, PASSAGES, cut


def lines_of(text: str, place: str) -> str:
    first, _, last = place.removeprefix("lines ").removeprefix("line ").partition("-")
    return "\n".join(text.split("\n")[int(first) - 1 : int(last or first)])


def test_a_passage_ends_at_a_heading_and_knows_the_headings_above_it():
    text = "# Plan\nIntro.\n\n## Risks\nOne.\n\nTwo.\n\n# End\nDone.\n"
    assert [(one.place, one.heading, one.text) for one in cut(text)] == [
        ("lines 1-2", "Plan", "# Plan\nIntro."),
        ("lines 4-7", "Plan > Risks", "## Risks\nOne.\n\nTwo."),
        ("lines 9-10", "End", "# End\nDone."),
    ]


def test_headings_without_text_go_with_what_follows():
    (one,) = cut("# Plan\n\n## Risks\n\nNone.\n")
    assert (one.place, one.heading) == ("lines 1-5", "Plan > Risks")


def test_a_hash_inside_of_code_is_no_heading():
    (one,) = cut("# Setup\n```sh\n# a comment\nmake\n```\n")
    assert one.heading == "Setup"


def test_long_paragraphs_are_cut_between_lines_and_long_lines_between_words():
    text = "\n".join(f"line {number} of many that say nothing" for number in range(200)) + "\n" + "word " * 1000
    found = cut(text)
    assert all(len(one.text) <= MOST for one in found)
    assert [one.place for one in found][-1] == "line 201"
    assert "word wor " not in " ".join(one.text for one in found)


def test_a_text_without_any_space_is_cut_all_the_same():
    found = cut("x" * (3 * MOST + 5))
    assert "".join(one.text for one in found) == "x" * (3 * MOST + 5)


def test_nothing_gives_no_passage_and_an_endless_text_a_bounded_number():
    assert cut("") == cut(" \n\n\t\n") == []
    assert len(cut("# a\nb\n" * (PASSAGES + 10))) == PASSAGES


@given(
    st.lists(
        st.sampled_from(["# One", "## Two", "", "a word", "| a | b |", "```", "x" * 2000, "- item\r"]), max_size=40
    )
)
def test_every_word_is_in_a_passage_and_every_passage_stands_where_it_says(lines: list[str]):
    text = "\n".join(lines)
    found = cut(text)
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    assert "".join("".join(one.text.split()) for one in found) == "".join(plain.split())
    for one in found:
        assert "".join(one.text.split()) in "".join(lines_of(plain, one.place).split())
