"""Vectors are made from files that are installed. Nobody goes to the network for them."""

from __future__ import annotations

import importlib.util
import logging
import socket
import sys
from pathlib import Path
from typing import NoReturn

import pytest

from reconvene.adapters.search import minilm_vectors, wordllama_vectors
from reconvene.adapters.search.vectors import nearest, np
from reconvene.search_ports import Embedder, Unembedded

MINILM = pytest.param(
    "minilm", marks=pytest.mark.skipif(not minilm_vectors.folder(), reason=f"try it: {minilm_vectors.INSTALL}")
)


@pytest.fixture(autouse=True)
def _no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*given: object, **named: object) -> NoReturn:
        raise AssertionError("somebody reached for the network")

    monkeypatch.setattr(socket, "socket", refuse)
    monkeypatch.setattr(socket, "getaddrinfo", refuse)


@pytest.fixture(params=["wordllama", MINILM])
def model(request: pytest.FixtureRequest) -> Embedder:
    if request.param == "minilm":
        return minilm_vectors.MiniLmVectors(minilm_vectors.folder())
    return wordllama_vectors.WordLlamaVectors(wordllama_vectors.folder())


def test_texts_that_mean_the_same_are_nearer_than_others(model: Embedder):
    texts = ["The cat sleeps on the sofa.", "Interest rates rose by one per cent.", "Invoices are paid in thirty days."]
    kept = list(enumerate(model.embed(texts)))
    for question, answer in (
        ("a kitten naps on a couch", 0),
        ("the bank raised its rate", 1),
        ("payment of a bill", 2),
    ):
        (asked,) = model.embed([question], query=True)
        assert nearest(asked, kept, 1) == [answer]


def test_vectors_have_length_one_and_do_not_depend_on_their_neighbours(model: Embedder):
    alone, together = model.embed(["otters"]), model.embed(["a much longer text about something else", "otters"])
    one, same = (np.frombuffer(vector, np.float32) for vector in (alone[0], together[1]))
    assert float(np.linalg.norm(one)) == pytest.approx(1, abs=1e-3)
    assert one == pytest.approx(same, abs=1e-4)


def test_any_text_can_be_embedded(model: Embedder):
    odd = ["", "  \n", "otter " * 5_000, "供应合同", "עברית", "🙂" * 400, "\0\x07", "a"]
    made = model.embed(odd)
    assert made[:2] == [b"", b""]
    assert len({len(vector) for vector in made[2:]}) == 1
    assert model.embed([]) == []


def test_the_package_itself_is_not_imported():
    """Its import changes how the whole process logs, and its loader looks for files elsewhere."""
    assert importlib.util.find_spec("wordllama") is not None
    before = list(logging.root.handlers)
    wordllama_vectors.WordLlamaVectors(wordllama_vectors.folder()).embed(["x"])
    assert "wordllama" not in sys.modules
    assert logging.root.handlers == before


def test_files_that_are_gone_are_said(tmp_path: Path):
    for model in (
        wordllama_vectors.WordLlamaVectors(str(tmp_path)),
        minilm_vectors.MiniLmVectors(str(tmp_path)),
    ):
        with pytest.raises(Unembedded, match="cannot be read"):
            model.embed(["x"])


def test_nothing_is_near_to_vectors_of_another_length():
    assert nearest(b"\0\0\x80?", [(1, b"\0\0\x80?\0\0\x80?"), (2, b"\0\0\x80?"), (3, b"")], 5) == [2]
