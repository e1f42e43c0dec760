"""The moves of the workflow language, rule 17 (plain goto) first: it is the subtlest."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from reconvene.core.facts import commands as c
from reconvene.core.person.checkpoint import current_digest
from reconvene.errors import Refused, StaleDecision
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow

TALK = """
name: talk
agents: {a: {}, b: {}}
phases:
  - id: one
    agents: [a]
    output: one
    rounds: {max: 3}
    checkpoint:
      fields: [{id: answer, type: text, into: answers.one}]
      options:
        - {label: Done, then: continue}
        - {label: Discuss, remark: required, then: again}
  - {id: quiet, agents: [b], output: quiet}
  - id: two
    agents: [b]
    output: two
    checkpoint:
      fields: [{id: answer, type: text, into: answers.two}]
      options:
        - {label: Done, then: continue}
        - {label: Back, then: {goto: one}}
        - {label: Previous, then: {goto: previous}}
  - id: three
    agents: [b]
    checkpoint:
      options:
        - {label: Done, then: continue}
        - {label: Back to one, then: {goto: one}}
        - {label: Previous, then: {goto: previous}}
"""


def play(text: str = TALK, **inputs: object) -> Play:
    return Play(parse_workflow(text), inputs)


def at_two() -> Play:
    game = play()
    game.finish("a", "first")
    game.decide("Done", fields={"answer": "yes"})
    game.finish("b")
    game.finish("b")
    assert game.phase == "two"
    return game


def test_goto_reopens_the_earlier_checkpoint_and_runs_nothing():
    game = at_two()
    entered = game.entered()
    game.decide("Back")
    assert game.phase == "one"
    assert game.state.status == "waiting"
    assert game.working() == []
    assert game.entered() == entered
    assert game.context()["one"] == "first"


def test_continue_at_a_reopened_checkpoint_returns_to_the_next_visit_when_nothing_changed():
    game = at_two()
    before = game.state.world.values
    game.decide("Back")
    game.decide("Done")
    assert game.phase == "two"
    assert game.state.status == "waiting"
    assert game.state.world.values == before
    assert game.entered() == ["one#1", "quiet#1", "two#1"]


def test_continue_after_a_changed_answer_enters_the_later_phases_anew():
    game = at_two()
    game.decide("Back")
    game.decide("Done", fields={"answer": "no"})
    assert game.working() == ["b"]
    game.finish("b")
    game.finish("b")
    assert game.entered() == ["one#1", "quiet#1", "two#1", "quiet#2", "two#2"]
    assert game.context()["answers"] == {"one": "no"}


def test_a_remark_at_a_reopened_checkpoint_counts_as_a_change():
    game = at_two()
    game.decide("Back")
    game.do(c.AddRemark(c.RemarkIn("by the way"), by="ann"))
    game.decide("Done")
    assert game.working() == ["b"]


def test_a_change_at_a_later_visit_is_remembered_when_going_further_back():
    game = at_two()
    game.decide("Done")
    game.finish("b")
    assert game.phase == "three"
    game.decide("Previous")
    assert game.phase == "two"
    game.do(c.AddRemark(c.RemarkIn("this changes things"), by="ann"))
    game.decide("Previous")
    assert game.phase == "one"
    game.decide("Done")
    assert game.phase == "two", "nothing changed at one, so the next visit comes back"
    game.decide("Done")
    assert game.phase == "three"
    assert game.working() == ["b"], "but what lies behind two is entered anew"


def test_another_round_at_a_reopened_checkpoint_forgets_the_later_visits():
    game = at_two()
    game.decide("Back")
    game.decide("Discuss", "why?")
    assert game.working() == ["a"]
    game.finish("a", "second")
    game.decide("Done")
    assert game.working() == ["b"]
    assert game.context()["one"] == "second"


def test_answers_survive_going_back_and_forth():
    game = at_two()
    game.decide("Back", fields={"answer": "half an answer"})
    game.decide("Done")
    assert game.phase == "two"
    game.decide("Done")
    assert game.context()["answers"] == {"one": "yes", "two": "half an answer"}


def test_previous_from_the_first_checkpoint_is_not_available():
    text = TALK.replace(
        "- {label: Discuss, remark: required, then: again}",
        "- {label: Discuss, remark: required, then: again}\n        - {label: Previous, then: {goto: previous}}",
    )
    game = play(text)
    game.finish("a")
    assert "Previous" not in game.labels
    with pytest.raises(Refused, match="nothing to go back to"):
        game.decide("Previous")


EACH = """
name: sections
agents: {a: {}, w: {}}
phases:
  - {id: outline, agents: [a], output: outline, checkpoint: {options: [{label: Ok, then: continue}]}}
  - id: design
    each: {of: "context.outline.sections", key: id}
    agents: [w]
    output: section
    rounds: {max: 3}
    checkpoint:
      options:
        - {label: Approve, then: continue}
        - {label: Revise, remark: required, then: again}
        - {label: Previous, then: {goto: previous}}
        - {label: Back, then: {goto: outline}}
