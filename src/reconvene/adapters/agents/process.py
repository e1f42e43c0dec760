"""One child process in a group of its own: fed, listened to, bounded, and ended with everything in its group.

A process that was started in another's place (a keeper, a sandbox) ends what left the group: it is given time for that.

Knows argv, bytes and signals; nothing of agents or files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from typing import Literal, NamedTuple

MAX_OUTPUT = 4 * 1024 * 1024
STDERR_TAIL = 64 * 1024
GRACE = 2.0  # seconds between SIGTERM and SIGKILL
_KEEPERS_GRACE = 8.0  # as long as a keeper may need to end everything by itself
_POLL = 0.02


StandIn = Literal["", "keeper", "sandbox"]
_SIGNALS = frozenset(int(one) for one in signal.Signals)


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
    stand_in: StandIn = "",
    started: Callable[[int], None] | None = None,
    handles: tuple[int, ...] = (),
) -> Outcome:
    """Run to the end. TookTooLong after `timeout`; whatever happens, the whole process group is gone on return.

    `stand_in`: what is started is no program of its own, but one that starts it. `started`: is told its process id.
    `handles`: open files that it is given.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(
            lambda: _Listening(heard), *argv, cwd=cwd, env=dict(env), start_new_session=True, pass_fds=handles
        )
    )
    try:
        transport, listening = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # half started is not nothing: let the start complete, then end what it started
        await _finish(*await starting, stand_in)
        raise
    try:
        if started is not None:
            started(transport.get_pid())
        _feed(transport, stdin)
        async with asyncio.timeout(timeout):
            await asyncio.shield(listening.ended)
    except TimeoutError:
        late = True
    else:
        late = False
    finally:
        await _finish(transport, listening, stand_in)
    code = transport.get_returncode()
    code = -signal.SIGKILL if code is None else code
    if stand_in == "sandbox" and code - 128 in _SIGNALS:
        code = 128 - code  # a sandbox tells by its exit code which signal ended the program
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


async def _finish(transport: asyncio.SubprocessTransport, listening: _Listening, stand_in: StandIn) -> None:
    group = transport.get_pid()  # start_new_session makes the child its group's leader
    try:
        await _end_group(group, listening, stand_in)
        # Output written before the end is still in the pipe. One who fled into another session may hold it open.
        await asyncio.wait([listening.drained], timeout=GRACE)
    except BaseException:
        # cancelled once more: no more patience
        _signal(group, signal.SIGKILL)
        raise
    finally:
        transport.close()


async def _end_group(group: int, listening: _Listening, stand_in: StandIn) -> None:
    """SIGTERM, a little time, SIGKILL. Returns at once where nobody is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if listening.exited.done() and not _alive(group):
            return
        if stand_in == "sandbox" and number == signal.SIGTERM:
            _ask_members(group)
        else:
            _signal(group, number)
        await _until_gone(group, listening, _KEEPERS_GRACE if stand_in == "keeper" else GRACE)


def _ask_members(group: int) -> None:
    """All but the sandbox itself: with it the program would be gone before it could end in order."""
    for pid in _members(group):
        if pid != group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)


async def _until_gone(group: int, listening: _Listening, patience: float) -> None:
    """For as long as there is patience. The kernel ends who is killed at once, but on a busy machine not before it has
    its turn."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    pause = 0.001
    # the kernel sends no word when the last member of a group has gone
    while loop.time() < deadline and not (listening.exited.done() and not _alive(group)):
        await asyncio.sleep(pause)
        pause = min(2 * pause, _POLL)


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
    members = _members(group)
    return bool(members) and all(state in ("Z", "X") for state in members.values())


def _members(group: int) -> dict[int, str]:
    """Process id → state, as far as the system tells."""
    try:
        found = {int(name): _state(name) for name in os.listdir("/proc") if name.isdigit()}
    except OSError:
        return {}
    return {pid: state for pid, (state, leader) in found.items() if leader == group}


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
