"""The index on a real file: what it keeps once, whom it shows what, what it forgets, and what it survives."""

from __future__ import annotations

import array
import os
import sqlite3
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import pytest

from reconvene.adapters.search import PassageIndex, passage_index
from reconvene.errors import StoreError
from reconvene.search_ports import Content, Cut, Kind, Unembedded

TEXTS = {"d1": "The ferry sails at noon.", "d2": "The barge carries gravel.", "d3": "A contract about otters."}


class Letters:
    """Vectors by hand: how often each letter stands in a text."""

    batch = 2

    def __init__(self, name: str = "letters", fails: bool = False) -> None:
        self.name = name
        self.embedded: list[str] = []
        self._fails = fails

    def embed(self, texts: Sequence[str], *, query: bool = False) -> list[bytes]:
        if self._fails:
            raise Unembedded("the model is asleep")
        self.embedded += texts if not query else ()
        return [array.array("f", [text.lower().count(chr(97 + one)) for one in range(26)]).tobytes() for text in texts]


class Cutter:
    """Cuts the contents of TEXTS, and counts."""

    def __init__(self) -> None:
        self.asked: list[str] = []

    def __call__(self, content: Content) -> Sequence[Cut]:
        self.asked.append(content.digest)
        return [Cut("line 1", TEXTS[content.digest])]


def file(digest: str, name: str = "", kind: Kind = "file") -> Content:
    name = name or f"{digest}.md"
    return Content(kind, name, digest, name, "text")


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "search.db")


def cites(index: PassageIndex, run: str, query: str, kinds: Sequence[Kind] = (), meaning: bool = False) -> list[str]:
    return [hit.content.cite for hit in index.find(run, query, kinds, 8, meaning)]


def test_the_same_content_is_cut_and_kept_once_for_all_runs(path: str):
    cutter = Cutter()
    with closing(PassageIndex(path)) as index:
        index.refresh("a", "1", [file("d1"), file("d1", "copy.md")], cutter)
        index.refresh("b", "1", [file("d1", "other.md")], cutter)
        assert cutter.asked == ["d1"]
        assert cites(index, "b", "ferry") == ["other.md"]
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT count(*) FROM passages").fetchone() == (1,)


@pytest.mark.parametrize("meaning", [False, True])
def test_no_run_finds_what_belongs_to_another(path: str, meaning: bool):
    with closing(PassageIndex(path, Letters())) as index:
        index.refresh("a", "1", [file("d1")], Cutter())
        index.refresh("b", "1", [file("d2")], Cutter())
        for query in ("ferry sails at noon", "barge gravel", "the", "run:a", "a' OR '1'='1"):
            assert set(cites(index, "a", query, meaning=meaning)) <= {"d1.md"}
            assert set(cites(index, "b", query, meaning=meaning)) <= {"d2.md"}
            assert cites(index, "unknown", query, meaning=meaning) == []


def test_what_a_run_has_no_more_is_not_found_any_more(path: str):
    with closing(PassageIndex(path)) as index:
        index.refresh("a", "1", [file("d1", "plan.md")], Cutter())
        index.refresh("a", "2", [file("d2", "plan.md")], Cutter())
        assert cites(index, "a", "ferry") == []
        assert cites(index, "a", "gravel") == ["plan.md"]
        assert index.mark("a") == "2"


def test_only_the_kinds_that_are_asked_for_are_found(path: str):
    with closing(PassageIndex(path, Letters())) as index:
        index.refresh("a", "1", [file("d1"), file("d2", "the barge", "output")], Cutter())
        for meaning in (False, True):
            assert set(cites(index, "a", "the", ["output"], meaning)) <= {"the barge"}
        assert cites(index, "a", "barge ferry", ["file"]) == ["d1.md"]


def test_the_same_text_is_told_once_as_the_file_that_it_is_in(path: str):
    with closing(PassageIndex(path)) as index:
        index.refresh("a", "1", [file("d1", "writer R1", "output"), file("d1", "draft.md")], Cutter())
        assert cites(index, "a", "ferry") == ["draft.md"]
        assert cites(index, "a", "ferry", ["output"]) == ["writer R1"]


def test_a_forgotten_run_leaves_nothing_in_the_file_but_what_another_needs(path: str):
    with closing(PassageIndex(path, Letters())) as index:
        index.refresh("a", "1", [file("d1"), file("d3")], Cutter())
        index.refresh("b", "1", [file("d1")], Cutter())
        index.find("a", "otters", (), 8, True)
        index.forget("a")
        assert index.mark("a") == ""
        assert cites(index, "a", "ferry otters") == []
        assert cites(index, "b", "ferry") == ["d1.md"]
    data = Path(path).read_bytes().lower()
    assert b"otter" not in data
    assert b"ferri" in data or b"ferry" in data
    assert os.listdir(os.path.dirname(path)) == ["search.db"]


