"""One helper process, started when it is first needed, killed and replaced when a request runs away.

It is asked by one thread at a time. Nothing of this process reaches it but the request: no environment, no files, and
no signal from the terminal, since it is in a session of its own.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from reconvene.language.guest import OutOfTime
from reconvene.language.javascript import machine
from reconvene.language.javascript.machine import Ask
from reconvene.wire import contracts

if TYPE_CHECKING:
    import subprocess

_CHILD = os.path.join(os.path.dirname(__file__), "child.py")
_MODULES = (os.path.abspath(machine.__file__), os.path.abspath(contracts.__file__))
_PATIENCE = 120.0  # seconds of waiting beyond the limit, for machines that have no time for it
_KEPT = ("LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")  # a Python may not start without


class Helper:
    """language.guest.Guest over a process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._process: subprocess.Popen[bytes] | None = None
        self._owner = 0  # the process that started it: after a fork it is not ours

    def evaluate(self, ask: Ask) -> str:
        head = [repr(ask.seconds), str(len(ask.forms)), *ask.forms, ask.values, ask.mode]
        fields = [field.encode("utf-8", "surrogatepass") for field in head]
        return self._asked(b"e", fields, ask.seconds).decode("utf-8", "surrogatepass")

    def validate(self, schema: bytes, value: bytes, seconds: float) -> bytes:
        return self._asked(b"v", [repr(seconds).encode(), schema, value], seconds)

    def close(self) -> None:
        with self._lock:
            self._end()

    def _asked(self, kind: bytes, fields: list[bytes], seconds: float) -> bytes:
        request = kind + b"".join(map(_field, fields))
        with self._lock:
            try:
                return self._exchange(request, seconds)
            except OSError:  # it could not be started, or ended before it answered
                self._end()
                raise OutOfTime from None
            except BaseException:  # Ctrl-C, too: the answer that is still to come must not be taken for the next one's
                self._end()
                raise

    def _exchange(self, request: bytes, seconds: float) -> bytes:
        process = self._alive() or self._start()
        assert process.stdin is not None
        process.stdin.write(request)
        process.stdin.flush()
        until = time.monotonic() + seconds + _PATIENCE
        size = int.from_bytes(self._read(process, 4, until), "big")
        return self._read(process, size, until)

    def _read(self, process: subprocess.Popen[bytes], size: int, until: float) -> bytes:
        import select

        assert process.stdout is not None
        handle = process.stdout.fileno()
        parts: list[bytes] = []
        while size:
            ready, _, _ = select.select([handle], [], [], max(0.0, until - time.monotonic()))
            part = os.read(handle, min(size, 1 << 20)) if ready else b""
            if not part:
                raise BrokenPipeError
            parts.append(part)
            size -= len(part)
        return b"".join(parts)

    def _alive(self) -> subprocess.Popen[bytes] | None:
        if self._process is not None and self._owner != os.getpid():
            self._process = None  # the parent's
        if self._process is not None and self._process.poll() is not None:
            self._end()  # it was idle, and something else ended it
        return self._process

    def _start(self) -> subprocess.Popen[bytes]:
        import subprocess

        import _quickjs

        from reconvene.language.javascript.sealing import SANDBOX

        library = os.path.dirname(os.path.abspath(_quickjs.__file__))
        path = os.pathsep.join(sys.path)
        process = subprocess.Popen(
            [sys.executable, "-I", "-S", _CHILD, *_MODULES, library, path],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            cwd=os.sep,
            env={name: os.environ[name] for name in _KEPT if name in os.environ},
            start_new_session=True,
        )
        self._process, self._owner = process, os.getpid()
        assert process.stdin is not None
        process.stdin.write(_field(SANDBOX.encode()))
        return process

    def _end(self) -> None:
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        process.kill()
        for stream in (process.stdin, process.stdout):
            with suppress(OSError):  # what was still to be written
                if stream is not None:
                    stream.close()
        process.wait()


def _field(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data
