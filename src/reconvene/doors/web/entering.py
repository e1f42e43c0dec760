"""Coming in and leaving: by the link that the server printed, or with a token that is typed. Neither stays in an
address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import HTTPConnection, Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.doors.http.callers import COOKIE
from reconvene.doors.web.drawing import page

if TYPE_CHECKING:
    from reconvene.doors.http.callers import Callers

_MOST = 4096  # bytes of the form


def own_path(given: str) -> str:
    """An address of this server, which a browser cannot take for one of another; else the first page."""
    plain = given.isprintable() and given.startswith("/") and not given.startswith("//") and "\\" not in given
    return given if plain else "/"


def asked_for(asks: HTTPConnection) -> str:
    """Where somebody wanted to go who must enter first: a page that is only looked at."""
    looks = asks.scope.get("method") == "GET" and asks.scope["path"] != "/enter"
    query = asks.url.query
    return own_path(asks.url.path + (f"?{query}" if query else "")) if looks else "/"


def routes(callers: Callers) -> list[Route]:
    async def enter(asks: Request) -> Response:
        """A link is followed while nobody is set up; people type their token, and come to the page that they wanted."""
        if asks.method == "POST":
            if int(asks.headers.get("content-length", "0") or 0) > _MOST:
                return page(asks, "enter.html", status=413, people=callers.are_set_up, wrong=True, to="/")
            form = await asks.form(max_files=0, max_fields=5, max_part_size=_MOST)
            given, to = str(form.get("token", "")).strip(), own_path(str(form.get("to", "/")))
        else:
            given, to = "" if callers.are_set_up else asks.query_params.get("token", ""), "/"
        session = callers.admit(given)
        if not session:
            status = 403 if given else 401
            return page(asks, "enter.html", status=status, people=callers.are_set_up, wrong=bool(given), to=to)
        answer = RedirectResponse(to, 303)
        if before := asks.cookies.get(COOKIE, ""):
            callers.leave(before)
        callers.keep(answer, session)
        return answer

    async def leave(asks: Request) -> Response:
        answer = RedirectResponse("/enter", 303)
        callers.leave(asks.cookies.get(COOKIE, ""), answer)
        return answer

    return [Route("/enter", enter, methods=["GET", "POST"]), Route("/leave", leave, methods=["POST"])]
