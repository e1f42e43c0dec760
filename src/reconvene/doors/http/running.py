"""The server itself: a socket, uvicorn, and the process that drives runs. Ends all it started."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from reconvene.errors import UserError

if TYPE_CHECKING:
    from types import FrameType

    from starlette.types import ASGIApp

    from reconvene.doors.http.driving import Driving

_TO_END = 5  # seconds for requests under way


def bound(host: str, port: int) -> socket.socket:
    """0: any port that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # named, so that asyncio knows what it is and sends small answers at once
    listening = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
        listening.listen(512)
    except OSError as error:
        listening.close()
        hint = "take another: --port 0" if port else ""
        raise UserError(f"{host}:{port} cannot be used: {error.strerror or error}", hint=hint) from None
    return listening


def serve(
    app: ASGIApp,
    listening: socket.socket,
    driving: Driving | None,
    ready: Callable[[], None],
    *,
    ends: Callable[[], None] = lambda: None,
    cert: str = "",
    key: str = "",
) -> None:
    """Until a signal ends it: first streams end (`ends`) and no more requests are taken, then the driver may let its
    agents finish."""
    import uvicorn

    class Server(uvicorn.Server):
        loop: asyncio.AbstractEventLoop

        def handle_exit(self, sig: int, frame: FrameType | None) -> None:
            self.loop.call_soon_threadsafe(ends)
            super().handle_exit(sig, frame)

    try:
        config = uvicorn.Config(
            app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=_TO_END, ws="none",
            server_header=False, date_header=False, proxy_headers=False, ssl_certfile=cert or None,
            ssl_keyfile=key or None,
        )  # fmt: skip
        config.load()
    except OSError as error:  # ssl's errors are such
        raise UserError(f"{cert} and {key} cannot be used: {error.strerror or error}") from None
    running = Server(config)

    async def run() -> None:
        running.loop = asyncio.get_running_loop()
        ready()
        driver = asyncio.create_task(driving.keep()) if driving is not None else None
        try:
            await running.serve(sockets=[listening])
        finally:
            if driving is not None and driver is not None:
                await driving.leave()
                await driver

    asyncio.run(run())
