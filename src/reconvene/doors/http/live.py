"""What happens, as it happens: events of a run from a number on, changes of any run, and what agents are at.

The log is the source, so nothing is missed and nothing is told that is not on record: a stream that breaks off goes on
after the last number that was received. One look at the store serves all who listen. What agents write while they work
comes from who drives them, and is told only to those who are there.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from reconvene.app import queries

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Event
    from reconvene.doors.http.service import Service

ANY = ""  # the name of all runs
_LOOK = 0.2  # seconds between two looks at the store while somebody listens
_PAGE = 200  # events that are read at once
_BEAT = 2.0  # seconds after which who listens hears at least that nothing came
_MOST_PROGRESS = 500  # pieces that wait for one slow listener; then the oldest are left out


class Changed(NamedTuple):
    """A run whose log has grown."""

    run: str
    seq: int


class Progress(NamedTuple):
    """What an agent is at, as who drives it tells."""

    run: str
    told: Mapping[str, object]


class _Listener:
    def __init__(self) -> None:
        self.news = asyncio.Event()
        self.progress: deque[Progress] = deque(maxlen=_MOST_PROGRESS)
        self.changed: dict[str, int] = {}


class _Seen(NamedTuple):
    """Of one look: the moment, the heads of those that moved, and the new events of runs somebody listens to."""

    moment: object
    heads: dict[str, int]
    tails: dict[str, list[Event]]


class Live:
    def __init__(self, service: Service) -> None:
        self._service = service
        self._heads: dict[str, int] = {}
        self._tails: dict[str, list[Event]] = {}  # the events that came last, of runs that somebody listens to
        self._moment: object = None
        self._listeners: dict[str, set[_Listener]] = {}
        self._looking: asyncio.Task[None] | None = None
        self._ended = False
        self.rights: Callable[[], object] = lambda: None  # another answer: somebody's right to listen may have ended

    # --- listening ---

    async def events(self, run: str, after: int) -> AsyncIterator[Event | Progress | None]:
        """Of one run, from the event after this one on. None whenever there may be something else to see to: before
        what is new, when rights were changed, and now and then. Ends with the server."""
        own = self._begin(run)
        try:
            while not self._ended:
                own.news.clear()
                while found := await self._after(run, after):
                    for one in found:
                        yield one
                        after = one.seq
                while own.progress:
                    yield own.progress.popleft()
                await _woken(own.news)
                yield None
        finally:
            self._leave(run, own)

    async def changes(self) -> AsyncIterator[Changed | None]:
        """Of any run, from now on."""
        own = self._begin(ANY)
        try:
            while not self._ended:
                own.news.clear()
                changed, own.changed = own.changed, {}
                for run, seq in changed.items():
                    yield Changed(run, seq)
                await _woken(own.news)
                yield None
        finally:
            self._leave(ANY, own)

    async def _after(self, run: str, after: int) -> list[Event]:
        tail = self._tails.get(run, [])
        if tail and tail[0].seq <= after + 1:
            return [one for one in tail if one.seq > after]
        return await self._service.do(partial(queries.events, run=run, after=after, limit=_PAGE))

    def tell(self, told: Mapping[str, object]) -> None:
        """What who drives has to say: an object with `progress`, whose `run` names whose it is."""
        progress = told.get("progress")
        if isinstance(progress, dict) and isinstance(run := progress.get("run"), str):
            for own in self._listeners.get(run, ()):
                own.progress.append(Progress(run, progress))
                own.news.set()

    # --- looking ---

    def _begin(self, run: str) -> _Listener:
        own = _Listener()
        self._listeners.setdefault(run, set()).add(own)
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look())
        return own

    def _leave(self, run: str, own: _Listener) -> None:
        self._listeners[run].discard(own)
        if not self._listeners[run]:
            del self._listeners[run]
            self._tails.pop(run, None)
            self._heads.pop(run, None)

    async def _look(self) -> None:
        self._moment, first, rights = None, True, self.rights()
        while self._listeners and not self._ended:
            wanted = [run for run in self._listeners if run != ANY]
            before = dict(self._heads)
            look = partial(_seen, wanted, before, self._moment, every=ANY in self._listeners)
            seen = await self._service.do(look)
            self._moment = seen.moment
            for run, head in seen.heads.items():
                self._moved(run, head, known=run in before or not first)
                if tail := seen.tails.get(run):
                    self._tails[run] = [*self._tails.get(run, []), *tail][-_PAGE:]
                for own in self._listeners.get(run, ()):
                    own.news.set()
            first = False
            await asyncio.sleep(_LOOK)
            if (now := self.rights()) != rights:
                rights = now
                self._wake_all()
        self._heads.clear()

    def _moved(self, run: str, head: int, *, known: bool) -> None:
        self._heads[run] = head
        if known:
            for own in self._listeners.get(ANY, ()):
                own.changed[run] = head
                own.news.set()

    def end(self) -> None:
        """Whoever listens is let go."""
        self._ended = True
        self._wake_all()

    def _wake_all(self) -> None:
        for every in self._listeners.values():
            for own in every:
                own.news.set()

    async def close(self) -> None:
        self.end()
        if self._looking is not None:
            self._looking.cancel()
            with suppress(asyncio.CancelledError):
                await self._looking


async def _woken(news: asyncio.Event) -> None:
    with suppress(TimeoutError):
        await asyncio.wait_for(news.wait(), _BEAT)


def _seen(wanted: list[str], before: Mapping[str, int], moment: object, engine: Engine, *, every: bool) -> _Seen:
    """Nothing but the moment where nobody has appended since, and nobody new listens."""
    now = engine.log.moment()
    if now == moment and all(run in before for run in wanted):
        return _Seen(now, {}, {})
    heads = engine.log.heads() if every else {run: engine.log.head(run) for run in wanted}
    moved = {run: head for run, head in heads.items() if before.get(run) != head}
    tails: dict[str, list[Event]] = {}
    for run in wanted:
        if run in moved and 0 < moved[run] - before.get(run, 0) <= _PAGE and run in before:
            tails[run] = queries.events(engine, run, before[run], _PAGE)
    return _Seen(now, moved, tails)
