"""The decision page, drawn for whoever asks: as it is, or after something was refused, with what they typed."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool

from reconvene.app import queries
from reconvene.doors.http import acts, moments
from reconvene.doors.web.calls_view import ANSWERS, CallView, calls, writes_among_several
from reconvene.doors.web.decision_view import DecisionView, view
from reconvene.doors.web.documents_view import Documents, documents
from reconvene.doors.web.drafted_decisions import Kept, Prepared, Typed, prepared
from reconvene.doors.web.drawing import page
from reconvene.doors.web.left_view import LeftView, left_views

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import RunInFull
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service
    from reconvene.errors import ReconveneError


class _Read(NamedTuple):
    shown: DecisionView | RunInFull
    left: list[LeftView]
    kept: Kept = Kept(Prepared())
    files: Callable[[], Documents] | None = None  # draws them, for which no engine is needed
    waiting: Sequence[CallView] = ()


def caller_of(asks: Request) -> Caller:
    found: Caller = asks.scope["caller"]
    return found


async def draw(
    service: Service,
    asks: Request,
    *,
    status: int = 200,
    error: ReconveneError | None = None,
    told: Sequence[str] = (),
    anyway: str = "",
    typed: Typed | None = None,
) -> Response:
    """`told`: what changed since the page was drawn from which this was sent. `anyway`: the version that there is now,
    where the decision may be sent again all the same. `typed`: shown in the place of the draft, which could not be
    kept."""
    caller, run, desk = caller_of(asks), asks.path_params["run"], service.desk

    def read(engine: Engine) -> _Read:
        acts.require_run(engine, run)
        checkpoint = engine.load(run).world.open
        open_now = checkpoint.id if checkpoint else ""
        left = left_views(engine, desk, caller.name, run, open_now)
        kept = prepared(desk, caller.name, run, open_now) if open_now else Kept(Prepared())
        if typed is not None:
            kept = kept._replace(draft=_instead(kept.draft, typed))
        found = view(engine, run, caller, desk.mark(caller.name, run).read, kept.draft)
        if found is None:
            return _Read(queries.show(engine, run), left)
        asked = asks.query_params
        ticks = desk.ticked(caller.name, run)
        files = documents(engine, run, found.point, found.since, ticks, asked.get("file", ""), asked.get("as", ""))
        acts.note_shown(service, caller, run, found.point)
        desk.mark_seen(caller.name, run, found.seq, moments.now())
        return _Read(found, left, kept, files, calls(engine, run))

    found = await service.do(read)
    values: dict[str, object] = {"error": error, "left": found.left}
    files = found.files
    if files is None:
        words = typed.words if typed is not None and typed.words else ""
        return page(asks, "not_waiting.html", status=status, run=found.shown, words=words, **values)
    values |= {"v": found.shown, "anyway": anyway, "on": _about(asks), "told": told}
    values |= {"kept": found.kept, "page_id": secrets.token_hex(6), "calls": found.waiting, "answers": ANSWERS}
    values |= {"one_writes": writes_among_several(list(found.waiting))}
    return await run_in_threadpool(lambda: page(asks, "decision.html", status=status, files=files(), **values))


def _instead(kept: Prepared, typed: Typed) -> Prepared:
    words = kept.words if typed.words is None else typed.words
    return replace(kept, words=words, option=typed.option or kept.option, fields=typed.fields or kept.fields)


def _about(asks: Request) -> dict[str, str]:
    """The line of a file that a remark is to be about, where the person followed its number."""
    asked = asks.query_params
    path, line = asked.get("on", "")[:500], asked.get("line", "")
    return {"path": path, "line": line if line.isdecimal() else "", "version": asked.get("of", "")[:80]} if path else {}
