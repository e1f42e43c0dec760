"""What a person prepares on the decision page: words, notes, ticks, what they typed before and did not send.

Whatever is sent carries all that was typed, and that is kept on the desk before anything else happens.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from msgspec.structs import replace
from starlette.datastructures import FormData
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from reconvene.app.views.projections import remarks as as_shown
from reconvene.core.facts.events import CheckpointOpened
from reconvene.core.kit_finder import reader
from reconvene.core.shown import on_record
from reconvene.doors.http import acts, moments, run_acts
from reconvene.doors.http.refusals import Missing
from reconvene.doors.http.told_errors import status_of
from reconvene.doors.web.calls_view import calls, only_changed
from reconvene.doors.web.decision_drawing import caller_of, draw
from reconvene.doors.web.drafted_decisions import Kept, Note, Prepared, change, keep, note, sent, taken
from reconvene.doors.web.drawing import page
from reconvene.doors.web.left_view import LeftItem, left_views
from reconvene.doors.web.noted import read_back, said, with_its_kind
from reconvene.doors.web.typed_forms import form_of, typed, word
from reconvene.doors.web.typed_forms import note as typed_note
from reconvene.errors import Refused, UserError

if TYPE_CHECKING:
    from starlette.requests import Request

    from reconvene.app.engine import Engine
    from reconvene.app.session import Session
    from reconvene.app.views.read_model import Remark
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service

_WAYS = ("file", "as", "on", "of", "line")  # what of a page can be asked for
_AT_WORK = "work"  # in the place of a checkpoint: what is typed while agents work
NOTES_CHANGED = "Your notes are not those that this page showed: you changed them in another tab."


def routes(service: Service) -> list[Route]:
    pages = _Pages(service)
    at = "/runs/{run}"
    return [
        Route(f"{at}/draft", pages.keep, methods=["POST"]),
        Route(f"{at}/notes", pages.add_note, methods=["POST"]),
        Route(f"{at}/notes/{{note}}", pages.change_note, methods=["POST"]),
        Route(f"{at}/say", pages.send_now, methods=["POST"]),
        Route(f"{at}/said", pages.said),
        Route(f"{at}/remarks/{{remark}}", pages.read_otherwise, methods=["POST"]),
        Route(f"{at}/left/{{key}}", pages.deal_with_left, methods=["POST"]),
        Route(f"{at}/read", pages.mark_read, methods=["POST"]),
        Route(f"{at}/viewed", pages.tick, methods=["POST"]),
    ]


async def keep_typed(service: Service, caller: Caller, run: str, form: FormData) -> tuple[Kept, str]:
    """What was typed is kept, whatever comes of it: for the checkpoint that the page showed, which may not be open any
    more. And that checkpoint's id, "" where there is none."""
    caller.require("reviewer", "to prepare a decision")

    def work(engine: Engine) -> tuple[Kept, str]:
        checkpoint = _shown_checkpoint(engine, acts.require_run(engine, run), word(form, "checkpoint"))
        checkpoint = checkpoint or (_AT_WORK if word(form, "words").strip() else "")
        if not checkpoint:
            return Kept(Prepared()), ""
        sent_now, session = typed(form), engine.session(run)
        if sent_now.fields and any(name.startswith("arg:") for name in sent_now.fields):
            sent_now = replace(sent_now, fields=only_changed(calls(engine, run), sent_now.fields))

        def edited(notes: tuple[Note, ...]) -> tuple[Note, ...]:
            return tuple(_as_on_page(session, one, form) for one in notes)

        return keep(service.desk, caller.name, run, checkpoint, sent_now, edited, moments.now()), checkpoint

    return await service.do(work)


def _shown_checkpoint(engine: Engine, run: str, given: str) -> str:
    point = engine.load(run).world.open
    now = point.id if point is not None else ""
    if given in ("", now):
        return now
    known = (event.id for _, event in engine.log.read(run) if isinstance(event, CheckpointOpened))
    return given if given in known else now


def _as_on_page(session: Session, one: Note, form: FormData) -> Note:
    """With the words, the kind, the weight and the addressee that stand there; what is only read so is not fixed."""
    given = {name: word(form, f"{name} {one.id}") for name in ("kind", "target", "level") if f"{name} {one.id}" in form}
    text = word(form, f"text {one.id}").strip()
    if given:
        read = read_back(session, one)
        given = {name: value for name, value in given.items() if name == "target" or value != getattr(read, name)}
    if text and text != one.text.strip():
        given["text"] = text
    return replace(one, **given)


