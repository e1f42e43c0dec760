"""The addresses of the API, each with what answers it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Mount, Route

from reconvene.app import index, queries
from reconvene.app.views.encoding import encoded

if TYPE_CHECKING:
    from reconvene.doors.http.service import Service

PREFIX = "/api/v1"


def routes(service: Service) -> list[Route | Mount]:
    async def health(asks: Request) -> Response:
        return _json({"status": "ok"})

    async def inbox(asks: Request) -> Response:
        rows = await service.do(lambda engine: index.page(engine.log, "waiting", "", 100).rows)
        return _json({"runs": [row._asdict() for row in rows]})

    async def show(asks: Request) -> Response:
        return _json(await service.do(lambda engine: queries.show(engine, engine.find(asks.path_params["run"]))))

    own = [Route("/inbox", inbox), Route("/runs/{run}", show)]
    return [Route("/health", health), Mount(PREFIX, routes=own)]


def _json(value: object) -> Response:
    return Response(encoded(value), media_type="application/json")
