"""The addresses of the pages, each with what answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from reconvene.app import index
from reconvene.doors.http.callers import COOKIE
from reconvene.doors.web.drawing import FOLDER, page

if TYPE_CHECKING:
    from reconvene.doors.http.callers import Callers
    from reconvene.doors.http.service import Service

_DAYS = 30


def routes(service: Service, callers: Callers) -> list[Route | Mount]:
    async def enter(asks: Request) -> Response:
        """By the link; then the token is in no address any more."""
        session = callers.admit(asks.query_params.get("token", ""))
        if not session:
            return page(asks, "enter.html", status=403)
        answer = RedirectResponse("/", 303)
        answer.set_cookie(COOKIE, session, max_age=_DAYS * 86_400, httponly=True, samesite="lax", path="/")
        return answer

    async def inbox(asks: Request) -> Response:
        rows = await service.do(lambda engine: index.page(engine.log, "waiting", "", 100).rows)
        return page(asks, "inbox.html", rows=rows)

    static = StaticFiles(directory=FOLDER / "static")
    return [Route("/enter", enter), Route("/", inbox), Mount("/static", static)]
