"""A run is searched as its log has it now: nothing of another run, nothing that was taken back, nothing twice."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from reconvene.app import citing, searching
from reconvene.app.engine import Engine
from reconvene.app.search_contents import of_event, of_run
from reconvene.core.facts.commands import AddRemark, AnswerCheckpoint, RemarkIn, WithdrawRemark
from reconvene.core.facts.events import CallEnded, Ref
from reconvene.core.facts.ids import digest_of
from reconvene.errors import UserError
from reconvene.material_ports import Document, Part
from reconvene.search_ports import Found, Kind, SearchIndex
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine, open_index

FLOW = parse_workflow("""
name: flow
inputs: {documents: {type: documents}}
agents: {writer: {}, critic: {}}
phases:
  - {id: draft, agents: [writer], rounds: {max: 2}, checkpoint: {prompt: "Good?", options: [
      {label: Again, then: again, remark: optional}, {label: Continue, then: continue, remark: optional}]}}
  - {id: review, agents: [critic], checkpoint: {approval_required: true}}
""")
REPORT = Document(
    "annual report.pdf",
    "application/pdf",
    "d0c" * 10 + "ff",
    (Part("p. 1", "The board met in spring."), Part("p. 3", "Revenue fell because the walrus left. " * 60)),
)
SHEET = Document("sheet.xlsx", "application/xlsx", "5e" * 16, (Part("Sheet1!A1:D40", "walrus;12\nseal;4"),))
DRAFTS = [
    {
        "text": "# Draft\nA first try about puffins.",
        "files": {"plan.md": b"# Plan\n\nCount the puffins.\n", "x.bin": b"pu\0ffin"},
    },
    {"text": "# Draft\nA second try about gannets.", "files": {"plan.md": b"# Plan\n\nCount the gannets.\n"}},
]


@pytest.fixture
def engine(tmp_path: Path) -> Iterator[Engine]:
    agents = ScriptedAgents({"writer": DRAFTS, "critic": "Too few kittiwakes."})
    engine = open_engine(tmp_path / "home", runner=agents)
    yield engine
    engine.log.close()


@pytest.fixture
def index(engine: Engine) -> Iterator[SearchIndex]:
    index = open_index(engine.home)
    yield index
    index.close()


def start(engine: Engine, *documents: Document) -> str:
    run = engine.start(FLOW, {"documents": [msgspec.to_builtins(one) for one in documents]}, by="ann")
    asyncio.run(engine.drive(run))
    return run


def decide(engine: Engine, run: str, option: str, *said: str) -> None:
    engine.submit(run, AnswerCheckpoint("", option, remarks=tuple(map(RemarkIn, said)), by="ann"))
    asyncio.run(engine.drive(run))


@pytest.fixture
def found(engine: Engine, index: SearchIndex):
    def found(run: str, query: str, *kinds: Kind) -> list[str]:
        return [one.cite for one in searching.find(engine, index, run, query, kinds=kinds, meaning=False)]

    return found


def test_files_outputs_talk_and_events_are_found_as_they_are_cited(engine: Engine, found):
    run = start(engine)
    decide(engine, run, "Continue", "Do not forget the razorbills.")
    assert found(run, "puffins", "file") == ["plan.md:1-3"]
    assert found(run, "puffins", "output") == ["writer R1:1-2"]
    assert found(run, "kittiwakes") == ["critic R2:1"]
    assert found(run, "razorbills", "talk") == ["talk 2"]
    assert citing.opened(engine, run, "FB-001").text == citing.opened(engine, run, "talk 2").text
    assert "razorbills" in citing.opened(engine, run, found(run, "razorbills", "audit")[0]).text
    assert found(run, "ffin") == []  # a file that is no text


def test_what_was_written_anew_or_taken_back_is_not_found_as_it_was(engine: Engine, found):
    run = start(engine)
    engine.submit(run, AddRemark(RemarkIn("Look at the fulmars."), by="ann"))
    assert found(run, "fulmars", "talk") == ["talk 2"]
    engine.submit(run, WithdrawRemark("FB-001", by="ann"))
    assert found(run, "fulmars", "talk") == []
    decide(engine, run, "Again")
    assert found(run, "puffins", "file") == []
    assert found(run, "gannets", "file") == ["plan.md:1-3"]
    assert {*found(run, "puffins gannets", "output")} == {"writer R2:1-2", "writer R1:1-2"}  # both are on record


def test_places_in_documents_are_cited_and_open(engine: Engine, index: SearchIndex, found):
    run = start(engine, REPORT, SHEET)
    assert {*found(run, "walrus", "document")} == {"annual report.pdf p. 3", "sheet.xlsx Sheet1!A1:D40"}
    assert citing.opened(engine, run, "annual report.pdf p. 3").text == REPORT.parts[1].text
    assert citing.opened(engine, run, "sheet.xlsx Sheet1!A1:D40").text == SHEET.parts[0].text
    assert citing.opened(engine, run, "annual report.pdf").text.startswith("The board met")
    (first, *_) = searching.find(engine, index, run, "walrus revenue", meaning=False)
    assert first.passage.name == "annual report.pdf"
    assert first.passage.place == "p. 3"
    assert len(first.passage.text) < len(REPORT.parts[1].text)


def test_no_run_sees_anything_of_another(engine: Engine, found):
    one, other = start(engine, REPORT), start(engine)
    decide(engine, one, "Continue", "The auk is a secret.")
    assert found(one, "auk walrus secret")
    assert found(other, "auk walrus secret") == []
    for cite in ("annual report.pdf p. 3", "FB-001", "critic R2:1"):
        citing.opened(engine, one, cite)
        with pytest.raises(UserError):
            citing.opened(engine, other, cite)


def test_the_log_is_read_again_only_when_it_has_moved(
    engine: Engine, index: SearchIndex, monkeypatch: pytest.MonkeyPatch
):
    run = start(engine)
    searching.refresh(engine, index, run)
    looked: list[str] = []
    monkeypatch.setattr(searching, "of_run", lambda engine, run: looked.append(run) or of_run(engine, run))
    searching.refresh(engine, index, run)
    assert looked == []
    engine.submit(run, AddRemark(RemarkIn("One more."), by="ann"))
    searching.refresh(engine, index, run)
    assert looked == [run]


def test_a_fork_finds_what_it_shares_without_indexing_it_again(engine: Engine, index: SearchIndex, found):
    run = start(engine)
    found(run, "puffins")
    fork = engine.fork(run)
    given = of_run(engine, fork)
    cut: list[str] = []
    index.refresh(fork, "", given.contents, lambda content: cut.append(content.cite) or given.cut(content))
    assert {"plan.md", "writer R1"}.isdisjoint(cut)
    assert found(fork, "puffins", "file", "output") == found(run, "puffins", "file", "output")


def test_an_index_that_was_deleted_is_made_again_and_finds_the_same(engine: Engine):
    run = start(engine, REPORT)

    def search() -> list[Found]:
        index = open_index(engine.home)
        try:
            return searching.find(engine, index, run, "puffins and the walrus")
        finally:
            index.close()

    before = search()
    (Path(engine.home) / "search.db").unlink()
    assert before
    assert search() == before


def test_what_a_tool_was_asked_and_gave_is_a_part_of_its_event(engine: Engine):
    arguments, result = b'{"query": "select * from guillemots"}', b"42 rows of guillemots\n"
    kept = {digest_of(data): data for data in (arguments, result)}

    class Log:
        artefact = staticmethod(kept.__getitem__)

    class Read:
        log = Log()

    event = CallEnded(
        at="2026-11-17T10:00:00.000Z", task="R1/0/writer", attempt=1, call="1.1", tool="query_source",
        arguments=digest_of(arguments), outcome="done", result=Ref(digest_of(result)),
    )  # fmt: skip
    cut = of_event(Read(), 41, event)  # type: ignore[arg-type]
    assert cut.place == "event 41"
    assert "select * from guillemots" in cut.text
    assert "42 rows of guillemots" in cut.text
    assert digest_of(arguments) not in cut.text


@pytest.mark.parametrize(
    ("cite", "message"),
    [
        ("nothing.md:3", "nothing that is cited"),
        ("plan.md:90-95", r"has the lines 1-3"),
        ("plan.md:3-1", r"has the lines 1-3"),
        ("event 4711", "has no event"),
        ("event 0", "has no event"),
        ("talk 99", "has no talk 99"),
        ("FB-999", "has no FB-999"),
        ("writer R9:1-2", "nothing that is cited"),
        ("../../etc/passwd", "nothing that is cited"),
        ("", "nothing that is cited"),
    ],
)
def test_a_citation_of_what_is_not_there_is_refused_in_words(engine: Engine, cite: str, message: str):
    run = start(engine)
    with pytest.raises(UserError, match=message):
        citing.opened(engine, run, cite)
