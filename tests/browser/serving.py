"""The cockpit on a port of this machine, in a thread of the test's own process. Agents are not driven."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

import uvicorn
from tests.browser.startable import Packaged

from reconvene.app.engine import Engine
from reconvene.doors.http import running
from reconvene.doors.http.callers import Callers
from reconvene.doors.http.service import Service
from reconvene.doors.web.app import application
from reconvene.people_ports import People
from reconvene.wiring import open_engine

_TO_START = 60  # seconds: reached only by a server that does not come up


class Served(NamedTuple):
    url: str
    token: str
    home: Path


def nothing(*_given: object) -> None: ...


def engine_of(home: Path) -> Engine:
    return open_engine(str(home), say=nothing)


@contextmanager
def served(home: Path, by: str = "ann", people: People | None = None) -> Iterator[Served]:
    """Where there are people, their tokens admit, and not the link."""
    listening = running.bound("127.0.0.1", 0)
    number = listening.getsockname()[1]
    service = Service(lambda: engine_of(home), str(home), nothing, nothing, Packaged())
    callers = Callers(by, people=people)
    app = application(service, callers, [f"127.0.0.1:{number}"])
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, ws="none"))
    listening.listen()
    thread = threading.Thread(target=server.run, args=([listening],), daemon=True)
    thread.start()
    begun = threading.Event()
    for _ in range(_TO_START * 20):
        if server.started:
            break
        begun.wait(0.05)
    assert server.started
    try:
        yield Served(f"http://127.0.0.1:{number}", callers.link, home)
    finally:
        server.should_exit = True
        thread.join(_TO_START)
