"""A real HTTP server on loopback that speaks the OpenAI chat protocol and says what it is told to. For tests.

```python
with OpenAIServer(Say("Hello"), Fail(429, retry_after=7), Hang()) as server:
    ...  # model: openai:gpt-4o-mini, options: {base_url: server.url}
assert server.requests[0].body["messages"]
```
Replies are taken in order, the last one for ever. A callable is given the request and returns a reply.
"""

from __future__ import annotations

import json
import socket
import ssl
import struct
import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Literal, NamedTuple, Self, assert_never

DONE = b"data: [DONE]\n\n"  # the last event of a stream
Body = dict[str, object]  # of a request or a reply, as JSON


class Seen(NamedTuple):
    """One request as it arrived."""

    path: str
    headers: dict[str, str]
    body: Body

    @property
    def prompt(self) -> str:
        """The text of all messages."""
        messages = self.body.get("messages")
        texts = [str(message.get("content", "")) for message in messages] if isinstance(messages, list) else []
        return "\n".join(texts)


class Say(NamedTuple):
    """An answer in text."""

    text: str
    input_tokens: int = 11
    output_tokens: int = 7
    finish: str = "stop"


class Call(NamedTuple):
    """An answer as a call of the tool that the request offers. `arguments` is JSON, or whatever a model makes of it."""

    arguments: str
    input_tokens: int = 11
    output_tokens: int = 7


class Calls(NamedTuple):
    """An answer that asks for calls, each a name and arguments, which should be JSON. `ids`: () = call_1, call_2 …
    `text`: what is said beside them."""

    calls: tuple[tuple[str, str], ...]
    input_tokens: int = 11
    output_tokens: int = 7
    ids: tuple[str, ...] = ()
    text: str = ""


class Fail(NamedTuple):
    status: int
    message: str = "told to fail"
    retry_after: float | None = None


class Raw(NamedTuple):
    """These bytes, whatever they are."""

    body: bytes
    content_type: str = "application/json"


class Hang(NamedTuple):
    """No answer until the server is closed."""


class Drop(NamedTuple):
    """The connection is closed; after `text` has been sent as the start of an answer, if there is any."""

    text: str = ""


class Wire(NamedTuple):
    """An answer piece by piece, in any protocol and to any path. A number among the pieces is a pause in seconds.

    status 0: not even the status line is sent. `end`: as it should be; closed or reset too early; nothing more until
    the server is closed.
    """

    pieces: tuple[bytes | float, ...] = ()
    status: int = 200
    headers: tuple[tuple[str, str], ...] = (("content-type", "text/event-stream"),)
    end: Literal["finish", "close", "reset", "hang"] = "finish"


Reply = Say | Call | Calls | Fail | Raw | Hang | Drop | Wire


