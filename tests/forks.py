"""Real processes at the price of a fork: one small server imports everything once and forks for each piece of work.

A test process has threads and open databases, which must not be forked; this server has neither. There is one for each
process of the test run, started when first needed. A request and its reply are lines of JSON on a socket; the reply to
a request for a terminal carries its file descriptor. A child has the folder and the environment of the test that asks
for it, and one that hangs is ended by its own alarm.
"""

from __future__ import annotations

import atexit
import gc
import importlib
import json
import os
import pty
import signal
import socket
import subprocess
import sys
import tempfile
import termios
import threading
import traceback
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

from commands import Done, checked, surrounded

_HERE = Path(__file__).resolve().parent
_LONGEST = 600  # seconds that one child may take: reached only by one that hangs


class Ended(NamedTuple):
    """How a child ended: by which signal (0 = none), and what it answered or complained of."""

    signal: int
    answer: object
    error: str

    @property
    def killed(self) -> bool:
        return self.signal == signal.SIGKILL


class Forks:
    """`run` forks one child per call, lets them work at the same time, and waits for all of them."""

    def __init__(self) -> None:
        self._socket, theirs = socket.socketpair()
        paths = [str(_HERE), str(_HERE / "acceptance"), *filter(None, [os.environ.get("PYTHONPATH", "")])]
        with theirs:
            self._server = subprocess.Popen(
                [sys.executable, "-m", "forks", str(theirs.fileno())],
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                stdin=subprocess.DEVNULL,
                pass_fds=[theirs.fileno()],
            )
        self._replies = self._socket.makefile()

    def run(self, *calls: tuple[str, Mapping[str, object]]) -> list[Ended]:
        """Each call is ("module:function", keyword arguments); all of them JSON."""
        self._ask(what="run", calls=calls, cwd=os.getcwd(), environment=dict(os.environ))
        replied = self._reply()
        assert isinstance(replied, list)
        return [Ended(*one) for one in replied]

    def one(self, call: str, **arguments: object) -> Ended:
        return self.run((call, arguments))[0]

    def command(self, *words: str, cwd: Path, **environment: str | None) -> Done:
        """`reconvene WORDS` in a process of its own, as `commands.process` has it, without a new interpreter."""
        with tempfile.TemporaryDirectory() as folder:
            streams = [os.path.join(folder, name) for name in ("out", "err")]
            self._ask(
                what="command",
                words=words,
                streams=streams,
                cwd=str(cwd),
                environment=surrounded(environment),
            )
            code = self._reply()
            assert isinstance(code, int)
            out, err = (Path(stream).read_text(encoding="utf-8") for stream in streams)
        return checked(Done(code, out, err))

    def terminal(
        self, words: Sequence[str], size: tuple[int, int], cwd: str, environment: Mapping[str, str]
    ) -> tuple[int, int]:
        """`reconvene WORDS` at a new pseudo-terminal: its process and the other end of the terminal."""
        self._ask(what="terminal", words=words, size=size, cwd=cwd, environment=dict(environment))
        _, (end,), _, _ = socket.recv_fds(self._socket, 1, 1)
        process = self._reply()
        assert isinstance(process, int)
        return process, end

    def status(self, process: int, *, wait: bool) -> int | None:
        """How the process of a terminal ended, as `os.waitpid` has it; None while it runs."""
        self._ask(what="status", process=process, options=0 if wait else os.WNOHANG)
        found = self._reply()
        assert isinstance(found, list)
        return int(found[1]) if found[0] else None

    def _ask(self, **request: object) -> None:
        self._socket.sendall(json.dumps(request).encode() + b"\n")

    def _reply(self) -> object:
        line = self._replies.readline()
        assert line, "the fork server ended"
        return json.loads(line)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._replies.close()
        self._socket.close()  # the server ends at the end of its input
        self._server.wait(timeout=_LONGEST + 10)


# --- in the server --------------------------------------------------------------------------------------------------


def _surround(request: Mapping[str, object]) -> None:
    os.chdir(str(request["cwd"]))
    os.environ.clear()
    given = request["environment"]
    assert isinstance(given, dict)
    os.environ.update(given)
    sys.path[:0] = [path for path in given.get("PYTHONPATH", "").split(os.pathsep) if path and path not in sys.path]
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.alarm(_LONGEST)


def _child(call: str, arguments: Mapping[str, object], answer: int, gate: int) -> None:
    """Never returns. Waits at the gate until all of its siblings are there."""
    code = 0
    try:
        module, _, name = call.partition(":")
        function = getattr(importlib.import_module(module), name)
        os.read(gate, 1)
        document: list[object] = [function(**arguments), ""]
    except BaseException:
        code, document = 1, [None, traceback.format_exc()]
    with os.fdopen(answer, "w") as file:
        json.dump(document, file)
    os._exit(code)


