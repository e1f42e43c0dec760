"""The server over streamable HTTP, on this machine alone: who asks must know the token, and must not be a web page.

A browser sends `Origin` with what a page asks for, and `Host` with the name by which it found the server. A page of
somebody else's has another origin; a name of somebody else's that points here is another host. Both are refused.
"""

from __future__ import annotations

import asyncio
import hmac
import secrets
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from starlette.datastructures import Headers
from starlette.responses import PlainTextResponse

from reconvene.errors import UserError

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

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


def bound(port: int) -> socket.socket:
    """0: any port that is free."""
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((HOST, port))
    except OSError as error:
        listening.close()
        raise UserError(
            f"port {port} cannot be used: {error.strerror or error}", hint="take another: --port 0"
        ) from None
    return listening


class Guard:
    """Lets through what comes from this machine and has the token."""

    def __init__(self, app: ASGIApp, port: int, token: str) -> None:
        self._app = app
        self._hosts = frozenset(f"{name}:{port}" for name in (HOST, "localhost"))
        self._token = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        refused = self._refused(Headers(scope=scope)) if scope["type"] == "http" else PlainTextResponse("", 403)
        await (refused if refused is not None else self._app)(scope, receive, send)

    def _refused(self, headers: Headers) -> PlainTextResponse | None:
        hosts, origins, tokens = (headers.getlist(name) for name in ("host", "origin", "authorization"))
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return PlainTextResponse("This server answers to 127.0.0.1 only.", 403)
        if any(origin.lower().removeprefix("http://") not in self._hosts for origin in origins):
            return PlainTextResponse("Web pages of others may not ask here.", 403)
        if len(tokens) != 1 or not hmac.compare_digest(tokens[0].encode("utf-8", "replace"), self._token):
            return PlainTextResponse("The token is missing or wrong.", 401, {"WWW-Authenticate": "Bearer"})
        return None


def serve(server: Server, listening: socket.socket, token: str, ready: Callable[[], None]) -> None:
    """Until a signal ends it."""
    import uvicorn

    app = Guard(server.streamable_http_app(streamable_http_path=PATH, host=HOST), listening.getsockname()[1], token)
    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=_TO_END, ws="none"
    )
    running = uvicorn.Server(config)
    listening.listen()

    async def run() -> None:
        ready()
        await running.serve(sockets=[listening])

    asyncio.run(run())
