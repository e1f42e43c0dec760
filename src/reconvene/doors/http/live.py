"""What happens, as it happens: events of a run from a number on, and changes of any run.

The log is the source, so nothing is missed and nothing is told that is not on record: a stream that breaks off goes on
after the last number that was received. One look at the store serves all who listen. What agents write while they work
comes from who drives them, and is told only to those who are there.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Event
    from reconvene.doors.http.service import Service

_LOOK = 0.2  # seconds between two looks at the store while somebody listens
_PAGE = 200  # events that are read at once


class Live:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._heads: dict[str, int] = {}
        self._listeners: dict[str, set[asyncio.Event]] = {}
        self._looking: asyncio.Task[None] | None = None

    async def events(self, run: str, after: int) -> AsyncIterator[Event]:
        """Of one run, from the event after this one on, until the listener goes."""
        from reconvene.app import queries

        news = asyncio.Event()
        self._listeners.setdefault(run, set()).add(news)
        self._begin()
        try:
            while True:
                news.clear()
                while found := await self._service.do(partial(queries.events, run=run, after=after, limit=_PAGE)):
                    for one in found:
                        yield one
                        after = one.seq
                await news.wait()
        finally:
            self._listeners[run].discard(news)
            if not self._listeners[run]:
                del self._listeners[run]
                self._heads.pop(run, None)

    def _begin(self) -> None:
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())

    async def _look(self) -> None:
        while self._listeners:
            for run, head in (await self._service.do(partial(_heads, list(self._listeners)))).items():
                if self._heads.get(run) != head:
                    self._heads[run] = head
                    for news in self._listeners.get(run, ()):
                        news.set()
            await asyncio.sleep(_LOOK)

    async def close(self) -> None:
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking


def _heads(runs: list[str], engine: Engine) -> dict[str, int]:
    return {run: engine.log.head(run) for run in runs}
