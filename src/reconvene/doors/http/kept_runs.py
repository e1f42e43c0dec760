"""What is done with a run as a whole: searched, verified, exported, taken in, upgraded, deleted.

As in `acts`: each says which role it takes, and nothing is parsed or drawn here. What takes long has an engine and a
thread of its own.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Callable, Collection, Mapping
from contextlib import closing
from typing import TYPE_CHECKING, TypeVar

from reconvene.app import citing, deleting, queries, transfer, upgrading, verifying
from reconvene.app.tombstones import gone, left_of
from reconvene.app.views.soundness import Gone
from reconvene.doors.http.acts import require_run
from reconvene.doors.http.begun_runs import Given, require_starts, require_workflow
from reconvene.doors.http.refusals import Missing, WrongField
from reconvene.errors import Refused, UserError, WorkflowError
from reconvene.wiring import open_index, showings

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.upgrading import Fitting
    from reconvene.core.definition.workflow import Workflow
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service
    from reconvene.search_ports import Found, Kind

T = TypeVar("T")


async def _beside(service: Service, caller: Caller, run: str, work: Callable[[Engine], T]) -> T:
    """With an engine of its own: the one that answers everybody stays free."""

    def done() -> T:
        engine = service.another_engine(caller)
        try:
            if run:
                require_run(engine, run)
            return work(engine)
        finally:
            asyncio.run(engine.close())

    return await asyncio.to_thread(done)


async def search(
    service: Service, caller: Caller, run: str, query: str, kinds: Collection[Kind], limit: int, *, meaning: bool
) -> tuple[list[Found], str, str]:
    """What was found; the model that compared what texts mean; what was left out of it."""
    from reconvene.app import searching

    def work(engine: Engine) -> tuple[list[Found], str, str]:
        with closing(open_index(service.home)) as index:
            found = searching.find(engine, index, run, query, kinds=kinds, limit=limit, meaning=meaning)
            return found, index.model if meaning else "", index.left_out

    return await _beside(service, caller, run, work)


async def cite(service: Service, run: str, cited: str) -> citing.Opened:
    def work(engine: Engine) -> citing.Opened:
        require_run(engine, run)
        try:
            return citing.opened(engine, run, cited)
        except UserError as error:
            raise WrongField("what", error.message, hint=error.hint) from None

    return await service.do(work)


async def verify(service: Service, caller: Caller, run: str) -> object:
    return await _beside(
        service, caller, run, lambda engine: verifying.verify(engine.log, run, engine.history(), engine.signer)
    )


async def export(service: Service, caller: Caller, run: str) -> bytes:
    def work(engine: Engine) -> bytes:
        with tempfile.TemporaryDirectory(prefix="reconvene-export-") as folder:
            path = os.path.join(folder, "run.zip")
            transfer.export(engine, run, path)
            with open(path, "rb") as file:
                return file.read()

    return await _beside(service, caller, run, work)


async def take_in(service: Service, caller: Caller, data: bytes, name: str) -> transfer.Taken:
    """`name`: another id, "" = its own. What it would start is accepted where the home is, before it goes on here."""
    caller.require("decider", "to import a run")

    def work(engine: Engine) -> transfer.Taken:
        with tempfile.TemporaryDirectory(prefix="reconvene-import-") as folder:
            path = os.path.join(folder, "run.zip")
            with open(path, "wb") as file:
                file.write(data)
            try:
                return transfer.take(engine, path, name=name, by=caller.name, door=caller.door, actor=caller.actor)
            except UserError as error:
                raise WrongField("file", error.message.replace(path, "the file"), hint=error.hint) from None

    return await _beside(service, caller, "", work)


async def delete(service: Service, caller: Caller, run: str) -> Gone:
    """For good. What stays is its id, who deleted it, and when."""
    caller.require("admin", "to delete a run")

    def work(engine: Engine) -> Gone:
        if not engine.log.head(run):
            raise Missing(f"There is no run {run!r}.", hint="GET /api/v1/runs lists them.")
        if left_of(engine.log, run) is None:
            require_run(engine, run)
        done = deleting.delete(engine, run, by=caller.name, door=caller.door, actor=caller.actor)
        showings(service.home).drop(run)
        service.desk.drop_run(run)
        return gone(done.left)

    deleted = await service.do(work)

    def forget() -> None:
        from reconvene import search_wiring

        search_wiring.forget(service.home, run)
        if service.starts is not None:
            service.starts.forget(run)

    await asyncio.to_thread(forget)
    return deleted


async def upgrade(
    service: Service,
    caller: Caller,
    run: str,
    workflow: str,
    inputs: Mapping[str, object],
    drop: Collection[str],
    *,
    dry: bool,
) -> tuple[object, Fitting]:
    """On with another version of its workflow, one that may be started here. How the run stands then, and what fits."""
    caller.require("decider", "to change the workflow of a run")
    starts = require_starts(service)

    def read(engine: Engine) -> Workflow:
        require_run(engine, run)
        try:
            require_workflow(starts, workflow)
            return starts.workflow_for(engine, run, workflow)
        except (Missing, WorkflowError) as error:
            raise WrongField("workflow", error.message, hint=error.hint) from None

    named = await service.do(read)
    given = Given(service.desk, caller.name, starts)
    values = await asyncio.to_thread(given.values, named, inputs)  # no path is ever read

    def work(engine: Engine) -> tuple[object, Fitting]:
        by, door = caller.name, caller.door
        try:
            found = upgrading.fit(engine, run, named, values, drop=drop, named=workflow, by=by, door=door)
        except WorkflowError as error:
            raise WrongField("workflow", error.message, hint=error.hint if " --" not in error.hint else "") from None
        except Refused as error:
            raise WrongField(error.field or "run", error.message, hint=error.hint) from None
        if not dry and not found.is_same:
            starts.require_ready(engine, run, found, workflow)
            upgrading.upgrade(engine, found, actor=caller.actor)
            for upload in given.used:
                service.desk.use_upload(caller.name, upload.digest, run)
        return queries.summary(engine, run), found

    return await service.change(run, work)
