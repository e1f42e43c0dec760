"""W9: the server. 200 live streams and 50 requests a second; the inbox of 10,000 runs beside an empty page.

A quarter of the requests change something, so that every stream has events to tell. Each stream must have told all
events of its run, in order. The server is a process of its own, and so is the one with the empty page.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from bench import ours
from bench.children import environment
from bench.harness import OURS, Options, Row, progress, ratio

TITLE = "200 live streams, 50 requests/s; the inbox page of 10,000 runs"
STREAMS, RATE, WATCHED, RUNS = 200, 50, 20, 10_000
P95_MS, TIMES_EMPTY = 250.0, 5.0
_EMPTY = """
import socket, uvicorn
from starlette.applications import Starlette
from starlette.responses import HTMLResponse
from starlette.routing import Route

async def page(asks):
    return HTMLResponse("<!doctype html><title>x</title>")

listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
listening.bind(("127.0.0.1", 0))
print(f'{{"url": "http://127.0.0.1:{listening.getsockname()[1]}", "token": ""}}', flush=True)
app = Starlette(routes=[Route("/", page)])
uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False)).run([listening])
"""


def measure(options: Options) -> list[Row]:
    if OURS not in options.sides:
        return []
    with options.scratch() as folder:
        home = folder / "home"
        runs = _parked(home, options.samples(RUNS, 500))
        with _process([sys.executable, "-m", "reconvene.doors.cli", "--home", str(home), *_SERVE]) as server:
            seconds = options.samples(20, 5)
            progress(f"W9: {STREAMS} streams, {RATE} requests/s for {seconds} s")
            taken, missed = asyncio.run(_loaded(server, runs[-WATCHED:], seconds))
            with _process([sys.executable, "-c", _EMPTY]) as empty:
                page, bare = asyncio.run(_pages(server, empty, options.samples(200, 40)))
    p95 = statistics.quantiles(taken, n=20)[18] * 1000
    median = statistics.median(taken) * 1000
    return [
        Row("W9", f"{STREAMS} streams, {RATE} requests/s: median", "ms", median),
        Row("W9", "the same: p95", "ms", p95, score=p95, target=P95_MS, of="ms"),
        Row("W9", "events that a stream missed", "", float(missed), score=float(missed), target=0.0),
        Row(
            "W9", f"inbox page of {len(runs):,} runs", "ms", page * 1000, bare * 1000,
            score=ratio(page, bare), target=TIMES_EMPTY, of="× an empty page",
        ),
    ]  # fmt: skip


_SERVE = ("serve", "--json", "--port", "0", "--no-drive")


def _parked(home: Path, number: int) -> list[str]:
    from reconvene.wiring import open_engine

    made, engine = ours.workflow(ours.REVIEW), open_engine(str(home))

    async def parked() -> list[str]:
        return [await ours.park(engine, made) for _ in range(number)]

    found = asyncio.run(parked())
    asyncio.run(engine.close())
    return found


@contextmanager
def _process(command: list[str]) -> Iterator[dict[str, str]]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment())
    try:
        assert process.stdout is not None
        yield json.loads(process.stdout.readline())
    finally:
        process.terminate()
        process.communicate()


# --- a client that costs little ---


class _Client:
    """One connection that is kept."""

    def __init__(self, server: dict[str, str]) -> None:
        self._host = server["url"].removeprefix("http://")
        self._head = f"Host: {self._host}\r\nAuthorization: Bearer {server['token']}\r\n"
        self._streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def send(self, method: str, path: str, body: object = None) -> asyncio.StreamReader:
        if self._streams is None:
            name, _, port = self._host.partition(":")
            self._streams = await asyncio.open_connection(name, int(port), limit=2**22)
        data = json.dumps(body).encode() if body is not None else b""
        sort = f"Content-Type: application/json\r\nContent-Length: {len(data)}\r\n" if data else ""
        reader, writer = self._streams
        writer.write(f"{method} {path} HTTP/1.1\r\n{self._head}{sort}\r\n".encode() + data)
        await writer.drain()
        return reader

    async def ask(self, method: str, path: str, body: object = None) -> float:
        """Seconds until all of the answer is there."""
        begun = time.perf_counter()
        reader = await self.send(method, path, body)
        head = await reader.readuntil(b"\r\n\r\n")
        status = int(head.split(b" ", 2)[1])
        size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
        await reader.readexactly(size)
        assert 200 <= status < 300, (status, path)
        return time.perf_counter() - begun

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].close()


# --- the load ---


async def _loaded(server: dict[str, str], runs: list[str], seconds: int) -> tuple[list[float], int]:
    """What each request took, and how many events streams missed."""
    seen: list[list[int]] = [[] for _ in range(STREAMS)]
    streams = [asyncio.create_task(_listen(server, runs[at % len(runs)], seen[at])) for at in range(STREAMS)]
    await _until(lambda: all(seen))
    free: asyncio.Queue[_Client] = asyncio.Queue()
    for _ in range(RATE):
        free.put_nowait(_Client(server))
    taken: list[float] = []

    async def once(number: int) -> None:
        client, run = await free.get(), runs[number // 4 % len(runs)]
        said = {"remarks": [{"text": f"remark {number}"}]}
        match number % 4:
            case 0:
                taken.append(await client.ask("POST", f"/api/v1/runs/{run}/remarks", said))
            case 1:
                taken.append(await client.ask("GET", "/api/v1/inbox?limit=50"))
            case 2:
                taken.append(await client.ask("GET", f"/api/v1/runs/{run}/checkpoint"))
            case _:
                taken.append(await client.ask("GET", f"/api/v1/runs/{run}/events?limit=50"))
        free.put_nowait(client)

    begun, asked = time.perf_counter(), list[asyncio.Task[None]]()
    for number in range(RATE * seconds):
        await asyncio.sleep(max(0.0, begun + number / RATE - time.perf_counter()))
        asked.append(asyncio.create_task(once(number)))
    await asyncio.gather(*asked)
    heads = {run: await _head(server, run) for run in runs}
    behind = 0
    try:
        await _until(lambda: all(told[-1] >= heads[runs[at % len(runs)]] for at, told in enumerate(seen)), 30)
    except TimeoutError:
        behind = 1
    for stream in streams:
        stream.cancel()
    await asyncio.gather(*streams, return_exceptions=True)
    whole = [told == list(range(1, heads[runs[at % len(runs)]] + 1)) for at, told in enumerate(seen)]
    return taken, whole.count(False) + behind


async def _listen(server: dict[str, str], run: str, seen: list[int]) -> None:
    client = _Client(server)
    try:
        reader = await client.send("GET", f"/api/v1/runs/{run}/stream")
        while line := await reader.readline():
            if line.startswith(b"id: "):
                seen.append(int(line[4:]))
    finally:
        client.close()


async def _head(server: dict[str, str], run: str) -> int:
    client = _Client(server)
    reader = await client.send("GET", f"/api/v1/runs/{run}/events?limit=1000")
    head = await reader.readuntil(b"\r\n\r\n")
    size = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
    found = json.loads(await reader.readexactly(size))
    client.close()
    return int(found["events"][-1]["seq"])


async def _until(holds: object, most: float = 120.0) -> None:
    assert callable(holds)
    begun = time.perf_counter()
    while not holds():
        if time.perf_counter() - begun > most:
            raise TimeoutError
        await asyncio.sleep(0.05)


async def _pages(server: dict[str, str], empty: dict[str, str], samples: int) -> tuple[float, float]:
    """Median seconds of our inbox page and of the empty one, in turns."""
    own, bare = _Client(server), _Client(empty)
    taken: tuple[list[float], list[float]] = ([], [])
    for _ in range(samples):
        taken[0].append(await own.ask("GET", "/"))
        taken[1].append(await bare.ask("GET", "/"))
    own.close()
    bare.close()
    return statistics.median(taken[0]), statistics.median(taken[1])