def test_another_model_embeds_anew_and_the_same_one_does_not(path: str):
    first, second = Letters("first"), Letters("second")
    for model in (first, first, second):
        with closing(PassageIndex(path, model)) as index:
            index.refresh("a", "1", [file("d1"), file("d2"), file("d3")], Cutter())
            assert cites(index, "a", "zz otter", meaning=True)
    assert len(first.embedded) == len(second.embedded) == 3
    with closing(sqlite3.connect(path)) as db:
        assert db.execute("SELECT DISTINCT model FROM vectors").fetchall() == [("second",)]


def test_words_alone_are_compared_and_it_is_said_where_the_model_fails_or_there_is_none(path: str):
    for embedder, why in ((Letters(fails=True), "asleep"), (None, "not installed")):
        with closing(PassageIndex(path, embedder, "not installed")) as index:
            index.refresh("a", "1", [file("d1")], Cutter())
            assert cites(index, "a", "ferry", meaning=True) == ["d1.md"]
            assert why in index.left_out
            assert cites(index, "a", "ferry") == ["d1.md"]
            assert index.left_out == ""


def test_what_there_was_no_time_to_embed_is_said_and_done_in_the_next_search(
    path: str, monkeypatch: pytest.MonkeyPatch
):
    model = Letters()
    with closing(PassageIndex(path, model)) as index:
        index.refresh("a", "1", [file("d1"), file("d2"), file("d3")], Cutter())
        monkeypatch.setattr(passage_index, "_SECONDS", -1.0)
        assert cites(index, "a", "ferry", meaning=True) == ["d1.md"]
        assert "3 passages have no vectors" in index.left_out
        monkeypatch.setattr(passage_index, "_SECONDS", 60.0)
        index.find("a", "ferry", (), 8, True)
        assert (index.left_out, len(model.embedded)) == ("", 3)


def test_texts_that_no_database_takes_are_taken(path: str):
    odd = {"half": "half a character \ud83d ferry", "zero": "zero \0 ferry after it", "empty": "", "signs": "🙂" * 900}
    with closing(PassageIndex(path, Letters())) as index:
        contents = [file(name) for name in odd]
        index.refresh("a", "1", contents, lambda content: [Cut("", odd[content.digest])])
        assert set(cites(index, "a", "ferry")) == {"half.md", "zero.md"}
        assert index.find("a", "ferry", (), 8, True)
        assert index.find("a", "", (), 8, True) == []
        assert index.find("a", "\ud83d?", (), 8, True) == []
        assert index.find("a", "ferry", (), 0, True) == []


@pytest.mark.parametrize("damage", [b"no database at all", b""])
def test_a_file_that_is_no_index_is_made_anew(path: str, damage: bytes):
    Path(path).write_bytes(damage)
    with closing(PassageIndex(path)) as index:
        index.refresh("a", "1", [file("d1")], Cutter())
        assert cites(index, "a", "ferry") == ["d1.md"]


def test_an_index_of_another_layout_is_made_anew(path: str):
    with closing(sqlite3.connect(path)) as db:
        db.execute("PRAGMA user_version=99")
    with closing(PassageIndex(path)) as index:
        assert index.mark("a") == ""


def test_damage_inside_is_said_and_the_next_search_has_a_new_file(path: str):
    with closing(PassageIndex(path)) as index:
        index.refresh("a", "1", [file(one) for one in TEXTS], Cutter())
    data = bytearray(Path(path).read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    Path(path).write_bytes(data)
    with closing(PassageIndex(path)) as index:
        with pytest.raises(StoreError, match="damaged"):
            index.find("a", "ferry", (), 8, False)
        index.refresh("a", "2", [file("d1")], Cutter())
        assert cites(index, "a", "ferry") == ["d1.md"]


def test_two_that_index_at_the_same_time_do_not_hinder_each_other(path: str):
    with closing(PassageIndex(path)) as one, closing(PassageIndex(path)) as other:

        def meanwhile(content: Content) -> Sequence[Cut]:
            other.refresh("a", "1", [file("d1")], Cutter())
            return Cutter()(content)

        one.refresh("a", "1", [file("d1")], meanwhile)
        assert cites(one, "a", "ferry") == cites(other, "a", "ferry") == ["d1.md"]


def test_where_it_cannot_be_kept_it_is_made_in_memory(tmp_path: Path):
    with closing(PassageIndex(str(tmp_path / "gone" / "search.db"))) as index:
        index.refresh("a", "1", [file("d1")], Cutter())
        assert cites(index, "a", "ferry") == ["d1.md"]
    assert not (tmp_path / "gone").exists()


def test_it_is_for_its_owner_alone(path: str):
    PassageIndex(path).close()
    assert os.stat(path).st_mode & 0o077 == 0


def test_a_content_without_passages_is_not_looked_at_again(path: str):
    asked: list[str] = []

    def binary(content: Content) -> Sequence[Cut]:
        asked.append(content.digest)
        return []

    with closing(PassageIndex(path)) as index:
        index.refresh("a", "1", [file("d1")], binary)
        index.refresh("a", "2", [file("d1")], binary)
    assert asked == ["d1"]
