"""What programs do with an engine beside starting and driving: look at what waits, decide, follow a run.

An engine is used by one thread. Who has several gives it one of its own, as docs/python.md shows.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Iterator, Mapping, Sequence

from reconvene.app import index, queries
from reconvene.app.engine import Engine
from reconvene.app.views.read_model import Checkpoint, Event, Run, RunInFull
from reconvene.core.facts.commands import AnswerCheckpoint, RemarkIn
from reconvene.core.facts.state import RunState
from reconvene.errors import Refused

_LOOK = 0.2  # seconds between two looks at a log that does not grow
_PAGE = 200


def inbox(engine: Engine, *, after: str = "", limit: int = 0) -> list[Run]:
    """Runs that wait for a person or for a provider, the one that was started last first. `after`: only those that are
    listed after this run; at most `limit`, 0 = all."""
    found = index.page(engine.log, "waiting", after, limit).rows
    return [index.in_full(engine.log, row) for row in found]


def show(engine: Engine, run: str) -> RunInFull:
    """Where a run stands, in full."""
    return queries.show(engine, run)


def checkpoint(engine: Engine, run: str) -> Checkpoint | None:
    """What waits for a decision, with what each option leads to; its `digest` is the version that `decide` takes."""
    return queries.standing(engine, run).checkpoint


def decide(
    engine: Engine,
    run: str,
    option: str,
    *,
    version: str,
    fields: Mapping[str, object] | None = None,
    remarks: Sequence[RemarkIn | str] = (),
    by: str = "",
    door: str = "python",
) -> RunState:
    """On record; `drive`, or a worker, goes on. StaleDecision where what was shown as `version` is not what is open."""
    if not version:
        raise Refused("Nothing was decided: say which version was shown.", hint="It is the digest of the checkpoint.")
    said = tuple(RemarkIn(one) if isinstance(one, str) else one for one in remarks)
    return engine.submit(run, AnswerCheckpoint("", option, dict(fields or {}), said, version, by, door))


def subscribe(engine: Engine, run: str, *, after: int = 0) -> Iterator[Event]:
    """The events of a run from this number on, as they come; ends with the run, once it has ended."""
    while True:
        found = queries.events(engine, run, after, _PAGE)
        yield from found
        after = found[-1].seq if found else after
        if not found:
            if engine.load(run).ended and engine.log.head(run) <= after:
                return
            time.sleep(_LOOK)


async def subscribe_async(engine: Engine, run: str, *, after: int = 0) -> AsyncIterator[Event]:
    """The same for an event loop, in whose thread the engine is used."""
    while True:
        found = queries.events(engine, run, after, _PAGE)
        for one in found:
            yield one
        after = found[-1].seq if found else after
        if not found:
            if engine.load(run).ended and engine.log.head(run) <= after:
                return
            await asyncio.sleep(_LOOK)
