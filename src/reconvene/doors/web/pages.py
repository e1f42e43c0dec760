"""The addresses of the pages, each with what answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles

from reconvene.doors.web import about_runs, decision_pages, entering, inbox_pages
from reconvene.doors.web.drawing import FOLDER, THEME, THEMES

if TYPE_CHECKING:
    from reconvene.doors.http.callers import Callers
    from reconvene.doors.http.service import Service


def routes(service: Service, callers: Callers) -> list[Route | Mount]:
    async def theme(asks: Request) -> Response:
        """Light or dark, kept by the browser. Leads back to where the person was, which is never another server."""
        form = await asks.form()
        chosen, back = str(form.get("theme", "")), str(form.get("back", "/"))
        answer = RedirectResponse(entering.own_path(back), 303)
        if chosen in THEMES:
            answer.set_cookie(THEME, chosen, max_age=365 * 86_400, samesite="lax", path="/")
        return answer

    static = StaticFiles(directory=FOLDER / "static")
    return [
        *entering.routes(service, callers),
        Route("/theme", theme, methods=["POST"]),
        *inbox_pages.routes(service),
        *decision_pages.routes(service),
        *about_runs.routes(service),
        Mount("/static", static),
    ]
