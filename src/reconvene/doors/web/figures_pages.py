"""Figures: how well checkpoints serve people, over all runs or in one; as a table and as plots."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reconvene.app import measures
from reconvene.core.working.spending import dollars
from reconvene.doors.http.acts import require_run
from reconvene.doors.web.drawing import page
from reconvene.doors.web.drawn_charts import Chart, stacked

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.metrics import Metrics
    from reconvene.doors.http.service import Service

_BARS = 24  # rounds that are drawn: the latest


def routes(service: Service) -> list[Route]:
    async def figures(asks: Request) -> Response:
        run = asks.query_params.get("run", "")

        def measured(engine: Engine) -> tuple[Metrics, dict[str, str]]:
            if run:
                return measures.stats(engine, require_run(engine, run)), {}
            return measures.stats_of_all(engine)

        found, unread = await service.do(measured)
        return page(
            asks, "runs/figures.html", one=found, run=run, unread=unread, minutes=_minutes(found),
            reviews=_reviews(found), approval=_approval(found), dollars=dollars,
        )  # fmt: skip

    return [Route("/figures", figures)]


def _minutes(found: Metrics) -> Chart:
    rows = [(f"{one.phase} {one.n}", {"minutes": one.minutes}) for one in found.rounds[-_BARS:]]
    return stacked(rows, ("minutes",), " min", 2)


def _reviews(found: Metrics) -> Chart:
    some = list(enumerate(found.review_minutes, 1))[-_BARS:]
    return stacked([(str(number), {"minutes": one}) for number, one in some], ("minutes",), " min", 2)


def _approval(found: Metrics) -> Chart:
    """How many approvals there were after one round, after two, and so on."""
    most = max(found.to_approval, default=0)
    rows = [(str(number), {"approvals": float(found.to_approval.count(number))}) for number in range(1, most + 1)]
    return stacked(rows, ("approvals",))
