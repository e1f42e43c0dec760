"""The server over streamable HTTP, on this machine alone: who asks must know the token, and must not be a web page of
others (doors/http/guard.py says how that is known)."""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from reconvene.doors.http.callers import Caller
from reconvene.doors.http.guard import Guard
from reconvene.doors.http.told_errors import problem
from reconvene.errors import UserError

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from reconvene.doors.mcp.server import Server

HOST = "127.0.0.1"
PATH = "/mcp"
_SHORTEST = 16  # characters of a token that somebody gives
_TO_END = 2  # seconds for requests under way


def new_token() -> str:
    return secrets.token_urlsafe(32)


def require_good(token: str) -> str:
    """UserError where it can be guessed, or does not fit into a header."""
    if len(token) < _SHORTEST or not token.isascii() or not token.isprintable() or " " in token:
        hint = "leave it out, and one is made up; or: python -c 'import secrets; print(secrets.token_urlsafe(32))'"
        raise UserError(f"a token is at least {_SHORTEST} letters, digits and signs without a space", hint=hint)
    return token


def guarded(app: ASGIApp, port: int, token: str) -> ASGIApp:
    """Lets through what comes from this machine and has the token."""
    wanted = f"Bearer {token}".encode()

    def find(asks: HTTPConnection) -> Caller | None:
        given = asks.headers.getlist("authorization")
        known = len(given) == 1 and hmac.compare_digest(given[0].encode("utf-8", "replace"), wanted)
        return Caller("client") if known else None

    def unknown(asks: HTTPConnection) -> Response:
        return problem(401, "The token is missing or wrong.")

    return Guard(app, [f"{name}:{port}" for name in (HOST, "localhost")], find, lambda path: False, unknown)


def serve(server: Server, listening: socket.socket, token: str, ready: Callable[[], None]) -> None:
    """Until a signal ends it."""
    import uvicorn

    app = guarded(server.streamable_http_app(streamable_http_path=PATH, host=HOST), listening.getsockname()[1], token)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=_TO_END, ws="none"
    )
    running = uvicorn.Server(config)
    listening.listen()

    async def run() -> None:
        ready()
        await running.serve(sockets=[listening])

    asyncio.run(run())
