"""Coming in and leaving: by the link that the server printed, or with a token that is typed. Neither stays in an
address.

A form that comes from somebody whose token no longer holds does nothing. What it says stays on the page that asks for
another token, and is their draft once they have entered with it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import unquote

from starlette.datastructures import FormData
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.doors.http.callers import COOKIE
from reconvene.doors.http.refusals import TooLarge
from reconvene.doors.web.drawing import page
from reconvene.doors.web.prepared_pages import keep_typed
from reconvene.doors.web.typed_forms import MOST_FORM, form_of
from reconvene.errors import UserError

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection
    from starlette.types import ASGIApp, Receive, Scope, Send

    from reconvene.doors.http.callers import Caller, Callers
    from reconvene.doors.http.service import Service

_MOST = 4096  # bytes of the form
_TYPED = "typed:"  # begins the names of what was typed on the page before
_OF_A_RUN = re.compile(r"/runs/([^/?]+)/(?:decide|calls|draft|notes|say|left|read|viewed)\b")


def own_path(given: str) -> str:
    """An address of this server, which a browser cannot take for one of another; else the first page."""
    plain = given.isprintable() and given.startswith("/") and not given.startswith("//") and "\\" not in given
    return given if plain else "/"


def asked_for(asks: HTTPConnection) -> str:
    """Where somebody wanted to go who must enter first: a page that is only looked at, or from which a form came."""
    path, query = asks.url.path, asks.url.query
    if asks.scope.get("method") == "GET" and asks.scope["path"] != "/enter":
        return own_path(path + (f"?{query}" if query else ""))
    found = _OF_A_RUN.match(path)
    return own_path(f"/runs/{found[1]}/decide") if found else "/"


def routes(service: Service, callers: Callers) -> list[Route]:
    async def enter(asks: Request) -> Response:
        """A link is followed while nobody is set up; people type their token, and come to the page that they wanted."""
        form, was = FormData(), callers.whose(asks)
        if asks.method == "POST":
            try:
                form = await form_of(asks, MOST_FORM if was else _MOST)
            except TooLarge:
                return _asked(asks, callers, 413, wrong=True)
            given = str(form.get("token", "")).strip()
        else:
            given = "" if callers.are_set_up else asks.query_params.get("token", "")
        to, session = own_path(str(form.get("to", "/"))), callers.admit(given)
        typed = [(name, str(value)) for name, value in form.multi_items() if name.startswith(_TYPED)]
        if not session:
            return _asked(asks, callers, 403 if given else 401, to, wrong=bool(given), was=was, typed=typed)
        await _taken_over(service, callers.of_session(session), was, to, typed)
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


def not_known(callers: Callers, asks: HTTPConnection) -> ASGIApp:
    """Who asks is nobody, or nobody any more."""
    was, media, to = callers.whose(asks), asks.headers.get("content-type", ""), asked_for(asks)
    if not was or asks.scope["method"] != "POST" or not media.startswith("application/x-www-form-urlencoded"):
        return _asked(asks, callers, 401, to, was=was)

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            given = await form_of(request)
        except TooLarge:
            given = FormData()
        typed = [(f"{_TYPED}{name}", value) for name, value in given.multi_items() if isinstance(value, str)]
        await _asked(request, callers, 401, to, was=was, typed=typed)(scope, receive, send)

    return held


_Typed = Sequence[tuple[str, str]]


def _asked(
    asks: HTTPConnection,
    callers: Callers,
    status: int,
    to: str = "/",
    *,
    wrong: bool = False,
    was: str = "",
    typed: _Typed = (),
) -> Response:
    """The page that asks who one is. `was`: who was here before. `typed`: what they sent, to go on with."""
    words = [value for name, value in typed if name.startswith((f"{_TYPED}words", f"{_TYPED}text ")) and value.strip()]
    own = {"wrong": wrong, "was": was, "typed": typed, "words": words, "to": to}
    return page(asks, "enter.html", status=status, people=callers.are_set_up, **own)


async def _taken_over(service: Service, caller: Caller | None, was: str, to: str, typed: _Typed) -> None:
    """What was typed is the draft of who typed it; nobody else's."""
    found = _OF_A_RUN.match(to)
    if found is None or not typed or caller is None or caller.name != was:
        return
    form = FormData([(name.removeprefix(_TYPED), value) for name, value in typed])
    with suppress(UserError):  # such as a role that may not: they read why on the page
        await keep_typed(service, caller, unquote(found[1]), form)
