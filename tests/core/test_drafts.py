"""Answers survive: rounds, revised sets, going back and forth, and phases that are entered anew."""

from __future__ import annotations

import pytest
from test_conversation import APPROACHES, QUESTIONS, answer, at_approaches, at_questions, prompt

from reconvene.core.facts import commands as c
from reconvene.core.facts.events import DraftSaved, FieldAsked
from reconvene.core.shown import drafts
from reconvene.errors import Refused
from reconvene.testing.play import Play
from reconvene.wire.workflow_file import parse_workflow


def kept(game: Play) -> dict[str, object]:
    return drafts.here(game.state, game.book)


def asked(game: Play) -> dict[str, FieldAsked]:
    assert game.state.world.open is not None
    return {field.id: field for field in game.state.world.open.fields}


def revised(game: Play, *items: dict[str, object]) -> None:
    game.decide("Discuss", "Please revise.")
    game.finish("brainstormer", value={"list": list(items)})


def test_asking_about_a_question_does_not_close_it():
    game = at_questions()
    answer(game, q1="PostgreSQL")
    game.decide("Discuss", "What does question 2 mean?")
    game.finish("brainstormer", value=QUESTIONS)
    assert list(asked(game)) == ["q1", "q2"]
    assert kept(game) == {"q1": "PostgreSQL"}


def test_done_fills_in_what_was_left_open_and_nothing_else():
    game = at_questions()
    game.decide("Done", fields={"q1": "SQLite"})
    assert game.context()["answers"] == {"q1": "SQLite", "q2": "deferred"}
    game.finish("brainstormer", value=APPROACHES)
    game.decide("Back to questions")
    assert kept(game) == {"q1": "SQLite"}, "what was deferred is still without an answer"


def test_a_revised_set_keeps_answers_by_their_ids():
    game = at_questions()
    answer(game, q1="PostgreSQL", q2="because")
    revised(game, {"id": "q2", "text": "Why now?"}, {"id": "q3", "text": "When?"}, QUESTIONS["list"][0])
    assert kept(game) == {"q1": "PostgreSQL", "q2": "because"}
    noted = {id: field.note for id, field in asked(game).items() if field.note}
    assert noted == {"q2": "you answered “because” when it was asked as “Why?”: still right?"}


def test_a_replaced_question_drops_its_answer_and_says_so():
    game = at_questions()
    answer(game, q1="PostgreSQL", q2="because")
    revised(game, {"id": "q9", "text": "Which cloud?", "replaces": "q1"}, {"id": "q2", "text": "Why?"})
    assert kept(game) == {"q2": "because"}
    assert asked(game)["q9"].note == "replaces “Which store?”, your answer was “PostgreSQL”"
    revised(game, {"id": "q9", "text": "Which cloud?", "replaces": "q1"}, {"id": "q2", "text": "Why?"})
    assert asked(game)["q9"].note, "still said, as long as there is no answer"
    answer(game, q9="none")
    revised(game, {"id": "q9", "text": "Which cloud?", "replaces": "q1"}, {"id": "q2", "text": "Why?"})
    assert kept(game) == {"q2": "because", "q9": "none"}
    assert "PostgreSQL" in "".join(game.book.text(e.fields) for e in game.log if isinstance(e, DraftSaved))


def test_the_value_forgets_the_answer_to_a_replaced_question():
    game = at_questions()
    game.decide("Done", fields={"q1": "SQLite", "q2": "because"})
    game.finish("brainstormer", value=APPROACHES)
    game.decide("Back to questions")
    revised(game, {"id": "q9", "text": "Which cloud?", "replaces": "q1"}, {"id": "q2", "text": "Why?"})
    game.decide("Done", fields={"q9": "none"})
    assert game.context()["answers"] == {"q2": "because", "q9": "none"}


def test_a_question_may_replace_itself():
    game = at_questions()
    answer(game, q2="because")
    changed = {"id": "q2", "text": "Why this year?", "replaces": "q2"}
    revised(game, QUESTIONS["list"][0], changed)
    assert kept(game) == {}
    assert asked(game)["q2"].note == "replaces “Why?”, your answer was “because”"
    answer(game, q2="it is cheap")
    revised(game, QUESTIONS["list"][0], changed)
    assert kept(game) == {"q2": "it is cheap"}, "an answer to the new wording stays"


