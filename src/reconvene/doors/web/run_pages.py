"""Runs: the list of them, the page of one as it stands or stood, and what a person does to it."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.app import index
from reconvene.doors.http import run_acts
from reconvene.doors.http.acts import Said
from reconvene.doors.web.drawing import page
from reconvene.doors.web.run_drawing import STATUSES, TAGS, around, caller_of, drawn, number
from reconvene.doors.web.run_shown import run_page

if TYPE_CHECKING:
    from reconvene.doors.http.service import Service

_A_PAGE = 50


def routes(service: Service) -> list[Route]:
    async def runs(asks: Request) -> Response:
        said = asks.query_params
        status, words, after = said.get("status", ""), said.get("q", "").strip()[:200], said.get("after", "")
        status = status if status in STATUSES else ""
        found = await service.do(lambda engine: index.search(engine.log, words, status or None, after, _A_PAGE))
        return page(
            asks, "runs/list.html", rows=found.rows, next=found.next, chosen=status, words=words, statuses=STATUSES,
            tags=TAGS,
        )  # fmt: skip

    async def one(asks: Request, template: str = "runs/run.html") -> Response:
        run, seq = asks.path_params["run"], number(asks, "as_of", least=1)
        frame, shown = await service.do(lambda engine: (around(engine, run), run_page(engine, run, seq)))
        return drawn(asks, template, frame, "", page=shown)

    async def now(asks: Request) -> Response:
        """What changes on the page while a run is at work, alone."""
        return await one(asks, "runs/now.html")

    async def pause(asks: Request) -> Response:
        return _to((await run_acts.pause(service, caller_of(asks), asks.path_params["run"])).run)

    async def resume(asks: Request) -> Response:
        return _to((await run_acts.resume(service, caller_of(asks), asks.path_params["run"])).run)

    async def abort(asks: Request) -> Response:
        why = str((await asks.form()).get("why", "")).strip()
        said = [Said(why)] if why else []
        return _to((await run_acts.abort(service, caller_of(asks), asks.path_params["run"], said)).run)

    async def fork(asks: Request) -> Response:
        at = str((await asks.form()).get("at", ""))
        seq = int(at) if at.isascii() and at.isdecimal() and len(at) < 10 else 0
        return _to((await run_acts.fork(service, caller_of(asks), asks.path_params["run"], seq)).run)

    acts = {"pause": pause, "resume": resume, "abort": abort, "fork": fork}
    return [
        Route("/runs", runs),
        Route("/runs/{run}", one),
        Route("/runs/{run}/now", now),
        *(Route(f"/runs/{{run}}/{name}", act, methods=["POST"]) for name, act in acts.items()),
    ]


def _to(run: str) -> Response:
    return RedirectResponse(f"/runs/{quote(run, safe='')}", 303)
