"""One request to a served home in a process that is killed on the way, for `forks`."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from reconvene.adapters.desk.home_desk import HomeDesk
from reconvene.adapters.sqlite import SqliteLog
from reconvene.doors.cli.common import Call
from reconvene.doors.cli.server_starts import ServerStarts
from reconvene.doors.http.callers import Callers
from reconvene.doors.http.service import Service
from reconvene.doors.web.app import application
from reconvene.home import find
from reconvene.ports import Append
from served_home import HOST, Ground, ground, service_of

# The way of a request with a key: begun on the desk, its effect on record, its answer on the desk.
MOMENTS = ("begun", "before its effect", "after its effect", "before its answer is kept", "after its answer is kept")


@contextmanager
def serving(made: Ground) -> Iterator[TestClient]:
    """With a workflow that may be started; as Ada."""
    starts = ServerStarts(Call(find(made.home), False, by="Olga"), ("given.yaml",))
    service = Service(service_of(made)._open_engine, made.home, lambda *_: None, lambda: None, starts)
    callers = Callers("Olga")
    callers.find = made.find  # type: ignore[method-assign]
    with TestClient(application(service, callers, [HOST]), f"http://{HOST}", headers=made.person("ada")) as client:
        yield client


def send(folder: str, path: str, body: Mapping[str, Any], headers: Mapping[str, str], moment: str) -> int:
    """The status, where it was not killed before."""
    with ground(Path(folder)) as made, serving(made) as client:
        _die(moment)
        return client.post(path, json=dict(body), headers=dict(headers)).status_code


def _die(moment: str) -> None:
    append = SqliteLog.append

    def appended(self: SqliteLog, run: str, seq: int, what: Append, first: Callable[[], None] | None = None) -> int:
        if what.request is not None and moment == "before its effect":
            _now()
        head = append(self, run, seq, what, first)
        if what.request is not None and moment == "after its effect":
            _now()
        return head

    SqliteLog.append = appended  # type: ignore[method-assign]
    for name, when in (("claim", "begun"), ("answer", "after its answer is kept")):
        setattr(HomeDesk, name, _then(getattr(HomeDesk, name), when == moment))
    if moment == "before its answer is kept":
        HomeDesk.answer = _now  # type: ignore[method-assign]


def _then(done: Callable[..., object], dies: bool) -> Callable[..., object]:
    def and_die(*given: object, **named: object) -> object:
        result = done(*given, **named)
        return _now() if dies else result

    return and_die


def _now(*_: object) -> None:
    os.kill(os.getpid(), signal.SIGKILL)
