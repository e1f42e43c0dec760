"""The rounds of a run as its log tells them, and how the tries of one differ."""

from __future__ import annotations

import json

import pytest

from reconvene.app.views.all_rounds import Round, rounds
from reconvene.app.views.comparison import Comparison, compare
from reconvene.app.views.encoding import encoded
from reconvene.core.facts import commands as c
from reconvene.core.facts.evolve import fold
from reconvene.core.person.attention import WITHOUT
from reconvene.core.person.undoing import archives
from reconvene.core.shown.on_record import rollback_rows
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

REFINE = """
name: w
agents:
  engineer: {retries: 2, gate: [{min_chars: 5, retry_with: say more}]}
  reviewer: {}
phases:
  - id: refine
    rounds: {plan: [first, second], max: 4}
    steps:
      - {agents: [engineer], output: {name: proposals, file: proposals.md}}
      - {agents: [reviewer], output: review}
    checkpoint:
      options:
        - {label: Go on, then: continue}
        - label: Redo
          undo: true
          then: again
          fields: [{id: reason, type: text}, {id: adjust, type: choice, options: [same, narrower]}]
        - {label: Skip it, undo: true, then: continue}
"""


def refine() -> Play:
    return Play(parse_workflow(REFINE))


def one_round(play: Play, engineer: str = "proposal", reviewer: str = "review") -> None:
    play.finish("engineer", engineer)
    play.finish("reviewer", reviewer)


def told(play: Play) -> list[tuple[int, int, str]]:
    return [(one.serial, one.n, one.outcome) for one in rounds(play.log)]


def compared(play: Play, serial: int) -> Comparison:
    found = rounds(play.log)
    (one,) = [each for each in found if each.serial == serial]
    return compare(found, one, play.blobs.__getitem__, play.book.object)


def by_serial(play: Play, serial: int) -> Round:
    return next(one for one in rounds(play.log) if one.serial == serial)


def test_a_run_that_has_begun_nothing_has_no_rounds() -> None:
    assert rounds([]) == ()


def test_every_round_is_told_with_its_agents_attempts_and_outcome() -> None:
    play = refine()
    assert told(play) == [(1, 1, "open")]
    play.finish("engineer", "no")
    one_round(play)
    (first,) = rounds(play.log)
    assert (first.phase, first.name, first.agents, first.attempts) == ("refine", "first", ("engineer", "reviewer"), 3)
    assert (first.outcome, first.waiting) == ("stands", True)
    assert [tried.verdict for tried in first.tried] == ["rejected", "accepted", "accepted"]
    assert [tried.why.partition(":")[0] for tried in first.rejected] == ["EMPTY_OUTPUT"]
    assert first.seconds == 3.0  # a tick for each output
    play.decide("Go on")
    assert told(play) == [(1, 1, "stands"), (2, 2, "open")]
    assert not by_serial(play, 1).waiting


def test_a_round_rolled_back_twice_keeps_every_try_and_who_asked_for_what() -> None:
    play = refine()
    one_round(play, "first try")
    play.decide("Redo", "too abstract", fields={"reason": "no examples", "adjust": "narrower"})
    one_round(play, "second try")
    play.do(c.Rollback(by="bob", remarks=(c.RemarkIn("still abstract"),)))
    one_round(play, "third try")
    play.decide("Go on")
    assert told(play) == [(1, 1, "rolled back"), (2, 1, "rolled back"), (3, 1, "stands"), (4, 2, "open")]
    first, second = by_serial(play, 1).undone, by_serial(play, 2).undone
    assert first is not None
    assert (first.by, first.option, [said.text for said in first.remarks]) == ("ann", "Redo", ["too abstract"])
    assert play.book.object(first.fields) == {"reason": "no examples", "adjust": "narrower"}
    assert second is not None
    assert (second.by, second.why, second.fields) == ("bob", "rollback", "")
    assert [said.text for said in second.remarks] == ["still abstract"]


