"""Server-sent events: none is missed, none comes twice, and nobody listens whose right has ended."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2 as httpx
import pytest

from reconvene.core.facts.commands import AddRemark, RemarkIn
from served_home import Ground, ground, on_a_port


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ground]:
    with ground(tmp_path_factory.mktemp("streams")) as one:
        yield one


@pytest.fixture(scope="module")
def url(made: Ground) -> Iterator[str]:
    with on_a_port(made) as (url, service):
        made.service = service
        yield url


Told = tuple[str, str, dict[str, Any]]  # event, id, data


async def told(answer: httpx.Response) -> AsyncIterator[Told]:
    kind = number = ""
    async for line in answer.aiter_lines():
        name, _, value = line.partition(": ")
        if name == "event":
            kind = value
        elif name == "id":
            number = value
        elif name == "data":
            yield kind, number, json.loads(value)
            kind = number = ""


def listening(
    url: str, headers: dict[str, str], path: str, do: Callable[[int], None], enough: Callable[[list[Told]], bool]
) -> list[Told]:
    """What comes, until it is enough, or the stream ends. `do` is called with how many came, after each; first with 0
    once the stream is open."""

    async def run() -> list[Told]:
        found: list[Told] = []
        async with (
            httpx.AsyncClient(base_url=url, headers=headers, timeout=120) as client,
            client.stream("GET", path) as answer,
        ):
            assert answer.status_code == 200
            assert answer.headers["content-type"].startswith("text/event-stream")
            await asyncio.to_thread(do, 0)
            if enough(found):
                return found
            async for one in told(answer):
                found.append(one)
                await asyncio.to_thread(do, len(found))
                if enough(found):
                    return found
        return found

    return asyncio.run(run())


def say(made: Ground, run: str, text: str) -> None:
    made.engine.submit(run, AddRemark(RemarkIn(text), "Olga", "python"))


def test_all_events_come_in_order_those_of_before_and_those_that_are_added(made: Ground, url: str) -> None:
    run = made.parked()
    head = made.engine.log.head(run)

    def do(came: int) -> None:
        if came == head:
            for number in range(5):
                say(made, run, f"remark {number}")

    ada = made.person("ada", "viewer")
    path = f"/api/v1/runs/{run}/stream"
    found = listening(url, ada, path, do, lambda found: bool(found) and found[-1][0] == "event" and _five(found))
    seqs = [int(number) for kind, number, _ in found if kind == "event"]
    assert seqs == [*range(1, seqs[-1] + 1)]
    assert seqs[-1] > head
    cut = seqs[len(seqs) // 2]
    again = {**ada, "last-event-id": str(cut)}
    rest = listening(url, again, path, lambda came: None, lambda found: bool(found) and int(found[-1][1]) == seqs[-1])
    assert [int(number) for _, number, _ in rest] == [*range(cut + 1, seqs[-1] + 1)]


def _five(found: list[Told]) -> bool:
    return sum(data.get("type") == "RemarkAdded" for _, _, data in found) == 5


def test_what_agents_are_at_is_told_beside_the_events(made: Ground, url: str) -> None:
    run = made.parked()
    head = made.engine.log.head(run)

    def do(came: int) -> None:
        if came == head:
            made.service.live.tell({"progress": {"run": "another", "what": "text", "detail": "no"}})
            made.service.live.tell({"progress": {"run": run, "what": "text", "detail": "<b>words"}})
            say(made, run, "wakes who listens")

    found = listening(
        url, made.person("ada", "viewer"), f"/api/v1/runs/{run}/stream", do,
        lambda found: any(kind == "progress" for kind, *_ in found),
    )  # fmt: skip
    assert [data["detail"] for kind, _, data in found if kind == "progress"] == ["<b>words"]


def test_changes_of_any_run_are_told(made: Ground, url: str) -> None:
    runs = [made.parked(), made.parked()]

    def do(came: int) -> None:
        if came < len(runs):
            say(made, runs[came], f"said {came}")

    found = listening(
        url, made.person("ada", "viewer"), "/api/v1/stream", do,
        lambda found: {data["run"] for _, _, data in found} >= set(runs),
    )  # fmt: skip
    assert {kind for kind, *_ in found} == {"change"}


def test_a_stream_ends_when_the_right_of_who_listens_does(made: Ground, url: str) -> None:
    run = made.parked()
    headers = made.person("mallory", "viewer")

    def do(came: int) -> None:
        if came == 1:
            made.people.clear()

    found = listening(url, headers, f"/api/v1/runs/{run}/stream", do, lambda found: False)
    assert found[-1][0] == "ended"


def test_a_wrong_number_is_refused_and_looking_at_the_headers_opens_no_stream(made: Ground, url: str) -> None:
    run, ada = made.parked(), made.person("ada", "viewer")
    with httpx.Client(base_url=url, headers=ada) as client:
        path = f"/api/v1/runs/{run}/stream"
        for wrong in ("-1", "x", "9" * 40, "1.5"):
            assert client.get(path, headers={"last-event-id": wrong}).status_code == 422
        assert client.head(path).status_code == 200
        assert client.get("/api/v1/runs/nobody/stream").status_code == 404


def test_a_server_that_ends_lets_go_of_who_listens(tmp_path: Path) -> None:
    """A server that nobody listened to ends at once, and so does one to which somebody does."""
    with ground(tmp_path) as made, on_a_port(made) as (url, service):
        run = made.parked()

        def do(came: int) -> None:
            if came == 1:
                service.live.end()

        listening(url, made.person("ada"), f"/api/v1/runs/{run}/stream", do, lambda found: False)
