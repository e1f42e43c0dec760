"""What is refused before any door looks, and what every answer says to the browser.

A browser sends `Host` with the name by which it found the server, and `Origin` with what a page asks for. A name of
somebody else's that points here is another host; a page of somebody else's has another origin. Both are refused. What
changes something and is proved by a cookie alone must say that it comes from a page of ours.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, MutableMapping
from typing import TYPE_CHECKING, Any

from starlette.datastructures import Headers
from starlette.requests import HTTPConnection

from reconvene.doors.http.told_errors import problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

    from reconvene.doors.http.callers import Caller

_SAFE = ("GET", "HEAD", "OPTIONS")
_POLICY = "; ".join((
    "default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self'", "font-src 'self'",
    "connect-src 'self'", "form-action 'self'", "frame-ancestors 'none'", "base-uri 'none'",
))  # fmt: skip
_SAID = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "same-origin",  # with no-referrer a browser says of our own forms that they come from "null"
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
STOPPED = (
    "The server is being stopped, and does not wait for this any longer. Nothing is kept by halves.",
    "Look in a moment whether it was done; else send it again.",
)
_ENCODED = tuple((name.encode(), value.encode()) for name, value in _SAID.items())


class Guard:
    """`hosts`: the names that the server answers to, with their ports. `find`: who asks. `is_open`: paths that need
    nobody to be known. `stopped`: what is answered to whom the server does not wait for any more."""

    def __init__(
        self,
        app: ASGIApp,
        hosts: Iterable[str],
        find: Callable[[HTTPConnection], Caller | None],
        is_open: Callable[[str], bool],
        unknown: Callable[[HTTPConnection], ASGIApp],
        stopped: Callable[[HTTPConnection], ASGIApp] = lambda _: problem(503, *STOPPED),
        *,
        secure: bool = False,
    ) -> None:
        self._app = app
        self._hosts = frozenset(name.casefold() for name in hosts)
        self._find = find
        self._is_open = is_open
        self._unknown = unknown
        self._stopped = stopped
        self._origins = frozenset(f"{'https' if secure else 'http'}://{name}" for name in self._hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return

        begun = False

        async def send_with(message: MutableMapping[str, Any]) -> None:
            nonlocal begun
            if message["type"] == "http.response.start":
                begun = True
                own = message.get("headers", [])
                said = {name for name, _ in own}
                message["headers"] = [*own, *(one for one in _ENCODED if one[0] not in said)]
            await send(message)

        answer = self._refused(scope)
        try:
            await (answer if answer is not None else self._app)(scope, receive, send_with)
        except asyncio.CancelledError:  # the server stops, and this took longer than it waits
            if begun:
                raise
            if (task := asyncio.current_task()) is not None:
                task.uncancel()
            await self._stopped(HTTPConnection(scope))(scope, receive, send_with)

    def _refused(self, scope: Scope) -> ASGIApp | None:
        headers, asks = Headers(scope=scope), HTTPConnection(scope)
        hosts, origins = headers.getlist("host"), headers.getlist("origin")
        if len(hosts) != 1 or hosts[0].casefold() not in self._hosts:
            return problem(421, "This server does not answer to that name.", "Start it with --allowed-host NAME.")
        if any(origin.casefold() not in self._origins for origin in origins):
            return problem(403, "Web pages of others may not ask here.")
        caller = self._find(asks)
        scope["caller"] = caller
        scope["still"] = lambda: self._find(asks)  # who it is by now, for what lasts
        if caller is None:
            return None if self._is_open(scope["path"]) else self._unknown(asks)
        changes = scope["method"] not in _SAFE
        if changes and caller.by_cookie and not origins and headers.get("sec-fetch-site") != "same-origin":
            return problem(403, "What changes something must come from a page of this server, or with a token.")
        return None
