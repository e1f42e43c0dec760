"""A process that is fed and listened to until it ends, its time is up or it says too much; then all of it is gone."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import time

from reconvene.adapters.box.boxed_entry import OUT_OF_MEMORY
from reconvene.material_ports import Bounds, Ended
from reconvene.sandbox_ports import Kept

_TAIL = 4096  # bytes of error output that are kept
_CHUNK = 1 << 16
_GRACE = 10.0  # seconds that a keeper may need to end everything
_SIGNALS = frozenset(int(one) for one in signal.Signals)


def run(kept: Kept, given: int | bytes, folder: str, bounds: Bounds) -> Ended:
    process = subprocess.Popen(
        kept.argv,
        stdin=given if isinstance(given, int) else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=folder,
        env=dict(kept.env),
        pass_fds=kept.handles,
        start_new_session=True,
    )
    try:
        if kept.started is not None:
            kept.started(process.pid)
        heard = _Hearing(process, b"" if isinstance(given, int) else given, bounds)
        cause = heard.until_the_end()
    finally:
        _end(process, kept.stand_in)
    return _told(heard, process.returncode, cause, kept.stand_in)


class _Hearing:
    def __init__(self, process: subprocess.Popen[bytes], given: bytes, bounds: Bounds) -> None:
        self.out, self.err = bytearray(), bytearray()
        self._process, self._given, self._bounds = process, memoryview(given), bounds
        self._until = time.monotonic() + bounds.seconds

    def until_the_end(self) -> str:
        """ "" = both outputs were closed."""
        with selectors.DefaultSelector() as waiting:
            for stream in (self._process.stdout, self._process.stderr):
                assert stream is not None
                waiting.register(stream, selectors.EVENT_READ)
            if self._process.stdin is not None:
                os.set_blocking(self._process.stdin.fileno(), False)
                waiting.register(self._process.stdin, selectors.EVENT_WRITE)
            while waiting.get_map():
                ready = waiting.select(max(0.0, self._until - time.monotonic()))
                if not ready and time.monotonic() >= self._until:
                    return "time"
                for key, _ in ready:
                    if not (self._feed() if key.fileobj is self._process.stdin else self._hear(key.fd)):
                        waiting.unregister(key.fileobj)
                if len(self.out) > self._bounds.answer:
                    return "flood"
        try:
            self._process.wait(max(0.1, self._until - time.monotonic()))
        except subprocess.TimeoutExpired:
            return "time"
        return ""

    def _feed(self) -> bool:
        """Whether there is more to give."""
        assert self._process.stdin is not None
        try:
            self._given = self._given[os.write(self._process.stdin.fileno(), self._given[:_CHUNK]) :]
        except BlockingIOError:
            return True
        except OSError:  # it wants no more
            self._given = memoryview(b"")
        if not self._given:
            self._process.stdin.close()
        return bool(self._given)

    def _hear(self, handle: int) -> bool:
        assert self._process.stdout is not None
        data = os.read(handle, _CHUNK)
        if handle == self._process.stdout.fileno():
            self.out += data
        else:
            self.err += data
            del self.err[:-_TAIL]
        return bool(data)


def _end(process: subprocess.Popen[bytes], stand_in: str) -> None:
    """A keeper is asked, for it ends what left the group; all else is killed."""
    if process.poll() is None and stand_in == "keeper":
        with contextlib.suppress(ProcessLookupError, subprocess.TimeoutExpired):
            os.killpg(process.pid, signal.SIGTERM)
            process.wait(_GRACE)
    if process.poll() is None or stand_in != "keeper":
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()


def _told(heard: _Hearing, code: int, cause: str, stand_in: str) -> Ended:
    said = bytes(heard.err).decode("utf-8", "replace").strip()
    if stand_in == "sandbox" and code - 128 in _SIGNALS:
        code = 128 - code  # a sandbox tells by its exit code which signal ended the program
    match cause:
        case "time" | "flood":
            return Ended(b"", code, cause, said)
    if code in (OUT_OF_MEMORY, -signal.SIGXCPU):
        return Ended(b"", code, "memory" if code == OUT_OF_MEMORY else "time", said)
    if code:
        starved = "MemoryError" in said or "bad_alloc" in said or "Cannot allocate memory" in said
        return Ended(b"", code, "memory" if starved else "crash", said)
    return Ended(bytes(heard.out), 0, "", said)
