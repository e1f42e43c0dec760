"""Coming in and leaving: by the link that the server printed, or with a token that is typed. Neither stays in an
address.

A form that comes from somebody whose token no longer holds does nothing. What it says stays on the page that asks for
another token, and is their draft once they have entered with it.
"""

from __future__ import annotations

import re
from contextlib import suppress
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

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
_OF_A_RUN = re.compile(r"/runs/([^/]+)/(?:decide|calls|draft|notes|say|left|read|viewed)\b")


def routes(service: Service, callers: Callers) -> list[Route]:
    async def enter(asks: Request) -> Response:
        """A link is followed while nobody is set up; people type their token."""
        form, was = FormData(), callers.whose(asks)
        if asks.method == "POST":
            try:
                form = await form_of(asks, MOST_FORM if was else _MOST)
            except TooLarge:
                return _asked(asks, callers, 413, wrong=True)
            given = str(form.get("token", "")).strip()
        else:
            given = "" if callers.are_set_up else asks.query_params.get("token", "")
        session = callers.admit(given)
        if not session:
            return _asked(asks, callers, 403 if given else 401, wrong=bool(given), form=form, was=was)
        to = await _taken_over(service, callers.of_session(session), was, form)
        answer = RedirectResponse(to or "/", 303)
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
    was, sent = callers.whose(asks), asks.headers.get("content-type", "")
    if not was or asks.scope["method"] != "POST" or not sent.startswith("application/x-www-form-urlencoded"):
        return _asked(asks, callers, 401, was=was)

    async def held(scope: Scope, receive: Receive, send: Send) -> None:
        request = Request(scope, receive)
        try:
            given = await form_of(request)
        except TooLarge:
            given = FormData()
        typed = [(f"{_TYPED}{name}", value) for name, value in given.multi_items() if isinstance(value, str)]
        form = FormData([("to", scope["path"]), *typed])
        await _asked(request, callers, 401, was=was, form=form)(scope, receive, send)

    return held


def _asked(
    asks: HTTPConnection,
    callers: Callers,
    status: int,
    *,
    wrong: bool = False,
    was: str = "",
    form: FormData | None = None,
) -> Response:
    """The page that asks who one is. `was`: who was here before. `form`: what they sent, to go on with."""
    given = [(name, str(value)) for name, value in (form or FormData()).multi_items() if name != "token"]
    words = [value for name, value in given if name.startswith((f"{_TYPED}words", f"{_TYPED}text ")) and value.strip()]
    values = {"people": callers.are_set_up, "wrong": wrong, "was": was, "given": given, "words": words}
    return page(asks, "enter.html", status=status, **values)


async def _taken_over(service: Service, caller: Caller | None, was: str, form: FormData) -> str:
    """What was typed is the draft of who typed it; nobody else's. Where its page is, "" = there is none."""
    found = _OF_A_RUN.match(str(form.get("to", "")))
    if found is None or caller is None or caller.name != was:
        return ""
    typed = [(name.removeprefix(_TYPED), value) for name, value in form.multi_items() if name.startswith(_TYPED)]
    run = unquote(found[1])
    with suppress(UserError):  # such as a role that may not: they read why on the page
        await keep_typed(service, caller, run, FormData(typed))
    return f"/runs/{quote(run, safe='')}/decide"