class _Pages:
    def __init__(self, service: Service) -> None:
        self._service = service

    async def _kept(self, asks: Request) -> tuple[FormData, Kept, str]:
        form = await form_of(asks)
        kept, checkpoint = await keep_typed(self._service, caller_of(asks), asks.path_params["run"], form)
        return form, kept, checkpoint

    async def _refused(self, asks: Request, error: UserError) -> Response:
        return await draw(self._service, asks, status=status_of(error), error=error)

    async def keep(self, asks: Request) -> Response:
        """While somebody types; or, without JavaScript, on the way to another part of the page."""
        wanted = {name: asks.query_params[name] for name in _WAYS if name in asks.query_params}
        ids = asks.query_params.get("ids", "")
        if wanted or ids or "go" in asks.query_params:
            await self._kept_where_one_may(asks)
            if ids:
                return RedirectResponse(f"/runs/{quote(asks.path_params['run'])}/said?{urlencode({'ids': ids})}", 303)
            return _back(asks, "your-words" if "on" in wanted or not wanted else "documents", **wanted)
        _, kept, _ = await self._kept(asks)
        told = {"draft": kept.seen, "elsewhere": kept.elsewhere[:2000], "same_notes": kept.same_notes}
        return JSONResponse({**told, "noted": kept.draft.noted})

    async def add_note(self, asks: Request) -> Response:
        caller, run = caller_of(asks), asks.path_params["run"]
        try:
            form, _, checkpoint = await self._kept(asks)
            made = typed_note(form)
            if checkpoint and made.text:
                made = await self._service.do(lambda engine: with_its_kind(engine.session(run), made))
                note(self._service.desk, caller.name, run, checkpoint, typed(form), made, moments.now())
        except UserError as error:
            return await self._refused(asks, error)
        return _back(asks, "your-words", **({"file": made.path} if made.path else {}))

    async def change_note(self, asks: Request) -> Response:
        """Kind, weight, addressee and words stand in the form; or it is dropped."""
        caller, run, id = caller_of(asks), asks.path_params["run"], asks.path_params["note"]
        form, kept, checkpoint = await self._kept(asks)
        if checkpoint and word(form, "do") == f"drop {id}":
            change(self._service.desk, caller.name, run, checkpoint, lambda one: one.without(id), moments.now())
        elif checkpoint and not kept.same_notes:  # another tab changed others; this one is meant all the same
            meant = [one for one in kept.draft.notes if one.id == id]
            now = await self._service.do(
                lambda engine: {one.id: _as_on_page(engine.session(run), one, form) for one in meant}
            )

            def made(before: Prepared) -> Prepared:
                return replace(before, notes=tuple(now.get(one.id, one) for one in before.notes))

            change(self._service.desk, caller.name, run, checkpoint, made, moments.now())
        return _back(asks, "your-words")

    async def send_now(self, asks: Request) -> Response:
        """The notes, before anything is decided: for a run at work, or for others who look."""
        caller, run = caller_of(asks), asks.path_params["run"]
        form, kept, checkpoint = await self._kept(asks)
        notes = (*kept.draft.notes, *((typed_note(form),) if word(form, "words").strip() else ()))
        if not notes and kept.same_notes:
            return _back(asks, "your-words")
        try:
            if not kept.same_notes:
                raise Refused(NOTES_CHANGED, hint="Look at them, then send them again.")
            ids = await self._say(caller, run, notes)
        except UserError as error:
            return await self._refused(asks, error)
        if checkpoint:
            sent(self._service.desk, caller.name, run, checkpoint, typed(form), moments.now(), decided=False)
        return RedirectResponse(f"/runs/{quote(run)}/said?{urlencode({'ids': ids})}", 303)

    async def _say(self, caller: Caller, run: str, notes: tuple[Note, ...]) -> str:
        """The ids of what was recorded."""
        ready = await self._service.do(
            lambda engine: [said(engine.session(acts.require_run(engine, run)), one) for one in notes]
        )
        told = await acts.remark(self._service, caller, run, ready)
        return ",".join(one.id for one in told.remarks)

    # --- what was said ---

    async def said(self, asks: Request) -> Response:
        """A receipt: how each was read. It can be read otherwise."""
        run, ids = asks.path_params["run"], asks.query_params.get("ids", "").split(",")

        def read(engine: Engine) -> tuple[tuple[Remark, ...], tuple[str, ...], tuple[str, ...], tuple[str, ...]]:
            acts.require_run(engine, run)
            session = engine.session(run)
            state, book = session.state, session.book
            found = as_shown(state, [one for one in state.record.remarks.values() if one.id in ids])
            agents = tuple(on_record.workers_here(state, book)) if state.world.cursor else ()
            concerns = tuple(one.agent for one in on_record.routes(state, book)) if state.world.cursor else ()
            return found, reader(book.workflow.kits).kinds, agents, concerns

        remarks, kinds, agents, concerns = await self._service.do(read)
        own = {"remarks": remarks, "kinds": kinds, "agents": agents, "concerns": concerns}
        return page(asks, "said.html", status=200, run=run, ids=",".join(ids), **own)

    async def read_otherwise(self, asks: Request) -> Response:
        """Kind, weight and addressee of what was said already."""
        caller, run, id = caller_of(asks), asks.path_params["run"], asks.path_params["remark"]
        form = await form_of(asks)

        def stands(engine: Engine) -> Remark:
            state = engine.load(acts.require_run(engine, run))
            found = as_shown(state, [one for one in state.record.remarks.values() if one.id == id])
            if not found:
                raise Missing(f"{run} has no remark {id!r}.")
            return found[0]

        now = await self._service.do(stands)
        given = {name: word(form, name) for name in ("kind", "target", "level") if name in form}
        changed: dict[str, str | None] = {name: one for name, one in given.items() if one != getattr(now, name)}
        if changed:
            await acts.read_remark(self._service, caller, run, id, changed)
        return RedirectResponse(f"/runs/{quote(run)}/said?{urlencode({'ids': word(form, 'ids') or id})}", 303)

    # --- what was typed before, and not sent ---

    async def deal_with_left(self, asks: Request) -> Response:
        """Taken over into the draft of what is open, sent as it is, or dropped; never by itself."""
        caller, run, key = caller_of(asks), asks.path_params["run"], asks.path_params["key"]
        form, _, _ = await self._kept(asks)
        what, _, item = word(form, "do").partition(" ")

        def read(engine: Engine) -> tuple[str, bool, list[LeftItem], tuple[str, ...]]:
            point = engine.load(acts.require_run(engine, run)).world.open
            found = left_views(engine, self._service.desk, caller.name, run, point.id if point else "")
            mine = next((one for one in found if one.key == key), None)
            items = [one for one in mine.items if item in ("all", one.id)] if mine else []
            fields = tuple(one.id for one in point.fields) if point else ()
            return point.id if point else "", bool(mine and mine.of_other_tab), items, fields

        open_now, same, items, fields = await self._service.do(read)
        ids = ""
        try:
            if what == "send" and items:
                ids = await self._say(caller, run, tuple(one.as_note for one in items))
            elif what == "reopen":
                ready = await self._service.do(lambda engine: [said(engine.session(run), one.as_note) for one in items])
                again = bool(word(form, "run_again"))
                await run_acts.reopen(self._service, caller, run, remarks=ready, run_again=again)
            elif what == "take" and open_now:
                await self._take(caller, run, open_now, items, fields if not same else None)
            elif what != "drop":
                return _back(asks, "left")
        except UserError as error:
            return await self._refused(asks, error)
        for one in [item] if item == "all" else [one.id for one in items] or [item]:
            taken(self._service.desk, caller.name, run, key, one, moments.now())
        if ids:
            return RedirectResponse(f"/runs/{quote(run)}/said?{urlencode({'ids': ids})}", 303)
        return _back(asks, "your-words" if open_now else "")

    async def _take(
        self, caller: Caller, run: str, open_now: str, items: list[LeftItem], fields: tuple[str, ...] | None
    ) -> None:
        """An answer becomes one again where the same is asked and has none yet, or was typed in another tab (`fields`
        None); all else becomes a note."""
        made = await self._service.do(lambda engine: [with_its_kind(engine.session(run), one.as_note) for one in items])

        def into(before: Prepared) -> Prepared:
            for item, one in zip(items, made):
                answers = item.what and (fields is None or (item.id in fields and not before.fields.get(item.id)))
                if answers:
                    before = replace(before, fields={**before.fields, item.id: item.text})
                else:
                    before = before.with_note(one)
            return before

        change(self._service.desk, caller.name, run, open_now, into, moments.now())

    # --- how far one is ---

    async def mark_read(self, asks: Request) -> Response:
        caller, run = caller_of(asks), asks.path_params["run"]
        await self._kept_where_one_may(asks)
        seq = await self._service.do(lambda engine: engine.log.head(acts.require_run(engine, run)))
        self._service.desk.mark_read(caller.name, run, seq, moments.now())
        return _back(asks, "")

    async def tick(self, asks: Request) -> Response:
        """`view`: + or -, the digest of the file, and its path."""
        caller, run = caller_of(asks), asks.path_params["run"]
        form = await self._kept_where_one_may(asks)
        await self._service.do(lambda engine: acts.require_run(engine, run))
        sign, _, rest = word(form, "view").partition(" ")
        digest, _, path = rest.partition(" ")
        self._service.desk.tick(caller.name, run, path, digest if sign == "+" else "", moments.now())
        return _back(asks, "documents", file=path)

    async def _kept_where_one_may(self, asks: Request) -> FormData:
        """A viewer types nothing, and may look all the same."""
        form = await form_of(asks)
        if caller_of(asks).may("reviewer"):
            await keep_typed(self._service, caller_of(asks), asks.path_params["run"], form)
        return form


def _back(asks: Request, where: str, **wanted: str) -> Response:
    asked = f"?{urlencode(wanted)}" if wanted else ""
    return RedirectResponse(f"/runs/{quote(asks.path_params['run'])}/decide{asked}{f'#{where}' if where else ''}", 303)
