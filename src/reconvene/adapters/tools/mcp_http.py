"""An MCP server at an address: what it sends is bounded, and so is how long it may take."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx2
from mcp.client.streamable_http import streamable_http_client

if TYPE_CHECKING:
    from mcp.client._transport import TransportStreams

MEGABYTE = 1024 * 1024
MOST_SENT = 8 * MEGABYTE  # bytes of one response that is no stream of events, and of one event
_MOST_STREAMED = 64 * MEGABYTE
_TO_CONNECT = 20.0  # seconds


class _Bounded(httpx2.AsyncByteStream):
    def __init__(self, inner: httpx2.AsyncByteStream, most: int) -> None:
        self._inner = inner
        self._left = most
        self._most = most

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._inner:
            self._left -= len(chunk)
            if self._left < 0:
                raise httpx2.ReadError(f"it sent more than {self._most // MEGABYTE} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._inner.aclose()


class _Transport(httpx2.AsyncHTTPTransport):
    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        response = await super().handle_async_request(request)
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        events = response.headers.get("content-type", "").startswith("text/event-stream")
        response.stream = _Bounded(response.stream, _MOST_STREAMED if events else MOST_SENT)
        return response


@asynccontextmanager
async def over_http(url: str, headers: Mapping[str, str], timeout: float) -> AsyncIterator[TransportStreams]:
    limits = httpx2.Timeout(_TO_CONNECT, read=timeout + _TO_CONNECT)
    async with (
        httpx2.AsyncClient(
            # compressed, a few bytes could become any number
            headers={**headers, "accept-encoding": "identity"},
            timeout=limits,
            transport=_Transport(),
        ) as client,
        streamable_http_client(url, http_client=client, max_sse_event_size=MOST_SENT) as streams,
    ):
        yield streams
