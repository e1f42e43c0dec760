"""The questions are fair: each has an answer among hundreds of passages, and paraphrases share no word with it."""

from __future__ import annotations

import pytest

from reconvene.app.engine import Engine
from reconvene.app.search_contents import of_run
from search_eval.questions import Question, content_words, load

QUESTIONS = load()


def passages(bottles: tuple[Engine, str]) -> list[tuple[str, str]]:
    """Heading and text of each, the same one once."""
    found = of_run(*bottles)
    return list(dict.fromkeys((part.heading, part.text) for one in found.contents for part in found.cut(one)))


def test_there_are_twenty_questions_and_ten_paraphrases_about_more_than_three_hundred_passages(
    bottles: tuple[Engine, str],
):
    assert (len(QUESTIONS.ordinary), len(QUESTIONS.paraphrases)) == (20, 10)
    assert len({text for _, text in passages(bottles)}) >= 300


def test_every_question_has_its_answer_in_few_passages(bottles: tuple[Engine, str]):
    for question in (*QUESTIONS.ordinary, *QUESTIONS.paraphrases):
        assert 1 <= sum(question.answered_by(text) for _, text in passages(bottles)) <= 3, question.ask


@pytest.mark.parametrize("question", QUESTIONS.paraphrases, ids=lambda question: question.ask)
def test_a_paraphrase_shares_no_content_word_with_its_answer(bottles: tuple[Engine, str], question: Question):
    asked = content_words(question.ask)
    for heading, text in passages(bottles):
        if question.answered_by(text):
            assert not asked & content_words(f"{heading}\n{text}"), text
