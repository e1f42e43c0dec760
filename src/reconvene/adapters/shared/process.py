"""One child process in a group of its own: fed, listened to, bounded, and ended with everything in its group.

A process that was started in another's place (a keeper, a sandbox) ends what left the group: it is given time for that.

Knows argv, bytes and signals; nothing of agents or files.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Literal, NamedTuple, TypeVar

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


class Child(asyncio.SubprocessProtocol):
    """What is told of a process. Sees the exit even while a grandchild still holds the pipes open."""

    def __init__(self) -> None:
        loop = asyncio.get_running_loop()
        self.exited: asyncio.Future[None] = loop.create_future()
        self.drained: asyncio.Future[None] = loop.create_future()  # stdout and stderr are closed
        self._open = {1, 2}

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        # fd 0 lost: it does not want (all of) its stdin, which is its own business
        self._open.discard(fd)
        if not self._open:
            settle(self.drained)

    def process_exited(self) -> None:
        settle(self.exited)


_Child = TypeVar("_Child", bound=Child)


class _Listening(Child):
    """Gathers output within bounds."""

    def __init__(self, heard: Callable[[bytes], None]) -> None:
        super().__init__()
        self.ended: asyncio.Future[None] = asyncio.get_running_loop().create_future()  # exited, or flooded
        self.stdout = bytearray()
        self.stderr = bytearray()
        self.flooded = False
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
            settle(self.ended)
        else:
            self._heard(data)

    def process_exited(self) -> None:
        super().process_exited()
        settle(self.ended)


def settle(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)


@asynccontextmanager
async def started(
    make: Callable[[], _Child],
    argv: Sequence[str],
    cwd: str,
    env: Mapping[str, str],
    stand_in: StandIn = "",
    told: Callable[[int], None] | None = None,
    handles: tuple[int, ...] = (),
) -> AsyncIterator[tuple[asyncio.SubprocessTransport, _Child]]:
    """A process; whatever happens, its whole process group is gone afterwards. `told`: is told its process id.

    `stand_in`: what is started is no program of its own, but one that starts it. `handles`: open files that it gets.
    """
    loop = asyncio.get_running_loop()
    starting = asyncio.ensure_future(
        loop.subprocess_exec(make, *argv, cwd=cwd, env=dict(env), start_new_session=True, pass_fds=handles)
    )
    try:
        transport, child = await asyncio.shield(starting)
    except asyncio.CancelledError:
        # half started is not nothing: let the start complete, then end what it started
        await _finish(*await starting, stand_in)
        raise
    try:
        if told is not None:
            told(transport.get_pid())
        yield transport, child
    finally:
        await _finish(transport, child, stand_in)


async def run(
    argv: Sequence[str],
    stdin: bytes,
    cwd: str,
    env: Mapping[str, str],
    timeout: float,
    heard: Callable[[bytes], None],
    stand_in: StandIn = "",
    told: Callable[[int], None] | None = None,
    handles: tuple[int, ...] = (),
) -> Outcome:
    """Run to the end. TookTooLong after `timeout`; for the rest see `started`."""
    late = False
    making = started(lambda: _Listening(heard), argv, cwd, env, stand_in, told, handles)
    async with making as (transport, listening):
        _feed(transport, stdin)
        try:
            async with asyncio.timeout(timeout):
                await asyncio.shield(listening.ended)
        except TimeoutError:
            late = True
    code = exit_code(transport, stand_in)
    outcome = Outcome(code, bytes(listening.stdout), bytes(listening.stderr), listening.flooded)
    if late:
        raise TookTooLong(outcome)
    return outcome


def exit_code(transport: asyncio.SubprocessTransport, stand_in: StandIn) -> int:
    """Of a process that has ended; negative: the signal that ended it."""
    code = transport.get_returncode()
    code = -signal.SIGKILL if code is None else code
    if stand_in == "sandbox" and code - 128 in _SIGNALS:
        code = 128 - code  # a sandbox tells by its exit code which signal ended the program
    return code


def _feed(transport: asyncio.SubprocessTransport, data: bytes) -> None:
    pipe = transport.get_pipe_transport(0)
    if isinstance(pipe, asyncio.WriteTransport):
        # the transport buffers what the child has not read yet, so a huge prompt cannot block the reading side
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            pipe.write(data)
            pipe.write_eof()


async def _finish(transport: asyncio.SubprocessTransport, child: Child, stand_in: StandIn) -> None:
    group = transport.get_pid()  # start_new_session makes the child its group's leader
    try:
        await _end_group(group, child, stand_in)
        # Output written before the end is still in the pipe. One who fled into another session may hold it open.
        await asyncio.wait([child.drained], timeout=GRACE)
    except BaseException:
        # cancelled once more: no more patience
        _signal(group, signal.SIGKILL)
        raise
    finally:
        transport.close()


async def _end_group(group: int, child: Child, stand_in: StandIn) -> None:
    """SIGTERM, a little time, SIGKILL. Returns at once where nobody is left."""
    for number in (signal.SIGTERM, signal.SIGKILL):
        if child.exited.done() and not _alive(group):
            return
        if stand_in == "sandbox" and number == signal.SIGTERM:
            _ask_members(group)
        else:
            _signal(group, number)
        await _until_gone(group, child, _KEEPERS_GRACE if stand_in == "keeper" else GRACE)


def _ask_members(group: int) -> None:
    """All but the sandbox itself: with it the program would be gone before it could end in order."""
    for pid in _members(group):
        if pid != group:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.kill(pid, signal.SIGTERM)


async def _until_gone(group: int, child: Child, patience: float) -> None:
    """For as long as there is patience. The kernel ends who is killed at once, but on a busy machine not before it has
    its turn."""
    loop = asyncio.get_running_loop()
    deadline = loop.time() + patience
    pause = 0.001
    # the kernel sends no word when the last member of a group has gone
    while loop.time() < deadline and not (child.exited.done() and not _alive(group)):
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
