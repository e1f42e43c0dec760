"""What really went over the wire to a model and back: the HTTP bodies, bounded, with every key blanked.

Hooks on the HTTP client rather than a transport of our own, because a transport would switch off the proxies that the
environment names.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import AsyncIterator

import httpx2

MAX_REPLY = 16 * 1024 * 1024
_SECRET_HEADERS = ("authorization", "x-api-key", "x-goog-api-key", "api-key", "cookie")


class Wiretap:
    """Listens to one client. Every request counts, so hidden retries would show."""

    def __init__(self) -> None:
        self.requests: list[dict[str, object]] = []
        self.replies: list[bytearray] = []
        self.encodings: list[str] = []
        self.status = 0  # of the last reply; 0 = none came
        self.headers: dict[str, str] = {}  # of the last reply
        self.secrets: set[str] = set()
        self.flooded = False

    def attach(self, client: httpx2.AsyncClient) -> None:
        hooks = client.event_hooks
        hooks["request"].append(self._sent)
        hooks["response"].append(self._received)
        client.event_hooks = hooks

    async def _sent(self, request: httpx2.Request) -> None:
        # so that what is kept can be read; a server that compresses all the same is undone in `reply`
        request.headers["accept-encoding"] = "identity"
        for name in _SECRET_HEADERS:
            if value := request.headers.get(name):
                self.secrets.update({value, value.removeprefix("Bearer ")})
        if key := request.url.params.get("key"):
            self.secrets.add(key)
        try:
            body = request.content
        except httpx2.RequestNotRead:
            body = b""
        self.requests.append({"method": request.method, "url": str(request.url), "body": _document(body)})

    async def _received(self, response: httpx2.Response) -> None:
        kept = bytearray()
        self.replies.append(kept)
        self.encodings.append(response.headers.get("content-encoding", ""))
        self.status = response.status_code
        self.headers = dict(response.headers)
        if isinstance(response.stream, httpx2.AsyncByteStream):
            response.stream = _Tee(response.stream, kept, self)

    def forget(self) -> None:
        """What comes next is another matter."""
        self.requests.clear()
        self.replies.clear()
        self.encodings.clear()

    def request(self) -> bytes:
        """All requests of the attempt: one object, or a list where there was more than one."""
        if not self.requests:
            return b""
        document = self.requests[0] if len(self.requests) == 1 else self.requests
        return json.dumps(document, ensure_ascii=False, indent=1).encode("utf-8", "replace")

    def reply(self) -> bytes:
        parts = [_plain(bytes(kept), encoding) for kept, encoding in zip(self.replies, self.encodings)]
        return b"\n".join(parts)


class _Tee(httpx2.AsyncByteStream):
    def __init__(self, source: httpx2.AsyncByteStream, kept: bytearray, tap: Wiretap) -> None:
        self._source = source
        self._kept = kept
        self._tap = tap

    async def __aiter__(self) -> AsyncIterator[bytes]:
        async for chunk in self._source:
            self._kept += chunk
            if len(self._kept) > MAX_REPLY:
                self._tap.flooded = True
                raise httpx2.ReadError(f"the reply is longer than {MAX_REPLY // (1024 * 1024)} MB")
            yield chunk

    async def aclose(self) -> None:
        await self._source.aclose()


def _document(body: bytes) -> object:
    try:
        document: object = json.loads(body)
    except ValueError:
        return body.decode("utf-8", "replace")
    return document


def _plain(data: bytes, encoding: str) -> bytes:
    if encoding not in ("gzip", "deflate"):
        return data
    try:
        return zlib.decompressobj(zlib.MAX_WBITS | 32).decompress(data, MAX_REPLY)
    except zlib.error:
        return data
