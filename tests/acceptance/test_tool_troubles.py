"""When things go wrong with tools, documents and data, as whoever types the commands sees it: a clear outcome on record
each, nothing of one run in another, and no secret anywhere."""

from __future__ import annotations

import json
import re
import socket
import sqlite3
import sys
import zipfile
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

import pytest
from support.stage import Stage
from support.tool_scene import Scene, call

from commands import Command, Done
from reconvene.core.facts.events import CallEnded, CallsDeferred, ModelTurned
from reconvene.errors import StoreError
from reconvene.material_ports import QueryLimits
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from reconvene.tool_ports import ToolResult

PASSWORD = "sEcret-of-the-database-77"
TOKEN = "tOken-of-the-server-4242"
FLOW = """
name: flow
inputs: {documents: {type: documents}, sources: {type: sources}}
agents:
  a:
    model: "openai:gpt-4o-mini"
    tools: [documents, sql, files]
phases: [{id: work, agents: [a]}]
"""
# says its secret, then ends in the middle of a call, or answers 50 MB
SERVER = """
import os, sys
from mcp.server import MCPServer
server = MCPServer("odd")
@server.tool()
def dies() -> str:
    print("I had", os.environ["ODD_TOKEN"], file=sys.stderr, flush=True)
    os._exit(7)
@server.tool()
def floods() -> str:
    return "x" * 50_000_000
@server.tool()
def tells() -> str:
    return os.environ["ODD_TOKEN"]
server.run("stdio")
"""


