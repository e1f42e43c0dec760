"""Feedback, ledger, metrics and the to-do list through real processes, with an agent that answers what it is told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from commands import Command

COUNCIL = """\
name: council
agents:
  economist:
    remit: revenue, debt, margins, capital, credit
    command: [sh, -c, "if grep FB-001 >/dev/null; then echo 'Revenue is $900M [FB-001].'; else echo First; fi"]
  engineer:
    remit: machines, vehicles, batteries, software
    command: [sh, -c, "cat >/dev/null; echo '## Ratings'; echo; echo '| item | rating | reason |'; echo '|---|---|---|';
      echo '| Demand | 8 | it grows |'"]
  contrarian: {remit: hidden risks, always: true, command: [sh, -c, "cat >/dev/null; echo No"]}
phases:
  - id: views
    title: Views
    rounds: {plan: [first], max: 3}
    agents: [economist, engineer, contrarian]
    checkpoint:
      prompt: Round {{ round.n }} is done.
      feedback: Any corrections?
      options:
        - {label: Looks good, then: continue}
        - label: One more round
          recommend: feedback.major
          fields: [{id: agents, type: agents, default: routing.affected, prompt: Who looks again?}]
          then: again
"""
BOTH = "Revenue is $900M, not $850M. The board approved the EV pivot yesterday"


@pytest.fixture
def parked(reconvene: Command, folder: Path) -> str:
    (folder / "council.yaml").write_text(COUNCIL, encoding="utf-8")
    done = reconvene("run", "council.yaml", "--json")
    assert done.code == 3, done.err
    checkpoint = done.object["checkpoint"]
    assert isinstance(checkpoint, dict)
    assert checkpoint["feedback"] == "Any corrections?"
    return str(done.object["run"])


def test_the_question_for_remarks_is_printed_where_a_run_parks(reconvene: Command, parked: str) -> None:
    assert "Any corrections?" in reconvene("show", parked).out


def test_free_text_is_understood_shown_and_recorded_with_its_weight(reconvene: Command, parked: str) -> None:
    done = reconvene("remark", parked, "--understand", BOTH)
    assert done.code == 0
    assert "correction: Revenue is $900M, not $850M.   [$850M → $900M]" in done.out
    assert "FB-001 correction, minor: " in done.out
    assert "FB-002 strategic shift, major: " in done.out
    assert f"noted for {parked}" in done.out
    assert "2. One more round  [recommended]" in reconvene("show", parked).out


def test_a_dry_run_shows_the_same_and_records_nothing(reconvene: Command, parked: str) -> None:
    done = reconvene("remark", parked, "--understand", "--dry-run", BOTH)
    assert "strategic shift: The board approved" in done.out
    assert "not recorded" in done.out
    assert reconvene("show", parked, "--json").object["remarks"] == []


def test_what_was_understood_is_there_for_scripts(reconvene: Command, parked: str) -> None:
    shown = reconvene("remark", parked, "--understand", BOTH, "--json").object
    understood, recorded = shown["understood"], shown["remarks"]
    assert isinstance(understood, list)
    assert isinstance(recorded, list)
    assert [(row["kind"], row["was"], row["now"]) for row in understood] == [
        ("correction", "$850M", "$900M"),
        ("strategic shift", "", ""),
    ]
    assert all(row["rule"] for row in understood)
    assert [(row["id"], row["level"]) for row in recorded] == [("FB-001", "minor"), ("FB-002", "major")]


@pytest.mark.parametrize("text", ["looks good", "Proceed.", ""])
def test_agreement_records_nothing(reconvene: Command, parked: str, text: str) -> None:
    done = reconvene("remark", parked, "--understand", text)
    assert done.code == 0
    assert "nothing to record" in done.out
    assert reconvene("show", parked, "--json").object["remarks"] == []


def test_text_without_a_kind_stays_a_comment_unless_it_shall_be_understood(reconvene: Command, parked: str) -> None:
    reconvene("remark", parked, "Revenue is $900M, not $850M")
    remarks = reconvene("show", parked, "--json").object["remarks"]
    assert isinstance(remarks, list)
    assert [remark["kind"] for remark in remarks] == ["comment"]


def test_a_form_is_recorded_as_it_is_filled_in(reconvene: Command, parked: str, folder: Path) -> None:
    (folder / "form.md").write_text(
        "## Correction\nwhat: Debt\nwas: $100M\nnow: $150M\n## Reaction to economist\nToo rosy\n", encoding="utf-8"
    )
    done = reconvene("remark", parked, "--form", "form.md")
    assert done.code == 0
    assert "FB-001 correction, major: " in done.out
    assert "reaction to economist: Too rosy" in done.out


def test_a_form_with_problems_is_refused_with_their_lines(reconvene: Command, parked: str, folder: Path) -> None:
    (folder / "form.md").write_text("## Reaction to econmist\nNo\n## Corection\nIt is 5\n", encoding="utf-8")
    done = reconvene("remark", parked, "--form", "form.md")
    assert done.code == 64
    assert "form.md:1: there is no agent 'econmist'; did you mean economist?" in done.err
    assert "form.md:3: there is no heading 'Corection'; did you mean Correction?" in done.err
    assert reconvene("show", parked, "--json").object["remarks"] == []


def test_neither_text_nor_a_form_is_wrong_usage(reconvene: Command, parked: str) -> None:
    assert reconvene("remark", parked).code == 64
    assert reconvene("remark", parked, "text", "--form", "x.md").code == 64
    assert reconvene("remark", parked, "--form", "nowhere.md").code == 64


def test_a_reading_is_put_right_afterwards_and_the_last_one_counts(reconvene: Command, parked: str) -> None:
    reconvene("remark", parked, "The board approved the EV pivot", "--by", "Ada")
    assert "One more round  [recommended]" not in reconvene("show", parked).out
    done = reconvene(
        "remark", parked, "--reread", "fb-001", "--kind", "strategic shift", "--to", "engineer", "--by", "Ben"
    )
    assert done.code == 0, done.err
    assert done.out.splitlines()[0] == "strategic shift to engineer: The board approved the EV pivot"
    assert "FB-001 strategic shift, major: " in done.out
    shown = reconvene("show", parked, "--json").object
    (remark,) = shown["remarks"]  # type: ignore[misc]
    assert (remark["kind"], remark["target"], remark["by"], remark["read_by"]) == (
        "strategic shift", "engineer", "Ada", "Ben",
    )  # fmt: skip
    assert "One more round  [recommended]" in reconvene("show", parked).out
    assert "FB-001 ○ captured, open · strategic shift" in reconvene("ledger", parked).out
    reconvene("remark", parked, "--reread", "FB-001", "--level", "minor", "--by", "Ben")
    assert "FB-001 strategic shift, minor: Ben weighs it so" in reconvene("show", parked).out
    assert "One more round  [recommended]" not in reconvene("show", parked).out


def test_what_no_agent_was_shown_can_be_taken_back(reconvene: Command, parked: str) -> None:
    for text in ("first", "second"):
        reconvene("remark", parked, text)
    assert reconvene("remark", parked, "--withdraw", "FB-001").out == "taken back: FB-001\n"
    shown = reconvene("show", parked, "--json").object
    assert [remark["id"] for remark in shown["remarks"]] == ["FB-002"]  # type: ignore[attr-defined]
    assert reconvene("ledger", parked, "--json").object["open"] == ["FB-002"]
    reconvene("decide", parked, "--option", "One more round")
    assert reconvene("remark", parked, "--withdraw", "fb-002").out == "taken back: FB-002\n"
    assert reconvene("remark", parked, "--withdraw", "FB-002", "--json").object["nothing_to_do"] is True


def test_a_remark_is_replaced_and_another_settled(reconvene: Command, parked: str) -> None:
    reconvene("remark", parked, "correction: Revenue is $900M, not $850M")
    reconvene("decide", parked, "--option", "One more round")
    assert reconvene("remark", parked, "--replace", "FB-001", "correction: Revenue is $950M, not $850M").code == 0
    assert reconvene("remark", parked, "--settle", "FB-002").out == "settled: FB-002\n"
    lines = reconvene("ledger", parked).out.splitlines()
    assert lines[0].startswith("FB-002 ✓ addressed, says ")
    assert lines[1] == "FB-001 – replaced by FB-002 · correction: Revenue is $900M, not $850M"
    again = reconvene("remark", parked, "--settle", "FB-002", "--json")
    assert again.object["nothing_to_do"] is True
    refused = reconvene("remark", parked, "--settle", "FB-001")
    assert (refused.code, "FB-001 was replaced by FB-002" in refused.err) == (64, True)


@pytest.mark.parametrize("words", ["looks good", "ok", "proceed", "passt so"])
def test_agreement_with_a_decision_is_no_remark(reconvene: Command, parked: str, words: str) -> None:
    reconvene("decide", parked, "--option", "One more round", "--feedback", words)
    assert reconvene("ledger", parked, "--json").object["remarks"] == []


def test_words_that_go_with_a_decision_are_read_like_typed_ones_and_a_kind_still_wins(
    reconvene: Command, parked: str
) -> None:
    said = ("The board approved the EV pivot yesterday", "comment: Debt is $150M, not $100M")
    words = [word for one in said for word in ("--feedback", one)]
    reconvene("decide", parked, "--option", "One more round", *words)
    found = reconvene("ledger", parked, "--json").object["remarks"]
    assert [one["kind"] for one in found] == ["strategic shift", "comment"]  # type: ignore[attr-defined, index]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("--reread", "FB-009", "--kind", "comment"), "has no remark 'FB-009'"),
        (("--reread", "FB-001", "--kind", "corection"), "'corection' is no kind of remark"),
        (("--reread", "FB-001", "--to", "nobody"), "There is no agent 'nobody'"),
        (("text", "--kind", "comment"), "--level go with --reread ID"),
        (("text", "--withdraw", "FB-001"), "give one of them"),
        (("--withdraw", "FB-009"), "It has FB-001 to FB-001."),
    ],
)
def test_what_cannot_be_read_again_is_refused(
    reconvene: Command, parked: str, words: tuple[str, ...], why: str
) -> None:
    reconvene("remark", parked, "first")
    before = reconvene("log", parked).out
    refused = reconvene("remark", parked, *words)
    assert refused.code == 64
    assert why in refused.err
    assert reconvene("log", parked).out == before


def test_the_ledger_tells_who_answered_and_what_is_open(reconvene: Command, parked: str) -> None:
    reconvene("remark", parked, "--understand", BOTH)
    assert "captured, open" in reconvene("ledger", parked).out
    reconvene("decide", parked, "--option", "One more round")
    shown = reconvene("ledger", parked).out
    assert "FB-001 ✓ addressed by economist at R2/0/economist:1 “Revenue is $900M [FB-001].” · correction" in shown
    assert "FB-002 ◐ claimed by nobody, economist changed its text, open" in shown
    detailed = reconvene("ledger", parked, "--details").out
    assert "        was: First\n        is:  Revenue is $900M [FB-001].\n" in detailed
    only_open = reconvene("ledger", parked, "--open")
    assert "FB-001" not in only_open.out
    assert "FB-002" in only_open.out
    found = reconvene("ledger", parked, "--open", "--json").object
    assert (found["run"], found["open"], found["closure"]) == (parked, ["FB-002"], 0.5)


def test_a_ledger_without_remarks_says_so(reconvene: Command, parked: str) -> None:
    assert "no remarks yet" in reconvene("ledger", parked).out.lower()
    assert reconvene("ledger", "--open").out == "no remarks yet\n"


def test_show_has_the_list_of_what_is_to_do(reconvene: Command, parked: str) -> None:
    shown = reconvene("show", parked).out
    assert "[x] Views: checkpoint presented" in shown
    assert "[ ] Views: feedback captured" in shown
    reconvene("remark", parked, "new context: a rival has gone")
    assert "[x] Views: feedback captured (1)" in reconvene("show", parked).out
    assert {"what": "Views: decision", "done": False} in reconvene("show", parked, "--json").object["todo"]  # type: ignore[operator]


def test_show_has_what_stands_beside_the_checkpoint(reconvene: Command, parked: str) -> None:
    reconvene("remark", parked, "--understand", "Debt is $150M, not $100M")
    shown = reconvene("show", parked)
    assert "FB-001 correction, major: " in shown.out
    assert "One more round: economist (remit: " in shown.out
    assert "contrarian (always)" in shown.out
    assert "2 agent calls" in shown.out
    assert "Demand: median 8" in shown.out
    review = reconvene("show", parked, "--json").object["review"]
    assert isinstance(review, dict)
    assert [route["agent"] for route in review["preview"]["agents"]] == ["economist", "contrarian"]
    assert review["meter"]["lines"]


def test_remarks_of_earlier_rounds_that_nobody_answered_are_shown_at_the_next_checkpoint(
    reconvene: Command, parked: str
) -> None:
    reconvene("remark", parked, "--understand", BOTH)
    reconvene("decide", parked, "--option", "One more round")
    shown = reconvene("show", parked).out
    beside = shown.partition("still open")[2].partition("\n\n")[0]
    assert "FB-002 strategic shift" in beside
    assert "FB-001" not in beside


def test_at_the_end_unanswered_remarks_are_named(reconvene: Command, parked: str) -> None:
    reconvene("remark", parked, "--understand", BOTH)
    done = reconvene("decide", parked, "--option", "Looks good")
    assert done.code == 0
    assert "2 remarks are still open: FB-001 Revenue is" in done.out
    assert f"reconvene ledger {parked}" in done.out


def test_without_unanswered_remarks_the_end_says_nothing_of_them(reconvene: Command, parked: str) -> None:
    assert "still open" not in reconvene("decide", parked, "--option", "Looks good").out


def test_stats_of_one_run_and_of_all(reconvene: Command, parked: str) -> None:
    reconvene("decide", parked, "--option", "One more round")
    reconvene("run", "council.yaml")
    one = reconvene("stats", parked)
    assert one.code == 0
    assert "rounds per phase 2.0 (target" in one.out
    assert "target  ┄" in one.out
    every = reconvene("stats")
    assert every.out.startswith("2 runs\n")
    runs = reconvene("stats", "--json").object["runs"]
    assert isinstance(runs, list)
    assert sorted(runs) == [parked, "council-2"]
    assert reconvene("stats", parked, "--json").object["iteration_rate"] == 1.0


def test_stats_without_any_state_create_none(reconvene: Command, folder: Path) -> None:
    assert reconvene("stats").code == 64
    assert not (folder / ".reconvene").exists()


def test_new_records_a_run_and_says_how_to_go_on(reconvene: Command, folder: Path) -> None:
    done = reconvene("new", "two-step.yaml")
    assert done.code == 0
    assert done.out.splitlines()[0] == "two-step-1"
    assert "runs/two-step-1" in done.out
    assert "go on with: reconvene resume two-step-1" in done.out
    assert [event for event in reconvene("log", "two-step-1").out.splitlines() if "AttemptEnded" in event] == []
    shown = reconvene("new", "two-step.yaml", "--json").object
    assert (shown["run"], shown["next"]) == ("two-step-2", "reconvene resume two-step-2")
    assert str(shown["workspace"]).endswith("two-step-2")
    assert reconvene("resume", "two-step-1").code == 3


def test_new_asks_nobody_for_a_missing_input_without_a_terminal(reconvene: Command, folder: Path) -> None:
    (folder / "asks.yaml").write_text(
        "name: asks\ninputs: {question: {required: true}}\nagents: {a: {command: ['true']}}\n"
        "phases: [{id: a, agents: [a]}]\n",
        encoding="utf-8",
    )
    done = reconvene("new", "asks.yaml")
    assert done.code == 64
    assert "--input question=" in done.err
    assert reconvene("new", "asks.yaml", "--input", "question=why").code == 0
