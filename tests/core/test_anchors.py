"""Comments on lines: an anchor follows its text through every revision, and is never on other text."""

from __future__ import annotations

import re
from collections.abc import Callable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from exploring import examples
from reconvene.core.facts.events import Anchor, Lines
from reconvene.core.shown.anchors import MOST_LINES, Standing, followed, make, named
from reconvene.errors import UserError
from rewriting import Line, Plan

PLAN = """\
# Plan

## 1. Load

1. Load the figures of 2023
2. Load the contracts

## 2. Report

The report compares both, and names every contract that
costs more than the figures say it should.

- Write the report
- Check it twice
"""


def on(first: int, last: int = 0, text: str = PLAN) -> Anchor:
    return make("plan.md", "v1", text, first, last or first)


def after(new: str, first: int, last: int = 0) -> Standing:
    return followed(on(first, last), PLAN, [new])


def test_an_anchor_holds_the_lines_what_stood_around_them_and_the_heading() -> None:
    anchor = on(6)
    assert anchor.name == "plan.md:6"
    assert anchor.quote == "2. Load the contracts"
    assert anchor.before == "# Plan\n## 1. Load\n1. Load the figures of 2023"
    assert anchor.after.startswith("## 2. Report\nThe report compares both")
    assert anchor.heading == "## 1. Load"
    assert on(10, 11).name == "plan.md:10-11"
    assert make("x", "v", "# A\n```\n# no heading\n```\ntext\n", 5, 5).heading == "# A"


@pytest.mark.parametrize(
    ("first", "last", "said"),
    [
        (15, 15, "plan.md has no line 15: it has 14 lines"),
        (3, 40, "plan.md has no line 40: it has 14 lines"),
        (0, 0, "plan.md has no line 0: it has 14 lines"),
        (2, 2, "Line 2 of plan.md is empty"),
    ],
)
def test_lines_that_are_not_there_are_refused_with_the_length_of_the_file(first: int, last: int, said: str) -> None:
    with pytest.raises(UserError, match=said):
        make("plan.md", "v1", PLAN, first, last)


def test_one_comment_is_about_a_hundred_lines_at_most() -> None:
    with pytest.raises(UserError, match="too much of long"):
        make("long.md", "v", "line\n" * 500, 1, MOST_LINES + 1)


@pytest.mark.parametrize(
    ("words", "lines"),
    [("the contracts", (6, 6)), ("every contract that costs more", (10, 11)), ("Load the  figures", (5, 5))],
)
def test_words_name_the_lines_in_which_they_stand(words: str, lines: tuple[int, int]) -> None:
    assert named("plan.md", PLAN, words) == lines


def test_words_that_stand_nowhere_or_twice_are_refused() -> None:
    with pytest.raises(UserError, match="does not stand in"):
        named("plan.md", PLAN, "no such words")
    with pytest.raises(UserError, match="several lines of plan"):
        named("plan.md", PLAN, "Load the")


def test_text_that_moved_or_got_another_number_is_found() -> None:
    moved = PLAN.replace("2. Load the contracts\n", "").replace(
        "- Check it twice\n", "- Check it twice\n9) Load the contracts\n"
    )
    found = after(moved, 6)
    assert found.same
    assert found.text == "9) Load the contracts"


def test_a_paragraph_that_is_broken_into_other_lines_is_found() -> None:
    found = after(PLAN.replace("contract that\ncosts", "contract\nthat costs"), 10, 11)
    assert found.same
    assert found.place is not None
    assert (found.place.first, found.place.last) == (10, 11)


def test_text_that_was_reworded_where_it_stood_is_found_and_has_changed() -> None:
    found = after(PLAN.replace("figures of 2023", "figures of 2024"), 5)
    assert found.text == "1. Load the figures of 2024"
    assert not found.same


def test_text_that_was_replaced_is_lost_though_its_place_is_there() -> None:
    assert after(PLAN.replace("1. Load the figures of 2023", "1. Ask the accountant first"), 5) == Standing()


def test_the_place_of_a_line_that_now_stands_twice_is_not_guessed() -> None:
    assert after(PLAN.replace("- Check it twice", "- Write the report\n- Check it twice"), 13) == Standing()


def test_a_near_twin_elsewhere_is_not_taken_for_a_line_that_is_gone() -> None:
    gone = PLAN.replace("1. Load the figures of 2023\n", "") + "- Load the figures of 2022\n"
    assert after(gone, 5) == Standing()


