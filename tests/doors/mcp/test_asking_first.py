"""What a server does beside reading and deciding: searching the web, and writing drafts."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from mcp import Client
from mcp_types import CallToolResult
from tests.companion.planned_job import Two
from tests.doors.mcp.clients import EVERY, Person, text

from reconvene.companion_wiring import drafts_of
from reconvene.doors.mcp.served import Served
from reconvene.doors.mcp.server import Server, make
from reconvene.errors import UserError
from reconvene.wiring import open_index


class _Web:
    name = "house search"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def search(self, query: str) -> str:
        self.asked.append(query)
        if query == "fail":
            raise UserError("The source is down.")
        return "Herons eat fish.\x1b[2J"


def called(server: Server, tool: str, arguments: dict[str, object], person: Person | None, mode: str) -> CallToolResult:
    async def once() -> CallToolResult:
        async with Client(server, elicitation_callback=person, mode=mode) as client:
            return await client.call_tool(tool, arguments)

    return asyncio.run(once())


@pytest.mark.parametrize("mode", EVERY)
def test_a_query_leaves_the_machine_only_when_the_person_lets_it(two: Two, mode: str) -> None:
    web = _Web()
    server = make(Served(two.job.engine, open_index(two.home), web=web), "1")
    asked = {"query": "what herons eat"}
    for person in (Person("decline"), Person("cancel"), Person("accept", {"allow": False})):
        refused = called(server, "web_search", asked, person, mode)
        assert refused.is_error
        assert "house search for: what herons eat" in person.asked[0].message
    assert web.asked == []
    found = called(server, "web_search", asked, Person("accept", {"allow": True}), mode)
    assert text(found).endswith("Herons eat fish.")
    assert web.asked == ["what herons eat"]
    failing = called(server, "web_search", {"query": "fail"}, Person("accept", {"allow": True}), mode)
    assert "The source is down." in text(failing)


def test_the_web_is_not_there_before_it_is_configured(two: Two) -> None:
    server = make(Served(two.job.engine, open_index(two.home)), "1")
    result = called(server, "web_search", {"query": "x"}, Person("accept", {"allow": True}), "auto")
    assert result.is_error


def test_a_draft_is_written_by_name_and_never_by_a_server_of_one_run(two: Two, tmp_path: Path) -> None:
    drafts = drafts_of(str(tmp_path))
    name = drafts.new("job")
    given: dict[str, object] = {"draft": name, "instructions": "Count all birds"}
    open_to_all = Served(two.job.engine, open_index(two.home), drafts=drafts)
    assert not called(make(open_to_all, "1"), "update_instructions", given, None, "auto").is_error
    assert drafts.read(name) == "Count all birds"
    unknown = called(make(open_to_all, "1"), "update_instructions", {**given, "draft": "nothing"}, None, "auto")
    assert unknown.is_error
    empty = called(make(open_to_all, "1"), "update_instructions", {}, None, "auto")
    assert text(empty) == "update_instructions was not called: the arguments: 'draft' and 'instructions' are missing."
    of_one = Served(two.job.engine, open_index(two.home), two.job.run, drafts=drafts)
    given["instructions"] = "Count nothing"
    assert called(make(of_one, "1"), "update_instructions", given, None, "auto").is_error
    assert drafts.read(name) == "Count all birds"