@contextmanager
def silent() -> Iterator[int]:
    """A port where somebody listens and never says a word."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(8)
        yield int(listener.getsockname()[1])


@pytest.fixture
def desk(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("OPENAI_API_KEY", "none")
    monkeypatch.setenv("DB_PASSWORD", PASSWORD)
    monkeypatch.setenv("ODD_TOKEN", TOKEN)
    (folder / "flow.yaml").write_text(FLOW)
    with closing(sqlite3.connect(folder / "shop.db")) as database:
        database.execute("create table sales (amount integer)")
        database.commit()
    return folder


def wants(tool: str, **arguments: object) -> tuple[str, str]:
    return tool, json.dumps(arguments)


def asking(*turns: tuple[tuple[str, str], ...]) -> Iterator[Reply]:
    yield from (Calls(turn) for turn in turns)
    yield Say("Done.")


def outcomes(reconvene: Command, run: str = "flow-1") -> list[tuple[str, str]]:
    calls = reconvene("calls", run, "--json").object["calls"]
    assert isinstance(calls, list)
    return [(str(one["state"]), str(one["result"])) for one in calls]


def everything(home: Path, run: str) -> str:
    """All that the log keeps of a run: its events, and every content that one of them names."""
    stage = Stage(home, "", {}, run)
    lines = "\n".join(repr(event) for _, event in stage.engine.log.read(run))
    found: list[str] = []
    for digest in set(re.findall(r"\b[0-9a-f]{32,64}\b", lines)):
        with suppress(StoreError):  # a seal or a key looks like one
            found.append(stage.engine.log.artefact(digest).decode("utf-8", "replace"))
    assert len(found) > 5
    return "\n".join([lines, *found])


@pytest.mark.parametrize(
    ("made", "said"),
    [
        (b"%PDF-1.4\ngarbage", "bad.pdf is a damaged PDF"),
        (b"\x89PNG\r\n\x1a\n", "bad.pdf"),
    ],
)
def test_a_document_that_cannot_be_read_starts_nothing(reconvene: Command, desk: Path, made: bytes, said: str) -> None:
    (desk / "bad.pdf").write_bytes(made)
    done = reconvene("run", "flow.yaml", "--doc", "bad.pdf")
    assert (done.code, said in done.err, "hint:" in done.err) == (64, True, True), done.err
    assert reconvene("runs", "--json").json == []


def test_a_bomb_in_a_folder_is_named_and_the_rest_is_read(reconvene: Command, desk: Path) -> None:
    (desk / "papers").mkdir()
    with zipfile.ZipFile(desk / "papers" / "bomb.docx", "w", zipfile.ZIP_DEFLATED) as bomb:
        bomb.writestr("[Content_Types].xml", "<Types/>")
        for name in ("document", "styles", "footnotes"):
            bomb.writestr(f"word/{name}.xml", b"0" * 100_000_000)
    (desk / "papers" / "good.md").write_text("# Good\n")
    with OpenAIServer(*asking((wants("list_documents"), wants("read_document", name="bomb.docx")))) as at:
        done = started(reconvene, at, "--doc", "papers")
    (listed, bad) = outcomes(reconvene)
    said = "papers/: Not read, because it unpacks to more than 256 MB, as a zip bomb does: bomb.docx."
    assert (done.code, f"! {said}" in done.err, f"[{said}]" in listed[1]) == (0, True, True)
    assert listed[1].startswith("good.md (")
    assert bad == ("failed", "There is no document bomb.docx. list_documents names them.")


def started(reconvene: Command, server: OpenAIServer, *more: str) -> Done:
    return reconvene("run", "flow.yaml", "--no-input", *more, OPENAI_BASE_URL=server.url)


def test_a_source_that_is_down_or_slow_is_told_to_the_person_and_the_model_without_its_password(
    reconvene: Command, desk: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("psycopg")
    from reconvene.adapters import sources

    def quick(address: str, box: object, documents: object, limits: object = None) -> object:
        return given(address, box, documents, QueryLimits(seconds=1.0))  # type: ignore[arg-type]

    given = sources.open_source
    monkeypatch.setattr(sources, "open_source", quick)
    endless = "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT count(*) FROM x"
    with silent() as slow, socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))  # and nobody listens
        address = "postgresql://eve:$DB_PASSWORD@127.0.0.1:{}/{}"
        places = {"down": unused.getsockname()[1], "slow": slow}
        given_ = [word for name, port in places.items() for word in ("--datasource", address.format(port, name))]
        turn = (
            wants("query_source", source="down", query="select 1"),
            wants("query_source", source="slow", query="select 1"),
            wants("query_source", source="shop.db", query=endless),
        )
        with OpenAIServer(*asking(turn)) as server:
            done = started(reconvene, server, *given_, "--datasource", "shop.db")
            assert done.code == 0, done.err
            assert ("! down: postgresql://" in done.err, "! slow: postgresql://" in done.err) == (True, True)
            sent = json.dumps([seen.body for seen in server.requests])
    (down, late, long) = outcomes(reconvene)
    assert [one[0] for one in (down, late, long)] == ["failed"] * 3
    assert "refused" in down[1]
    assert "second" in late[1] or "time" in late[1]
    assert "the time was up" in long[1]
    assert PASSWORD not in sent + done.err
    assert PASSWORD not in everything(desk / ".reconvene", "flow-1")


def test_a_server_that_dies_or_floods_is_a_failed_call_and_its_secret_is_nowhere(
    reconvene: Command, desk: Path
) -> None:
    pytest.importorskip("mcp")
    (desk / "server.py").write_text(SERVER)
    odd = f"mcp: {{name: odd, command: {json.dumps([sys.executable, str(desk / 'server.py')])}, env: [ODD_TOKEN]}}"
    (desk / "flow.yaml").write_text(FLOW.replace("files]", f"files, {odd}]"))
    turn = (wants("odd_tells"), wants("odd_dies"), wants("odd_floods"), wants("odd_tells"))
    with OpenAIServer(*asking(turn)) as server:
        done = started(reconvene, server)
        assert done.code == 0, done.err
        sent = json.dumps([seen.body for seen in server.requests])
    tells, dies, floods, again = outcomes(reconvene)
    assert [one[0] for one in (tells, dies, floods, again)] == ["done", "failed", "failed", "done"]
    assert "exit code 7" in dies[1]
    assert "more than 8 MB" in floods[1]
    stage = Stage(desk / ".reconvene", "", {}, "flow-1")
    assert [one.doubt for one in stage.events(CallEnded)] == [False, True, True, False]
    for text in (sent, done.out, done.err, everything(desk / ".reconvene", "flow-1")):
        assert TOKEN not in text


def test_a_call_that_may_have_happened_is_not_made_again_in_silence(tmp_path: Path) -> None:
    """Whatever the model makes of the failure."""
    same = Calls((call("pay", "100"),))
    with OpenAIServer(same, same, Calls((call("pay", "5"),)), Say("Done.")) as server:
        scene = Scene(tmp_path, server, "[shell]")
        scene.boxes.result = ToolResult("it did not answer", failed=True, unknown=True)
        assert scene.drive() == "waiting"
        assert scene.boxes.paid == ["100"]
        assert "call 1.1 was the same, and nobody knows whether it happened" in scene.stage.point.prompt
        scene.boxes.result = None
        scene.rule("Approve")
        assert scene.drive() == "completed"
        assert scene.boxes.paid == ["100", "100", "5"]
    assert len(scene.stage.events(CallsDeferred)) == 1


def test_what_a_model_does_wrong_is_told_to_it_and_on_record(reconvene: Command, desk: Path) -> None:
    turn = (
        wants("fly", to="the moon"),
        ("read_document", "{no json"),
        wants("read_document", names=3),
        wants("write_file", path="../../../out.md", text="x"),
        wants("query_source", source="shop.db", query="PRAGMA user_version = 3"),
        wants("query_source", source="/etc/passwd", query="select 1"),
    )
    with OpenAIServer(*asking(turn)) as server:
        assert started(reconvene, server, "--datasource", "shop.db").code == 0
    said = (
        "no tool 'fly'",
        "not a JSON object",
        "do not fit",
        "leaves the workspace with '..'",
        "only read",
        "no source",
    )
    for (state, result), expected in zip(outcomes(reconvene), said, strict=True):
        assert (state, expected in result) == ("failed", True), result


def test_a_model_that_loops_is_stopped_by_its_bound_and_a_person_may_let_it_try_again(
    reconvene: Command, desk: Path
) -> None:
    text = (desk / "flow.yaml").read_text().replace("    tools:", "    loop: {turns: 4}\n    tools:")
    (desk / "flow.yaml").write_text(text)
    with OpenAIServer(Calls((wants("list_files"),))) as server:
        done = started(reconvene, server)
        assert done.code == 3
        assert "a used 4 turns in one attempt and came to no end" in done.out
        assert len(server.requests) == 4
    stage = Stage(desk / ".reconvene", "", {}, "flow-1")
    assert len(stage.events(ModelTurned)) == 4
    with OpenAIServer(Calls((wants("list_files"),)), Say("Enough seen.")) as server:
        words = ("--option", "Try again", "--feedback", "Look no further than once", "--latest")
        assert reconvene("decide", "flow-1", *words, OPENAI_BASE_URL=server.url).code == 0
        told = json.dumps(server.requests[0].body["messages"])
        assert told.count("Look no further than once") == 1
        assert told.index("list_files") < told.index("Look no further than once"), "the same conversation goes on"
        assert [len(server.requests), len(stage.events(ModelTurned))] == [2, 6]
    assert "delivered to a" in reconvene("ledger", "flow-1", "--details").out


def test_nothing_of_one_run_is_in_another(reconvene: Command, desk: Path) -> None:
    """Each has its own documents and its own source of the same name."""

    def reply(seen: Seen) -> Reply:
        if '"tool"' in json.dumps(seen.body["messages"]):
            return Say("Done.")
        query = wants("query_source", source="data.db", query="SELECT * FROM facts")
        return Calls((wants("list_documents"), wants("read_document", name="memo.md"), query))

    for number in ("1", "2"):
        (desk / number).mkdir()
        (desk / number / "memo.md").write_text(f"memo of {number}\n")
        with closing(sqlite3.connect(desk / number / "data.db")) as database:
            database.execute("create table facts (fact text)")
            database.execute("insert into facts values (?)", (f"fact of {number}",))
            database.commit()
        with OpenAIServer(reply) as server:
            given = ("--doc", f"{number}/memo.md", "--datasource", f"{number}/data.db")
            assert started(reconvene, server, *given).code == 0
            sent = json.dumps([seen.body for seen in server.requests])
        kept = everything(desk / ".reconvene", f"flow-{number}")
        for text in (sent, kept):
            assert f"memo of {number}" in text
            assert f"fact of {number}" in text
            assert f"of {3 - int(number)}" not in text
    both = [
        word for number in ("1", "2") for word in ("--doc", f"{number}/memo.md", "--datasource", f"{number}/data.db")
    ]
    with OpenAIServer(*asking((wants("list_documents"), wants("list_sources")))) as server:
        done = started(reconvene, server, *both)
    assert "! 2-memo.md: It is called 2-memo.md here: another memo.md was given before it." in done.err
    (listed, sources) = outcomes(reconvene, "flow-3")
    assert ("memo.md (" in listed[1], "2-memo.md (" in listed[1], "2-data.db" in sources[1]) == (True, True, True)
    for words in (("--doc", ".reconvene/runs/flow-1"), ("--datasource", ".reconvene/reconvene.db")):
        refused = reconvene("run", "flow.yaml", *words)
        assert (refused.code, "where runs are kept" in refused.err) == (64, True)
