"""Brainstorm as packaged: the level sets the process, the person talks, decides and goes back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from reconvene.app import measures as review_of
from reconvene.errors import Refused

from .brainstorming import (
    AGREE,
    LONG,
    Talk,
    approaches,
    asked_approach,
    batches,
    brainstormer,
    outline,
    questions,
    section,
    triage,
)

Sit = Callable[..., Talk]
DEFERRED = "user deferred — use your best judgment"


@pytest.fixture
def talk(tmp_path: Path) -> Iterator[Sit]:
    talks: list[Talk] = []

    def start(**replies: object) -> Talk:
        talks.append(Talk(tmp_path / f"home-{len(talks)}", **replies))
        return talks[-1]

    yield start
    for one in talks:
        one.close()
        assert one.state.record.errors == ()  # every template and every expression worked


def by_phase(**answers: object) -> object:
    """The usual brainstormer, with other answers in some phases; a list is taken in order, its last one repeats."""
    left = {phase: list(given) if isinstance(given, list) else [given] for phase, given in answers.items()}

    def answer(work: object) -> object:
        queue = left.get(work.phase)  # type: ignore[attr-defined]
        if not queue:
            return brainstormer(work)  # type: ignore[arg-type]
        given = queue.pop(0) if len(queue) > 1 else queue[0]
        return given(work) if callable(given) else given

    return answer


def approve_all(one: Talk) -> Talk:
    while one.phase == "design":
        one.decide("Approve")
    return one


# --- the level sets the process ---------------------------------------------------------------------------------------


def test_a_straightforward_change_has_no_questions_and_no_approaches(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage("straightforward")))
    assert "Brainstormer assessment: Straightforward" in one.open.prompt
    assert one.offered == [
        "Agree — quick design outline",
        "Override — needs exploration",
        "Override — complex",
        "Discuss",
        "Agree, with other batches",
        "Skip to planning",
    ]
    one.decide(AGREE["straightforward"])
    assert one.phase == "design"
    assert "Section 1 of 1" in one.open.prompt
    assert "The approach: Journal file" in one.open.prompt  # picked by the brainstormer, named by the design
    assert "Back to approaches" not in one.offered
    one.decide("Approve")
    assert "Approach: **Journal file**" in one.file("design.md")


@pytest.mark.parametrize(("level", "few", "many"), [("exploration", 3, 5), ("complex", 5, 7)])
def test_the_level_sets_the_number_of_questions(talk: Sit, level: str, few: int, many: int):
    one = talk(
        brainstormer=by_phase(
            triage=triage(level), questions=[questions(few - 1), questions(many + 1), questions(many)]
        )
    )
    one.decide(AGREE[level])
    assert len(one.open.fields) == many
    first, second, third = one.asked("brainstormer", "questions")
    assert f"{few} to {many} questions" in first
    assert "does not fit the level" in first, "it is told before the work"
    assert "was sent back" not in first
    assert "does not fit the level" in second.partition("was sent back")[2].partition("</attempt-")[0]
    assert "does not fit the level" in third.partition("was sent back")[2].partition("</attempt-")[0]


def test_complex_sections_must_be_deep(talk: Sit):
    one = talk(
        brainstormer=by_phase(
            triage=triage("complex"),
            design=[lambda work: section(asked_approach(work), "Too thin to build from."), brainstormer],
        )
    )
    one.decide(AGREE["complex"]).decide("Done").decide("Choose")
    assert "Section 1 of 3" in one.open.prompt
    assert LONG.strip() in one.open.prompt
    assert "too thin" in one.asked("brainstormer", "design")[1]


def test_an_override_changes_the_flow_and_applies_no_skips(talk: Sit):
    skipping = triage("straightforward", suggestedSkips=["questions", "design"])
    one = talk(brainstormer=by_phase(triage=skipping))
    assert "Skipped: questions, design (or choose which)." in one.open.prompt
    one.decide("Override — complex")
    assert one.phase == "questions"
    assert len(one.open.fields) == 5


def test_suggested_skips_are_applied_on_agreement(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage("exploration", suggestedSkips=["questions"])))
    one.decide(AGREE["exploration"])
    assert one.phase == "approaches"
    two = talk(brainstormer=by_phase(triage=triage("exploration", suggestedSkips=["design"])))
    two.decide(AGREE["exploration"]).decide("Done").decide("Choose")
    assert two.phase == "plan_review"


def test_a_higher_proposal_can_be_overridden_downwards(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage("complex")))
    one.decide("Override — straightforward")
    assert one.phase == "design"
    assert "Section 1 of 1" in one.open.prompt


def test_skip_to_planning_goes_straight_to_the_plan(talk: Sit):
    one = talk()
    one.decide("Skip to planning")
    assert one.phase == "plan_review"
    assert "There is no design" in one.file("design.md")


def test_no_skip_can_name_a_review(talk: Sit):
    one = talk(brainstormer=by_phase(triage=[triage(suggestedSkips=["task_review"]), triage()]))
    assert "suggestedSkips" in one.asked("brainstormer", "triage")[1]
    assert one.phase == "triage"


# --- the conversation -------------------------------------------------------------------------------------------------


def test_discussing_the_assessment_revises_it(talk: Sit):
    revised = triage("straightforward", reply="You are right, the store exists.")
    one = talk(brainstormer=by_phase(triage=[triage("complex"), revised]))
    one.decide("Discuss", "We have a store for this already")
    assert "You are right, the store exists." in one.open.prompt
    assert "Straightforward" in one.open.prompt
    assert "We have a store for this already" in one.asked("brainstormer", "triage")[1]


def test_answers_stay_when_the_questions_are_discussed_and_the_rest_is_deferred(talk: Sit):
    revised = questions(0, "q1", "q3", "q4", reply="Dropped, since it never was a matter of speed.")
    one = talk(brainstormer=by_phase(questions=[questions(3), revised]))
    one.decide(AGREE["exploration"])
    one.draft(q1="a file", q3="on every key")
    one.decide("Discuss", "q2 makes no sense")
    assert [field.id for field in one.open.fields] == ["q1", "q3", "q4"]
    one.decide("Done")
    assert one.context["answers"] == {"q1": "a file", "q3": "on every key", "q4": DEFERRED}
    assert "a file" in one.file("answers.md")
    assert DEFERRED in one.asked("brainstormer", "approaches")[0]


def test_going_back_keeps_answers_and_selections(talk: Sit):
    one = talk()
    one.decide(AGREE["exploration"]).decide("Done", q1="a database")
    assert one.phase == "approaches"
    one.decide("Back to questions", pick="Small database")
    assert one.phase == "questions"
    one.decide("Done")
    assert one.phase == "approaches"
    assert one.context["answers"]["q1"] == "a database"  # type: ignore[index]
    one.decide("Choose")
    assert one.context["approach"] == "Small database"
    assert len(one.asked("brainstormer", "questions")) == 1


def test_the_recommended_approach_is_taken_where_nothing_else_is_picked(talk: Sit):
    one = talk()
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose")
    assert one.context["approach"] == "Journal file"


def test_an_approach_of_ones_own_counts_instead(talk: Sit):
    one = talk()
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose", pick="Both, the journal in front of the database")
    assert "Both, the journal in front of the database" in one.asked("brainstormer", "outline")[0]
    assert one.phase == "design"


def test_sections_are_approved_one_by_one_and_make_the_design(talk: Sit):
    one = talk()
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose")
    assert "Section 1 of 2" in one.open.prompt
    assert "Previous section" not in one.offered
    assert "It works" not in one.file("design.md")
    one.decide("Approve")
    assert "Section 2 of 2" in one.open.prompt
    assert one.file("design.md").count("## ") == 1
    one.decide("Previous section")
    assert "Section 1 of 2" in one.open.prompt
    one.decide("Approve")
    assert "Section 2 of 2" in one.open.prompt
    one.decide("Approve")
    assert one.phase == "plan_review"
    assert one.file("design.md").count("## ") == 2
    assert len(one.asked("brainstormer", "design")) == 2


def test_a_revised_section_replaces_the_old_one(talk: Sit):
    def revised(work: object) -> object:
        return section(asked_approach(work), "Now with a checksum in every line.", reply="Added the checksum.")  # type: ignore[arg-type]

    one = talk(brainstormer=by_phase(triage=triage("straightforward"), design=[brainstormer, revised]))
    one.decide(AGREE["straightforward"]).decide("Revise", "Add a checksum")
    assert "Added the checksum." in one.open.prompt
    one.decide("Approve")
    assert "Now with a checksum in every line." in one.file("design.md")
    assert LONG.strip() not in one.file("design.md")


def test_another_approach_means_another_design(talk: Sit):
    one = talk()
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose").decide("Approve")
    one.decide("Back to approaches")
    one.decide("Choose", pick="Small database")
    assert "Section 1 of 2" in one.open.prompt
    assert "The approach: Small database" in one.open.prompt


def test_a_discussion_is_the_revising_prompt_with_the_talk_and_the_answers(talk: Sit):
    one = talk(brainstormer=by_phase(questions=[questions(3), questions(3), questions(3)]))
    one.decide(AGREE["exploration"]).draft(q1="a file")
    one.decide("Discuss", "Why does q2 matter?").decide("Discuss", "And q3?")
    first, second, third = one.asked("brainstormer", "questions")
    assert "Step: questions. Ask what changes" in first
    assert "Why does q2 matter?" not in first
    order = (
        "typed notes are kept in memory",
        "Step: questions, revised",
        "Why does q2 matter?",
        "a file",
        "And q3?",
    )
    places = [third.rindex(part) for part in order]
    assert places == sorted(places)
    assert "And q3?" not in second


def test_a_replaced_answer_is_said_to_be_replaced(talk: Sit):
    revised = questions(0, "q2", "q3", "where", reply="Better asked this way.")
    revised["list"][2] |= {"replaces": "q1", "text": "Where shall the journal live?"}  # type: ignore[index]
    one = talk(brainstormer=by_phase(questions=[questions(3), revised]))
    one.decide(AGREE["exploration"]).draft(q1="a file", q3="on every key")
    one.decide("Discuss", "q1 is not the question")
    note = next(field.note for field in one.open.fields if field.id == "where")
    assert "replaces" in note
    assert "a file" in note
    one.decide("Done", where="beside the notes")
    assert one.context["answers"]["where"] == "beside the notes"  # type: ignore[index]
    assert "on every key" in one.file("answers.md")
    assert "a file" not in one.file("answers.md")


def test_a_discussed_section_is_answered_and_a_revised_one_changed(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage("straightforward")))
    one.decide(AGREE["straightforward"]).decide("Discuss", "Why a journal?").decide("Revise", "Say where it lives")
    _, discussed, revised = one.asked("brainstormer", "design")
    assert "They want to talk about it first" in discussed
    assert "They asked for changes" in revised


def test_independent_pieces_become_queued_runs_once_the_person_confirms(talk: Sit):
    pieces = [
        {"id": "notes", "title": "Notes", "description": "Keep the notes."},
        {"id": "help", "title": "Help", "description": "Write the help."},
    ]
    one = talk(brainstormer=by_phase(triage=[triage(), triage("exploration", split=pieces)]))
    assert "Split into separate runs" not in one.offered
    one.decide("Discuss", "These are two things")
    assert "**Notes**: Keep the notes." in one.open.prompt
    with pytest.raises(Refused):
        one.decide("Split into separate runs")
    assert one.engine.log.index(status="queued") == []
    one.decide("Split into separate runs", sure=True)
    assert (one.state.status, one.state.outcome) == ("completed", "split")
    queued = sorted(row.run for row in one.engine.log.index(status="queued"))
    assert queued == [f"{one.run}.help", f"{one.run}.notes"]
    assert "reconvene queue" in one.file("summary.md")
    piece = one.engine.load(f"{one.run}.notes")
    assert [remark.text for remark in piece.record.remarks.values()] == ["These are two things"]
    given = one.engine.session(piece.run).book.object(piece.inputs)
    assert given["description"] == "Keep the notes."
    assert given["project"]
    piece = one.engine.drive_sync(piece.run)
    assert piece.world.top.phase == "triage"
    assert "Keep the notes." in one.agents.of("brainstormer")[-1].prompt


# --- when things go wrong ---------------------------------------------------------------------------------------------


def test_prose_instead_of_an_assessment_is_shown_and_the_person_goes_on_by_hand(talk: Sit):
    one = talk(brainstormer=by_phase(triage="I think this is rather simple, really."))
    assert "I think this is rather simple, really." in one.trouble.prompt
    assert len(one.asked("brainstormer", "triage")) == 3
    one.decide("Go on without it")
    assert "Choose a level yourself" in one.open.prompt
    assert one.offered == [
        "Override — straightforward",
        "Override — needs exploration",
        "Override — complex",
        "Discuss",
        "Skip to planning",
    ]
    one.decide("Override — needs exploration")
    assert one.phase == "questions"


def test_a_dropped_answer_is_sent_back(talk: Sit):
    lost = questions(0, "q2", "q3", "q4")
    one = talk(brainstormer=by_phase(questions=[questions(3), lost, questions(0, "q1", "q2", dropped=["q3"])]))
    one.decide(AGREE["exploration"]).draft(q1="a file")
    one.decide("Discuss", "Fewer, please")
    assert "answered is gone" in one.asked("brainstormer", "questions")[2]
    assert [field.id for field in one.open.fields] == ["q1", "q2"]


def test_a_question_may_not_lose_the_option_that_was_its_answer(talk: Sit):
    changed = questions(3)
    changed["list"][0]["options"] = ["the cloud", "a database"]  # type: ignore[index]
    one = talk(brainstormer=by_phase(questions=[questions(3), changed, questions(3)]))
    one.decide(AGREE["exploration"]).draft(q1="a file").decide("Discuss", "What about the cloud?")
    assert "no longer among the options" in one.asked("brainstormer", "questions")[2]


def test_what_was_deferred_may_be_dropped(talk: Sit):
    revised = questions(0, "q4", dropped=["q1", "q2", "q3"])
    one = talk(brainstormer=by_phase(questions=[questions(3), revised]))
    one.decide(AGREE["exploration"]).decide("Done").decide("Back to questions").decide("Discuss", "Other ones, please")
    assert [field.id for field in one.open.fields] == ["q4"]


@pytest.mark.parametrize("wrong", [questions(2), questions(6), questions(2, dropped=["never-asked"])])
def test_the_number_of_questions_holds_for_revised_sets_unless_the_person_cut_them(talk: Sit, wrong: object):
    cut = questions(2, dropped=["q3"])
    one = talk(brainstormer=by_phase(questions=[questions(3), wrong, cut]))
    one.decide(AGREE["exploration"]).decide("Discuss", "The third is pointless")
    assert "does not fit the level" in one.asked("brainstormer", "questions")[2]
    assert [field.id for field in one.open.fields] == ["q1", "q2"]


def test_suggested_skips_can_be_ticked_one_by_one(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage(suggestedSkips=["questions", "approaches"])))
    one.decide("Agree, but choose what is skipped", questions="keep", approaches="skip")
    assert one.phase == "questions"
    one.decide("Done")
    assert one.phase == "design"


def test_agree_says_what_will_happen_with_a_split_on_the_table(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage(split=batches("api", "help"))))
    assert "all of it in this one run, not split" in one.open.prompt
    assert "Agree, and do not split — questions, approaches, design" in one.offered
    assert AGREE["exploration"] not in one.offered


def test_a_choice_can_be_answered_in_ones_own_words(talk: Sit):
    one = talk().decide(AGREE["exploration"]).decide("Discuss", "Hm", q1="in the cloud, encrypted")
    assert one.context is not None
    one.decide("Done")
    assert one.context["answers"]["q1"] == "in the cloud, encrypted"  # type: ignore[index]


def test_an_answer_to_other_words_is_asked_about_and_never_stands_silently(talk: Sit):
    def worded(text: str, **more: object) -> dict[str, object]:
        asked = questions(3, **more)
        asked["list"][1]["text"] = text  # type: ignore[index]
        return asked

    sets = [questions(3), worded("How many notes?"), worded("How many notes?"), worded("How old are notes?")]
    one = talk(brainstormer=by_phase(questions=sets))
    one.decide(AGREE["exploration"]).decide("Discuss", "Say it otherwise", q2="ten", q1="a file")
    for _ in range(2):  # also while nothing is said about it
        notes = {field.id: field.note for field in one.open.fields}
        assert notes == {
            "q1": "",
            "q3": "",
            "q2": "you answered “ten” when it was asked as “What about q2?”: still right?",
        }
        one.decide("Discuss", "Go on")
    notes = {field.id: field.note for field in one.open.fields}
    assert notes["q2"] == "you answered “ten” when it was asked as “What about q2?”: still right?"
    one.decide("Discuss", "A year", q2="a year")  # answered anew
    assert {field.id: field.note for field in one.open.fields}["q2"] == ""


def test_another_level_makes_new_questions_that_inherit_nothing_by_their_id(talk: Sit):
    deeper = questions(0, "q1", "a", "b", "c", "d")
    one = talk(brainstormer=by_phase(questions=[questions(3), questions(3), deeper]))
    one.decide(AGREE["exploration"]).decide("Discuss", "Hm", q1="a file", q2="ten")
    one.decide("Back to the assessment").decide("Override — complex")
    assert one.phase == "questions"
    one.decide("Done")
    assert set(one.context["answers"].values()) == {DEFERRED}  # type: ignore[union-attr]
    assert len(one.context["answers"]) == 5  # type: ignore[arg-type]


def test_going_back_and_forth_at_the_same_level_keeps_the_answers(talk: Sit):
    one = talk().decide(AGREE["exploration"]).decide("Discuss", "Hm", q1="a file")
    one.decide("Back to the assessment").decide(AGREE["exploration"]).decide("Done")
    assert one.context["answers"]["q1"] == "a file"  # type: ignore[index]


@pytest.mark.parametrize("count", [0, 1, 6, 12])
def test_too_few_or_too_many_approaches_are_sent_back(talk: Sit, count: int):
    wrong = approaches(*(f"Way {n}" for n in range(count))) if count else {"list": [], "recommended": ""}
    one = talk(brainstormer=by_phase(approaches=[wrong, approaches()]))
    one.decide(AGREE["exploration"]).decide("Done")
    assert "two to five approaches" in one.asked("brainstormer", "approaches")[1]
    assert one.phase == "approaches"


def test_without_any_approach_the_person_describes_their_own(talk: Sit):
    one = talk(brainstormer=by_phase(approaches={"list": [], "recommended": ""}))
    one.decide(AGREE["exploration"]).decide("Done")
    assert "two to five approaches" in one.trouble.prompt
    one.decide("Go on without it")
    assert "Describe your own" in one.open.prompt
    one.decide("Choose", pick="A journal")
    assert one.phase == "design"


def test_a_recommendation_must_exist(talk: Sit):
    one = talk(brainstormer=by_phase(approaches=[approaches("A", "B", recommended="C"), approaches("A", "B")]))
    one.decide(AGREE["exploration"]).decide("Done")
    assert "`recommended` must be the title" in one.asked("brainstormer", "approaches")[1]


def test_an_outline_that_contradicts_the_choice_is_sent_back(talk: Sit):
    one = talk(brainstormer=by_phase(outline=[outline("Journal file", "store", "screen"), brainstormer]))
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose", pick="Small database")
    assert "The person chose another approach" in one.asked("brainstormer", "outline")[1]
    assert "The approach: Small database" in one.open.prompt


def test_a_section_that_follows_another_approach_is_sent_back(talk: Sit):
    one = talk(brainstormer=by_phase(design=[section("Small database"), brainstormer]))
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose")
    assert "follows another approach" in one.asked("brainstormer", "design")[1]


def test_a_batch_that_depends_on_a_later_one_is_sent_back(talk: Sit):
    first, second = batches("store", "screen")
    wrong = triage(batches=[{**first, "depends_on": ["screen"]}, second])
    right = triage(batches=[first, {**second, "depends_on": ["store"]}])
    one = talk(brainstormer=by_phase(triage=[wrong, right]))
    assert "depends on a later one" in one.asked("brainstormer", "triage")[1]
    assert "It suggests 2 batches" in one.open.prompt


def test_a_section_that_never_comes_can_be_written_by_hand(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage("straightforward"), design="No."))
    one.decide(AGREE["straightforward"]).decide("Go on without it")
    assert one.offered == ["Use my words", "Revise", "Discuss", "Back to the assessment"]
    one.decide("Use my words", words="It appends to a journal.")
    assert "It appends to a journal." in one.file("design.md")


def test_without_a_usable_outline_the_design_is_one_section_of_what_the_person_chose(talk: Sit):
    one = talk(brainstormer=by_phase(outline=outline("Journal file", "store", "screen")))
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose", pick="Small database")
    assert "The person chose another approach" in one.trouble.prompt
    one.decide("Go on without it")
    assert "Section 1 of 1" in one.open.prompt
    assert "The approach: Small database." in one.open.prompt
    one.decide("Approve")
    assert one.phase == "plan_review"
    assert "Approach: **Small database**" in one.file("design.md")
    assert "The journal is a file" in one.file("design.md")
    assert "Approach: **Small database**" in one.agents.of("planner")[0].prompt


def test_an_outline_of_an_approach_given_up_since_is_not_taken(talk: Sit):
    outlines = [brainstormer, outline("Journal file", "store", "screen")]
    one = talk(brainstormer=by_phase(outline=outlines))
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose", pick="Journal file").decide("Back to approaches")
    one.decide("Choose", pick="Small database").decide("Go on without it")
    assert "Section 1 of 1" in one.open.prompt
    assert "The approach: Small database." in one.open.prompt
    assert "“Small database”" in one.asked("brainstormer", "design")[-1]


def test_an_approach_chosen_without_a_design_is_told_to_the_planner(talk: Sit):
    one = talk(brainstormer=by_phase(triage=triage(suggestedSkips=["design"])))
    one.decide(AGREE["exploration"]).decide("Done").decide("Choose", pick="Carve it in stone")
    assert one.phase == "plan_review"
    assert "Approach: **Carve it in stone**" in one.agents.of("planner")[0].prompt


@pytest.mark.parametrize(
    ("level", "skips", "back"),
    [
        ("straightforward", [], "Back to the assessment"),
        ("exploration", ["questions", "approaches"], "Back to the assessment"),
        ("exploration", ["questions"], "Back to approaches"),
    ],
)
def test_from_the_design_there_is_always_a_way_back(talk: Sit, level: str, skips: list[str], back: str):
    one = talk(brainstormer=by_phase(triage=triage(level, suggestedSkips=skips))).decide(AGREE[level])
    if one.phase == "approaches":
        assert one.offered == ["Choose", "Discuss", "Back to the assessment"]
        one.decide("Choose")
    assert one.phase == "design"
    assert one.offered[-1] == back
    one.decide(back)
    assert one.phase == {"Back to approaches": "approaches"}.get(back, "triage")


def test_without_approaches_by_hand_the_way_back_stays_open(talk: Sit):
    one = talk(brainstormer=by_phase(approaches={"list": [], "recommended": ""}))
    one.decide(AGREE["exploration"]).decide("Done").decide("Go on without it").decide("Choose", pick="A journal")
    one.decide("Back to approaches")
    assert one.phase == "approaches"


def test_a_revision_that_is_unusable_leaves_the_questions_and_answers_as_they_were(talk: Sit):
    one = talk(brainstormer=by_phase(questions=[questions(3), "Prose.", "Prose.", "Prose."]))
    one.decide(AGREE["exploration"]).draft(q1="a file").decide("Discuss", "Why q2?")
    assert "keeps what was there before" in one.trouble.prompt
    one.decide("Go on without it")
    assert [field.id for field in one.open.fields] == ["q1", "q2", "q3"]
    one.decide("Done")
    assert "a file" in one.file("answers.md")


def test_what_the_brainstormer_replied_to_is_claimed_with_its_words_and_what_it_passed_over_is_not(talk: Sit):
    replies = [questions(3), questions(3, reply="Because of the\nload."), questions(3)]
    one = talk(brainstormer=by_phase(questions=replies))
    one.decide(AGREE["exploration"]).decide("Discuss", "Why q2?").decide("Discuss", "And q3?")
    first, second = review_of.ledger(one.engine, one.run).entries
    assert (first.status, [answer.reason for answer in first.answers]) == ("claimed", ["Because of the load."])
    assert (second.open, [answer.how for answer in second.answers]) == (True, ["silent"])  # its text changed, no more
