"""How a remark is read before it is recorded, and how a person puts that right."""

from __future__ import annotations

import pytest

from reconvene.app.model_reader import Entry
from reconvene.core.facts.commands import RemarkIn
from reconvene.doors.shared.remarks import (
    agrees,
    figures_in,
    has_kind,
    in_line,
    joined,
    understood,
    understood_better,
    with_text,
)


def test_a_free_text_is_split_and_each_part_says_why_it_is_what_it_is() -> None:
    found = understood("Revenue is $900M, not $850M. The board approved the pivot yesterday", ())
    assert [entry.remark.kind for entry in found] == ["correction", "strategic shift"]
    assert (found[0].remark.was, found[0].remark.now) == ("$850M", "$900M")
    assert all(entry.rule for entry in found)
    assert understood_better("", (), found) == (found, ""), "without a model nobody else is asked"


def test_where_reading_fails_the_words_are_kept_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(text: str, agents: tuple[str, ...], kits: tuple[str, ...]) -> None:
        raise RuntimeError("no rule")

    monkeypatch.setattr("reconvene.doors.shared.remarks.by_rules", fails)
    (entry,) = understood("  all of it ", ())
    assert entry == Entry(RemarkIn("all of it"), "kept whole (RuntimeError while sorting it)")


def test_where_a_model_fails_the_rules_stand_and_the_person_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise OSError("no network")

    monkeypatch.setenv("RECONVENE_FEEDBACK_MODEL", "openai:some")
    monkeypatch.setattr("reconvene.wiring.listen", fails)
    rules = understood("It is 3x, not 4x", ())
    better = understood_better("It is 3x, not 4x", (), rules)
    assert better.entries is rules
    assert better.note == "openai:some could not be asked (OSError); understood by rules"


def test_agreeing_is_nothing_to_record() -> None:
    assert agrees("looks good")
    assert agrees("")
    assert not agrees("looks good, but the debt is missing")
    assert understood("proceed", ()) == []


def test_a_line_with_a_kind_of_its_own_is_known() -> None:
    assert has_kind("correction: it is 3")
    assert not has_kind("it is 3")
    assert not has_kind("  ")


def test_two_that_are_one_keep_the_figures_of_either_and_the_kind_that_says_more() -> None:
    first, second = Entry(RemarkIn("Well.")), Entry(RemarkIn("It is 3x.", "correction", "banker", "4x", "3x"))
    assert joined(first, second) == Entry(
        RemarkIn("Well. It is 3x.", "correction", "banker", "4x", "3x"), "joined by you"
    )
    assert joined(Entry(RemarkIn("a\nb")), Entry(RemarkIn("c"))).remark.text == "a\nb\nc"


def test_new_words_bring_new_figures_and_leave_the_kind() -> None:
    before = RemarkIn("Revenue is $900M, not $850M", "clarification", "", "$850M", "$900M")
    after = with_text(before, "Revenue is $700M, not $850M", ())
    assert (after.kind, after.was, after.now) == ("clarification", "$850M", "$700M")
    assert figures_in("nothing is counted here", ()) == ("", "")


def test_an_entry_in_a_line() -> None:
    assert in_line(Entry(RemarkIn("It is 3x", "correction", "banker", "", "3x"))) == (
        "correction to banker: It is 3x   [? → 3x]"
    )
