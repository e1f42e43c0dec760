"""The decision page: read, comment, decide. Plain forms do all of it; JavaScript only saves steps.

Whatever is sent carries what was typed, and that is kept on the desk before anything else happens: a page that is
refused shows it again.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec.structs import replace
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from reconvene.app import queries
from reconvene.doors.http import acts, moments
from reconvene.doors.http.refusals import WrongField
from reconvene.doors.http.told_errors import status_of
from reconvene.doors.shared.options import match_option, on_offer
from reconvene.doors.web.answered_fields import answer_to
from reconvene.doors.web.calls_view import ANSWERS, CallView, answered, calls, writes_among_several
from reconvene.doors.web.decision_view import DecisionView, view
from reconvene.doors.web.documents_view import Documents, documents
from reconvene.doors.web.drafted_decisions import Note, Prepared, change, prepared
from reconvene.doors.web.drawing import page
from reconvene.errors import ReconveneError, Refused, Repeated, StaleDecision, UserError

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint, RunInFull
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service

_FIELD = "field:"  # begins the name of what fills in a field


def routes(service: Service) -> list[Route]:
    pages = _Pages(service)
    at = "/runs/{run}"
    return [
        Route(f"{at}/decide", pages.show, methods=["GET"]),
        Route(f"{at}/decide", pages.decide, methods=["POST"]),
        Route(f"{at}/decided/{{checkpoint}}", pages.receipt),
        Route(f"{at}/calls", pages.decide_calls, methods=["POST"]),
        Route(f"{at}/draft", pages.keep, methods=["POST"]),
        Route(f"{at}/notes", pages.add_note, methods=["POST"]),
        Route(f"{at}/notes/{{note}}", pages.change_note, methods=["POST"]),
        Route(f"{at}/say", pages.send_now, methods=["POST"]),
        Route(f"{at}/read", pages.mark_read, methods=["POST"]),
        Route(f"{at}/viewed", pages.tick, methods=["POST"]),
        Route(f"{at}/version", pages.version),
    ]


class _Pages:
    def __init__(self, service: Service) -> None:
        self._service = service

    # --- showing ---

    async def show(self, asks: Request) -> Response:
        return await self._drawn(asks)

    async def _drawn(
        self, asks: Request, *, status: int = 200, error: ReconveneError | None = None, anyway: str = ""
    ) -> Response:
        caller, run, desk = _caller(asks), asks.path_params["run"], self._service.desk

        def read(engine: Engine) -> tuple[DecisionView, Callable[[], Documents], list[CallView]] | RunInFull:
            acts.require_run(engine, run)
            checkpoint = engine.load(run).world.open
            kept = prepared(desk, caller.name, run, checkpoint.id) if checkpoint else Prepared()
            found = view(engine, run, caller, desk.mark(caller.name, run).read, kept)
            if found is None:
                return queries.show(engine, run)
            asked = asks.query_params
            ticks = desk.ticked(caller.name, run)
            files = documents(engine, run, found.point, found.since, ticks, asked.get("file", ""), asked.get("as", ""))
            acts.note_shown(self._service, caller, run, found.point)
            desk.mark_seen(caller.name, run, found.seq, moments.now())
            return found, files, calls(engine, run)

        found = await self._service.do(read)
        if not isinstance(found, tuple):
            return page(asks, "not_waiting.html", status=status, run=found, error=error)
        shown, files, waiting = found
        values: dict[str, object] = {"v": shown, "error": error, "anyway": anyway, "on": _about(asks)}
        values |= {"calls": waiting, "answers": ANSWERS, "one_writes": writes_among_several(waiting)}
        return await run_in_threadpool(
            lambda: page(asks, "decision.html", status=status, files=files(), **values)  # the engine is free meanwhile
        )

    async def receipt(self, asks: Request) -> Response:
        run, checkpoint = asks.path_params["run"], asks.path_params["checkpoint"]

        def read(engine: Engine) -> RunInFull:
            return queries.show(engine, acts.require_run(engine, run))

        shown = await self._service.do(read)
        state = await self._service.do(lambda engine: engine.load(run))
        number = state.record.decided.get(checkpoint)
        taken = state.record.decisions[number] if number is not None else None
        point = shown.checkpoint
        own = point.approvals if point and point.id == checkpoint else ()
        vote = next((one for one in own if one.user == _caller(asks).name or one.by == _caller(asks).name), None)
        return page(asks, "receipt.html", run=shown, taken=taken, checkpoint=checkpoint, vote=vote)

    async def version(self, asks: Request) -> Response:
        """Which version is open: a page asks now and then whether it is still the one that it shows."""
        run = asks.path_params["run"]

        def read(engine: Engine) -> str:
            found = queries.summary(engine, acts.require_run(engine, run)).checkpoint
            return found.digest if found else ""

        return JSONResponse({"version": await self._service.do(read)})

    # --- what is prepared ---

    async def _kept(self, asks: Request, form: FormData, note: Note | None = None) -> tuple[Prepared, str]:
        """What was typed is kept, whatever comes of it; and the checkpoint's id."""
        caller, run = _caller(asks), asks.path_params["run"]
        caller.require("reviewer", "to prepare a decision")
        checkpoint = await self._service.do(lambda engine: _checkpoint(engine, run))
        if not checkpoint:
            return Prepared(), ""

        def made(before: Prepared) -> Prepared:
            after = replace(before, option=_word(form, "option") or before.option, fields=_typed(form) or before.fields)
            after = replace(after, words=_word(form, "words")) if "words" in form else after
            return after.with_note(note) if note is not None else after

        return change(self._service.desk, caller.name, run, checkpoint, made, moments.now()), checkpoint

    async def keep(self, asks: Request) -> Response:
        """While somebody types."""
        await self._kept(asks, await asks.form())
        return Response(status_code=204)

    async def add_note(self, asks: Request) -> Response:
        form = await asks.form()
        words = _word(form, "words")
        note = _note(form) if words.strip() else None
        await self._kept(asks, form, note)
        return _back(asks, "your-words")

    async def change_note(self, asks: Request) -> Response:
        """Another kind, or for somebody else; or not at all."""
        caller, run, id = _caller(asks), asks.path_params["run"], asks.path_params["note"]
        form = await asks.form()
        await self._kept(asks, form)
        checkpoint = await self._service.do(lambda engine: _checkpoint(engine, run))

        def made(before: Prepared) -> Prepared:
            if _word(form, "do") == f"drop {id}":
                return before.without(id)
            given = {name: _word(form, f"{name} {id}") for name in ("kind", "target") if f"{name} {id}" in form}
            return before.with_changed(id, **given)

        if checkpoint:
            change(self._service.desk, caller.name, run, checkpoint, made, moments.now())
        return _back(asks, "your-words")

    async def send_now(self, asks: Request) -> Response:
        """The notes, before anything is decided: for a run at work, or for others who look."""
        caller, run = _caller(asks), asks.path_params["run"]
        form = await asks.form()
        kept, checkpoint = await self._kept(asks, form)
        said = [one.said() for one in kept.notes]
        if kept.words.strip():
            said.append(_note(form).said())
        if not checkpoint and _word(form, "words").strip():
            said.append(_note(form).said())
        if said:
            await acts.remark(self._service, caller, run, said, understand=True)
        if checkpoint:
            forget = partial(replace, notes=(), words="")
            change(self._service.desk, caller.name, run, checkpoint, forget, moments.now())
        return _back(asks, "ledger")

    async def mark_read(self, asks: Request) -> Response:
        caller, run = _caller(asks), asks.path_params["run"]
        seq = await self._service.do(lambda engine: engine.log.head(acts.require_run(engine, run)))
        self._service.desk.mark_read(caller.name, run, seq, moments.now())
        return _back(asks, "")

    async def tick(self, asks: Request) -> Response:
        caller, run = _caller(asks), asks.path_params["run"]
        form = await asks.form()
        await self._service.do(lambda engine: acts.require_run(engine, run))
        digest = _word(form, "digest") if _word(form, "viewed") else ""
        self._service.desk.tick(caller.name, run, _word(form, "path"), digest, moments.now())
        return _back(asks, "documents", file=_word(form, "path"))

    # --- deciding ---

    async def decide(self, asks: Request) -> Response:
        caller, run = _caller(asks), asks.path_params["run"]
        if not caller.may("reviewer"):  # whoever may not even prepare one
            caller.require("decider", "to decide")
        form = await asks.form()
        kept, checkpoint = await self._kept(asks, form)
        try:
            await self._decide(caller, run, form, kept)
        except Repeated:
            pass
        except StaleDecision as error:
            return await self._drawn(asks, status=409, error=error, anyway=error.now)
        except (Refused, UserError) as error:
            return await self._drawn(asks, status=status_of(error), error=error)
        decided = _word(form, "checkpoint") or checkpoint
        self._service.desk.drop_draft(caller.name, run, decided, moments.now())
        return RedirectResponse(f"/runs/{quote(run)}/decided/{quote(decided, safe='')}", 303)

    async def decide_calls(self, asks: Request) -> Response:
        """On each call of a tool that waits; one without an answer keeps waiting."""
        caller, run = _caller(asks), asks.path_params["run"]
        form = await asks.form()
        waiting = await self._service.do(lambda engine: calls(engine, acts.require_run(engine, run)))
        version, checkpoint = _word(form, "version"), _word(form, "checkpoint")
        try:
            await acts.decide_calls(self._service, caller, run, answered(waiting, form), version=version)
        except StaleDecision as error:
            return await self._drawn(asks, status=409, error=error, anyway=error.now)
        except (Refused, UserError) as error:
            return await self._drawn(asks, status=status_of(error), error=error)
        return RedirectResponse(f"/runs/{quote(run)}/decided/{quote(checkpoint, safe='')}", 303)

    async def _decide(self, caller: Caller, run: str, form: FormData, kept: Prepared) -> None:
        option = _word(form, "option")
        if not option:
            raise UserError("nothing was decided: choose an option first")
        point = await self._service.do(
            lambda engine: queries.standing(engine, acts.require_run(engine, run)).checkpoint
        )
        fields = _answers(point, option, form) if point is not None else {}
        said = [one.said() for one in kept.notes]
        said += [_note(form).said()] if kept.words.strip() else []
        limits = None
        if "limits" in form:
            ask = [value for value in form.getlist("ask_first") if isinstance(value, str)]
            limits = (_dollars(_word(form, "cost_limit")), ask)
        await acts.decide(
            self._service,
            caller,
            run,
            option,
            version=_word(form, "version"),
            fields=fields,
            remarks=said,
            anyway=_word(form, "anyway"),
            limits=limits,
        )