"""
SECTIONS = {"sections": [{"id": "s1"}, {"id": "s2"}, {"id": "s3"}]}


def test_previous_walks_back_through_the_items_of_an_each_and_keeps_their_values():
    game = play(EACH)
    game.finish("a", value=SECTIONS)
    game.decide("Ok")
    game.finish("w", "text of s1")
    game.decide("Approve")
    game.finish("w", "text of s2")
    game.decide("Revise", "shorter")
    game.finish("w", "short s2")
    game.decide("Previous")
    assert game.state.world.top.item.key == "s1"
    assert game.context()["section"] == "text of s1"
    game.decide("Approve")
    assert game.state.world.top.item.key == "s2"
    assert game.context()["section"] == "short s2"
    game.decide("Previous")
    game.decide("Previous")
    assert game.phase == "outline"


def test_the_items_of_an_each_are_asked_anew_at_every_boundary():
    game = play(EACH)
    game.finish("a", value=SECTIONS)
    game.decide("Ok")
    for text in ("1", "2", "3"):
        game.finish("w", text)
        game.decide("Approve")
    assert game.state.status == "completed"


REPEAT = """
name: repeat
agents: {a: {}, b: {}}
limits: {entries: 3}
phases:
  - {id: draft, agents: [a], output: draft}
  - {id: optional, agents: [b]}
  - id: review
    agents: [b]
    checkpoint:
      options:
        - {label: Accept, on_select: {action: continue}}
        - {label: Again, with_feedback: true, on_select: {action: repeat_phase, target: draft}}
        - {label: Here, on_select: {action: repeat_phase, target: current}}
        - {label: Skip, with_feedback: true, on_select: {action: skip_phases, phases: [after, later]}}
        - {label: Stop, with_feedback: true, on_select: {action: abort}}
  - {id: after, agents: [a]}
  - {id: later, agents: [a]}
