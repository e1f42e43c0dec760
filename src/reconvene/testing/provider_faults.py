"""What providers do wrong, by name: replies for `OpenAIServer`, each alone or in a row. For tests.

```python
with OpenAIServer(*play("503", "503", "fine")) as server:
    ...  # fails twice, then answers
```
`FAULTS` speaks the OpenAI protocol, `RESPONSES` OpenAI's newer one, `ANTHROPIC` and `GOOGLE` theirs. What needs an
address of its own (a port that refuses, one that never accepts, a certificate that nobody trusts) is a context manager
or a function below.
"""

from __future__ import annotations

import json
import socket
import ssl
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

from reconvene.testing.openai_server import DONE, Fail, Reply, Say, Wire, sse

HTML = b"<html><head><title>502 Bad Gateway</title></head><body><h1>Bad Gateway</h1>nginx</body></html>"
_JSON = (("content-type", "application/json"),)

Event = tuple[str, dict[str, object]]
Events = tuple[Event, ...]


WHOLE: dict[str, object] = {  # as a server answers that was asked for no stream
    "id": "c1",
    "object": "chat.completion",
    "created": 1,
    "model": "m",
    "choices": [{"index": 0, "message": {"role": "assistant", "content": "It is 3."}, "finish_reason": "stop"}],
}


def chunk(finish: str | None = None, **delta: object) -> bytes:
    """One piece of a streamed answer in the OpenAI protocol."""
    choice = {"index": 0, "delta": delta, "finish_reason": finish}
    return sse({"id": "c1", "object": "chat.completion.chunk", "created": 1, "model": "m", "choices": [choice]})


def chat(*texts: str, finish: str | None = "stop") -> tuple[bytes, ...]:
    """A streamed answer, a piece for each text; finish None: no reason is ever given, and nothing says it is done."""
    said = tuple(chunk(content=text) for text in texts)
    return said if finish is None else (*said, chunk(finish), DONE)


def problem(status: int, message: str, code: str = "", kind: str = "", **headers: str) -> Wire:
    """An error as OpenAI words it, before any stream."""
    body = {"error": {"message": message, "type": kind or "error", "code": code or None}}
    more = tuple((name.replace("_", "-"), value) for name, value in headers.items())
    return Wire((json.dumps(body).encode(),), status, (*_JSON, *more))


def tool_call(name: str = "search", arguments: str = '{"query": "weather"}') -> tuple[bytes, ...]:
    call = {"index": 0, "id": "t1", "type": "function", "function": {"name": name, "arguments": arguments}}
    return (chunk(role="assistant", tool_calls=[call]), chunk("tool_calls"), DONE)