def _caller(asks: Request) -> Caller:
    found: Caller = asks.scope["caller"]
    return found


def _checkpoint(engine: Engine, run: str) -> str:
    point = engine.load(acts.require_run(engine, run)).world.open
    return point.id if point is not None else ""


def _word(form: FormData, name: str) -> str:
    found = form.get(name, "")
    return found.replace("\r\n", "\n") if isinstance(found, str) else ""


def _typed(form: FormData) -> dict[str, str | list[str]]:
    """What was filled in, as it was typed."""
    found: dict[str, str | list[str]] = {}
    for name in form:
        if name.startswith(_FIELD):
            values = [value for value in form.getlist(name) if isinstance(value, str)]
            found[name.removeprefix(_FIELD)] = values if len(values) > 1 else values[0]
    return found


def _answers(point: Checkpoint, option: str, form: FormData) -> dict[str, object]:
    """In the types of the fields; what was left empty is no answer. Two options may ask for fields of one name, so
    those of an option are sent with its number."""
    chosen = match_option(point, option)
    number = next((at for at, one in enumerate(on_offer(point.options), 1) if one.label == chosen.label), 0)
    names = {one.id: one for one in point.fields} | {f"{number}|{one.id}": one for one in chosen.fields}
    found: dict[str, object] = {}
    for name, given in _typed(form).items():
        field = names.get(name)
        values = [one for one in ([given] if isinstance(given, str) else given) if one.strip()]
        if field is not None and values:
            found[field.id] = values if field.type == "agents" else answer_to(name, field, values[-1])
    return found