def test_a_dropped_round_is_told_apart_from_one_that_ran_again() -> None:
    play = refine()
    one_round(play)
    play.decide("Skip it")
    assert told(play) == [(1, 1, "dropped"), (2, 2, "open")]


def test_a_round_under_way_when_the_run_ends_was_cut_short() -> None:
    play = refine()
    play.finish("engineer", "proposal")
    play.do(c.Abort(by="ann"))
    assert told(play) == [(1, 1, "cut short")]


def test_rounds_inside_a_round_go_with_it_and_a_groups_own_rounds_are_left_out() -> None:
    play = Play(
        parse_workflow("""
name: w
agents: {a: {}, b: {}}
phases:
  - id: outer
    phases:
      - {id: one, agents: [a]}
      - {id: two, agents: [b]}
    checkpoint: {options: [{label: Go on, then: continue}, {label: Redo, undo: true, then: again}]}
""")
    )
    play.finish_all()
    play.decide("Redo")
    found = rounds(play.log)
    assert [(one.phase, one.outcome) for one in found] == [
        ("one", "rolled back"), ("two", "rolled back"), ("one", "open"),
    ]  # fmt: skip
    assert all(one.undone and one.undone.within == 1 for one in found[:2])


def test_the_rounds_of_items_are_rounds_of_their_own() -> None:
    play = Play(
        parse_workflow("""
name: w
agents: {a: {}}
phases:
  - id: each_one
    each: {of: "[{id: 'x'}, {id: 'y'}]"}
    agents: [a]
    checkpoint: {options: [{label: Go on, then: continue}, {label: Redo, undo: true, then: again}]}
""")
    )
    play.finish_all()
    play.decide("Redo")
    play.finish_all()
    play.decide("Go on")
    play.finish_all()
    found = rounds(play.log)
    assert [(one.place, one.n, one.outcome) for one in found] == [
        ("each_one#1[x]", 1, "rolled back"), ("each_one#1[x]", 1, "stands"), ("each_one#1[y]", 1, "stands"),
    ]  # fmt: skip
    assert len(compared(play, 2).tries) == 2


def test_what_is_told_is_json() -> None:
    play = refine()
    one_round(play)
    play.decide("Redo", "again please")
    row = json.loads(encoded(rounds(play.log)[0].shown()))
    assert (row["outcome"], row["attempts"], row["rejections"], row["files"]) == (
        "rolled back", 2, 0, ["proposals.md"],
    )  # fmt: skip


def test_an_output_that_was_forced_is_what_the_last_try_gave() -> None:
    play = Play(parse_workflow(REFINE.replace("max: 4", "max: 4, undo: 1")))
    one_round(play, "first try")
    play.decide("Redo")
    for _ in range(3):
        play.finish("engineer", "no")
    play.finish("reviewer", "still fine")
    last = by_serial(play, 2)
    assert [tried.verdict for tried in last.tried] == ["rejected"] * 3 + ["forced", "accepted"]
    assert last.attempts == 4
    engineer, reviewer = compared(play, 1).differences
    assert (engineer.diff, reviewer.summary) == ("", "+1 −1 lines")


def archiving() -> Play:
    return Play(
        parse_workflow(REFINE.replace("max: 4", "max: 4, undo: 3, folder: first").replace("proposals.md", "first/p.md"))
    )


def test_where_the_files_of_a_round_are_kept_is_told_until_they_are_pruned() -> None:
    play = archiving()
    one_round(play)
    play.decide("Redo")
    undone = by_serial(play, 1).undone
    assert undone is not None
    assert (undone.folder, [file.path for file in undone.archived]) == ("first_rolled_back", ["first_rolled_back/p.md"])
    play.do(c.PruneArchives(by="ann"))
    undone = by_serial(play, 1).undone
    assert undone is not None
    assert (undone.folder, undone.archived) == ("first_rolled_back", ())


