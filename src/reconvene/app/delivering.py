"""Delivers what is due of the outbox, at least once, with pauses that grow; a run never waits for it.

Any number of processes may do this on one store: each message is claimed by one of them for a while. A destination that
fails is left alone until the next try, and does not hold up others. What could not be delivered for days is given up,
and `reconvene notify` says so. Keeps nothing in memory that the outbox does not say.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from math import inf

from msgspec import Struct

from reconvene.app import index
from reconvene.app.message_text import letter
from reconvene.errors import ReconveneError
from reconvene.language.times import later
from reconvene.message_ports import Destination, Letter, Message, Queued, Sender
from reconvene.ports import Clock, EventLog

PAUSES = (10, 30, 120, 600, 1800, 3600)  # seconds until the next try; the last one again and again
_CLAIM = 120.0  # seconds that a claim holds: longer than a sender ever takes
_AT_ONCE = 10  # messages to one destination
_SENDERS = 8  # destinations at the same time
_LOOKED_THROUGH = 200  # messages, for destinations that fail
_UNANSWERED = "no answer before who sent it had to end"
_LOOK = 1.0  # seconds between two looks
_DAY = 86_400
_HOUR = len("2026-03-01T09")
GIVEN_UP = 3 * _DAY  # what was tried for so long
NEVER_TRIED = 30 * _DAY  # no process that worked here knew the destination
FORGOTTEN = 30 * _DAY  # what was delivered or given up


class Delivered(Struct):
    """What one look came to."""

    sent: int = 0
    failed: int = 0
    given_up: int = 0

    def __bool__(self) -> bool:
        return bool(self.sent or self.failed or self.given_up)


class Deliverer:
    def __init__(
        self,
        log: EventLog,
        clock: Clock,
        destinations: Callable[[], Mapping[str, Destination]],
        sender: Sender,
        url: Callable[[], str] = lambda: "",
    ) -> None:
        """`destinations`: as the settings name them now. `url`: so, too, of the pages; "" = there are none."""
        self._log = log
        self._clock = clock
        self._destinations = destinations
        self._sender = sender
        self._url = url
        self._tidied = ""  # the hour in which it was done last

    async def keep(self, leaving: asyncio.Event, told: Callable[[str], None], patience: float = inf) -> None:
        """Until told to leave, and then once more, but not to destinations that failed last. Each destination is at its
        own pace. `told`: what stands in the way; each is told once in a row. `patience`: who leaves waits for a
        destination no longer than this many seconds from when something was sent to it. Whoever has no more time
        cancels this. What is under way then counts as failed, and stays for whoever works next."""
        under_way: dict[str, asyncio.Task[None]] = {}
        begun: dict[str, float] = {}
        room, last, left = asyncio.Semaphore(_SENDERS), "", False
        try:
            while not left:
                left = leaving.is_set()
                busy = {name for name, task in under_way.items() if not task.done()}
                why = self._look(under_way, room, last=left)
                now = asyncio.get_running_loop().time()
                begun = {name: begun[name] if name in busy else now for name in under_way}
                if why and why != last:
                    told(f"messages are not delivered: {why}")
                last = why
                with suppress(TimeoutError):
                    await asyncio.wait_for(leaving.wait(), _LOOK)
            await _ended(under_way, {name: at + patience for name, at in begun.items()})
        finally:
            for task in under_way.values():
                task.cancel()
            await asyncio.gather(*under_way.values(), return_exceptions=True)

    def _look(self, under_way: dict[str, asyncio.Task[None]], room: asyncio.Semaphore, *, last: bool) -> str:
        """Begin with each destination that nothing is under way to; why something could not be done, "" = it could."""
        why = ""
        for name, task in [*under_way.items()]:
            if task.done():
                error = under_way.pop(name).exception()
                if error is not None and not isinstance(error, ReconveneError | OSError):
                    raise error
                why = str(error) if error is not None else why
        try:
            self._tidy()
            known = self._destinations()
            failing = self._failing() if last else frozenset()
        except (ReconveneError, OSError) as error:  # a store that is busy, settings that are being changed
            return str(error)
        for name, one in known.items():
            if name not in failing and (last or name not in under_way):
                under_way[name] = asyncio.create_task(self._after(under_way.get(name), one, room))
        return why

    async def _after(self, before: asyncio.Task[None] | None, to: Destination, room: asyncio.Semaphore) -> None:
        if before is not None:
            try:
                await before
            except asyncio.CancelledError:
                before.cancel()
                raise
        await self._to(to, Delivered(), room)

    def _failing(self) -> frozenset[str]:
        rows = self._log.messages(_LOOKED_THROUGH)
        return frozenset(one.message.to for one in rows if one.state == "waiting" and one.error)

    async def deliver(self) -> Delivered:
        """All that is due now, to every destination that is known here."""
        done = Delivered(given_up=self._tidy())
        room = asyncio.Semaphore(_SENDERS)
        tasks = [self._to(one, done, room) for one in self._destinations().values()]
        for error in await asyncio.gather(*tasks, return_exceptions=True):
            if error is not None:
                raise error
        return done

    def _tidy(self) -> int:
        now = self._clock.now()
        if now[:_HOUR] == self._tidied:
            return 0
        self._tidied = now[:_HOUR]
        tried, untried, done = (later(now, -seconds) for seconds in (GIVEN_UP, NEVER_TRIED, FORGOTTEN))
        return self._log.tidy_messages(tried=tried, untried=untried, done=done, now=now)

    async def _to(self, destination: Destination, done: Delivered, room: asyncio.Semaphore) -> None:
        more = True
        while more:
            async with room:
                more = await self._batch(destination, done)

    async def _batch(self, destination: Destination, done: Delivered) -> bool:
        """Whether there may be more for it now."""
        now, url = self._clock.now(), self._url()
        claimed = self._log.claim_messages(now, later(now, _CLAIM), [destination.name], _AT_ONCE)
        if not claimed:
            return False
        wanted = [one for one in claimed if one.message.notice.kind in destination.kinds]
        for one in claimed:
            if one not in wanted:  # who recorded the event did not know what this destination wants
                self._log.drop_message(one.message.id, one.attempts)
        try:
            results = await self._sent(destination, [self._letter(one.message, url) for one in wanted])
        except asyncio.CancelledError:
            self._settle(wanted, [_UNANSWERED], done)
            raise
        return self._settle(wanted, results, done)

    def _letter(self, message: Message, url: str) -> Letter:
        notice = message.notice
        row = self._log.index_row(notice.run)
        point = (index.document(row) or {}).get("checkpoint") if row is not None else None
        return letter(message, url=url, still=point is not None and point["id"] == notice.checkpoint)

    async def _sent(self, destination: Destination, letters: Sequence[Letter]) -> list[str]:
        if destination.problem:
            return [destination.problem] if letters else []
        return await self._sender.send(destination, letters) if letters else []

    def _settle(self, tried: Sequence[Queued], results: Sequence[str], done: Delivered) -> bool:
        """Whether the destination may get more now."""
        now, again = self._clock.now(), ""
        for number, one in enumerate(tried):
            error = results[number] if number < len(results) else ""
            if number < len(results) and not error:
                self._log.settle_message(one.message.id, one.attempts, now)
                done.sent += 1
            elif error:
                again = later(now, PAUSES[min(one.attempts, len(PAUSES)) - 1])
                self._log.settle_message(one.message.id, one.attempts, now, error=error, again=again)
                done.failed += 1
            else:
                self._log.put_back(one.message.id, one.attempts, again or now)
        return len(results) == len(tried) and not again


async def _ended(under_way: Mapping[str, asyncio.Task[None]], until: Mapping[str, float]) -> None:
    """Each by itself, or because its time is up."""
    loop = asyncio.get_running_loop()
    while waiting := {name: task for name, task in under_way.items() if not task.done()}:
        now = loop.time()
        for name, task in waiting.items():
            if until[name] <= now and not task.cancelling():
                task.cancel()
        left = min((until[name] - now for name, task in waiting.items() if not task.cancelling()), default=inf)
        timeout = None if left == inf else left
        await asyncio.wait(waiting.values(), timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
    await asyncio.gather(*under_way.values(), return_exceptions=True)
