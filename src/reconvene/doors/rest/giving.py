"""The operations that give a run what it works from: workflows, starting, uploads; and questions to the companion."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import msgspec
from starlette.datastructures import UploadFile
from starlette.exceptions import HTTPException
from starlette.formparsers import MultiPartException
from starlette.requests import Request
from starlette.responses import Response

from reconvene.app import queries
from reconvene.app.views.encoding import encoded
from reconvene.desk_ports import MOST_UPLOAD
from reconvene.doors.http import begun_runs, companion_asked
from reconvene.doors.http.refusals import Missing, TooLarge, Unreadable, WrongField, WrongMedia
from reconvene.doors.rest import bodies

if TYPE_CHECKING:
    from starlette.types import Message

    from reconvene.app.views.read_model import Run
    from reconvene.core.definition.workflow import Workflow
    from reconvene.desk_ports import Upload
    from reconvene.doors.http.begun_runs import Starts
    from reconvene.doors.rest.operations import Asked, Done

_BESIDE = 64 * 1024  # bytes of a form beside its file


async def workflows(asked: Asked) -> object:
    starts = asked.service.starts
    if starts is None:
        return bodies.Workflows(())
    found = await begun_runs.known_workflows(asked.service, starts)
    return bodies.Workflows(tuple(_workflow(starts, name, workflow) for name, workflow in found.items()))


async def workflow(asked: Asked) -> object:
    name = asked.path("workflow")
    starts = begun_runs.require_starts(asked.service)
    return await asked.service.do(lambda engine: _workflow(starts, name, begun_runs.require_workflow(starts, name)))


def _workflow(starts: Starts, name: str, found: Workflow) -> bodies.WorkflowShown:
    inputs = tuple(
        bodies.InputShown(key, spec.type, spec.required, spec.description, spec.default)
        for key, spec in found.inputs.items()
    )
    settings = {key: msgspec.to_builtins(spec) for key, spec in found.settings.items()}
    sources = tuple(starts.sources()) if any(one.type == "sources" for one in inputs) else ()
    return bodies.WorkflowShown(
        name, found.description, inputs, settings, tuple(found.agents), starts.has_recording(name), sources
    )


async def start(asked: Asked) -> object:
    body = await asked.body(bodies.StartBody)
    run = await begun_runs.start(
        asked.service,
        asked.caller,
        body.workflow,
        body.inputs,
        settings=body.settings,
        models=body.models,
        recorded=body.recorded,
    )
    return _begun(run)


async def started(asked: Asked, done: Done) -> object:
    """It was started before. The uploads that it was given are marked as used, which a crash may have kept from it."""
    body = await asked.body(bodies.StartBody)
    await begun_runs.use_uploads(asked.service, asked.caller, body.inputs, done.run)
    return _begun(await asked.service.do(lambda engine: queries.summary(engine, done.run)))


def _begun(run: Run) -> Response:
    headers = {"location": f"/api/v1/runs/{run.run}"}
    return Response(encoded(run), 201, headers, "application/json")


# --- uploads ---


async def upload(asked: Asked) -> object:
    asked.caller.require("decider", "to upload files")
    async with received(asked) as file:
        kept = await asyncio.to_thread(
            asked.service.desk.keep_upload, asked.caller.name, file.filename or "", file.file, _now()
        )
    return _upload(kept)


@asynccontextmanager
async def received(asked: Asked) -> AsyncIterator[UploadFile]:
    """One file of a form, as much as one upload may be."""
    request, size = asked.request, 0
    if not request.headers.get("content-type", "").lower().startswith("multipart/form-data"):
        raise WrongMedia("Send a form with a file.", hint="Content-Type: multipart/form-data, with a field `file`")

    async def counted() -> Message:
        nonlocal size
        message = await request.receive()
        size += len(message.get("body", b""))
        if size > MOST_UPLOAD + _BESIDE:
            raise TooLarge(f"A file may have {MOST_UPLOAD // 2**20} MB.")
        return message

    try:
        async with Request(request.scope, counted).form(max_files=1, max_fields=5, max_part_size=_BESIDE) as form:
            file = form.get("file")
            if not isinstance(file, UploadFile) or not file.filename:
                raise WrongField("file", "there is no file in the form")
            if other := next((name for name in form if name != "file"), ""):
                raise WrongField(other, f"the form has a field {other!r}, and takes only `file`")
            yield file
    except (MultiPartException, HTTPException) as error:
        why = error.detail if isinstance(error, HTTPException) else error.message
        raise Unreadable(f"The form cannot be read: {why}") from None


def _now() -> str:
    from reconvene.surroundings import SystemClock

    return SystemClock().now()


async def uploads(asked: Asked) -> object:
    found = await asyncio.to_thread(asked.service.desk.uploads, asked.caller.name)
    return bodies.UploadList(tuple(map(_upload, found)))


async def drop_upload(asked: Asked) -> object:
    desk, person, digest = asked.service.desk, asked.caller.name, asked.path("digest")
    if await asyncio.to_thread(desk.upload, person, digest) is None:
        raise Missing("There is no such upload of yours.")
    await asyncio.to_thread(desk.drop_upload, person, digest)
    return None


def _upload(one: Upload) -> bodies.UploadShown:
    return bodies.UploadShown(one.digest, one.name, one.size, one.at, one.run)


# --- the companion ---


async def ask(asked: Asked) -> object:
    body = await asked.body(bodies.QuestionBody)
    if not body.text.strip():
        raise WrongField("text", "the question is empty")
    reply = await companion_asked.ask(asked.service, asked.caller, asked.run, body.text)
    return bodies.Answered(asked.run, reply.asked, reply.said, reply.understood, reply.facts, reply.hint)