def test_the_same_line_under_two_headings_is_told_apart_by_what_stands_around_it() -> None:
    twice = "## A\n- first thing\n- Check it\n- second thing\n## B\n- third thing\n- Check it\n- fourth thing\n"
    anchor = make("x", "v", twice, 7, 7)
    found = followed(anchor, twice, ["new first line\n" + twice])
    assert found.place is not None
    assert found.place.first == 8
    assert (
        followed(anchor, twice, [twice.replace("## B\n- third thing\n- Check it\n- fourth thing\n", "")]) == Standing()
    )


def test_hardly_a_word_is_only_found_between_the_lines_around_it() -> None:
    text = "one thing here\n---\nanother thing there\n"
    anchor = make("x", "v", text, 2, 2)
    assert followed(anchor, text, ["more\none thing here\n---\nanother thing there\n"]).same
    assert followed(anchor, text, ["quite another text\n---\nand no more of it\n"]) == Standing()


def test_small_changes_add_up_until_it_is_another_text() -> None:
    lines = "above it stands this\n{}\nbelow it stands that\n"
    steps = [
        "load the figures of last year into one table",
        "load the figures of this year into one table",
        "load the numbers of this year into one table",
        "load all numbers of this week into one table",
    ]
    texts = [lines.format(step) for step in steps]
    anchor = make("x", "v", texts[0], 2, 2)
    assert followed(anchor, texts[0], texts[1:]).text == steps[-1]
    other = "send all numbers of that week to some people"
    assert followed(anchor, texts[0], [*texts[1:], lines.format(other)]) == Standing()


def test_what_was_lost_comes_back_with_its_words_whatever_else_changed() -> None:
    anchor = on(6)
    without = PLAN.replace("2. Load the contracts\n", "")
    assert followed(anchor, PLAN, [without]) == Standing()
    assert followed(anchor, PLAN, [without, PLAN]).same
    assert followed(anchor, PLAN, [without, f"{PLAN}more\n"]).same
    assert followed(anchor, PLAN, [without, f"{PLAN}more\n", without]) == Standing()
    assert followed(anchor, PLAN, [without, "Quite another text\n\n7. Load the contracts\n"]).same


def test_what_was_lost_comes_back_with_the_words_that_it_had_become() -> None:
    reworded = PLAN.replace("figures of 2023", "figures of 2024")
    without = PLAN.replace("1. Load the figures of 2023\n", "")
    found = followed(on(5), PLAN, [reworded, without, f"{reworded}more\n"])
    assert found.text == "1. Load the figures of 2024"


def test_what_was_lost_does_not_come_back_with_words_that_are_only_alike() -> None:
    without = PLAN.replace("1. Load the figures of 2023\n", "")
    assert followed(on(5), PLAN, [without, PLAN.replace("of 2023", "of 2022")]) == Standing()


MELTS = "# Plan\n\n1. Count the melts of May\n2. Count the melts of June\n3. Write the report\n"


@pytest.mark.parametrize(
    "new",
    [
        MELTS.replace("2. Count", "2. Number"),
        MELTS.replace("2. Count", "1. Count the melts of July\n2. Count"),
        "1. Count the melts of April\n\n## All else is new\n\n- Count the melts of May\n",
    ],
)
def test_a_line_that_stands_unchanged_keeps_its_comment_though_something_new_is_much_like_it(new: str) -> None:
    found = followed(make("plan.md", "v1", MELTS, 3, 3), MELTS, [new])
    assert found.same
    assert found.text.endswith("Count the melts of May")


def test_a_few_words_that_now_share_a_line_with_their_neighbour_are_found() -> None:
    text = "Sum the tons.\nCheck the sums.\nWrite it down.\n"
    anchor = make("x", "v", text, 2, 2)
    assert followed(anchor, text, ["Sum the tons. Check the sums.\nWrite it down.\n"]).place is not None
    assert followed(anchor, text, ["Sum the tons. Do not Check the sums. Ever\nWrite it down.\n"]) == Standing()


def test_a_line_that_was_copied_elsewhere_is_told_by_the_lines_around_it() -> None:
    copied = PLAN + "2. Load the contracts\n"
    found = after(copied, 6).place
    assert found is not None
    assert found.first == 6
    bare = "Something else\n2. Load the contracts\nAnd more of it\n2. Load the contracts\n"
    assert after(bare, 6) == Standing()


def test_the_same_line_under_two_headings_is_told_apart_by_its_heading_though_all_around_it_is_new() -> None:
    twice = "## A\n- first thing\n- Check all of it\n- second thing\n## B\n- third thing\n- Check all of it\n"
    new = "## B\n- new one\n- Check all of it\n- new two\n## A\n- new three\n- Check all of it\n- new four\n"
    found = followed(make("x", "v", twice, 3, 3), twice, [new]).place
    assert found is not None
    assert found.first == 7