FAULTS: Mapping[str, Reply] = {
    "fine": Say("fine"),
    # too much, too busy
    "429": Fail(429, "slow down"),
    "429 retry-after": Fail(429, "slow down", retry_after=7),
    "429 retry-after date": problem(429, "slow down", retry_after="Wed, 21 Oct 2099 07:28:00 GMT"),
    "429 retry-after-ms": problem(429, "slow down", retry_after_ms="1500"),
    "429 ratelimit reset": problem(
        429, "slow down", x_ratelimit_remaining_tokens="0", x_ratelimit_reset_tokens="1m30s"
    ),
    "429 absurd": problem(429, "slow down", retry_after="99999999"),
    "500": Fail(500, "on fire"),
    "502 page": Wire((HTML,), 502, (("content-type", "text/html"),)),
    "503": Fail(503, "be right back"),
    "503 retry-after": Fail(503, "be right back", retry_after=3),
    "504": Fail(504, "upstream timed out"),
    "529": problem(529, "Overloaded", kind="overloaded_error"),
    "408": Fail(408, "request timeout"),
    # the connection
    "reset before headers": Wire(status=0, end="reset"),
    "closed before headers": Wire(status=0, end="close"),
    "reset in the middle": Wire((*chat("Growth is", " 3", finish=None), 0.05), end="reset"),
    "closed in the middle": Wire(chat("Growth is", " 3", finish=None), end="close"),
    "stall before headers": Wire(status=0, end="hang"),
    "stall before the first token": Wire((chunk(role="assistant", content=""), b": keep-alive\n\n"), end="hang"),
    "stall in between": Wire(chat("Growth is", " 3", finish=None), end="hang"),
    "slow drip": Wire((*(one for piece in chat(*"abcdef", finish=None) for one in (piece, 0.4)), chunk("stop"), DONE)),
    # a stream that is not whole
    "no finish reason": Wire((*chat("Growth is", " 3", finish=None), DONE)),
    "no finish reason, no [DONE]": Wire(chat("Growth is", " 3", finish=None)),
    "[DONE] missing": Wire(chat("Growth is", " 3 %.")[:-1]),
    "half a chunk": Wire((*chat("Growth is", finish=None), b'data: {"id": "c1", "choices": [{"del'), end="close"),
    "invalid JSON chunk": Wire((*chat("Growth is", finish=None), b"data: {oops}\n\n", DONE)),
    "error in the stream": Wire(
        (*chat("Growth is", finish=None), sse({"error": {"message": "engine died", "type": "server_error"}}), DONE)
    ),
    "rate limit in the stream": Wire(
        (sse({"error": {"message": "too many tokens", "code": "rate_limit_exceeded"}}), DONE),
    ),
    # what is no stream at all
    "wrong content type": Wire((HTML,), 200, (("content-type", "text/html"),)),
    "an answer in one piece": Wire((json.dumps(WHOLE).encode(),), 200, (("content-type", "application/json"),)),
    "gzip garbage": Wire(
        (b"no gzip at all",), 200, (("content-type", "text/event-stream"), ("content-encoding", "gzip"))
    ),
    "nothing at all": Wire(),
    "redirect": Wire((), 302, (("location", "http://127.0.0.1:9/login"),)),
    # empty
    "empty choices": Wire((sse({"id": "c1", "object": "chat.completion.chunk", "created": 1, "choices": []}), DONE)),
    "empty content": Wire(chat("")),
    "only blanks": Wire(chat(" \n")),
    # what cannot succeed
    "401": problem(401, "Incorrect API key provided", "invalid_api_key"),
    "403": problem(403, "Your country is not supported", "unsupported_country_region_territory"),
    "404 model": problem(404, "The model `gpt-9` does not exist", "model_not_found"),
    "404 ollama": problem(404, 'model "qwen9" not found, try pulling it first'),
    "400 context length": problem(400, "This model's maximum context length is 4096 tokens", "context_length_exceeded"),
    "400 llama.cpp context": problem(
        400, "the request exceeds the available context size, try increasing it", kind="exceed_context_size_error"
    ),
    "413": problem(413, "Request Entity Too Large"),
    "402": problem(402, "Payment required"),
    "429 insufficient quota": problem(
        429, "You exceeded your current quota", "insufficient_quota", "insufficient_quota"
    ),
    "400 bad request": problem(400, "Unsupported value: 'temperature'", "unsupported_value"),
    "400 content policy": problem(400, "The prompt was filtered", "content_filter"),
    # the model does something else
    "content filter": Wire(chat("Growth", finish="content_filter")),
    "length": Wire(chat("Growth is", finish="length")),
    "refusal": Wire((chunk(refusal="I cannot "), chunk(refusal="help with that."), chunk("stop"), DONE)),
    "unasked tool call": Wire(tool_call()),
    # thinking
    "think tags": Wire(chat("<think>\nmaybe 4\n</think>\n\n", "It is 3.")),
    "think tags split": Wire(chat("<th", "ink>maybe", " 4</thi", "nk>It", " is 3.")),
    "think tag never opened": Wire(chat("maybe 4\n", "</think>\n\n", "It is 3.")),
    "think tag never closed": Wire(chat("<think>", "maybe 4, or 5")),
    "thinking tags": Wire(chat("<thinking>maybe 4</thinking>\n", "It is 3.")),
    "reasoning tags": Wire(chat("<reasoning>maybe 4</reasoning>\n", "It is 3.")),
    "only thinking": Wire(chat("<think>maybe 4</think>\n")),
    "reasoning_content": Wire((chunk(reasoning_content="maybe 4"), *chat("It is ", "3."))),
    "reasoning field": Wire((chunk(reasoning="maybe 4"), *chat("It is ", "3."))),
    "only reasoning_content": Wire((chunk(reasoning_content="maybe 4"), chunk("stop"), DONE)),
    # JSON
    "draft, then final": Wire(chat('First try: {"score": 1}.\n', 'Better:\n```json\n{"score"', ": 3}\n```\nDone.")),
    "thought JSON, then final": Wire(chat('<think>{"score": 1}</think>', '{"score": 3}')),
    "broken JSON": Wire(chat('{"score": ')),
    "JSON of another form": Wire(chat('{"points": 3}')),
}


