"""The process that drives runs for a server: `reconvene worker`, started anew where it dies, told to leave at the end.

It has a process of its own, so that no page waits for agents. It ends when this process does, however that ends: its
standard input is closed then.
"""

from __future__ import annotations

import asyncio
import json
import signal
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress

_AGAIN = (0.5, 60.0)  # seconds until it is started anew, the first time and at most
_AT_ONCE, _LONGEST = 2**16, 2**20  # bytes that are read, and of a line

Tell = Callable[[Mapping[str, object]], None]


class Driving:
    """`tell` gets what it prints, an object a line: progress of agents, and where runs came to."""

    def __init__(self, words: list[str], tell: Tell) -> None:
        self._words = words
        self._tell = tell
        self._process: asyncio.subprocess.Process | None = None
        self._leaving = asyncio.Event()

    def wake(self) -> None:
        """Something may be due."""
        if self._process is not None and self._process.stdin is not None:
            with suppress(ConnectionError, RuntimeError):
                self._process.stdin.write(b"\n")

    async def keep(self) -> None:
        """Until told to leave."""
        delay = _AGAIN[0]
        while not self._leaving.is_set():
            self._process = await asyncio.create_subprocess_exec(
                sys.executable, "-m", "reconvene.doors.cli", *self._words,
                stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, start_new_session=True,
            )  # fmt: skip
            begun = asyncio.get_running_loop().time()
            await self._read(self._process)
            await self._process.wait()
            if asyncio.get_running_loop().time() - begun > _AGAIN[1]:
                delay = _AGAIN[0]
            with suppress(TimeoutError):
                await asyncio.wait_for(self._leaving.wait(), delay)
            delay = min(delay * 2, _AGAIN[1])

    async def _read(self, process: asyncio.subprocess.Process) -> None:
        """Whatever it prints: where nobody reads, it would wait with the runs that it holds."""
        assert process.stdout is not None
        rest, cut = b"", False  # cut: the rest is of a line that is too long to be told
        while data := await process.stdout.read(_AT_ONCE):
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                if not cut:
                    self._told(line)
                cut = False
            if len(rest) > _LONGEST:
                rest, cut = b"", True

    def _told(self, line: bytes) -> None:
        with suppress(ValueError):
            told = json.loads(line)
            if isinstance(told, dict):
                self._tell(told)

    async def leave(self) -> None:
        self._leaving.set()
        if self._process is not None and self._process.returncode is None:
            with suppress(ProcessLookupError):
                self._process.send_signal(signal.SIGTERM)
            await self._process.wait()
