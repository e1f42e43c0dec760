from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.doors.cli.text import clean, command_line, nearest, one_line, table, to_json, wrapped

HOSTILE = {
    "colour": "\x1b[31mred\x1b[0m",
    "title": "\x1b]0;owned\x07red",
    "link": "\x1b]8;;https://example.org\x1b\\red\x1b]8;;\x1b\\",
    "clipboard": "\x1b]52;c;ZXZpbA==\x07red",
    "device control": "\x1bPq#0;2\x1b\\red",
    "C1 introducer": "\x9b31mred",
    "C1 string": "\x9d0;owned\x9cred",
    "overwriting": "r\x08red\x7f",
    "alternate screen": "\x1b[?1049hred\x1bc",
    "direction override": "\u202ered\u202c",
    "unfinished": "red\x1b",
    "carriage return": "red\rXXX",
}


@pytest.mark.parametrize("text", HOSTILE.values(), ids=HOSTILE)
def test_no_escape_sequence_reaches_the_terminal(text: str) -> None:
    cleaned = clean(text)
    assert "red" in cleaned
    assert "owned" not in cleaned
    assert all(character in "\n\t" or character.isprintable() for character in cleaned)


@given(st.text())
def test_nothing_that_a_terminal_acts_upon_is_ever_left(text: str) -> None:
    assert not any(
        (ord(c) < 32 and c not in "\n\t") or 0x7F <= ord(c) <= 0x9F or c in "\u202e\u2066" for c in clean(text)
    )


@given(st.text(alphabet=st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Zl", "Zp"))))
def test_ordinary_text_is_left_alone(text: str) -> None:
    assert clean(text) == text


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(),
        lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    )
)
def test_json_is_harmless_and_still_says_the_same(value: object) -> None:
    encoded = to_json(value)
    assert json.loads(encoded) == value
    assert not any(ord(c) < 32 or 0x7F <= ord(c) <= 0x9F for c in encoded)


def test_one_line_is_one_line_and_not_longer_than_asked() -> None:
    assert one_line("a\n b\tc") == "a b c"
    assert one_line("abcdefgh", 5) == "abcd…"


def test_a_table_fits_a_narrow_screen() -> None:
    rows = [("two-step-1", "draft", "a very long question " * 10), ("x", "y", "short")]
    lines = list(table(rows, ("RUN", "PHASE", "QUESTION"), 40))
    assert len(lines) == 3
    assert all(len(line) <= 40 for line in lines)
    assert lines[0].split() == ["RUN", "PHASE", "QUESTION"]


def test_the_nearest_spelling_is_offered_or_else_what_there_is() -> None:
    assert nearest("comapny", ["company", "question"]) == "did you mean company?"
    assert nearest("zzz", ["company", "question"]) == "there is: company, question"
    assert nearest("zzz", []) == ""


def test_a_printed_command_survives_the_shell() -> None:
    assert command_line("decide", "x-1", "--option", "It's good; rm -rf") == (
        "reconvene decide x-1 --option 'It'\"'\"'s good; rm -rf'"
    )


def test_prose_is_broken_between_words_and_what_is_laid_out_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "31")
    prose = "one two three four five six seven\neight\n\n  indented line that is rather long\n- item\n"
    text = f"{prose}| a | table |\n| b | c |"
    assert wrapped(text).split("\n") == [
        "one two three four five six",
        "seven eight",
        "",
        "  indented line that is rather",
        "  long",
        "- item",
        "| a | table |",
        "| b | c |",
    ]


@given(st.text(alphabet=st.characters(exclude_categories=("Cc", "Cs", "Zl", "Zp"))))
def test_breaking_lines_loses_no_word(text: str) -> None:
    assert wrapped(text).split() == text.split()


def test_a_line_that_ends_with_two_blanks_ends_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    assert wrapped("Round 1 of max 10  \nOpen: 3  \nand this\nis prose\n\nend") == (
        "Round 1 of max 10\nOpen: 3\nand this is prose\n\nend"
    )
