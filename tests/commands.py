"""The command line, as tests call it: in their own process (milliseconds) or in one of its own (half a second).

A call in the test's process starts from the same ground as a process does and leaves nothing behind: streams, folder,
environment, imported modules, open logs and signal handlers are as before. What a dying or signalled process does can
only be shown with a real one; everything else is shown here.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import NamedTuple
from unittest.mock import patch

LONGEST = 300  # seconds: reached only by a process that hangs


class Done(NamedTuple):
    code: int
    out: str
    err: str

    @property
    def json(self) -> object:
        return json.loads(self.out)

    @property
    def object(self) -> dict[str, object]:
        found = json.loads(self.out)
        assert isinstance(found, dict)
        return found

    @property
    def objects(self) -> list[dict[str, object]]:
        found = json.loads(self.out)
        assert isinstance(found, list)
        return found


Command = Callable[..., Done]


def call(*words: str, cwd: Path, stdin: str = "", **environment: str | None) -> Done:
    """`reconvene WORDS` in this process, without a terminal; a variable given as None is unset. `stdin`: what is piped
    into it.

    Every call also proves that no traceback is ever shown.
    """
    from reconvene.doors.cli.main import run

    out, err = _stream(), _stream()
    piped = io.TextIOWrapper(io.BytesIO(stdin.encode()), encoding="utf-8")
    with _as_if_alone(cwd, environment), piped, ExitStack() as streams:
        for name, stream in (("stdin", piped), ("stdout", out), ("stderr", err)):
            streams.enter_context(patch.object(sys, name, stream))
            streams.enter_context(patch.object(sys, f"__{name}__", stream))
        code = run(words)
    return checked(Done(code, _text(out), _text(err)))


def process(*words: str, cwd: Path, **environment: str | None) -> Done:
    """The same in a process of its own: for what only a process can show."""
    done = subprocess.run(
        [sys.executable, "-m", "reconvene.doors.cli", *words],
        cwd=cwd,
        env=surrounded(environment),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        encoding="utf-8",
        timeout=LONGEST,
        check=False,
    )
    return checked(Done(done.returncode, done.stdout, done.stderr))


def checked(done: Done) -> Done:
    """No traceback is ever shown."""
    assert "Traceback" not in done.err, done.err
    assert "this is a bug" not in done.err, done.err
    return done


def _stream() -> io.TextIOWrapper:
    return io.TextIOWrapper(io.BytesIO(), encoding="utf-8", newline="\n")


def _text(stream: io.TextIOWrapper) -> str:
    """What was written, with line ends as `subprocess` gives them."""
    stream.flush()
    assert isinstance(stream.buffer, io.BytesIO)
    return stream.buffer.getvalue().decode("utf-8").replace("\r\n", "\n").replace("\r", "\n")


def surrounded(environment: Mapping[str, str | None]) -> dict[str, str]:
    """The environment of a command: this process's, with these variables; None unsets one."""
    merged: dict[str, str | None] = {**os.environ, **environment}
    return {name: value for name, value in merged.items() if value is not None}


@contextmanager
def _as_if_alone(cwd: Path, environment: Mapping[str, str | None]) -> Iterator[None]:
    """What the end of a process would undo is undone. Signal handlers the command itself must give back."""
    from reconvene.adapters import sqlite

    opened = []

    class Log(sqlite.SqliteLog):
        def __init__(self, path: str) -> None:
            super().__init__(path)
            opened.append(self)

    before, modules = os.getcwd(), set(sys.modules)
    handlers = [signal.getsignal(number) for number in _SIGNALS]
    os.chdir(cwd)
    try:
        with patch.dict(os.environ, surrounded(environment), clear=True), patch.object(sqlite, "SqliteLog", Log):
            yield
    finally:
        for log in opened:
            log.close()
        os.chdir(before)
        for name in set(sys.modules) - modules:
            if str(getattr(sys.modules[name], "__file__", None) or "").startswith(f"{cwd}{os.sep}"):
                del sys.modules[name]
    assert [signal.getsignal(number) for number in _SIGNALS] == handlers, "a signal handler was left behind"


_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
