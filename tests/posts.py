"""A real HTTP server on loopback that takes what is posted to it, and answers as it is told to.

`answers` are taken in order, the last one for ever: a status, or one of the words below.

- `hang`: takes the request and never answers; `slow`: one byte of a header after another, for ever
- `close`: takes the request and hangs up; `redirect`: 307 to `/elsewhere` of the same server
"""

from __future__ import annotations

import json
import socket
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import NamedTuple, Self


class Posted(NamedTuple):
    path: str
    headers: dict[str, str]  # by name in small letters
    body: bytes

    @property
    def object(self) -> dict[str, object]:
        found = json.loads(self.body)
        assert isinstance(found, dict)
        return found


class PostServer:
    def __init__(self, *answers: int | str) -> None:
        self.answers: list[int | str] = list(answers or [200])
        self.posted: list[Posted] = []
        self.arrived = threading.Semaphore(0)  # one more with each request
        self._over = threading.Event()
        self._lock = threading.Lock()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                outer._take(self)

            def log_message(self, *_: object) -> None: ...

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.at = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    @property
    def ids(self) -> list[str]:
        """Of the messages, as webhooks say them."""
        return [one.headers["webhook-id"] for one in self.posted]

    def _take(self, request: BaseHTTPRequestHandler) -> None:
        body = request.rfile.read(int(request.headers.get("content-length", 0)))
        with self._lock:
            headers = {name.lower(): value for name, value in request.headers.items()}
            self.posted.append(Posted(request.path, headers, body))
            answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        self.arrived.release()
        match answer:
            case "hang":
                self._over.wait()
            case "slow":
                self._drip(request)
            case "close":
                request.connection.shutdown(socket.SHUT_RDWR)
            case _:
                request.send_response(307 if answer == "redirect" else int(answer))
                if answer == "redirect":
                    request.send_header("Location", f"http://{self.at}/elsewhere")
                request.send_header("Content-Length", "0")
                request.end_headers()

    def _drip(self, request: BaseHTTPRequestHandler) -> None:
        try:
            request.wfile.write(b"HTTP/1.1 200 OK\r\nX-Slow: ")
            while not self._over.wait(0.05):
                request.wfile.write(b"z")
        except OSError:  # who waited was ended
            return
