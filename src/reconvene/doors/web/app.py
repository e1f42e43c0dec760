"""The whole server as one application: pages, API, and what guards them."""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request

from reconvene.doors.http.guard import STOPPED, Guard
from reconvene.doors.http.told_errors import problem, status_of, told
from reconvene.doors.rest import routes as rest
from reconvene.doors.web import entering, pages
from reconvene.doors.web.drawing import page
from reconvene.errors import ReconveneError, UserError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from starlette.requests import HTTPConnection
    from starlette.responses import Response
    from starlette.types import ASGIApp

    from reconvene.doors.http.callers import Callers
    from reconvene.doors.http.service import Service

_OPEN = ("/health", "/enter")


def application(service: Service, callers: Callers, hosts: Iterable[str], *, secure: bool = False) -> ASGIApp:
    """`secure`: browsers come by https."""

    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        yield
        await service.close()

    async def failed(asks: Request, error: Exception) -> Response:
        assert isinstance(error, ReconveneError)
        if asks.url.path.startswith(rest.PREFIX):
            return told(error)
        typed = asks.scope.get("typed", ())
        return page(asks, "problem.html", status=status_of(error), error=error, typed=typed)

    async def nothing(asks: Request, error: Exception) -> Response:
        """An address that nobody answers, or with another method."""
        assert isinstance(error, HTTPException)
        said = "There is nothing at this address." if error.status_code == 404 else error.detail
        if asks.url.path.startswith(rest.PREFIX):
            return problem(error.status_code, said)
        answer = page(asks, "problem.html", status=error.status_code, error=UserError(said))
        answer.headers.update(error.headers or {})
        return answer

    async def broke(asks: Request, error: Exception) -> Response:
        """A mistake of ours. The server's output has it; the person has a page that leads on."""
        if asks.url.path.startswith(rest.PREFIX):
            return problem(500, "Something went wrong in the server.", "Its output says what.")
        told = UserError(
            "Something went wrong in the server.", hint="Nothing that is on record is lost. Its output says what."
        )
        typed, title = asks.scope.get("typed", ()), "This page could not be made."
        return page(asks, "problem.html", status=500, error=told, title=title, typed=typed)

    app = Starlette(
        routes=[*rest.routes(service), *pages.routes(service, callers)],
        lifespan=lifespan,
        exception_handlers={ReconveneError: failed, HTTPException: nothing, Exception: broke},
    )

    def unknown(asks: HTTPConnection) -> ASGIApp:
        if asks.scope["path"].startswith(rest.PREFIX):
            return problem(401, callers.why_unknown(asks))
        return entering.not_known(callers, asks)

    def stopped(asks: HTTPConnection) -> ASGIApp:
        (said, hint), typed = STOPPED, asks.scope.get("typed", ())
        if asks.scope["path"].startswith(rest.PREFIX):
            return problem(503, said, hint)
        return page(Request(asks.scope), "problem.html", status=503, error=UserError(said, hint=hint), typed=typed)

    service.live.rights = callers.moment
    return Guard(app, hosts, callers.find, _is_open, unknown, stopped, secure=secure)


def _is_open(path: str) -> bool:
    return path in _OPEN or path.startswith("/static/")
