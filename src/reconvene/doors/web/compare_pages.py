"""Two runs beside each other: a fork and what it was forked from, or any two."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from reconvene.app import index
from reconvene.app.compared_runs import Compared, compared, forked_from
from reconvene.app.views.run_story import VERBS, lasted
from reconvene.doors.http.acts import require_run
from reconvene.doors.web.rendered import by_lines, by_words
from reconvene.doors.web.run_drawing import around, drawn
from reconvene.errors import StoreError

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from reconvene.app.engine import Engine
    from reconvene.doors.http.service import Service

_ROWS = 400
_OFFERED = 50  # other runs of the workflow


def routes(service: Service) -> list[Route]:
    async def compare(asks: Request) -> Response:
        run, asked = asks.path_params["run"], asks.query_params

        def read(engine: Engine) -> tuple[Compared | None, list[str], tuple[str, str]]:
            require_run(engine, run)
            other = asked.get("with", "") or forked_from(engine, run)
            if other in ("", run):
                return None, _others(engine, run), ("", "")
            found = compared(engine, run, require_run(engine, other))
            file = next((one for one in found.files if one.path == asked.get("file", "")), None)
            texts = (_text(engine, file.there), _text(engine, file.here)) if file is not None else ("", "")
            return found, _others(engine, run), texts

        frame = await service.do(lambda engine: around(engine, run))
        found, others, (was, now) = await service.do(read)
        file = asked.get("file", "")
        rows, more = by_lines(was, now, _ROWS) if file else ([], 0)
        said = [(one, by_words(one.there, one.here)) for one in found.said if not one.same] if found is not None else []
        return drawn(
            asks, "runs/compare.html", frame, "compare", found=found, others=others, file=file, rows=rows, more=more,
            said=said, verbs=VERBS, lasted=lasted,
        )  # fmt: skip

    return [Route("/runs/{run}/compare", compare)]


def _others(engine: Engine, run: str) -> list[str]:
    """Runs of the same workflow, the one that was started last first."""
    row = index.one(engine.log, run)
    found = index.page(engine.log, None, "", 500).rows
    return [one.run for one in found if row is not None and one.workflow == row.workflow and one.run != run][:_OFFERED]


def _text(engine: Engine, digest: str) -> str:
    try:
        return engine.log.artefact(digest).decode("utf-8", "replace") if digest else ""
    except StoreError:
        return ""
