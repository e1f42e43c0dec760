"""The python agents that the workloads name (`bench.agents:trivial`). They do as little as an agent can."""

from __future__ import annotations

import asyncio
import threading

SLEEP = 0.05

# Runs that take turns live in a thread each; `turn`, left here, returns when it is this run's.
this_thread = threading.local()


async def trivial(_: object) -> str:
    return "done"


async def sleep50(_: object) -> str:
    await asyncio.sleep(SLEEP)
    return "done"


async def stepped(_: object) -> str:
    this_thread.turn()  # blocks this thread's event loop, and nothing else, on purpose
    return "done"
