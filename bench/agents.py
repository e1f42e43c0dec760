"""The python agents that the workloads name (`bench.agents:trivial`). They do as little as an agent can."""

from __future__ import annotations

import asyncio
from collections.abc import Callable

SLEEP = 0.05

# W5 hangs its probe in here: called at every turn of `probed`, inside the process that drives the run.
probes: list[Callable[[], None]] = []


async def trivial(_: object) -> str:
    return "done"


async def sleep50(_: object) -> str:
    await asyncio.sleep(SLEEP)
    return "done"


async def probed(_: object) -> str:
    for probe in probes:
        probe()
    return "done"
