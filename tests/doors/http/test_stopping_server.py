"""A server that stops does not wait for ever: whom it leaves is told so, and to send it again."""

from __future__ import annotations

import asyncio
import json
from collections.abc import MutableMapping
from pathlib import Path
from typing import Any

import pytest

from reconvene.doors.http.callers import Callers
from reconvene.doors.web.app import application
from served_home import HOST, Ground, ground

Message = MutableMapping[str, Any]


async def _cancelled(made: Ground, path: str, who: dict[str, str]) -> list[Message]:
    """An upload of which only the beginning has come when the server stops waiting for it."""
    callers = Callers("Olga")
    callers.find = made.find  # type: ignore[method-assign]
    app = application(made.service, callers, [HOST])
    headers = {"host": HOST, "content-type": "multipart/form-data; boundary=x", **who}
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST", "scheme": "http",
        "path": path, "raw_path": path.encode(), "query_string": b"", "root_path": "", "client": ("127.0.0.1", 1),
        "server": ("127.0.0.1", 7467), "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
    }  # fmt: skip
    waits, sent = asyncio.Event(), list[Message]()
    begins = [b'--x\r\ncontent-disposition: form-data; name="file"; filename="a"\r\n\r\nhalf']

    async def receive() -> Message:
        if begins:
            return {"type": "http.request", "body": begins.pop(), "more_body": True}
        waits.set()
        await asyncio.Event().wait()
        raise AssertionError

    async def send(message: Message) -> None:
        sent.append(message)

    task = asyncio.create_task(app(scope, receive, send))  # type: ignore[arg-type]
    await asyncio.wait_for(waits.wait(), 10)
    task.cancel()
    await task
    return sent


@pytest.mark.parametrize("path", ["/api/v1/uploads", "/new"])
def test_an_upload_that_the_server_does_not_wait_for_is_answered_and_can_be_sent_again(
    tmp_path: Path, path: str
) -> None:
    with ground(tmp_path) as made:
        sent = asyncio.run(_cancelled(made, path, made.person("ada", cookie=not path.startswith("/api"))))
    headers = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    body = b"".join(one.get("body", b"") for one in sent[1:]).decode()
    assert sent[0]["status"] == 503
    assert headers["x-frame-options"] == "DENY"
    assert "Look in a moment whether it was done; else send it again." in body
    if path.startswith("/api"):
        assert headers["content-type"] == "application/problem+json"
        assert json.loads(body)["status"] == 503