class OpenAIServer:
    """`tls`: speak HTTPS with this certificate."""

    def __init__(
        self,
        *replies: Reply | Callable[[Seen], Reply],
        models: tuple[str, ...] = (),
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self.requests: list[Seen] = []
        self.models = models  # what GET /v1/models and Ollama's /api/tags list
        self._replies = list(replies) or [Say("ok")]
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._arrived = threading.Condition(self._lock)
        self._server = _Server(("127.0.0.1", 0), _Handler)
        self._server.owner = self
        self._scheme = "http" if tls is None else "https"
        if tls is not None:
            self._server.socket = tls.wrap_socket(self._server.socket, server_side=True, do_handshake_on_connect=False)
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)

    @property
    def url(self) -> str:
        """The base_url to use."""
        return f"{self._scheme}://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *raised: object) -> None:
        self._closing.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def wait_for_requests(self, count: int, timeout: float = 60.0) -> bool:
        """Block until so many requests have arrived."""
        with self._arrived:
            return self._arrived.wait_for(lambda: len(self.requests) >= count, timeout)

    def reply_to(self, seen: Seen) -> Reply:
        with self._arrived:
            self.requests.append(seen)
            reply = self._replies.pop(0) if len(self._replies) > 1 else self._replies[0]
            self._arrived.notify_all()
        return reply if isinstance(reply, tuple) else reply(seen)

    def hang(self, seconds: float | None = None) -> None:
        """Until the server is closed, or for so long."""
        self._closing.wait(seconds)


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    block_on_close = False
    request_queue_size = 128
    owner: OpenAIServer

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that went away is part of the tests."""


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: _Server

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""

    def do_GET(self) -> None:
        models = self.server.owner.models
        if self.path == "/api/tags":
            self._json(200, {"models": [{"name": name} for name in models]})
        elif self.path == "/v1/models":
            self._json(200, {"object": "list", "data": [{"id": name, "object": "model"} for name in models]})
        else:
            self._json(404, {"error": {"message": f"no {self.path} here"}})

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers.get("content-length", "0"))) or b"{}")
        seen = Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, body)
        reply = self.server.owner.reply_to(seen)
        if not self.path.endswith("/chat/completions") and not isinstance(reply, Wire):
            reply = Fail(404, f"no {self.path} here")
        self._give(reply, seen)

    def do_CONNECT(self) -> None:
        """It is taken for a proxy: the next reply is what the proxy says."""
        seen = Seen(self.path, {name.lower(): value for name, value in self.headers.items()}, {})
        self._give(self.server.owner.reply_to(seen), seen)

    def _give(self, reply: Reply, seen: Seen) -> None:
        match reply:
            case Say() | Call() | Calls():
                if seen.body.get("stream"):
                    self._play(Wire((*map(sse, _chunks(reply, seen)), DONE)))
                else:
                    choice = {"index": 0, "message": _message(reply, seen), "finish_reason": _finish(reply)}
                    self._json(200, {**_answer(seen, "chat.completion"), "choices": [choice], "usage": _usage(reply)})
            case Fail(status, text, retry_after):
                headers = {} if retry_after is None else {"retry-after": f"{retry_after:g}"}
                self._json(status, {"error": {"message": text, "type": "error", "code": None}}, headers)
            case Raw(data, content_type):
                self._send(200, data, {"content-type": content_type})
            case Hang():
                self._play(Wire(status=0, end="hang"))
            case Drop(""):
                self._play(Wire(status=0, end="close"))
            case Drop(text):
                self._play(Wire((sse(_chunk(seen, {"role": "assistant", "content": text}, None)),), end="close"))
            case Wire():
                self._play(reply)
            case _:
                assert_never(reply)

    def _play(self, reply: Wire) -> None:
        if reply.status:
            self.send_response(reply.status)
            for name, value in reply.headers:
                self.send_header(name, value)
            self.send_header("transfer-encoding", "chunked")
            self.end_headers()
        for piece in reply.pieces:
            if isinstance(piece, bytes):
                self.wfile.write(f"{len(piece):x}\r\n".encode() + piece + b"\r\n")
            else:
                self.server.owner.hang(piece)
        if reply.end == "finish":
            self.wfile.write(b"0\r\n\r\n")
            return
        self.close_connection = True
        match reply.end:
            case "close":
                self.connection.shutdown(socket.SHUT_RDWR)
            case "reset":
                self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.rfile.close()  # it holds the connection open
                self.connection.close()
            case "hang":
                self.server.owner.hang()

    def _json(self, status: int, document: object, headers: dict[str, str] | None = None) -> None:
        self._send(status, json.dumps(document).encode(), {"content-type": "application/json", **(headers or {})})

    def _send(self, status: int, data: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("content-length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)


def _message(reply: Say | Call | Calls, seen: Seen) -> Body:
    if isinstance(reply, Say):
        return {"role": "assistant", "content": reply.text}
    tools = seen.body.get("tools")
    if isinstance(reply, Calls):
        functions = [{"name": name, "arguments": arguments} for name, arguments in reply.calls]
        ids = reply.ids or tuple(f"call_{number}" for number in range(1, len(functions) + 1))
        called = [
            {"id": name, "index": index, "type": "function", "function": function}
            for index, (name, function) in enumerate(zip(ids, functions))
        ]
        return {"role": "assistant", "content": reply.text or None, "tool_calls": called}
    offered = str(tools[0]["function"]["name"]) if isinstance(tools, list) and tools else "answer"
    function = {"name": offered, "arguments": reply.arguments}
    call = {"id": "call_1", "index": 0, "type": "function", "function": function}
    return {"role": "assistant", "content": None, "tool_calls": [call]}


def _usage(reply: Say | Call | Calls) -> dict[str, int]:
    total = reply.input_tokens + reply.output_tokens
    return {"prompt_tokens": reply.input_tokens, "completion_tokens": reply.output_tokens, "total_tokens": total}


def _finish(reply: Say | Call | Calls) -> str:
    return reply.finish if isinstance(reply, Say) else "tool_calls"


def _answer(seen: Seen, kind: str) -> Body:
    return {"id": "chatcmpl-1", "object": kind, "created": 1_700_000_000, "model": seen.body.get("model", "")}


def _chunks(reply: Say | Call | Calls, seen: Seen) -> list[Body]:
    deltas = [_message(reply, seen)]
    if isinstance(reply, Say):
        size = max(1, len(reply.text) // 4 + 1)
        pieces = [reply.text[start : start + size] for start in range(0, len(reply.text), size)] or [""]
        deltas = [{"role": "assistant", "content": piece} for piece in pieces]
    last = {**_answer(seen, "chat.completion.chunk"), "choices": [], "usage": _usage(reply)}
    return [*(_chunk(seen, delta, None) for delta in deltas), _chunk(seen, {}, _finish(reply)), last]


def _chunk(seen: Seen, delta: Body, finish: str | None) -> Body:
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return {**_answer(seen, "chat.completion.chunk"), "choices": [choice]}


def sse(document: object, event: str = "") -> bytes:
    """One event of a stream."""
    head = f"event: {event}\n" if event else ""
    return f"{head}data: {json.dumps(document)}\n\n".encode()
