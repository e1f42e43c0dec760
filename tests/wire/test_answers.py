from __future__ import annotations

import pytest

from reconvene.core.facts.commands import RemarkIn
from reconvene.errors import UserError
from reconvene.wire.answers_file import Answer, read_answers

ISSUED = """\
# decisions, taken in order
- {option: Continue}
- {option: Again, feedback: ["correction: Revenue is $900M, not $850M", "shorter please"]}
- {option: Continue}
- {option: Accept}
"""


def test_decisions_keep_their_order_their_feedback_and_their_lines() -> None:
    answers = read_answers(ISSUED, "answers.yaml")
    assert [answer.option for answer in answers] == ["Continue", "Again", "Continue", "Accept"]
    assert [answer.line for answer in answers] == [2, 3, 4, 5]
    assert answers[1].remarks == (
        RemarkIn("Revenue is $900M, not $850M", "correction"),
        RemarkIn("shorter please", ""),
    )


def test_one_remark_need_not_be_a_list_and_a_bare_label_is_a_decision() -> None:
    assert read_answers('- option: Again\n  feedback: "reaction to economist: too gloomy"\n- Accept\n', "a") == [
        Answer("Again", (RemarkIn("too gloomy", "reaction", "economist"),), number=1, line=1),
        Answer("Accept", number=2, line=3),
    ]


def test_fields_keep_their_types_and_by_names_the_person() -> None:
    text = "- option: Answer\n  by: Ada\n  fields: {count: 3, sure: true, names: [a, b], why: text}\n"
    (answer,) = read_answers(text, "a")
    assert answer.fields == {"count": 3, "sure": True, "names": ["a", "b"], "why": "text"}
    assert answer.by == "Ada"


def test_a_remark_may_be_about_lines_of_a_file() -> None:
    text = '- option: Again\n  feedback: [shorter, {on: "plan.md:12-14", say: "correction: It is 900, not 850"}]\n'
    (answer,) = read_answers(text, "a")
    shorter, comment = answer.remarks
    assert (shorter.text, shorter.lines) == ("shorter", "")
    assert (comment.text, comment.kind, comment.lines) == ("It is 900, not 850", "correction", "plan.md:12-14")


def test_labels_that_look_like_other_things_are_text() -> None:
    answers = read_answers("- {option: Yes}\n- {option: 2}\n- {option: no}\n", "a")
    assert [answer.option for answer in answers] == ["Yes", "2", "no"]


@pytest.mark.parametrize("text", ["", "\n", "# nothing yet\n", "[]"])
def test_an_empty_file_holds_no_decisions(text: str) -> None:
    assert read_answers(text, "a") == []


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("option: Continue", "a.yaml:1: an answers file is a list"),
        ("- {optoin: Continue}", "did you mean 'option'?"),
        ("- {feedback: hm}", "a.yaml:1: entry 1 names no option"),
        ("- Continue\n- [a]", "a.yaml:2: entry 2 is not a decision"),
        ("- {option: A, feedback: {correction: it is 900}}", 'put a remark with a colon in quotes: "correction: …"'),
        ("- {option: A, feedback: [[x]]}", "feedback must be text"),
        ("- A\n- {option: A, feedback: [{on: 'plan.md:1'}]}", "a.yaml:2: entry 2: a comment on lines has on and say"),
        ("- {option: A, feedback: {say: shorter}}", 'is written {on: "plan.md:12", say: "…"}'),
        ("- {option: A, fields: [x]}", "'fields' must name its fields"),
        ("- {option: A, by: [x]}", "'by' must be text"),
        ("- {option: A", "not valid YAML"),
        ("- &a {option: A}\n- *a", "not allowed"),
    ],
)
def test_a_bad_answers_file_is_refused_with_the_line_and_what_to_write(text: str, said: str) -> None:
    with pytest.raises(UserError) as refused:
        read_answers(text, "a.yaml")
    assert said in refused.value.message


def test_every_problem_is_reported_at_once() -> None:
    with pytest.raises(UserError) as refused:
        read_answers("- {feedback: x}\n- {option: A, bye: Ada}\n- [x]\n", "a.yaml")
    assert len(refused.value.message.splitlines()) == 3
