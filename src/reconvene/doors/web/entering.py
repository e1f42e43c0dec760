"""Coming in and leaving: by the link that the server printed, or with a token that is typed. Neither stays in an
address."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.doors.http.callers import COOKIE
from reconvene.doors.web.drawing import page

if TYPE_CHECKING:
    from reconvene.doors.http.callers import Callers

_MOST = 4096  # bytes of the form


def routes(callers: Callers) -> list[Route]:
    async def enter(asks: Request) -> Response:
        """A link is followed while nobody is set up; people type their token."""
        if asks.method == "POST":
            if int(asks.headers.get("content-length", "0") or 0) > _MOST:
                return page(asks, "enter.html", status=413, people=callers.are_set_up, wrong=True)
            form = await asks.form(max_files=0, max_fields=5, max_part_size=_MOST)
            given = str(form.get("token", "")).strip()
        else:
            given = "" if callers.are_set_up else asks.query_params.get("token", "")
        session = callers.admit(given)
        if not session:
            return page(asks, "enter.html", status=403 if given else 401, people=callers.are_set_up, wrong=bool(given))
        answer = RedirectResponse("/", 303)
        if before := asks.cookies.get(COOKIE, ""):
            callers.leave(before)
        callers.keep(answer, session)
        return answer

    async def leave(asks: Request) -> Response:
        answer = RedirectResponse("/enter", 303)
        callers.leave(asks.cookies.get(COOKIE, ""), answer)
        return answer

    return [Route("/enter", enter, methods=["GET", "POST"]), Route("/leave", leave, methods=["POST"])]
