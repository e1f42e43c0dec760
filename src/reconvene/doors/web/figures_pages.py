"""Figures: how well checkpoints serve people, over all runs or in one; as a table and as plots."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reconvene.app import measures
from reconvene.app.views.metrics import Metrics, aggregate
from reconvene.core.working.spending import dollars
from reconvene.doors.http.acts import require_run
from reconvene.doors.web.drawing import page
from reconvene.doors.web.drawn_charts import Chart, stacked
from reconvene.errors import ReconveneError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.doors.http.service import Service

_BARS = 24  # rounds that are drawn: the latest
_LATEST = 1000  # runs that are measured
_AT_ONCE = 10


def routes(service: Service) -> list[Route]:
    measured: dict[str, tuple[int, Metrics]] = {}  # run → its last event then, and what was measured

    async def figures(asks: Request) -> Response:
        run = asks.query_params.get("run", "")
        unread: dict[str, str] = {}
        if run:
            found = await service.do(lambda engine: measures.stats(engine, require_run(engine, run)))
        else:
            found = aggregate(await every(unread))
        return page(
            asks, "runs/figures.html", one=found, run=run, unread=unread, minutes=_minutes(found), latest=_LATEST,
            reviews=_reviews(found), approval=_approval(found), dollars=dollars,
        )  # fmt: skip

    async def every(unread: dict[str, str]) -> list[Metrics]:
        """A few runs at a time, so that others are answered in between; those that did not change are not read."""
        names = await service.do(lambda engine: [row.run for row in engine.log.index(limit=_LATEST)])

        def some(engine: Engine, few: list[str]) -> None:
            for name in few:
                head = engine.log.head(name)
                if name in measured and measured[name][0] == head:
                    continue
                try:
                    measured[name] = head, measures.stats(engine, name)
                except ReconveneError as error:
                    unread[name] = error.message

        for at in range(0, len(names), _AT_ONCE):
            await service.do(partial(some, few=names[at : at + _AT_ONCE]))
        return [measured[name][1] for name in names if name in measured and name not in unread]

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