"""


def at_review() -> Play:
    game = play(REPEAT)
    for agent in ("a", "b", "b"):
        game.finish(agent)
    assert game.phase == "review"
    return game


def test_repeat_phase_enters_the_target_and_everything_between_anew_and_counts():
    game = at_review()
    game.decide("Again", "too long")
    for agent in ("a", "b", "b"):
        game.finish(agent)
    counts = game.context()["phases"]["iteration_counts"]
    assert counts == {"draft": 2, "optional": 2, "review": 2}
    row = game.context()["checkpoints"][0]
    assert (row["phase"], row["decision"], row["target"], row["feedback"]) == (
        "review",
        "repeat_phase",
        "draft",
        "too long",
    )


def test_repeat_current_runs_only_this_phase_again():
    game = at_review()
    game.decide("Here")
    assert game.working() == ["b"]
    game.finish("b")
    assert game.context()["phases"]["iteration_counts"] == {"draft": 1, "optional": 1, "review": 2}


def test_the_entry_limit_makes_a_repeat_unavailable_and_names_itself():
    game = at_review()
    for _ in range(2):
        game.decide("Here")
        game.finish("b")
    with pytest.raises(Refused, match=r"limit entries \(3 per phase\) of review"):
        game.decide("Here")
    assert "Accept" in game.labels


def test_skip_phases_skips_and_is_recorded_in_the_seeds_words():
    game = at_review()
    game.decide("Skip", "not needed for now")
    assert game.state.status == "completed"
    context = game.context()
    assert context["skip_phases"] == ["after", "later"]
    row = context["checkpoints"][0]
    assert (row["decision"], row["skipped"], row["feedback"]) == (
        "skip_phases",
        ["after", "later"],
        "not needed for now",
    )


def test_repeat_phase_takes_its_target_off_the_skip_list():
    text = REPEAT.replace(
        "{id: optional, agents: [b]}",
        "{id: optional, agents: [b], checkpoint: {options: [{label: Skip review, then: continue, skip: [draft]}]}}",
    )
    game = play(text)
    game.finish("a")
    game.finish("b")
    game.decide("Skip review")
    game.finish("b")
    assert game.context()["skip_phases"] == ["draft"]
    game.decide("Again")
    assert game.working() == ["a"]
    assert game.context()["skip_phases"] == []


def test_abort_records_the_feedback_first_and_ends_aborted():
    game = at_review()
    events = [type(event).__name__ for event in game.decide("Stop", "changed our minds")]
    assert events.index("RemarkAdded") < events.index("DecisionRecorded") < events.index("RunEnded")
    assert game.state.status == "aborted"
    assert game.context()["checkpoints"][0]["decision"] == "abort"


def test_the_same_decision_twice_adds_nothing_and_another_one_is_refused():
    game = at_review()
    point = game.state.world.open.id
    game.decide("Again", "too long", checkpoint=point)
    assert game.decide("Again", "too long", checkpoint=point) == []
    with pytest.raises(StaleDecision, match="decided already: 'Again' by ann"):
        game.decide("Accept", checkpoint=point)


def test_an_unknown_option_is_refused_with_the_nearest_one():
    game = at_review()
    with pytest.raises(Refused) as caught:
        game.decide("Acept")
    assert "Did you mean 'Accept'?" in caught.value.hint


def test_the_version_of_what_is_shown_covers_the_commit_in_the_persons_project():
    game = at_review()
    state = game.state
    seen = {current_digest(replace(state, world=replace(state.world, head=head))) for head in ("", "c0ffee", "beef")}
    assert len(seen) == 3


def test_a_decision_on_another_version_than_the_open_one_is_refused():
    game = at_review()
    seen = game.state.world.open.digest
    assert current_digest(game.state) == seen
    game.do(c.AddRemark(c.RemarkIn("a remark is part of what is shown"), by="ann"))
    with pytest.raises(StaleDecision, match="not what is there now"):
        game.do(c.AnswerCheckpoint("", "Here", digest=seen, by="ann"))
    now = current_digest(game.state)
    game.do(c.AnswerCheckpoint("", "Here", digest=seen, current=now, since=("FB-001",), by="ann"))
    decision = game.state.record.decisions[1]
    assert (decision.digest, decision.since) == (seen, ("FB-001",))
    game.finish("b")
    with pytest.raises(StaleDecision, match="not what is there now"):
        game.do(c.AnswerCheckpoint("", "Accept", digest=now, by="ann"))


def test_the_same_decision_of_somebody_else_or_on_another_version_is_not_the_same():
    game = at_review()
    point, seen = game.state.world.open.id, game.state.world.open.digest
    game.do(c.AnswerCheckpoint(point, "Again", digest=seen, by="ann"))
    assert game.do(c.AnswerCheckpoint(point, "Again", digest=seen, by="ann")) == []
    for command in (
        c.AnswerCheckpoint(point, "Again", digest=seen, by="bob"),
        c.AnswerCheckpoint(point, "Again", digest="0" * 32, by="ann"),
    ):
        with pytest.raises(StaleDecision, match="decided already: 'Again' by ann"):
            game.do(command)
