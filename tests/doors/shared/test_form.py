"""The form for remarks: what is written in it comes back, whatever state it is left in."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reconvene.app.model_reader import Entry
from reconvene.core.facts.commands import RemarkIn
from reconvene.core.kit_finder import reader
from reconvene.doors.shared.form import HINT, again, blank, read, write

AGENTS = ("economist", "industry_analyst", "contrarian")


def filled(section: str, *lines: str) -> str:
    return blank(AGENTS).replace(f"## {section}\n", f"## {section}\n" + "\n".join(lines) + "\n")


def remarks(text: str) -> list[RemarkIn]:
    found = read(text, AGENTS)
    assert found.problems == ()
    return [entry.remark for entry in found.entries]


def test_an_empty_form_says_nothing() -> None:
    assert read(blank(AGENTS, "run-1"), AGENTS) == ((), ())
    assert read("", AGENTS) == ((), ())


def test_a_corrected_figure_has_what_was_and_now() -> None:
    form = blank(AGENTS).replace("what:", "what: Net debt").replace("was:", "was: $100M").replace("now:", "now: $150M")
    assert remarks(form) == [RemarkIn("Net debt: $150M, not $100M", "correction", "", "$100M", "$150M")]


def test_a_correction_in_a_sentence_is_read_for_its_figures() -> None:
    (remark,) = remarks(filled("Correction", "Revenue is $900M, not $850M"))
    assert (remark.kind, remark.was, remark.now) == ("correction", "$850M", "$900M")


def test_a_dash_begins_another_remark_and_an_indented_line_goes_on() -> None:
    found = remarks(filled("New context", "- The harbour closes", "  each winter", "- A rival has gone"))
    assert [(one.kind, one.text) for one in found] == [
        ("new context", "The harbour closes\neach winter"),
        ("new context", "A rival has gone"),
    ]


def test_repeated_values_are_several_corrections() -> None:
    found = remarks("## Corrections\nwas: 1\nnow: 2\nwas: 3\nnow: 4\n")
    assert [(one.was, one.now) for one in found] == [("1", "2"), ("3", "4")]


@pytest.mark.parametrize(
    "form", ["## Reaction to industry analyst\nToo rosy", "Reaction to:\nto: Industry-Analyst\nToo rosy"]
)
def test_whom_a_reaction_is_for_may_stand_in_the_heading_or_below(form: str) -> None:
    assert remarks(form) == [RemarkIn("Too rosy", "reaction", "industry_analyst")]


def test_text_without_a_heading_is_sorted() -> None:
    found = remarks("Revenue is $900M, not $850M. The board approved the EV pivot yesterday\n\n" + blank(AGENTS))
    assert [one.kind for one in found] == ["correction", "strategic shift"]


def test_headings_of_the_persons_own_are_part_of_the_text() -> None:
    (remark,) = remarks(filled("Clarification", "# Scope", "Only the Southeast"))
    assert remark.text == "# Scope\nOnly the Southeast"


@pytest.mark.parametrize(
    ("form", "what"),
    [
        ("## Corection\nIt is 5", "did you mean Correction?"),
        ("## Correction\nwas: 5", "what is it now?"),
        ("## Reaction to econmist\nNo", "did you mean economist?"),
        ("## Reaction\nto: economist\n", "nothing is said to economist"),
    ],
)
def test_a_problem_is_named_above_its_line_and_the_text_is_kept(form: str, what: str) -> None:
    found = read(form, AGENTS)
    (problem,) = found.problems
    assert what in problem.what
    shown = again(form, found.problems)
    assert what in shown
    assert [line for line in shown.splitlines() if not line.startswith(HINT)] == form.splitlines()
    assert read(shown, AGENTS).entries == found.entries


def test_a_form_with_a_problem_still_says_everything_it_holds() -> None:
    found = read("## Corection\nIt is 5\n## Reaction to econmist\nNo\n", AGENTS)
    assert [(one.remark.kind, one.remark.target, one.remark.text) for one in found.entries] == [
        ("correction", "", "It is 5"),
        ("reaction", "econmist", "No"),
    ]


WORDS = st.text(alphabet="abc äß漢.,%$ 0123456789", min_size=1, max_size=40).map(str.strip).filter(bool)
LINES = st.lists(WORDS.map(lambda words: f"x {words}"), min_size=1, max_size=3).map("\n".join)


@given(st.lists(st.tuples(st.sampled_from(reader().kinds), LINES), max_size=6))
def test_what_is_written_into_the_form_is_read_back(said: list[tuple[str, str]]) -> None:
    entries = [Entry(RemarkIn(text, kind)) for kind, text in said]
    found = read(write(entries, AGENTS), AGENTS)
    assert found.problems == ()
    assert sorted((one.remark.kind, one.remark.text) for one in found.entries) == sorted(said)


@given(st.text(max_size=300))
def test_no_form_is_too_strange_to_be_read(text: str) -> None:
    read(text, AGENTS)
    read(again(text, read(text, AGENTS).problems), AGENTS)
