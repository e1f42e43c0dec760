"""How a request becomes an answer: the operation of its method, errors as RFC 9457, ETags, and requests sent twice."""

from __future__ import annotations

import asyncio
import hashlib
import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING

from msgspec.structs import replace
from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response, StreamingResponse

from reconvene.app.views.encoding import encoded
from reconvene.app.views.read_model import Checkpoint
from reconvene.desk_ports import MOST_KEY, Reply
from reconvene.doors.http import moments
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.http.told_errors import problem, told
from reconvene.doors.rest.operations import MOST_BODY, Asked, Done, Operation
from reconvene.errors import ReconveneError, Repeated
from reconvene.ports import Request as Asks

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

    from reconvene.doors.http.service import Service

_SAFE = ("GET", "HEAD")
_log = logging.getLogger("reconvene")


class Endpoint:
    """One address, with an operation for each method. An ASGI application."""

    def __init__(self, service: Service, operations: Mapping[str, Operation]) -> None:
        self._service = service
        self._operations = operations
        methods = {*operations, "OPTIONS", *({"HEAD"} if "GET" in operations else ())}
        self._allow = {"allow": ", ".join(sorted(methods))}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive, send)
        try:
            answer = await self._answer(request)
        except ReconveneError as error:
            answer = told(error)
        except ClientDisconnect:
            return
        except Exception:
            _log.exception("%s %s broke", request.method, scope["path"])
            answer = problem(500, "This is a bug in reconvene; nothing that was recorded is lost.")
        if request.method == "HEAD" and not isinstance(answer, StreamingResponse):
            answer.body = b""
        await answer(scope, receive, send)

    async def _answer(self, request: Request) -> Response:
        if request.method == "OPTIONS":
            return Response(status_code=204, headers=self._allow)
        operation = self._operations.get("GET" if request.method == "HEAD" else request.method)
        if operation is None:
            answer = problem(405, f"There is no {request.method} here.")
            answer.headers.update(self._allow)
            return answer
        asked = Asked(self._service, request, operation)
        key = request.headers.get("idempotency-key", "") if operation.once else ""
        return await (self._once(asked, key) if key else self._carried_out(asked))

    async def _carried_out(self, asked: Asked) -> Response:
        value = await asked.operation.answer(asked)
        return await asyncio.to_thread(self._encoded, asked, value)  # it may be long

    def _encoded(self, asked: Asked, value: object) -> Response:
        answer = value if isinstance(value, Response) else _as_json(asked.operation, value)
        if asked.request.method in _SAFE and not isinstance(answer, StreamingResponse) and not asked.operation.tagged:
            answer.headers.setdefault("etag", f'W/"{hashlib.sha256(answer.body).hexdigest()[:32]}"')
            if answer.headers["etag"] in _tags(asked.request):
                return Response(status_code=304, headers={"etag": answer.headers["etag"]})
        return answer

    # --- a request that is sent twice ---

    async def _once(self, asked: Asked, key: str) -> Response:
        """The claim on the desk keeps what was answered. That a request is carried out once, the log sees to: its mark
        is written with its effect. So a request that nobody answered is simply carried out by whoever gets it again."""
        service, person = self._service, asked.caller.name
        if len(key) > MOST_KEY:
            raise WrongField("Idempotency-Key", f"A key has at most {MOST_KEY} characters; this one has {len(key)}.")
        if (person, key) in service.under_way:
            return _under_way()
        service.under_way.add((person, key))
        try:
            return await self._claimed(asked, key)
        finally:
            service.under_way.discard((person, key))

    async def _claimed(self, asked: Asked, key: str) -> Response:
        desk, caller, request = self._service.desk, asked.caller, asked.request
        body = await asked.bytes(MOST_BODY)
        request._body = body  # what was read is read again by the operation
        parts = (request.method, request.url.path, request.headers.get("if-match", ""))
        print_ = hashlib.sha256("\n".join(parts).encode() + b"\n" + body).hexdigest()
        kept = await asyncio.to_thread(lambda: desk.claim(caller.name, key, print_, now=moments.now()))
        if kept.other:
            raise WrongField("Idempotency-Key", "This key was used for another request.", hint="take a new one")
        if kept.reply is not None:
            again = {**dict(kept.reply.headers), "idempotency-replayed": "true"}
            return Response(kept.reply.body, kept.reply.status, again)
        mark = hashlib.sha256("\n".join((caller.name, key, print_, kept.since)).encode()).hexdigest()
        request.scope["caller"] = replace(caller, request=Asks(mark, kept.since))
        try:
            answer = await self._marked(asked, mark, again=kept.again)
        except ReconveneError:  # it had no effect
            await asyncio.to_thread(desk.let_go, caller.name, key)
            raise
        reply = Reply(answer.status_code, tuple(_kept_headers(answer)), bytes(answer.body))
        await asyncio.to_thread(desk.answer, caller.name, key, reply, moments.now())
        return answer

    async def _marked(self, asked: Asked, mark: str, *, again: bool) -> Response:
        if again and (answer := await self._done(asked, mark)) is not None:
            return answer
        try:
            return await self._carried_out(asked)
        except Repeated:  # by another server meanwhile
            answer = await self._done(asked, mark)
            if answer is None:
                raise
            return answer

    async def _done(self, asked: Asked, mark: str) -> Response | None:
        """What is answered where the log says that it was carried out."""
        found = await self._service.do(lambda engine: engine.log.carried_out(mark))
        if found is None or asked.operation.once is None:
            return None
        value = await asked.operation.once(asked, Done(*found))
        answer = value if isinstance(value, Response) else _as_json(asked.operation, value)
        answer.headers["idempotency-replayed"] = "true"
        return answer


def _under_way() -> Response:
    return problem(409, "A request with this key is under way.", "ask again in a moment", title="Under way")


def _kept_headers(answer: Response) -> list[tuple[str, str]]:
    return [(name, value) for name, value in answer.headers.items() if name in ("content-type", "etag", "location")]


def _as_json(operation: Operation, value: object) -> Response:
    if value is None:
        return Response(status_code=204)
    answer = Response(encoded(value), operation.status, media_type="application/json")
    if isinstance(value, Checkpoint):
        answer.headers["etag"] = f'"{value.digest}"'
    return answer


def _tags(request: Request) -> list[str]:
    return [tag.strip() for tag in request.headers.get("if-none-match", "").split(",") if tag.strip()]
