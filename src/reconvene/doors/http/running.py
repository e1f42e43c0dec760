"""The server itself: a socket, uvicorn, and the process that drives runs. Ends all it started."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING

from reconvene.errors import UserError

if TYPE_CHECKING:
    from starlette.types import ASGIApp

    from reconvene.doors.http.driving import Driving

_TO_END = 5  # seconds for requests under way


def bound(host: str, port: int) -> socket.socket:
    """0: any port that is free."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.socket(family, socket.SOCK_STREAM)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((host, port))
    except OSError as error:
        listening.close()
        hint = "take another: --port 0" if port else ""
        raise UserError(f"{host}:{port} cannot be used: {error.strerror or error}", hint=hint) from None
    return listening


def serve(app: ASGIApp, listening: socket.socket, driving: Driving | None, ready: Callable[[], None]) -> None:
    """Until a signal ends it: first no more requests, then the driver may let its agents finish."""
    import uvicorn

    config = uvicorn.Config(
        app, log_level="warning", access_log=False, lifespan="on", timeout_graceful_shutdown=_TO_END, ws="none",
        server_header=False, date_header=False, proxy_headers=False,
    )  # fmt: skip
    running = uvicorn.Server(config)
    listening.listen()

    async def run() -> None:
        ready()
        driver = asyncio.create_task(driving.keep()) if driving is not None else None
        try:
            await running.serve(sockets=[listening])
        finally:
            if driving is not None and driver is not None:
                await driving.leave()
                await driver

    asyncio.run(run())
