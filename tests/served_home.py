"""A served home for tests: runs at a checkpoint, a server in the test's own process, and people who ask it.

`ground(folder)` makes the home. `Ground.client("ada", "decider")` is somebody with a token, `cookie=True` a browser.
Nothing is driven but by `Ground.drive`: scripted agents answer at once.
"""

from __future__ import annotations

import asyncio
import socket
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starlette.requests import HTTPConnection
from starlette.testclient import TestClient

from reconvene.app.engine import Engine
from reconvene.core.facts.state import RunState
from reconvene.doors.http.callers import COOKIE, Caller, Callers, Role
from reconvene.doors.http.service import Service
from reconvene.doors.web.app import application
from reconvene.testing.scripted import ScriptedAgents
from reconvene.wire.workflow_file import parse_workflow
from reconvene.wiring import open_engine

HOST = "127.0.0.1:7467"
FLOW = """
name: flow
agents: {writer: {}}
phases:
  - id: draft
    rounds: {max: 5}
    agents: [writer]
    checkpoint:
      question: Is the draft good?
      prompt: Read draft.md.
      show_files: [draft.md]
      fields:
        - {id: severity, type: choice, options: [low, high], prompt: How severe?}
        - {id: count, type: number, prompt: How many?}
      options:
        - {label: Go on, then: continue}
        - {label: Once more, remark: required, then: again}
        - {label: Stop, then: {end: stopped}}
  - id: report
    agents: [writer]
    checkpoint: {question: Publish?, options: [{label: Publish, then: continue}, {label: Stop, then: {end: stopped}}]}
"""
DRAFT = "# Draft\n\nRevenue is 850.\n\nThe plan is good.\n"


class Ground:
    def __init__(self, folder: Path, agents: ScriptedAgents | None = None) -> None:
        self.folder = folder
        self.home = str(folder / "home")
        self.agents = agents or ScriptedAgents({}, default={"text": "done", "files": {"draft.md": DRAFT}})
        self.engine = open_engine(self.home, runner=self.agents)
        self.workflow = parse_workflow(FLOW)
        self.people: dict[str, Caller] = {}
        self.service = service_of(self)  # tests that serve it elsewhere put that one here

    def parked(self) -> str:
        """A run at its first checkpoint."""
        run = self.engine.start(self.workflow, by="Olga")
        self.engine.drive_sync(run)
        return run

    def drive(self, run: str) -> RunState:
        return self.engine.drive_sync(run)

    def state(self, run: str) -> RunState:
        return self.engine.load(run)

    def find(self, asks: HTTPConnection) -> Caller | None:
        token = asks.headers.get("authorization", "").removeprefix("Bearer ") or asks.cookies.get(COOKIE, "")
        return self.people.get(token)

    @contextmanager
    def serving(self) -> Iterator[TestClient]:
        """A client whom nobody knows; give it a token of `person`."""
        service = Service(lambda: open_engine(self.home, runner=self.agents), self.home, lambda *_: None, lambda: None)
        callers = Callers("Olga")
        callers.find = self.find  # type: ignore[method-assign]
        with TestClient(
            application(service, callers, [HOST]), f"http://{HOST}", raise_server_exceptions=True
        ) as client:
            yield client

    def person(self, name: str, role: Role = "decider", *, cookie: bool = False) -> dict[str, str]:
        """The headers with which they ask."""
        self.people[f"{name}-{role}-{cookie}"] = Caller(name, role, by_cookie=cookie)
        if cookie:
            return {"cookie": f"{COOKIE}={name}-{role}-{cookie}", "origin": f"http://{HOST}"}
        return {"authorization": f"Bearer {name}-{role}-{cookie}"}

    def close(self) -> None:
        asyncio.run(self.engine.close())


@contextmanager
def ground(folder: Path, agents: ScriptedAgents | None = None) -> Iterator[Ground]:
    made = Ground(folder, agents)
    try:
        yield made
    finally:
        made.close()


def service_of(made: Ground) -> Service:
    return Service(lambda: _engine(made), made.home, lambda *_: None, lambda: None)


def _engine(made: Ground) -> Engine:
    return open_engine(made.home, runner=made.agents)


@contextmanager
def on_a_port(made: Ground, owner: str = "Olga") -> Iterator[tuple[str, Service]]:
    """The same on a port of this machine, in a thread: for clients that speak HTTP themselves. Its address."""
    import threading

    import uvicorn

    from reconvene.doors.http import running

    listening = running.bound("127.0.0.1", 0)
    host = f"127.0.0.1:{listening.getsockname()[1]}"
    service = service_of(made)
    callers = Callers(owner)
    callers.find = made.find  # type: ignore[method-assign]
    config = uvicorn.Config(application(service, callers, [host]), log_level="warning", access_log=False, ws="none")
    begun = threading.Event()

    class Serving(uvicorn.Server):
        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            begun.set()

    server = Serving(config)
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    assert begun.wait(60)
    with urllib.request.urlopen(f"http://{host}/health") as answer:
        assert answer.status == 200
    asyncio.run(service.do(lambda engine: engine.home))  # what it opens, it opens now
    assert service.desk is not None
    try:
        yield f"http://{host}", service
    finally:
        service.live.end()
        server.should_exit = True
        thread.join(60)