def _fork_all(request: Mapping[str, object]) -> list[Ended]:
    gate, opener = os.pipe()
    children: list[tuple[int, int]] = []
    calls = request["calls"]
    assert isinstance(calls, list)
    for call, arguments in calls:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(opener)
            os.close(reading)
            for _, other in children:
                os.close(other)
            _surround(request)
            _child(call, arguments, writing, gate)
        os.close(writing)
        children.append((pid, reading))
    os.close(gate)
    os.close(opener)  # the end of the pipe is what everybody waits for
    return [_collect(pid, reading) for pid, reading in children]


def _collect(pid: int, reading: int) -> Ended:
    with os.fdopen(reading) as file:
        said = file.read()
    _, status = os.waitpid(pid, 0)
    answer, error = json.loads(said) if said else (None, "")
    number = os.WTERMSIG(status) if os.WIFSIGNALED(status) else 0
    return Ended(number, answer, error)


def _command(request: Mapping[str, object]) -> None:
    """Never returns: the command with the streams that a new process would give it."""
    code = 1
    try:
        _surround(request)
        words, size = request["words"], request.get("size")
        assert isinstance(words, list)
        if isinstance(size, list):
            termios.tcsetwinsize(0, tuple(size))
        sys.argv = ["reconvene", *words]
        sys.stdin = sys.__stdin__ = os.fdopen(0, encoding="utf-8", closefd=False)
        sys.stdout = sys.__stdout__ = os.fdopen(1, "w", encoding="utf-8", buffering=1, closefd=False)
        sys.stderr = sys.__stderr__ = os.fdopen(2, "w", encoding="utf-8", buffering=1, closefd=False)
        from reconvene.doors.cli.main import main

        code = main()
        sys.stdout.flush()
    except SystemExit as ending:
        code = ending.code if isinstance(ending.code, int) else 1
    except BaseException:
        traceback.print_exc()
    os._exit(code)


def _terminal(connection: socket.socket, request: Mapping[str, object]) -> int:
    pid, end = pty.fork()
    if pid == 0:
        connection.close()
        _command(request)
    socket.send_fds(connection, [b"."], [end])
    os.close(end)
    return pid


def _plain(request: Mapping[str, object]) -> int:
    """Its exit code, or, as `subprocess` has it, the signal that ended it, below zero."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.close(reading)
        streams = request["streams"]
        assert isinstance(streams, list)
        files = [os.open(os.devnull, os.O_RDONLY), *(os.open(path, os.O_CREAT | os.O_WRONLY) for path in streams)]
        for number, file in enumerate(files):
            os.dup2(file, number)
            os.close(file)
        os.setsid()
        atexit.register(_tell_imported, writing, set(sys.modules))
        _command(request)
    os.close(writing)
    with os.fdopen(reading) as told:
        imported = told.read().split()
    status = os.waitpid(pid, 0)[1]
    _learn(imported)
    return os.waitstatus_to_exitcode(status)


def _tell_imported(writing: int, before: set[str]) -> None:
    """In a child, at its end: which modules it had to import that every test has in common."""
    ours = (sys.prefix, sys.base_prefix, str(_HERE.parent / "src"))
    new = [name for name, module in list(sys.modules.items()) if name not in before and _from(module).startswith(ours)]
    with os.fdopen(writing, "w") as file:
        file.write("\n".join(new))


def _from(module: object) -> str:
    return str(getattr(module, "__file__", None) or "")


def _learn(names: Sequence[str]) -> None:
    """What one child imported, the next ones have from the start."""
    for name in names:
        with suppress(Exception):  # some can only be imported by their own package
            importlib.import_module(name)
    assert threading.active_count() == 1, "a module started a thread, which must not be forked"


def _serve(connection: socket.socket) -> None:
    for line in connection.makefile():
        request = json.loads(line)
        match request["what"]:
            case "run":
                reply: object = _fork_all(request)
            case "terminal":
                reply = _terminal(connection, request)
            case "command":
                reply = _plain(request)
            case _:
                reply = os.waitpid(request["process"], request["options"])
        connection.sendall(json.dumps(reply).encode() + b"\n")


def _warm_up() -> None:
    """One run here, before the first fork: whatever is imported on first use is then there in every child."""
    for name in ("support.crashing", "support.racing", "questionary", "rich.live", *_commands()):
        importlib.import_module(name)
    from support.crashing import play

    with tempfile.TemporaryDirectory() as folder:
        play(os.path.join(folder, "home"))
    gc.collect()
    gc.freeze()  # children then share these pages instead of copying them


def _commands() -> set[str]:
    from reconvene.doors.cli.main import COMMANDS

    return {f"reconvene.doors.cli.{module}" for module, _, _ in COMMANDS.values()}


if __name__ == "__main__":
    with socket.socket(fileno=int(sys.argv[1])) as asked:
        _warm_up()
        _serve(asked)
