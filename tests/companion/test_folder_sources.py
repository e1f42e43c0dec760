"""A folder that a run was given as a source: what agents read in it is found, and opens as they cite it."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.adapters.documents.makers import pdf, put, said

from reconvene import materials
from reconvene.app import citing, searching
from reconvene.app.engine import Engine
from reconvene.companion import from_record
from reconvene.companion.checked_cites import cited
from reconvene.companion.tool_scope import Scope
from reconvene.errors import UserError
from reconvene.testing.openai_server import Calls, OpenAIServer, Reply, Say, Seen
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine, open_index

FLOW = """
name: flow
inputs: {sources: {type: sources}}
agents: {reader: {model: "openai:gpt-4o-mini", options: {base_url: "URL"}, tools: [documents, sql]}}
phases: [{id: read, agents: [reader], checkpoint: {approval_required: true}}]
files: [{path: tools, each: tools}]
"""
ROWS = "".join(f"{number};row\n" for number in range(2, 90))


def model(seen: Seen) -> Reply:
    messages = seen.body["messages"]
    assert isinstance(messages, list)
    if any(message["role"] == "assistant" for message in messages):
        return Say("The lease ends in May [docs:lease.pdf, p. 2].")
    read = [{"name": "docs:lease.pdf", "place": "p. 2"}, {"name": "docs:lease.pdf"}, {"name": "docs:a.csv"}]
    return Calls((("list_sources", "{}"), *(("read_document", json.dumps(one)) for one in read)))


class Read(NamedTuple):
    engine: Engine
    run: str
    home: Path
    folder: Path

    def scope(self) -> Scope:
        return Scope(self.engine, self.run, open_index(self.home))


@pytest.fixture(scope="module")
def read(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Read]:
    root = tmp_path_factory.mktemp("folder")
    folder = root / "docs"
    folder.mkdir()
    put(folder, "lease.pdf", pdf(said("Between Ann and Bo"), said("The lease ends with Harbison in May")))
    put(folder, "a.csv", f"id;text\n{ROWS}Quokka;last\n")
    put(folder, "unread.txt", "Nobody opened this wombat")
    with pytest.MonkeyPatch.context() as patch, OpenAIServer(model) as server:
        patch.setenv("OPENAI_API_KEY", "not-a-key")
        engine = open_engine(root / "home")
        given = {"sources": [materials.source(str(folder), {})]}
        run = engine.start(parse_workflow(FLOW.replace("URL", server.url)), given, by="ann")
        asyncio.run(engine.drive(run))
        yield Read(engine, run, root / "home", folder)
        engine.log.close()


def test_what_an_agent_read_opens_as_the_agent_cites_it(read: Read) -> None:
    for cite in ("docs:lease.pdf p. 2", "docs:lease.pdf, p. 2"):
        assert citing.opened(read.engine, read.run, cite).text == "The lease ends with Harbison in May"
    assert citing.opened(read.engine, read.run, "docs:lease.pdf p. 1-2").text.startswith("[p. 1]\nBetween Ann and Bo\n")
    found = citing.opened(read.engine, read.run, "docs:a.csv lines 90")
    assert (found.text, found.first) == ("Quokka;last", 90)
    assert cited(read.scope(), "It ends [docs:lease.pdf, p. 2].").unknown == ()


def test_what_nobody_read_is_not_on_record(read: Read) -> None:
    with pytest.raises(UserError, match="nothing that is cited as"):
        citing.opened(read.engine, read.run, "docs:unread.txt")


def test_what_was_read_is_found_and_pages_of_tools_come_after_it(read: Read) -> None:
    index = open_index(read.home)
    found = searching.find(read.engine, index, read.run, "Harbison", kinds=("document",), meaning=False)
    assert [one.cite for one in found] == ["docs:lease.pdf p. 2"]
    found = searching.find(read.engine, index, read.run, "Quokka", kinds=("document",), meaning=False)
    assert citing.opened(read.engine, read.run, found[0].cite).text.endswith("Quokka;last")
    told = from_record.answer(read.scope(), "What does the lease in docs say?")[1]
    cites = told.facts["passages"]
    assert isinstance(cites, list)
    assert "docs:lease.pdf p. 2" in cites
    pages = [one.startswith("tools/") for one in cites]
    assert pages == sorted(pages)


def test_an_agent_is_told_of_the_folder_among_the_sources(read: Read) -> None:
    results = [citing.opened(read.engine, read.run, f"event {seq}").text for seq, event in _calls(read)]
    assert any(
        "docs (folder; read it with list_documents, read_document and search_documents)" in one for one in results
    )


def _calls(read: Read) -> list[tuple[int, object]]:
    return [(seq, one) for seq, one in read.engine.log.read(read.run) if type(one).__name__ == "CallEnded"]