def _note(form: FormData) -> Note:
    first, last = _number(form, "first"), _number(form, "last")
    return Note(
        "",
        _word(form, "words").strip(),
        _word(form, "kind"),
        "",
        _word(form, "path"),
        _word(form, "path_version"),
        first,
        max(first, last),
    )


def _number(form: FormData, name: str) -> int:
    found = _word(form, name)
    return int(found) if found.isdecimal() and len(found) < 8 else 0


def _dollars(text: str) -> float:
    plain = text.strip().removeprefix("$").strip()
    try:
        return float(plain) if plain else 0.0
    except ValueError:
        raise WrongField("cost_limit", f"{text!r} is no amount in USD", hint="write 2.50, or nothing") from None


def _about(asks: Request) -> dict[str, str]:
    """The line of a file that a remark is to be about, where the person followed its number."""
    asked = asks.query_params
    path, line = asked.get("on", "")[:500], asked.get("line", "")
    return {"path": path, "line": line if line.isdecimal() else "", "version": asked.get("of", "")[:80]} if path else {}


def _back(asks: Request, where: str, file: str = "") -> Response:
    wanted = f"?file={quote(file, safe='')}" if file else ""
    return RedirectResponse(f"/runs/{quote(asks.path_params['run'])}/decide{wanted}{f'#{where}' if where else ''}", 303)
