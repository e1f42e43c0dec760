"""Server-sent events: those of one run, and that any run has changed.

The id of an event is its number in the log: `Last-Event-ID` goes on after it. A stream ends when the right of who
listens does.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING

from starlette.responses import Response, StreamingResponse

from reconvene.app.views.encoding import encoded
from reconvene.app.views.read_model import Event
from reconvene.doors.http.live import Changed, Progress
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.rest import bodies
from reconvene.doors.rest.looking import of_run

if TYPE_CHECKING:
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.rest.operations import Asked

_MEDIA = "text/event-stream"
_COMMENT = 15.0  # seconds after which a comment is sent where nothing else is
_MOST_ID = 19  # digits
_HEADERS = {"cache-control": "no-store", "x-accel-buffering": "no"}


async def of_one_run(asked: Asked) -> object:
    after = _last(asked)
    await of_run(asked, lambda engine, run: run)
    if asked.request.method == "HEAD":
        return Response(headers=_HEADERS, media_type=_MEDIA)
    return _stream(asked, asked.service.live.events(asked.run, after))


async def of_any_run(asked: Asked) -> object:
    if asked.request.method == "HEAD":
        return Response(headers=_HEADERS, media_type=_MEDIA)
    return _stream(asked, asked.service.live.changes())


def _last(asked: Asked) -> int:
    given = asked.request.headers.get("last-event-id", "")
    if not given:
        return asked.query(bodies.StreamAfter).after
    if not given.isascii() or not given.isdecimal() or len(given) > _MOST_ID:
        raise WrongField("Last-Event-ID", "Last-Event-ID is the number of an event.")
    return int(given)


def _stream(asked: Asked, source: AsyncIterator[Event | Progress | Changed | None]) -> StreamingResponse:
    still: Callable[[], Caller | None] = asked.request.scope["still"]
    name = asked.caller.name

    async def lines() -> AsyncIterator[str]:
        loop = asyncio.get_running_loop()
        yield "retry: 1000\n\n"
        said = loop.time()
        async for one in source:
            known = still()
            if known is None or known.name != name:
                yield "event: ended\ndata: {}\n\n"
                return
            if one is not None:
                yield _told(one)
                said = loop.time()
            elif loop.time() - said >= _COMMENT:
                yield ": still here\n\n"
                said = loop.time()

    return StreamingResponse(lines(), headers=_HEADERS, media_type=_MEDIA)


def _told(one: Event | Progress | Changed) -> str:
    if isinstance(one, Event):
        return f"id: {one.seq}\nevent: event\ndata: {encoded(one)}\n\n"
    if isinstance(one, Progress):
        return f"event: progress\ndata: {encoded(one.told)}\n\n"
    return f"event: change\ndata: {encoded({'run': one.run, 'seq': one.seq})}\n\n"