def test_a_version_that_nobody_can_read_any_more_leaves_quote_and_context_to_go_by() -> None:
    found = followed(on(6), None, ["new\n" + PLAN])
    assert found.place is not None
    assert found.place.first == 7


# --- rewritten by chance ---


class Tally:
    """How many of the rewritten plans still held the commented text, and in how many it was found. unchanged: how many
    held it word for word and once, as the plan did that was commented on; kept: in how many of these it was found."""

    plans = standing = found = unchanged = kept = 0


@given(st.integers(0, 2**32))
@examples(200)
def _rewritten(tally: Tally, seed: int) -> None:
    _rewrite(tally, Random(seed))


def _rewrite(tally: Tally, chance: Random, most: int = 7, *, copies: bool = True) -> None:
    plan = Plan(chance)
    first = chance.choice(plan.words())
    commented = plan.lines[first : first + chance.choice((1, 1, 1, 2, 3))]
    mine = frozenset(number for line in commented if line.text.strip() for number in line.of)
    seen = plan.text
    anchor = make("plan.md", "v1", seen, first + 1, first + len(commented))
    later: list[str] = []
    for _ in range(chance.randint(1, 4)):
        plan.rewrite(mine, most, copies=copies)
        later.append(plan.text)
    found = followed(anchor, seen, later)
    itself = [line for line in plan.lines if line.of & mine and _says_something(line)]
    once = _times(anchor.quote, seen) == _times(anchor.quote, plan.text) == 1
    unchanged = once and sum(map(str.isalnum, _bare(anchor.quote))) >= 4
    tally.plans += 1
    tally.standing += bool(itself)
    tally.unchanged += unchanged
    if found.place is None:
        assert not unchanged, f"lost, though it stands there: {anchor.quote!r}"
        return
    there = [line for line in plan.lines[found.place.first - 1 : found.place.last] if line.text.strip()]
    lines = [line for line in there if _says_something(line)] or there
    # A copy is the commented text only where nothing of it stands elsewhere as itself, where these words stand nowhere
    # else, or where it says to the letter what the text says (`twin`: that stands elsewhere now; `anew`: that is gone)
    # and stands beside the same lines: nobody can tell a line that was moved from one that was written anew.
    right = all(line.of & mine for line in lines)
    copied = all((line.of | line.copy_of) & mine for line in lines) and all(line in lines for line in itself)
    word_for_word = once and _bare(found.text) == _bare(anchor.quote)
    were, are = (_beside(*one) for one in ((seen, anchor), (plan.text, found.place)))
    twin = were == are and [line.text for line in lines] == [line.text for line in itself]
    anew = not itself and found.text == anchor.quote and any(one == now != "" for one, now in zip(were, are))
    assert right or copied or word_for_word or twin or anew, f"on other text: {found.text!r} for {anchor.quote!r}"
    assert word_for_word or not unchanged, f"on {found.text!r}, though it stands there: {anchor.quote!r}"
    tally.found += bool(itself)
    tally.kept += unchanged


def _bare(text: str) -> str:
    """Lines without what stands before their first word, and without empty ones."""
    lines = (re.sub(r"^\s*(#+ +)?([-*+] +|\d+[.)] +)?", "", line).rstrip() for line in text.splitlines())
    return "".join(f"\n{line}" for line in lines if line) + "\n"


def _beside(text: str, at: Lines) -> tuple[str, str]:
    """The lines with words next to these."""
    lines = text.splitlines()
    before = next((line for line in reversed(lines[: at.first - 1]) if line.strip()), "")
    return before, next((line for line in lines[at.last :] if line.strip()), "")


def _times(quote: str, text: str) -> int:
    """How often these lines stand there, one after the other."""
    return len(re.findall(f"(?={re.escape(_bare(quote))})", _bare(text)))


def _says_something(line: Line) -> bool:
    return sum(map(str.isalnum, line.text)) >= 4


def test_no_anchor_is_on_other_text_after_two_hundred_random_rewrites(
    record_property: Callable[[str, object], None],
) -> None:
    tally = Tally()
    _rewritten(tally)
    record_property("followed", f"{tally.found} of {tally.standing}")
    record_property("kept, of those that stand there unchanged", f"{tally.kept} of {tally.unchanged}")
    assert tally.plans >= 200
    assert tally.kept == tally.unchanged > 50
    assert tally.found >= 0.5 * tally.standing > 50, f"{tally.found} of {tally.standing} are followed"


def test_four_of_five_comments_are_followed_through_several_revisions_of_the_usual_size() -> None:
    tally = Tally()
    for seed in range(200):
        _rewrite(tally, Random(seed), 3, copies=False)
    assert tally.found >= 0.8 * tally.standing > 100, f"{tally.found} of {tally.standing} are followed"
