"""A question whose answer takes a while: what is looked at meanwhile is told as it comes, then the answer."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, TypeVar

from starlette.responses import Response, StreamingResponse

from reconvene.errors import ReconveneError

if TYPE_CHECKING:
    from starlette.requests import Request

    from reconvene.ports import Listener, Progress

T = TypeVar("T")
_LONGEST = 2000  # characters of one thing that is told


def wants_stream(asks: Request) -> bool:
    return "text/event-stream" in asks.headers.get("accept", "")


def streamed(ask: Callable[[Listener], Awaitable[T]], answer: Callable[[T], Awaitable[object]]) -> Response:
    """`ask` tells a listener, in whichever thread it works. `answer`: what the page gets of what came of it."""
    loop, told = asyncio.get_running_loop(), asyncio.Queue[str]()

    def listener(progress: Progress) -> None:
        if progress.what in ("output", "text") and progress.detail:
            loop.call_soon_threadsafe(told.put_nowait, _event(progress.what, progress.detail[:_LONGEST]))

    asked = asyncio.ensure_future(ask(listener))

    async def lines() -> AsyncIterator[str]:
        while not asked.done() or not told.empty():
            waits = asyncio.ensure_future(told.get())
            await asyncio.wait({waits, asked}, return_when=asyncio.FIRST_COMPLETED)
            if waits.done():
                yield waits.result()
            else:
                waits.cancel()
        try:
            yield _event("answer", await answer(asked.result()))
        except ReconveneError as error:
            yield _event("refused", f"{error.message} {error.hint}".strip())

    return StreamingResponse(lines(), media_type="text/event-stream")


def _event(name: str, told: object) -> str:
    return f"event: {name}\ndata: {json.dumps(told)}\n\n"
