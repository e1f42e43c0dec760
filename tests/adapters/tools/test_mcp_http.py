"""MCP servers at an address that do not do as they should: each is a failed result, and the next call is made anew."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from tool_bench import Bench, Entry

from reconvene.tool_ports import Toolbox, ToolResult

TOOLS = ("go", "forgets", "large", "endless", "page", "elsewhere", "hangs", "closes")


class Odd(ThreadingHTTPServer):
    """As servers were before 2026: a session that the client has to name."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.session = 1
        self.over = threading.Event()
        self.visits: list[str] = []
        self.url = f"http://127.0.0.1:{self.server_port}/mcp"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that turns away is no news here."""


class Handler(BaseHTTPRequestHandler):
    server: Odd

    def log_message(self, format: str, *args: object) -> None:
        return None

    def do_GET(self) -> None:
        self.server.visits.append(self.path)
        self.answer(405, b"")

    def do_DELETE(self) -> None:
        self.answer(200, b"")

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
        self.server.visits.append(self.path)
        if "id" not in asked:
            return self.answer(202, b"")
        if asked["method"] == "initialize":
            about = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}}
            return self.result(asked, {**about, "serverInfo": {"name": "odd", "version": "1"}})
        if asked["method"] == "server/discover":
            return self.answer(400, b"")
        if self.headers["mcp-session-id"] != str(self.server.session):
            return self.answer(404, b"")
        if asked["method"] == "tools/list":
            return self.result(asked, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in TOOLS]})
        return self.called(asked, asked["params"]["name"])

    def called(self, asked: dict[str, object], name: str) -> None:
        match name:
            case "forgets":
                self.server.session += 1
                self.answer(404, b"")
            case "large":
                self.result(asked, {"content": [{"type": "text", "text": "x" * 50_000_000}]})
            case "endless":
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.end_headers()
                with suppress(OSError):
                    while not self.server.over.is_set():
                        self.wfile.write(b": nothing yet" * 5000 + b"\n\n")
            case "page":
                self.answer(200, b"<html>Welcome</html>", "text/html")
            case "elsewhere":
                self.send_response(307)
                self.send_header("location", "http://127.0.0.1:9/secret")
                self.end_headers()
            case "hangs":
                self.server.over.wait(600)
            case "closes":
                self.close_connection = True
            case _:
                self.result(asked, {"content": [{"type": "text", "text": "went"}]})

    def result(self, asked: dict[str, object], result: object) -> None:
        self.answer(200, json.dumps({"jsonrpc": "2.0", "id": asked["id"], "result": result}).encode())

    def answer(self, status: int, data: bytes, kind: str = "application/json") -> None:
        with suppress(OSError):
            self.send_response(status)
            self.send_header("content-type", kind)
            self.send_header("content-length", str(len(data)))
            self.send_header("mcp-session-id", str(self.server.session))
            self.end_headers()
            self.wfile.write(data)


@pytest.fixture
def odd() -> Iterator[Odd]:
    server = Odd()
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield server
    server.over.set()
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.mark.parametrize("name", TOOLS[1:])
def test_whatever_it_does_is_a_failed_result_and_the_next_call_is_made(bench: Bench, odd: Odd, name: str) -> None:
    entry = Entry("mcp", {"name": "odd", "url": odd.url, "timeout": 1 if name == "hangs" else 30})

    async def work(box: Toolbox) -> list[ToolResult]:
        return [await box.call(f"odd_{name}", {}), await box.call("odd_go", {})]

    wrong, right = bench.with_([entry], work)
    assert wrong.failed
    assert "The MCP server odd" in wrong.text
    assert "unexpectedly" not in wrong.text
    assert len(wrong.text) < 5_000
    assert (right.text, right.failed) == ("went", False)
    assert "/secret" not in odd.visits
