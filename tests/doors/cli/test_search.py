"""`search` prints passages with citations, `cite` opens them. The index comes and goes with the runs of a home."""

from __future__ import annotations

import shlex
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from commands import Command, call
from reconvene.doors.cli import stops

RUN = "birds-1"
FLOW = """\
name: birds
agents:
  writer:
    command: [sh, -c, 'cat >/dev/null; printf "# Report\\n\\nEleven puffins nest on the cliff.\\n" | tee report.md']
phases:
- {id: draft, agents: [writer], checkpoint: {prompt: Good?, approval_required: true}}
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(stops, "_WORTHWHILE", 1e9)  # whatever else the machine has to do
    (tmp_path / "birds.yaml").write_text(FLOW, encoding="utf-8")
    assert call("run", "birds.yaml", cwd=tmp_path).code == 3
    assert call("remark", RUN, "Count the storm petrels as well.", cwd=tmp_path).code == 0
    return tmp_path


def index(folder: Path) -> Path:
    return folder / ".reconvene" / "search.db"


def test_passages_are_printed_with_citations_and_the_command_that_opens_the_first(reconvene: Command, folder: Path):
    done = reconvene("search", RUN, "how many puffins are there?")
    assert done.code == 0
    assert done.out.startswith("report.md:1-3  Report\n  Eleven puffins nest on the cliff.\n")
    line = done.err.partition("open one with: reconvene ")[2]
    opened = reconvene(*shlex.split(line))
    assert opened.code == 0
    assert opened.out == "1  # Report\n2  \n3  Eleven puffins nest on the cliff.\n"


def test_scripts_get_an_object_and_the_run_may_be_left_out(reconvene: Command, folder: Path):
    found = reconvene("search", "storm petrels", "--in", "talk,audit", "--json").object
    assert found["run"] == RUN
    assert found["model"] == "wordllama l2_supercat 256"
    assert found["left_out"] == ""
    first = found["found"][0]  # type: ignore[index]
    assert (first["cite"], first["kind"], first["text"]) == ("talk 2", "talk", "Count the storm petrels as well.")
    assert reconvene("cite", "talk 2", "--json").object["text"] == first["text"]


def test_words_alone_need_no_library_and_it_is_said_where_none_is_there(reconvene: Command, folder: Path):
    alone = reconvene("search", RUN, "puffins", RECONVENE_SEARCH_MODEL="none")
    assert alone.out.startswith("report.md:1-3")
    assert "words alone were compared" in alone.err
    asked = reconvene("search", RUN, "puffins", "--text-only")
    assert asked.out == alone.out
    assert "words alone" not in asked.err


def test_the_settings_file_names_the_model(reconvene: Command, folder: Path):
    (folder / "reconvene.toml").write_text('search_model = "none"\n', encoding="utf-8")
    assert reconvene("search", RUN, "puffins", "--json").object["model"] == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("search",), "say what to look for"),
        (("search", RUN, "  "), "say what to look for"),
        (("search", RUN, "x", "--in", "flies"), "nothing to search named 'flies'"),
        (("cite",), "say what to open"),
        (("cite", RUN, "report.md:7-9"), "has the lines 1-3"),
    ],
)
def test_wrong_usage_is_said(reconvene: Command, folder: Path, words: tuple[str, ...], message: str):
    done = reconvene(*words)
    assert done.code == 64
    assert message in done.err


def test_a_model_that_there_is_not_is_said(reconvene: Command, folder: Path):
    done = reconvene("search", RUN, "x", RECONVENE_SEARCH_MODEL="gpt")
    assert done.code == 64
    assert "searches know no model 'gpt'" in done.err


def test_whatever_is_typed_is_looked_for(reconvene: Command, folder: Path):
    for query in ('"', "NEAR(", "a AND", "*", "text:", "\\", "--", "🙂", "?" * 3000):
        assert reconvene("search", RUN, "--text-only", "--", query).code == 0


def test_what_agents_wrote_cannot_act_on_the_terminal(reconvene: Command, folder: Path):
    assert reconvene("remark", RUN, "an auk \x1b]0;owned\x07 here").code == 0
    assert "\x1b" not in reconvene("search", RUN, "auk", "--text-only").out
    assert "\x1b" not in reconvene("cite", RUN, "talk 3").out


def test_a_deleted_run_leaves_nothing_in_the_index(reconvene: Command, folder: Path):
    assert "puffins" in reconvene("search", RUN, "puffins").out
    assert b"uffin" in index(folder).read_bytes()
    assert reconvene("delete", RUN, "--yes").code == 0
    assert b"uffin" not in index(folder).read_bytes()
    assert reconvene("search", RUN, "puffins").code == 64


def test_deleting_makes_no_index(reconvene: Command, folder: Path):
    assert reconvene("delete", RUN, "--yes").code == 0
    assert not index(folder).exists()


def test_an_imported_run_can_be_searched(reconvene: Command, folder: Path):
    assert reconvene("export", RUN, "run.zip").code == 0
    elsewhere = ("--home", str(folder / "elsewhere"))
    assert reconvene("run", "birds.yaml", *elsewhere).code == 3
    assert reconvene("delete", RUN, "--yes", *elsewhere).code == 0
    done = reconvene("search", RUN, "puffins", *elsewhere)
    assert done.code == 64
    assert "was deleted" in done.err
    another = ("--home", str(folder / "another"))
    (folder / "other.yaml").write_text(FLOW.replace("birds", "other"), encoding="utf-8")
    assert reconvene("run", "other.yaml", *another).code == 3
    assert reconvene("import", "run.zip", *another).code == 0
    assert reconvene("search", RUN, "petrels", *another).out.startswith("talk 2")


def test_after_agents_took_their_time_the_words_are_indexed_and_after_a_quick_decision_they_are_not(
    reconvene: Command, folder: Path, monkeypatch: pytest.MonkeyPatch
):
    assert not index(folder).exists()
    monkeypatch.setattr(stops, "_WORTHWHILE", 0.0)
    assert reconvene("decide", RUN, "--option", "Continue", "--latest").code == 0
    with closing(sqlite3.connect(index(folder))) as db:
        assert db.execute("SELECT run FROM runs").fetchall() == [(RUN,)]
        assert db.execute("SELECT count(*) FROM vectors").fetchone() == (0,)
