"""The python agents that the workloads name (`bench.agents:trivial`). They do as little as an agent can."""

from __future__ import annotations

import asyncio
import threading

SLEEP = 0.05

# W5 drives each of its runs in a thread of its own and leaves here, as `turn`, the function that lets it go on.
this_thread = threading.local()


async def trivial(_: object) -> str:
    return "done"


async def sleep50(_: object) -> str:
    await asyncio.sleep(SLEEP)
    return "done"


async def probed(_: object) -> str:
    this_thread.turn()  # blocks this thread's event loop, and nothing else, on purpose
    return "done"
