"""An MCP server that is a program: its output is read line by line, within limits, and never more than can be used.

A line that is too long, output without end and lines that are no MCP end the connection, and why is said. Between calls
a server that writes much is not listened to. Knows processes and messages; nothing of tools.
"""

from __future__ import annotations

import asyncio
import contextlib
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from reconvene.adapters.shared import process
from reconvene.sandbox_ports import Kept

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams
    from mcp.shared.message import SessionMessage

MEGABYTE = 1024 * 1024
MOST_LINE = 8 * MEGABYTE
_MOST_IN_A_CALL = 64 * MEGABYTE
_MOST_BETWEEN = MEGABYTE
_MOST_RUBBISH = 100  # lines
_TAIL = 4_000  # bytes of error output
_POLITE = 1.0  # seconds in which a server may end by itself


class Talk(process.Child):
    """What a server writes. `fault`: why it is not listened to any more."""

    def __init__(self) -> None:
        super().__init__()
        self.fault = ""
        self.rubbish = 0
        self.example = b""  # of lines that are no MCP
        self.errors = bytearray()
        self.stand_in: process.StandIn = ""
        self._lines: deque[bytes] = deque()
        self._part = bytearray()
        self._room = _MOST_IN_A_CALL  # while it starts, as in a call
        self._in_call = True
        self._stir = asyncio.Event()
        self._transport: asyncio.SubprocessTransport | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.SubprocessTransport)
        self._transport = transport

    def calls(self, yes: bool) -> None:
        """From now on a call is under way, or none is."""
        self._in_call, self._room = yes, _MOST_IN_A_CALL if yes else _MOST_BETWEEN
        if yes and not self.fault:
            self._listen(True)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        self._room -= len(data)
        if self.fault:
            return
        if fd == 2:
            self.errors += data[-_TAIL:]
            del self.errors[:-_TAIL]
        else:
            self._take(data)
        if self._room < 0 and not self._in_call:
            self._listen(False)
        elif self._room < 0:
            self.stop(f"it wrote more than {_MOST_IN_A_CALL // MEGABYTE} MB in one call")

    def _take(self, data: bytes) -> None:
        *whole, rest = data.split(b"\n")
        for piece in whole:
            self._part += piece
            if len(self._part) > MOST_LINE:
                break
            self._lines.append(bytes(self._part))
            self._part.clear()
        self._part += rest
        if len(self._part) > MOST_LINE:
            self.stop(f"it wrote a message of more than {MOST_LINE // MEGABYTE} MB")
        self._stir.set()

    def stop(self, why: str) -> None:
        self.fault = self.fault or why
        self._lines.clear()
        self._part.clear()
        for pipe in self._outputs():
            pipe.close()  # who goes on writing there is ended by that
        self._stir.set()

    def _listen(self, yes: bool) -> None:
        for pipe in self._outputs():
            with contextlib.suppress(RuntimeError):  # closed, or so already
                pipe.resume_reading() if yes else pipe.pause_reading()

    def _outputs(self) -> list[asyncio.ReadTransport]:
        pipes = [self._transport.get_pipe_transport(fd) for fd in (1, 2)] if self._transport is not None else []
        return [pipe for pipe in pipes if isinstance(pipe, asyncio.ReadTransport)]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        super().pipe_connection_lost(fd, exc)
        self._stir.set()

    def process_exited(self) -> None:
        super().process_exited()
        self._stir.set()

    def exit_code(self) -> int:
        return process.exit_code(self._transport, self.stand_in) if self._transport is not None else 0

    async def line(self) -> bytes | None:
        """The next one; None where there will be none."""
        while not self._lines:
            if self.fault or 1 not in self._open or self.exited.done():
                return None
            self._stir.clear()
            await self._stir.wait()
        return self._lines.popleft()


@asynccontextmanager
async def piped(kept: Kept, folder: str, made: Callable[[Talk], None]) -> AsyncIterator[TransportStreams]:
    """The streams of an MCP client. `made`: is told what is heard of the server."""
    import anyio
    from mcp.shared.message import SessionMessage

    work = process.started(Talk, kept.argv, folder, kept.env, kept.stand_in, kept.started, kept.handles)
    async with work as (transport, talk):
        talk.stand_in = kept.stand_in
        made(talk)
        to_client, read = anyio.create_memory_object_stream[SessionMessage | Exception](0)
        write, from_client = anyio.create_memory_object_stream[SessionMessage](0)
        async with anyio.create_task_group() as group:
            group.start_soon(_hear, talk, to_client)
            group.start_soon(_speak, transport, from_client)
            try:
                yield read, write
            finally:
                group.cancel_scope.cancel()
                for stream in (to_client, read, write, from_client):
                    stream.close()
        await _let_go(transport, talk)


async def _let_go(transport: asyncio.SubprocessTransport, talk: Talk) -> None:
    """A server that reads to the end of its input ends by itself, which takes less time than being ended."""
    if talk.fault or (pipe := transport.get_pipe_transport(0)) is None:
        return
    pipe.close()
    talk.calls(True)
    await asyncio.wait([talk.exited], timeout=_POLITE)


async def _hear(talk: Talk, to_client: _Sending) -> None:
    import anyio
    from mcp.shared.message import SessionMessage
    from mcp_types import jsonrpc_message_adapter

    with contextlib.suppress(anyio.ClosedResourceError, anyio.BrokenResourceError):
        async with to_client:
            while (line := await talk.line()) is not None:
                if not line.strip():
                    continue
                try:
                    message = jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    talk.rubbish += 1
                    talk.example = talk.example or line[:200]
                    if talk.rubbish > _MOST_RUBBISH:
                        talk.stop("it does not speak MCP")
                    continue
                await to_client.send(SessionMessage(message))


async def _speak(transport: asyncio.SubprocessTransport, from_client: _Receiving) -> None:
    pipe = transport.get_pipe_transport(0)
    async with from_client:
        async for message in from_client:
            if isinstance(pipe, asyncio.WriteTransport) and not pipe.is_closing():
                said = message.message.model_dump_json(by_alias=True, exclude_unset=True)
                pipe.write(said.encode("utf-8", "replace") + b"\n")


if TYPE_CHECKING:
    from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

    _Sending = MemoryObjectSendStream[SessionMessage | Exception]
    _Receiving = MemoryObjectReceiveStream[SessionMessage]
