"""One child process in a group of its own: fed, listened to, bounded, and ended with everything it started.

Knows argv, bytes and signals; nothing of agents or files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

MAX_OUTPUT = 4 * 1024 * 1024
STDERR_TAIL = 64 * 1024
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_POLL = 0.02


class Outcome(NamedTuple):
    code: int  # negative: the signal that ended it
    stdout: bytes
    stderr_tail: bytes
    flooded: bool


class TookTooLong(TimeoutError):
    """The time was up. `so_far` is what came until then."""

    def __init__(self, so_far: Outcome) -> None:
        super().__init__()
        self.so_far = so_far


class _Listening(asyncio.SubprocessProtocol):
    """Gathers output within bounds. Sees the exit even while a grandchild still holds the pipes open."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        loop = asyncio.get_running_loop()
        self.ended: asyncio.Future[None] = loop.create_future()  # exited, or flooded
        self.exited: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()  # stdout and stderr are closed
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.flooded = False
        self._open = {1, 2}
        self._heard = heard

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        if fd == 2:
            self.stderr += data
            del self.stderr[:-STDERR_TAIL]
            return
        room = MAX_OUTPUT - len(self.stdout)
        self.stdout += data[:room]
        if len(data) > room:
            self.flooded = True
            _settle(self.ended)
        else:
            self._heard(data)

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        # fd 0 lost: it does not want (all of) its stdin, which is its own business
        self._open.discard(fd)
        if not self._open:
            _settle(self.drained)

    def process_exited(self) -> None:
        _settle(self.exited)
        _settle(self.ended)


def _settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


async def run(
    argv: Sequence[str],
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    heard: Callable[[bytes], None],
) -> Outcome:
    """Run to the end. TookTooLong after `timeout`; whatever happens, the whole process group is gone on return."""
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(lambda: _Listening(heard), *argv, cwd=cwd, env=dict(env), start_new_session=True)
    )
    try:
        transport, listening = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # half started is not nothing: let the start complete, then end what it started
        await _finish(*await starting)
        raise
    try:
        _feed(transport, stdin)
        async with asyncio.timeout(timeout):
            await asyncio.shield(listening.ended)
    except TimeoutError:
        late = True
    else:
        late = False
    finally:
        await _finish(transport, listening)
    code = transport.get_returncode()
    code = -signal.SIGKILL if code is None else code
    outcome = Outcome(code, bytes(listening.stdout), bytes(listening.stderr), listening.flooded)
    if late:
        raise TookTooLong(outcome)
    return outcome


def _feed(transport: asyncio.SubprocessTransport, data: bytes) -> None:
    pipe = transport.get_pipe_transport(0)
    if isinstance(pipe, asyncio.WriteTransport):
        # the transport buffers what the child has not read yet, so a huge prompt cannot block the reading side
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(data)
            pipe.write_eof()


async def _finish(transport: asyncio.SubprocessTransport, listening: _Listening) -> None:
    group = transport.get_pid()  # start_new_session makes the child its group's leader
    try:
        await _end_group(group, listening)
        # Output written before the end is still in the pipe. One who fled into another session may hold it open.
        await asyncio.wait([listening.drained], timeout=GRACE)
    except BaseException:
        # cancelled once more: no more patience
        _signal(group, signal.SIGKILL)
        raise
    finally:
        transport.close()


async def _end_group(group: int, listening: _Listening) -> None:
    """SIGTERM, a little time, SIGKILL. Returns at once where nobody is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if listening.exited.done() and not _alive(group):
            return
        _signal(group, number)
        await _until_gone(group, listening)


async def _until_gone(group: int, listening: _Listening) -> None:
    """For as long as there is patience. The kernel ends who is killed at once, but on a busy machine not before it has
    its turn."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + GRACE
    # the kernel sends no word when the last member of a group has gone
    while loop.time() < deadline and not (listening.exited.done() and not _alive(group)):  # noqa: ASYNC110
        await asyncio.sleep(_POLL)


def _alive(group: int) -> bool:
    try:
        os.killpg(group, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return not _all_dead(group)


def _all_dead(group: int) -> bool:
    """Whether only dead members are left that nobody collects, as in containers without an init. Linux only."""
    members = 0
    try:
        for name in os.listdir("/proc"):
            if name.isdigit():
                state, leader = _state(name)
                if leader == group:
                    members += 1
                    if state not in ("Z", "X"):
                        return False
    except OSError:
        return False
    return members > 0


def _state(pid: str) -> tuple[str, int]:
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            # after the name in brackets, which may hold anything: state, parent, process group
            fields = file.read().rpartition(b")")[2].split()
    except OSError:
        return "", 0  # ended meanwhile
    return fields[0].decode(), int(fields[2])


def _signal(group: int, number: int) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(group, number)