def test_an_answer_that_is_no_longer_offered_is_set_aside_and_said():
    game = at_approaches()
    answer(game, pick="a")
    game.decide("Discuss", "Something between the two?")
    game.finish("brainstormer", value={"list": [{"id": "b", "title": "Large"}, {"id": "c", "title": "Medium"}]})
    assert kept(game) == {}
    assert "your answer was “a”" in asked(game)["pick"].note
    game.decide("Choose")
    assert game.context()["approach"] is None


def test_going_back_and_forth_keeps_answers_and_selections():
    game = at_approaches()
    answer(game, pick="b")
    game.decide("Back to questions")
    assert kept(game) == {"q1": "SQLite"}
    game.decide("Done")
    assert game.phase == "approaches"
    assert not game.working(), "nothing changed, so nothing runs"
    assert kept(game) == {"pick": "b"}


def test_a_phase_entered_anew_is_prefilled_with_what_still_fits():
    game = at_approaches()
    answer(game, pick="b")
    game.decide("Back to questions")
    game.decide("Done", fields={"q2": "because"})
    assert game.working() == ["brainstormer"]
    assert "### approaches (not final yet)\n\n- [pick] “pick” → b" in prompt(game)
    game.finish("brainstormer", value=APPROACHES)
    assert game.entered()[-1] == "approaches#2"
    assert kept(game) == {"pick": "b"}
    game.decide("Choose")
    assert game.context()["approach"] == "b"


def test_what_was_confirmed_before_is_confirmed_again_in_a_later_entry():
    game = Play(
        parse_workflow(
            "name: n\nagents: {a: {}}\nphases:\n  - id: p\n    agents: [a]\n    checkpoint:\n"
            "      fields: [{id: sure, type: confirm}, {id: why}]\n      options:\n"
            "        - {label: Once more, then: {goto: p, rerun: true}}\n        - {label: Go, then: continue}\n"
        )
    )
    game.finish("a")
    game.decide("Once more", fields={"sure": True, "why": "x"})
    game.finish("a")
    assert kept(game) == {"why": "x"}


def test_a_draft_is_checked_like_an_answer_and_null_takes_one_back():
    game = at_questions()
    with pytest.raises(Refused, match="not one of SQLite, PostgreSQL"):
        answer(game, q1="Oracle")
    answer(game, q1="SQLite")
    answer(game, q1=None)
    assert kept(game) == {}


def test_choices_carry_their_titles_and_what_is_recommended():
    game = at_approaches()
    field = asked(game)["pick"]
    assert (field.options, field.titles, field.recommend) == (("a", "b"), ("Small", "Large"), "b")


GATED = """
name: gated
agents:
  b:
    retries: 1
    gate:
      - if: "Object.keys(drafts).some(id => !output.value.list.some(q => q.id === id || q.replaces === id))"
        retry_with: "Keep the questions that are answered, or name them in replaces."
phases:
  - id: questions
    rounds: {max: 5}
    steps: [{agents: [b], reads: [conversation], output: questions}]
    checkpoint:
      fields: [{each: "context.questions.list", key: id, type: item, into: answers}]
      options:
        - {label: Done, when: "Object.keys(drafts).length > 0", then: continue}
        - {label: Discuss, remark: required, then: again}
"""


def gated() -> Play:
    game = Play(parse_workflow(GATED))
    game.finish("b", value=QUESTIONS)
    return game


def test_a_gate_sees_the_answers_and_rejects_a_set_that_drops_an_answered_question():
    game = gated()
    answer(game, q2="because")
    game.decide("Discuss", "Fewer please.")
    game.finish("b", value={"list": [QUESTIONS["list"][0]]})
    assert "Keep the questions that are answered" in prompt(game, "b")
    game.finish("b", value={"list": [{"id": "q7", "text": "Why?", "replaces": "q2"}]})
    assert list(asked(game)) == ["q7"]


def test_an_option_may_depend_on_the_answers():
    game = gated()
    assert game.labels == ["Discuss"]
    answer(game, q2="because")
    assert game.labels == ["Done", "Discuss"]
    answer(game, q2=None)
    assert game.labels == ["Discuss"]
    game.decide("Done", fields={"q1": "SQLite"})
    assert game.state.ended == "completed", "an answer that comes with the decision counts"


def test_an_option_that_stays_unavailable_refuses_the_answers_with_it():
    game = gated()
    before = game.state
    with pytest.raises(Refused, match="not available"):
        game.do(c.AnswerCheckpoint("", "Done", {"q1": ""}, by="ann"))
    assert game.state is before
