"""The decision page: read and decide. Plain forms do all of it; JavaScript only saves steps.

Whatever is sent carries what was typed, and that is kept on the desk before anything else happens: a page that is
refused shows it again. What is prepared on it, `prepared_pages` takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.datastructures import FormData
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from reconvene.app import queries
from reconvene.doors.http import acts, moments
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.http.told_errors import status_of
from reconvene.doors.web import prepared_pages
from reconvene.doors.web.calls_view import answered, calls, require_nothing_said_of_each
from reconvene.doors.web.decision_drawing import caller_of, draw
from reconvene.doors.web.decision_view import limits_of
from reconvene.doors.web.drafted_decisions import Kept, Note, prepared, sent
from reconvene.doors.web.drawing import page
from reconvene.doors.web.noted import said
from reconvene.doors.web.prepared_pages import NOTES_CHANGED, keep_typed
from reconvene.doors.web.receipts import receipt
from reconvene.doors.web.typed_forms import answers, form_of, limits_typed, note, number, typed, word
from reconvene.doors.web.what_changed import told_since
from reconvene.errors import Refused, Repeated, StaleDecision, UserError

if TYPE_CHECKING:
    from starlette.requests import Request

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint
    from reconvene.doors.http.acts import Said
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service


def routes(service: Service) -> list[Route]:
    pages = _Pages(service)
    at = "/runs/{run}"
    return [
        Route(f"{at}/decide", pages.show, methods=["GET"]),
        Route(f"{at}/decide", pages.decide, methods=["POST"]),
        Route(f"{at}/decided/{{checkpoint}}", pages.receipt),
        Route(f"{at}/calls", pages.decide_calls, methods=["POST"]),
        Route(f"{at}/version", pages.version),
        *prepared_pages.routes(service),
    ]


class NotesChanged(Refused):
    """A page showed other notes than there are: nothing is decided, once."""


class _Pages:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def show(self, asks: Request) -> Response:
        return await draw(self._service, asks)

    async def receipt(self, asks: Request) -> Response:
        run, checkpoint = asks.path_params["run"], asks.path_params["checkpoint"]
        person = caller_of(asks).name
        found = await self._service.do(lambda engine: receipt(engine, run, checkpoint, person))
        return page(asks, "receipt.html", r=found, run=found.run)

    async def version(self, asks: Request) -> Response:
        """Which version is open, and which notes there are: a page asks now and then whether they are those that it
        shows. Where not, what happened since it was drawn."""
        caller, run, shown = caller_of(asks), asks.path_params["run"], asks.query_params.get("version", "")
        seq, desk = asks.query_params.get("seq", ""), self._service.desk

        def read(engine: Engine) -> dict[str, object]:
            found = queries.summary(engine, acts.require_run(engine, run)).checkpoint
            version = found.digest if found else ""
            noted = prepared(desk, caller.name, run, found.id).draft.noted if found else 0
            late = version != shown and seq.isdecimal() and len(seq) < 10
            told = told_since(engine, run, caller.name, int(seq)) if late else []
            return {"version": version, "noted": noted, "told": told}

        return JSONResponse(await self._service.do(read))

    # --- deciding ---

    async def decide(self, asks: Request) -> Response:
        caller, run = caller_of(asks), asks.path_params["run"]
        form = await form_of(asks)
        if not caller.may("reviewer"):  # whoever may not even prepare one
            caller.require("decider", "to decide")
        try:
            kept, checkpoint = await keep_typed(self._service, caller, run, form)
        except UserError as error:
            return await draw(self._service, asks, status=status_of(error), error=error, typed=typed(form))
        try:
            await self._decide(caller, run, form, kept)
        except Repeated:
            pass
        except (StaleDecision, Refused, UserError) as error:
            return await self._refused(asks, form, error)
        decided = word(form, "checkpoint") or checkpoint
        sent(self._service.desk, caller.name, run, decided, typed(form), moments.now())
        return RedirectResponse(f"/runs/{quote(run)}/decided/{quote(decided, safe='')}", 303)

    async def decide_calls(self, asks: Request) -> Response:
        """On each call of a tool that waits; one without an answer keeps waiting."""
        caller, run = caller_of(asks), asks.path_params["run"]
        form = await form_of(asks)
        try:
            await keep_typed(self._service, caller, run, form)
            waiting = await self._service.do(lambda engine: calls(engine, acts.require_run(engine, run)))
            rulings = answered(waiting, form)
            await acts.decide_calls(self._service, caller, run, rulings, version=word(form, "version"))
        except UserError as error:
            return await self._refused(asks, form, error)
        decided, own = word(form, "checkpoint"), typed(form)
        sent(self._service.desk, caller.name, run, decided, own, moments.now(), said=False)
        return RedirectResponse(f"/runs/{quote(run)}/decided/{quote(decided, safe='')}", 303)

    async def _refused(self, asks: Request, form: FormData, error: UserError) -> Response:
        """Nothing was decided; why, and what changed while the page was open."""
        caller, run = caller_of(asks), asks.path_params["run"]
        if not isinstance(error, StaleDecision):
            status = 409 if isinstance(error, NotesChanged) else status_of(error)
            return await draw(self._service, asks, status=status, error=error)
        seq = number(form, "seq")

        def read(engine: Engine) -> list[str]:
            return told_since(engine, run, caller.name, seq) if seq else list(error.changes)

        told = await self._service.do(read)
        anyway = error.now if error.anyway else ""
        return await draw(self._service, asks, status=409, error=error, told=told, anyway=anyway)

    async def _decide(self, caller: Caller, run: str, form: FormData, kept: Kept) -> None:
        option = word(form, "option")
        if not option:
            raise UserError("Nothing was decided: choose an option first.")
        if not kept.same_notes:
            raise NotesChanged(NOTES_CHANGED, hint="Look at them below. The button then decides with them.")
        notes: tuple[Note, ...] = (*kept.draft.notes, *((note(form),) if word(form, "words").strip() else ()))

        def read(engine: Engine) -> tuple[Checkpoint | None, list[Said], str]:
            point = queries.standing(engine, acts.require_run(engine, run)).checkpoint
            session = engine.session(run)
            require_nothing_said_of_each(calls(engine, run), form, option)
            return point, [said(session, one) for one in notes], limits_of(session).shown

        point, ready, standing = await self._service.do(read)
        same = point is not None and word(form, "checkpoint") in ("", point.id)
        fields = answers(point, option, form) if point is not None and same else {}
        limits = limits_typed(form)
        if limits is not None and standing != word(form, "limits"):
            raise WrongField("cost_limit", "somebody changed the limits meanwhile", hint="look at them again")
        await acts.decide(
            self._service,
            caller,
            run,
            option,
            version=word(form, "version"),
            fields=fields,
            remarks=ready,
            anyway=word(form, "anyway"),
            limits=limits,
        )
