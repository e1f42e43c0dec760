"""What the index finds of what the questions ask for, offline: among the first three, by words alone and with meanings.

The figures of the paraphrases are a report: `pytest tests/search_eval -rP` prints it. Nothing is tuned on them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import get_args

import pytest

from reconvene.adapters.search import PassageIndex, minilm_vectors, wordllama_vectors
from reconvene.app import citing, searching
from reconvene.app.engine import Engine
from reconvene.search_ports import Embedder, Kind
from search_eval.questions import Question, load

QUESTIONS = load()
FIRST = 3
MINILM = pytest.param(
    lambda: minilm_vectors.MiniLmVectors(minilm_vectors.folder()),
    id="minilm",
    marks=pytest.mark.skipif(not minilm_vectors.folder(), reason=f"try it: {minilm_vectors.INSTALL}"),
)
WORDLLAMA = pytest.param(lambda: wordllama_vectors.WordLlamaVectors(wordllama_vectors.folder()), id="wordllama")


class Searched:
    def __init__(self, bottles: tuple[Engine, str], index: PassageIndex) -> None:
        self.engine, self.run = bottles
        self.index = index

    def rank(self, question: Question, *, meaning: bool) -> int:
        """At which place the answer stands; 0 = not among the first twenty."""
        found = searching.find(self.engine, self.index, self.run, question.ask, limit=20, meaning=meaning)
        return next((at for at, one in enumerate(found, 1) if question.answered_by(one.passage.text)), 0)

    def ranks(self, questions: list[Question], *, meaning: bool) -> list[int]:
        return [self.rank(question, meaning=meaning) for question in questions]


@pytest.fixture(scope="module", params=[WORDLLAMA, MINILM])
def searched(
    request: pytest.FixtureRequest, bottles: tuple[Engine, str], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Searched]:
    model: Callable[[], Embedder] = request.param
    path = tmp_path_factory.mktemp("index") / "search.db"
    with closing(PassageIndex(str(path), model())) as index:
        searched = Searched(bottles, index)
        searched.rank(QUESTIONS.ordinary[0], meaning=True)
        while index.left_out:  # a slow model on a slow machine
            searched.rank(QUESTIONS.ordinary[0], meaning=True)
        yield searched


def hits(ranks: list[int], first: int = FIRST) -> int:
    return sum(1 <= rank <= first for rank in ranks)


def test_eighteen_of_twenty_ordinary_questions_are_answered_among_the_first_three(searched: Searched):
    words, fused = (searched.ranks(QUESTIONS.ordinary, meaning=meaning) for meaning in (False, True))
    print(f"\nordinary, {searched.index.model}: full text {hits(words)} {words}, fused {hits(fused)} {fused}")
    assert hits(words) >= 18
    assert hits(fused) >= 18


def test_meanings_cost_no_answer_that_words_alone_find(searched: Searched):
    for questions in (QUESTIONS.ordinary, QUESTIONS.paraphrases):
        words, fused = (searched.ranks(questions, meaning=meaning) for meaning in (False, True))
        lost = [
            question.ask
            for question, before, after in zip(questions, words, fused, strict=True)
            if hits([before]) and not hits([after])
        ]
        assert not lost
        assert hits(fused) >= hits(words)


def test_what_becomes_of_paraphrases_is_told_beside_full_text(searched: Searched):
    words, fused = (searched.ranks(QUESTIONS.paraphrases, meaning=meaning) for meaning in (False, True))
    told = [f"full text {hits(words, n)}, fused {hits(fused, n)} among the first {n}" for n in (FIRST, 10, 20)]
    print(f"\nparaphrases, {searched.index.model}: {'; '.join(told)}")
    assert hits(fused, 20) > hits(words, 20)  # words alone find none of them but by chance


@pytest.mark.parametrize("kind", get_args(Kind))
def test_every_kind_is_found_and_every_citation_opens_on_the_passage(
    bottles: tuple[Engine, str], tmp_path: Path, kind: Kind
):
    engine, run = bottles
    with closing(PassageIndex(str(tmp_path / "search.db"))) as index:
        query = "bottles price Wenbury file round"
        found = searching.find(engine, index, run, query, kinds=[kind], limit=12, meaning=False)
    assert len(found) >= 3
    for one in found:
        opened = citing.opened(engine, run, one.cite)
        assert opened.kind == one.passage.kind == kind
        if kind != "audit":  # shown as it is recorded
            assert "".join(one.passage.text.split()) in "".join(opened.text.split())
