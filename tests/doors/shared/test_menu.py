"""The menu of a checkpoint with questions: its marks, its letters, and what a typed word means."""

from __future__ import annotations

import pytest

from reconvene.app.views.read_model import Said
from reconvene.doors.shared.advice import talk_before, talk_lines
from reconvene.doors.shared.fields import mark, title_of, unanswered
from reconvene.doors.shared.options import Entry, build, find
from reconvene.doors.shared.whole_checkpoint import describe

from .made import checkpoint, field, option

ANSWERS = {"auth": "oauth"}
CHECKPOINT = checkpoint(
    "Done",
    option("Discuss", False, why_not="limit rounds.max (2) is reached"),
    option("Hidden", False, offered=False),
    "Back",
    fields=(
        field("store", "choice", "Which store?", options=("SQLite", "PostgreSQL")),
        field("live", "text", "Real-time?", note="replaces “Fast?”, your answer was “yes”"),
        field("auth", "choice", "Auth?", options=("none", "oauth"), titles=("No", "OAuth 2")),
    ),
    answers=ANSWERS,
)
EXTRAS = [("remark", "Add a remark"), ("park", "Pause here")]


def found(word: str) -> tuple[str, int | str]:
    entry = find(build(CHECKPOINT, EXTRAS), word)
    assert isinstance(entry, Entry), entry
    return entry.kind, entry.key


@pytest.mark.parametrize(
    ("word", "meant"),
    [
        ("1", ("field", 0)),
        ("2.", ("field", 1)),
        ("answer question 3", ("field", 2)),
        ("Question 3", ("field", 2)),
        ("store", ("field", 0)),
        ("4", ("option", 0)),
        ("done", ("option", 0)),
        ("DO", ("option", 0)),
        ("d", ("option", 0)),
        ("t", ("option", 1)),
        ("disc", ("option", 1)),
        ("6", ("option", 3)),
        (" back ", ("option", 3)),
        ("b", ("option", 3)),
        ("pause", ("extra", "park")),
        ("p", ("extra", "park")),
        ("a", ("extra", "remark")),
    ],
)
def test_an_entry_is_meant_by_its_number_its_letter_or_its_name(word: str, meant: tuple[str, int | str]) -> None:
    assert found(word) == meant


@pytest.mark.parametrize(
    ("word", "told"), [("9", "there is no 9"), ("dose", "did you mean Done?"), ("hidden", "there is: Done")]
)
def test_a_word_that_means_nothing_says_what_there_is(word: str, told: str) -> None:
    answer = find(build(CHECKPOINT, EXTRAS), word)
    assert isinstance(answer, str)
    assert told in answer


def test_a_beginning_that_several_have_names_them() -> None:
    two = checkpoint("Override up", "Override down")
    assert find(build(two, []), "over") == "“over” may be Override up or Override down"


def test_letters_are_never_given_twice() -> None:
    labels = ["Done", "Discuss", "Defer", "Drop", "Decide", "Dodo", "Dd", "12"]
    letters = [entry.letter for entry in build(checkpoint(*labels), EXTRAS).entries]
    assert len(set(letters)) == len(letters)


@pytest.mark.parametrize(
    "labels",
    [
        ["Done", "Discuss", "Back to the assessment"],
        ["Choose", "Discuss", "Back to questions"],
        ["Drop it", "Take it", "Bring it", "Back", "Discuss", "Done", "Choose"],
    ],
)
def test_done_discuss_back_and_choose_have_the_same_letters_in_every_menu(labels: list[str]) -> None:
    menu = build(checkpoint(*labels), EXTRAS)
    letters = {entry.name.split()[0]: entry.letter for entry in menu.entries}
    usual = {"Done": "d", "Discuss": "t", "Back": "b", "Choose": "c"}
    assert {name: letters[name] for name in usual if name in letters} == {
        name: letter for name, letter in usual.items() if name in letters
    }
    assert not set(usual.values()) & {letter for name, letter in letters.items() if name not in usual}


def test_what_cannot_be_chosen_any_more_is_not_among_what_is_left() -> None:
    assert build(CHECKPOINT, EXTRAS).left == "Done, Back"


def test_questions_are_marked_with_their_answers() -> None:
    store, _, auth = CHECKPOINT.fields
    assert mark(store, ANSWERS) == "[unanswered]"
    assert mark(auth, ANSWERS) == "[answered: oauth: OAuth 2]"
    assert mark(store, {"store": "\x1b[31mSQLite"}) == "[answered: SQLite]"
    assert [one.id for one in unanswered(CHECKPOINT)] == ["store", "live"]


def test_a_choice_without_titles_is_read_as_it_is() -> None:
    assert title_of(field("x", "choice", options=("a",)), "a") == "a"


def test_a_checkpoint_in_words_tells_answers_and_what_became_of_them() -> None:
    text = describe(CHECKPOINT)
    assert "auth (choice) Auth?\n    one of: none: No, oauth: OAuth 2\n    [answered: oauth: OAuth 2]" in text
    assert "replaces “Fast?”, your answer was “yes”" in text


ROWS = [
    Said("output", "brain", 1, "", "Three questions."),
    Said("answer", "ann", 1, "", "Which store? → SQLite\nWhy? → cheap"),
    Said("remark", "ann", 1, "", "2 is odd", "FB-001"),
    Said("decision", "ann", 1, "", "Discuss"),
    Said("answer", "reconvene", 2, "", "Why? → no answer any more (was: cheap)"),
    Said("output", "brain", 2, "", "Better?"),
    Said("decision", "ann", 2, "", "Done"),
]


def test_the_talk_in_lines_says_who_said_what() -> None:
    assert talk_lines(ROWS) == [
        "brain presented: Three questions.",
        "ann answered: Which store? → SQLite; Why? → cheap",
        "ann: 2 is odd [FB-001]",
        "set aside: Why? → no answer any more (was: cheap)",
        "brain presented: Better?",
        "ann chose “Done”",
    ]


def test_what_is_presented_now_is_not_told_before_itself() -> None:
    assert talk_lines(talk_before(ROWS))[-1].startswith("set aside")
    assert list(talk_before(ROWS[:1])) == []


@pytest.mark.parametrize(
    ("word", "meant"),
    [("2", ("choice", "b")), ("the second", ("choice", "b")), ("3", ("field", 0)), ("4", ("option", 0))],
)
def test_where_one_choice_is_all_that_is_asked_its_answers_stand_in_the_menu(
    word: str, meant: tuple[str, int | str]
) -> None:
    asked = field("pick", "choice", "Which?", options=("a", "b"), titles=("The first", "The second"))
    entry = find(build(checkpoint("Choose", "Back", fields=(asked,)), EXTRAS), word)
    assert isinstance(entry, Entry), entry
    assert (entry.kind, entry.key) == meant