def test_pruning_keeps_the_newest_spares_what_it_must_and_reuses_no_name() -> None:
    play = archiving()
    for _ in range(2):
        one_round(play)
        play.decide("Redo")
    assert [archive.folder for archive in archives(play.state)] == ["first_rolled_back", "first_rolled_back_2"]
    assert play.do(c.PruneArchives(keep=2)) == []
    assert play.do(c.PruneArchives(keep=1, spare=("first_rolled_back/p.md",))) == []
    (event,) = play.do(c.PruneArchives(keep=1, by="ann"))
    assert event.paths == ("first_rolled_back/p.md",)  # type: ignore[union-attr]
    assert set(play.state.files) == {"first_rolled_back_2/p.md"}
    assert fold(play.log) == play.state
    assert play.do(c.PruneArchives(keep=1)) == []
    play.do(c.PruneArchives())
    assert [row["pruned"] for row in rollback_rows(play.state, play.book)] == [True, True]
    one_round(play)
    play.decide("Skip it")
    assert set(play.state.files) == {"first_rolled_back_3/p.md"}


# --- comparing ---


def test_a_comparison_holds_what_was_asked_the_facts_and_a_diff_of_every_output() -> None:
    play = refine()
    play.finish("engineer", "bad")
    one_round(play, "Plan\nuse a queue\n", "fine")
    play.decide("Redo", "no queue", fields={"reason": "too much"})
    one_round(play, "Plan\nuse a list\n", "fine")
    found = compared(play, 1)
    assert (found.phase, found.n, found.standing) == ("refine", 1, 2)
    first, second = found.tries
    assert (first.outcome, first.attempts, len(first.rejections)) == ("rolled back", 3, 1)
    assert first.rejections[0].startswith("engineer: EMPTY_OUTPUT: 3 characters")
    assert (second.outcome, second.attempts, second.rejections) == ("stands", 2, ())
    assert first.characters == {"engineer": 17, "reviewer": 4}
    (asked,) = found.asked
    assert (asked.by, asked.why, asked.fields) == ("ann", "Redo", {"reason": "too much"})
    assert [said.text for said in asked.remarks] == ["no queue"]
    assert [(one.what, one.summary) for one in found.differences] == [
        ("engineer", "+1 −1 lines"), ("reviewer", "no change"),
    ]  # fmt: skip
    assert found.differences[0].diff.splitlines() == [
        "--- R1/engineer (rolled back)",
        "+++ R2/engineer (stands)",
        "@@ -1,2 +1,2 @@",
        " Plan",
        "-use a queue",
        "+use a list",
    ]


def test_every_try_that_was_rolled_back_is_compared_with_the_one_that_stands() -> None:
    play = refine()
    for text in ("one one", "two two"):
        one_round(play, text)
        play.decide("Redo")
    one_round(play, "three")
    assert [(one.old, one.new) for one in compared(play, 2).differences if one.what == "engineer"] == [(1, 3), (2, 3)]


@pytest.mark.parametrize("undone_again", [True, False])
def test_before_the_retry_gave_anything_nothing_stands(undone_again: bool) -> None:
    play = refine()
    one_round(play, "one one")
    play.decide("Redo")
    if undone_again:
        one_round(play, "two two")
        play.decide("Skip it")
    found = compared(play, 1)
    assert found.standing == 0
    assert [one.outcome for one in found.tries] == ["rolled back", "dropped" if undone_again else "open"]


def test_an_output_that_no_try_accepted_is_compared_as_what_it_was() -> None:
    play = refine()
    for _ in range(3):
        play.finish("engineer", "no")
    play.decide(WITHOUT)
    play.finish("reviewer", "nothing there")
    play.decide("Redo")
    one_round(play, "a proposal")
    found = compared(play, 1)
    assert found.tries[0].missing == ("engineer",)
    (engineer,) = [one for one in found.differences if one.what == "engineer"]
    assert engineer.diff.startswith("--- R1/engineer (rolled back) (rejected)\n+++ R2/engineer (stands)\n")
