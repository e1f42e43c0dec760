"""Questions to the companion about a run. They may wait for a model, so each has a thread and an engine of its own."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from reconvene.doors.http.acts import require_run
from reconvene.doors.http.refusals import Missing

if TYPE_CHECKING:
    from reconvene.app.views.companion_talk import Said
    from reconvene.companion.one_question import Reply
    from reconvene.core.definition.workflow import Workflow
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

        engine = service.another_engine(caller)
        try:
            with companion(engine, caller.name, caller.door, run=run, model=model_for("")) as asked:
                return asked.ask(text, listener or _silent)
        finally:
            asyncio.run(engine.close())

    return await asyncio.get_running_loop().run_in_executor(_threads, work)


async def ask_about_draft(
    service: Service,
    caller: Caller,
    workflow: Workflow,
    named: str,
    draft: str,
    text: str,
    inputs: tuple[str, ...],
    listener: Listener | None = None,
) -> str:
    """Before there is a run. `draft` "": one is made; its name comes back. `inputs`: as NAME=VALUE, what is given so
    far."""
    caller.require("decider", "to prepare a run")

    def work() -> str:
        from reconvene.companion_wiring import companion, drafts_of, model_for

        drafts = drafts_of(service.home)
        name = draft or drafts.new(named, inputs)
        if draft and (more := tuple(one for one in inputs if one not in drafts.load(draft).inputs)):
            drafts.give(draft, more)
        engine = service.another_engine(caller)
        try:
            with companion(
                engine, caller.name, caller.door, draft=name, workflow=workflow, model=model_for("")
            ) as asked:
                asked.ask(text, listener or _silent)
        finally:
            asyncio.run(engine.close())
        return name

    return await asyncio.get_running_loop().run_in_executor(_threads, work)


async def conversation(service: Service, run: str) -> list[Said]:
    from reconvene.companion.kept_talk import OfRun

    return await service.do(lambda engine: OfRun(engine, require_run(engine, run)).entries())


async def carry_out(service: Service, caller: Caller, run: str, number: int, words: str = "") -> str:
    """What the companion proposed, by its number in the conversation: sent as this person's remark, in their own
    `words` where they gave some, or applied as their edit. What was done, in words."""
    caller.require("reviewer", "to send what the companion proposed")
    await service.change(run, lambda engine: require_run(engine, run))

    def work() -> str:
        from reconvene.companion.kept_talk import OfRun
        from reconvene.doors.shared import carried_out

        engine = service.another_engine(caller)
        try:
            every, _ = carried_out.proposed(OfRun(engine, run).entries())
            if not 1 <= number <= len(every):
                raise Missing(f"The companion has made no proposal {number} in {run}.")
            one = every[number - 1]
            if one.kind == "remark":
                return f"sent as your remark {carried_out.send(engine, run, one, caller.name, caller.door, words)}"
            caller.require("decider", "to change a file")
            return f"{carried_out.apply(engine, run, one, caller.name, caller.door)} is changed, as your edit"
        finally:
            asyncio.run(engine.close())

    return await asyncio.get_running_loop().run_in_executor(_threads, work)


def _silent(progress: Progress) -> None: ...
