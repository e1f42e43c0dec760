"""Real processes at the price of a fork: one small server imports everything once and forks for each piece of work.

A test process has threads and open databases, which must not be forked; this server has neither. Requests and replies
are lines of JSON. A child that hangs is ended by its own alarm.
"""

from __future__ import annotations

import gc
import importlib
import json
import os
import signal
import subprocess
import sys
import tempfile
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple, Self

_HERE = Path(__file__).resolve().parents[1]
_LONGEST = 60  # seconds that one child may take


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
        path = os.pathsep.join([str(_HERE), *filter(None, [os.environ.get("PYTHONPATH", "")])])
        self._server = subprocess.Popen(
            [sys.executable, "-m", "support.forks"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
            env={**os.environ, "PYTHONPATH": path},
        )  # fmt: skip

    def run(self, *calls: tuple[str, Mapping[str, object]]) -> list[Ended]:
        """Each call is ("module:function", keyword arguments); all of them JSON."""
        assert self._server.stdin is not None
        assert self._server.stdout is not None
        self._server.stdin.write(json.dumps(calls) + "\n")
        self._server.stdin.flush()
        line = self._server.stdout.readline()
        assert line, "the fork server ended"
        return [Ended(*one) for one in json.loads(line)]

    def one(self, call: str, **arguments: object) -> Ended:
        return self.run((call, arguments))[0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        assert self._server.stdin is not None
        self._server.stdin.close()  # the server ends at the end of its input
        self._server.wait(timeout=_LONGEST + 10)
        assert self._server.stdout is not None
        self._server.stdout.close()


def _child(call: str, arguments: Mapping[str, object], answer: int, gate: int) -> None:
    """Never returns. Waits at the gate until all of its siblings are there."""
    signal.alarm(_LONGEST)
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


def _fork_all(calls: Sequence[tuple[str, Mapping[str, object]]]) -> list[Ended]:
    gate, opener = os.pipe()
    children: list[tuple[int, int]] = []
    for call, arguments in calls:
        reading, writing = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.close(opener)
            os.close(reading)
            for _, other in children:
                os.close(other)
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


def _warm_up() -> None:
    """One run here, before the first fork: whatever is imported on first use is then there in every child."""
    for name in ("support.crashing", "support.racing"):
        importlib.import_module(name)
    from support.crashing import play

    with tempfile.TemporaryDirectory() as folder:
        play(os.path.join(folder, "home"))
    gc.collect()
    gc.freeze()  # children then share these pages instead of copying them


def main() -> None:
    _warm_up()
    for line in sys.stdin:
        print(json.dumps(_fork_all(json.loads(line))), flush=True)


if __name__ == "__main__":
    main()