def play(*names: str) -> tuple[Reply, ...]:
    """The replies of these names, in this order; the last one for ever."""
    return tuple(FAULTS[name] for name in names)


def messages(*events: Event) -> tuple[bytes, ...]:
    """A stream in Anthropic's protocol, up to and including its first text block."""
    usage = {"input_tokens": 11, "output_tokens": 1}
    message = {"id": "m1", "type": "message", "role": "assistant", "model": "claude", "content": [], "usage": usage}
    start = {"type": "message_start", "message": {**message, "stop_reason": None, "stop_sequence": None}}
    return (sse(start, "message_start"), *(sse({"type": kind, **body}, kind) for kind, body in events))


def _block(text: str, index: int = 0, kind: str = "text", **more: str) -> Events:
    return (
        ("content_block_start", {"index": index, "content_block": {"type": kind, kind: "", **more}}),
        ("content_block_delta", {"index": index, "delta": {"type": f"{kind}_delta", kind: text}}),
    )


def _stopped(reason: str, index: int = 0) -> Events:
    delta = {"stop_reason": reason, "stop_sequence": None}
    told = ("message_delta", {"delta": delta, "usage": {"output_tokens": 7}})
    return (("content_block_stop", {"index": index}), told, ("message_stop", {}))


_THOUGHT: Events = (*_block("maybe 4", 0, "thinking", signature=""), ("content_block_stop", {"index": 0}))


_OVERLOADED: dict[str, object] = {"error": {"type": "overloaded_error", "message": "Overloaded"}}

ANTHROPIC: Mapping[str, Reply] = {
    "fine": Wire(messages(*_block("fine"), *_stopped("end_turn"))),
    "no finish reason": Wire(messages(*_block("Growth is"))),
    "closed in the middle": Wire(messages(*_block("Growth is")), end="close"),
    "stall in between": Wire(messages(*_block("Growth is")), end="hang"),
    "length": Wire(messages(*_block("Growth is"), *_stopped("max_tokens"))),
    "refusal": Wire(messages(*_block(""), *_stopped("refusal"))),
    "thinking": Wire(messages(*_THOUGHT, *_block("It is 3.", 1), *_stopped("end_turn", 1))),
    "error in the stream": Wire((*messages(*_block("Growth is")), sse({"type": "error", **_OVERLOADED}, "error"))),
    "529": Wire((json.dumps({"type": "error", **_OVERLOADED}).encode(),), 529, _JSON),
}


def candidates(*texts: str, finish: str = "STOP", thought: str = "") -> tuple[bytes, ...]:
    """A stream in Google's protocol; finish "": no reason is given."""
    parts: list[dict[str, object]] = [{"text": thought, "thought": True}] if thought else []
    parts += [{"text": text} for text in texts]
    said = [sse({"candidates": [{"content": {"role": "model", "parts": [part]}, "index": 0}]}) for part in parts]
    last = {"content": {"role": "model", "parts": [{"text": ""}]}, "finishReason": finish, "index": 0}
    return (*said, sse({"candidates": [last]})) if finish else tuple(said)


_EXHAUSTED = {
    "code": 429,
    "message": "Resource has been exhausted",
    "status": "RESOURCE_EXHAUSTED",
    "details": [{"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"}],
}

