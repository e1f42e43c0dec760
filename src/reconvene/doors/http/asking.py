"""Questions to the companion about a run. They may wait for a model, so each has a thread and an engine of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from reconvene.doors.http.acts import require_run

if TYPE_CHECKING:
    from reconvene.companion.one_question import Reply
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service
    from reconvene.ports import Listener, Progress

_AT_ONCE = 4  # questions; others wait
_threads = ThreadPoolExecutor(_AT_ONCE, "companion")


async def ask(service: Service, caller: Caller, run: str, text: str, listener: Listener | None = None) -> Reply:
    """Question and answer are on record with the run. `listener` is called in the other thread."""
    caller.require("reviewer", "to ask about a run")
    await service.change(run, lambda engine: require_run(engine, run))

    def work() -> Reply:
        from reconvene.companion_wiring import companion, model_for

        engine = service.another_engine()
        try:
            with companion(engine, caller.name, caller.door, run=run, model=model_for("")) as asked:
                return asked.ask(text, listener or _silent)
        finally:
            asyncio.run(engine.close())

    return await asyncio.get_running_loop().run_in_executor(_threads, work)


def _silent(progress: Progress) -> None: ...
