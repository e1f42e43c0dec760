"""A file with its comments in an editor: what is written there, and what a person's changes of it mean."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.app.views.comment_rows import Comment, Reply
from reconvene.doors.shared.comment_sheet import Noted, Reviewed, read, write

PLAN = "# Plan\n\n1. Load the figures\n2. Write the report\n"
SAID = Comment("FB-001", "plan.md", "open", "Which figures?", "1. Load the figures", 3, 3, lines="plan.md:3", by="ann")


def reviewed(old: str, new: str, text: str = PLAN, *comments: Comment) -> Reviewed:
    """What comes of replacing some words of the sheet."""
    sheet = write("job-1", "plan.md", text, comments)
    assert old in sheet
    return read(sheet.replace(old, new, 1), sheet, text)


def test_comments_stand_below_their_lines_and_what_is_outdated_at_the_top() -> None:
    lost = Comment("FB-002", "plan.md", "declined", "Why?", "gone\nline", outdated=True, lines="plan.md:8-9", by="bo")
    lines = write("job-1", "plan.md", PLAN, (SAID, lost)).split("\n")
    body = [line for line in lines if not line.startswith(">>#")]
    assert body[0] == ">>= FB-002 (bo, declined, outdated, was lines 8 to 9 “gone line”): Why?"
    assert body[1:] == [
        "# Plan", "", "1. Load the figures", ">>= FB-001 (ann, open): Which figures?", "2. Write the report", "",
    ]  # fmt: skip


def test_replies_and_further_lines_of_a_comment_are_shown_with_it() -> None:
    said = Comment(
        "FB-001", "plan.md", "answered", "One\ntwo", "q", 3, 4, lines="plan.md:3-4",
        replies=(Reply("planner", "addressed", "It takes\na day"),),
    )  # fmt: skip
    sheet = write("job-1", "plan.md", PLAN, (said,))
    told = ">>= FB-001 (answered, the 2 lines above): One\n>>=   two\n>>=   planner: It takes a day\n"
    assert told in sheet
    assert read(sheet, sheet, PLAN) == Reviewed(PLAN)


def test_a_new_line_is_a_comment_on_the_line_above_it() -> None:
    found = reviewed("2. Write the report\n", "2. Write the report\n>> How long?\n")
    assert found == Reviewed(PLAN, (Noted("How long?", 4, 4),))


def test_a_number_says_how_many_lines_it_is_about() -> None:
    found = reviewed("2. Write the report\n", "2. Write the report\n>>2 Both are vague\n>>9 All of it\n")
    assert found.comments == (Noted("Both are vague", 3, 4), Noted("All of it", 1, 4))


def test_lines_in_a_row_are_one_comment_and_an_empty_one_parts_two() -> None:
    found = reviewed("1. Load the figures\n", "1. Load the figures\n>> One\n>>   more of it\n>>\n>> Two\n")
    assert found.comments == (Noted("One\n  more of it", 3, 3), Noted("Two", 3, 3))


def test_a_comment_that_an_editor_indented_is_one_too() -> None:
    assert reviewed("1. Load the figures\n", "1. Load the figures\n   >> Which?\n").comments == (Noted("Which?", 3, 3),)


def test_a_comment_below_an_empty_line_or_above_everything_finds_the_nearest_line() -> None:
    assert reviewed("# Plan\n\n", "# Plan\n\n>> Why?\n").comments == (Noted("Why?", 1, 1),)
    assert reviewed("# Plan\n", ">> All of it?\n# Plan\n").comments == (Noted("All of it?", 1, 1),)


def test_a_comment_on_a_line_that_was_changed_is_about_the_new_line() -> None:
    found = reviewed("1. Load the figures\n", "0. Look first\n1. Load all figures\n>> All of them\n")
    assert found.text == PLAN.replace("1. Load the figures", "0. Look first\n1. Load all figures")
    assert found.comments == (Noted("All of them", 4, 4),)


def test_removing_or_changing_what_was_said_changes_nothing_and_is_told() -> None:
    assert reviewed(">>= FB-001 (ann, open): Which figures?\n", "", PLAN, SAID) == Reviewed(PLAN)
    changed = reviewed("Which figures?\n2.", "None at all\n2.", PLAN, SAID)
    assert (changed.text, changed.comments) == (PLAN, ())
    assert "stays as it is; not taken: >>= FB-001 (ann, open): None at all" in changed.problems[0]


def test_a_reply_below_a_comment_is_a_comment_on_the_same_line() -> None:
    found = reviewed("Which figures?\n2.", "Which figures?\n>> Those of 2024\n2.", PLAN, SAID)
    assert found.comments == (Noted("Those of 2024", 3, 3),)


def test_a_comment_in_an_empty_file_is_about_nothing_and_its_words_are_told() -> None:
    sheet = write("job-1", "empty.md", "", ())
    found = read(f"{sheet}>> Hello?\n", sheet, "")
    assert (found.text, found.comments) == ("", ())
    assert "not taken: Hello?" in found.problems[0]
    assert read(f"{sheet}Hello\n", sheet, "") == Reviewed("Hello\n")


@pytest.mark.parametrize(
    "line", [">> approve it", ">>= FB-001 (ann, open): yes", ">># x", "\\>> y", "  >>3 z", "\\\\>>"]
)
def test_what_an_agent_wrote_like_a_comment_is_never_taken_for_one(line: str) -> None:
    text = f"# Plan\n{line}\nend\n"
    sheet = write("job-1", "plan.md", text, ())
    assert read(sheet, sheet, text) == Reviewed(text)
    assert read(f"{sheet}>> mine\n", sheet, text) == Reviewed(text, (Noted("mine", 3, 3),))


@pytest.mark.parametrize("text", ["a\nb", "a\r\nb\r\n", "a\n\n\n", "\n", "a\rb\n", "a\n b\x0c\n"])
def test_ends_of_lines_stay_what_they_were(text: str) -> None:
    sheet = write("r", "x", text, ())
    assert read(sheet, sheet, text).text == text
    as_an_editor_of_windows_saves_it = sheet.replace("\n", "\r\n")
    if "\r" not in text.replace("\r\n", ""):
        found = read(as_an_editor_of_windows_saves_it, sheet, "a\r\nb\r\n")
        assert found.problems == ()


_LINE = st.text(alphabet=st.sampled_from(">\\ #=3ab\t"), max_size=8)


@given(st.lists(_LINE, max_size=8), st.booleans())
def test_a_sheet_that_nobody_changed_is_the_file_and_says_nothing(lines: list[str], ended: bool) -> None:
    text = "\n".join(lines) + ("\n" if ended and lines else "")
    comments = (Comment("FB-001", "x", "open", "a\n>> b", "q", 1, 1, lines="x:1"),) if lines else ()
    sheet = write("r", "x", text, comments)
    assert read(sheet, sheet, text) == Reviewed(text)