GOOGLE: Mapping[str, Reply] = {
    "fine": Wire(candidates("fine")),
    "no finish reason": Wire(candidates("Growth is", finish="")),
    "closed in the middle": Wire(candidates("Growth is", finish=""), end="close"),
    "stall in between": Wire(candidates("Growth is", finish=""), end="hang"),
    "length": Wire(candidates("Growth is", finish="MAX_TOKENS")),
    "content filter": Wire(candidates("Growth", finish="SAFETY")),
    "prompt blocked": Wire((sse({"promptFeedback": {"blockReason": "PROHIBITED_CONTENT"}}),)),
    "thinking": Wire(candidates("It is 3.", thought="maybe 4")),
    "429": Wire((json.dumps({"error": _EXHAUSTED}).encode(),), 429, _JSON),
}


def responses(*events: Event) -> tuple[bytes, ...]:
    """A stream of OpenAI's own newer protocol, with a text in it; then these events."""
    item = {"id": "m1", "type": "message", "role": "assistant", "content": [], "status": "in_progress"}
    part = {"type": "output_text", "text": "", "annotations": []}
    begun: Events = (
        ("response.created", {"response": _response("in_progress")}),
        ("response.output_item.added", {"output_index": 0, "item": item}),
        ("response.content_part.added", {**_AT, "part": part}),
        ("response.output_text.delta", {**_AT, "delta": "Growth is 3 %.", "logprobs": []}),
    )
    return tuple(sse({"type": kind, "sequence_number": 1, **body}, kind) for kind, body in (*begun, *events))


def _response(status: str, **more: object) -> dict[str, object]:
    fixed = {"id": "r1", "object": "response", "created_at": 1, "model": "gpt-5", "output": [], "tools": []}
    return {**fixed, "parallel_tool_calls": True, "tool_choice": "auto", "status": status, **more}


_FULL = {"reason": "max_output_tokens"}
_DIED = {"code": "server_error", "message": "engine died"}
_AT: dict[str, object] = {"item_id": "m1", "output_index": 0, "content_index": 0}
_COMPLETED: Event = ("response.completed", {"response": _response("completed")})

RESPONSES: Mapping[str, Reply] = {
    "fine": Wire(responses(_COMPLETED)),
    "no finish reason": Wire(responses()),
    "closed in the middle": Wire(responses(), end="close"),
    "length": Wire(responses(("response.incomplete", {"response": _response("incomplete", incomplete_details=_FULL)}))),
    "error in the stream": Wire(responses(("response.failed", {"response": _response("failed", error=_DIED)}))),
    "refusal": Wire(responses(("response.refusal.done", {**_AT, "refusal": "I cannot."}), _COMPLETED)),
}


@contextmanager
def refused_port() -> Iterator[str]:
    """A base_url where nobody listens: bound, so that nobody else takes the port meanwhile."""
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


@contextmanager
def deaf_port() -> Iterator[str]:
    """A base_url that neither accepts nor refuses: its queue is full. Works on Linux."""
    with socket.socket() as deaf, ExitStack() as kept:
        deaf.bind(("127.0.0.1", 0))
        deaf.listen(0)
        for _ in range(4):
            waiting = kept.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(deaf.getsockname())
        yield f"http://127.0.0.1:{deaf.getsockname()[1]}/v1"


def self_signed() -> ssl.SSLContext:
    """A certificate for 127.0.0.1 that nobody has signed but itself. Needs `cryptography`."""
    from datetime import UTC, datetime, timedelta
    from ipaddress import ip_address

    from cryptography import x509
    from cryptography.hazmat.primitives import hashes, serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    now = datetime.now(UTC)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - timedelta(days=1))
        .not_valid_after(now + timedelta(days=1))
        .add_extension(x509.SubjectAlternativeName([x509.IPAddress(ip_address("127.0.0.1"))]), critical=False)
        .sign(key, hashes.SHA256())
    )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    with tempfile.NamedTemporaryFile(suffix=".pem") as file:
        pem, plain = serialization.Encoding.PEM, serialization.NoEncryption()
        file.write(key.private_bytes(pem, serialization.PrivateFormat.PKCS8, plain) + certificate.public_bytes(pem))
        file.flush()
        context.load_cert_chain(file.name)
    return context
