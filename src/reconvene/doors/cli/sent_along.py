"""While a command drives runs, what is due of the outbox is sent by a thread beside it: no run waits for a service."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import note

if TYPE_CHECKING:
    import asyncio

    from reconvene.app.delivering import Deliverer
    from reconvene.doors.cli.common import Call
    from reconvene.ports import EventLog

_LAST = 5.0  # seconds that a destination has for a message when the runs have stopped; the rest stays in the outbox


@contextmanager
def messages_sent(call: Call, log: EventLog) -> Iterator[None]:
    """Where no destination is set up, nothing is started."""
    from reconvene.notify_wiring import deliverer, destinations

    if not destinations():
        yield
        return
    import asyncio
    from threading import Thread

    loop = asyncio.new_event_loop()
    leaving = asyncio.Event()
    thread = Thread(target=_run, args=(loop, deliverer(log), leaving), daemon=True)
    thread.start()
    try:
        yield
    finally:
        loop.call_soon_threadsafe(leaving.set)
        thread.join()
        if waiting := sum(one.state == "waiting" and bool(one.error) for one in log.messages(100)):
            told = "a message is" if waiting == 1 else f"{waiting} messages are"
            note(f"{told} not delivered yet, and tried again later; see: {call.command('notify')}")


def _run(loop: asyncio.AbstractEventLoop, deliverer: Deliverer, leaving: asyncio.Event) -> None:
    try:
        loop.run_until_complete(keep_until(leaving, deliverer))
    finally:
        loop.close()


async def keep_until(leaving: asyncio.Event, deliverer: Deliverer) -> None:
    """Deliver until told to leave, and then for a moment more."""
    import asyncio

    keeping = asyncio.create_task(deliverer.keep(leaving, note, _LAST))
    await leaving.wait()
    await asyncio.wait([keeping], timeout=_LAST)
    keeping.cancel()
    with suppress(asyncio.CancelledError):
        await keeping
