"""What is on record of a run beside its files and its agents' work: talk, ledger, gaps, comments, events; and the queue
of the home."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.app import file_comments, kit_views, measures, queries, record, run_queue
from reconvene.app.views.projections import whole_talk
from reconvene.doors.http import acts, run_acts
from reconvene.doors.http.refusals import Missing
from reconvene.doors.shared.edited_list import may_edit
from reconvene.doors.web.drawing import page
from reconvene.doors.web.drawn_charts import stacked
from reconvene.doors.web.run_drawing import TAGS, around, caller_of, drawn, number
from reconvene.kits.gaps.editing import FORMS
from reconvene.kits.gaps.lives import Choice, bars, chosen, find, life_of
from reconvene.kits.gaps.records import opened
from reconvene.kits.gaps.vocabulary import ORDER

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.audit import Entry
    from reconvene.core.working.tracking import Kept
    from reconvene.doors.http.service import Service

_EVENTS = 100


def routes(service: Service) -> list[Route]:
    async def talk(asks: Request) -> Response:
        run = asks.path_params["run"]

        def said(engine: Engine) -> object:
            session = engine.session(run)
            return whole_talk(session.state, session.book)

        frame, spots = await service.do(lambda engine: (around(engine, run), said(engine)))
        return drawn(asks, "runs/talk.html", frame, "talk", spots=spots)

    async def ledger(asks: Request) -> Response:
        run = asks.path_params["run"]
        frame, book = await service.do(lambda engine: (around(engine, run), measures.ledger(engine, run)))
        only_open = asks.query_params.get("open", "") == "1"
        entries = book.open_remarks() if only_open else book.entries
        return drawn(asks, "runs/ledger.html", frame, "ledger", book=book, entries=entries[::-1], only_open=only_open)

    async def rule_on(asks: Request) -> Response:
        """Settled, taken back or replaced, where the ledger shows what became of it."""
        run, id, form = asks.path_params["run"], asks.path_params["remark"], await asks.form()
        caller, what, text = caller_of(asks), str(form.get("do", "")), str(form.get("text", "")).strip()
        if what == "settle":
            await acts.settle(service, caller, run, id)
        elif what == "withdraw":
            await acts.withdraw(service, caller, run, id)
        elif what == "replace" and text:
            await acts.remark(service, caller, run, [acts.Said(text, replaces=id)])
        return RedirectResponse(f"/runs/{quote(run)}/ledger#{quote(id)}", 303)

    async def gaps(asks: Request) -> Response:
        run, place, gap = asks.path_params["run"], asks.query_params.get("at", ""), asks.query_params.get("gap", "")
        only_open = asks.query_params.get("open", "") == "1"

        def held(engine: Engine) -> tuple[Kept, tuple[str, ...]]:
            places = tuple(one.where for one in kit_views.kept_by(engine, run, "gaps"))
            return kit_views.tracked(engine, run, "gaps", place or (places[0] if places else "")), places

        def stop(engine: Engine) -> bool:
            return may_edit(queries.standing(engine, run).checkpoint)

        frame, (kept, places), editable = await service.do(
            lambda engine: (around(engine, run), held(engine), stop(engine))
        )
        book = opened(kept.value)
        rows = chosen(book, Choice(frozenset(), frozenset(), False, None, only_open))
        chart = stacked([(one.label, one.counts) for one in bars(book)], ORDER)
        one = find(book, gap) if gap else None
        if gap and one is None:
            raise Missing(f"{run} knows no gap {gap!r}.", hint=f"All of them: /runs/{run}/gaps")
        edits = editable and caller_of(asks).may("decider")
        return drawn(
            asks, "runs/gaps.html", frame, "gaps", book=book, rows=rows, chart=chart, places=places, place=kept.where,
            only_open=only_open, life=life_of(book, one) if one else None, kept=kept.value is not None,
            forms=tuple(FORMS.values()) if edits else (),
        )  # fmt: skip

    async def edit_gaps(asks: Request) -> Response:
        run, lines = asks.path_params["run"], str((await asks.form()).get("edit", "")).splitlines()
        await run_acts.edit_list(service, caller_of(asks), run, lines)
        return RedirectResponse(f"/runs/{quote(run)}/gaps", 303)

    async def comments(asks: Request) -> Response:
        run = asks.path_params["run"]
        frame, found = await service.do(lambda engine: (around(engine, run), file_comments.comments(engine, run)))
        return drawn(asks, "runs/comments.html", frame, "comments", comments=found)

    async def events(asks: Request) -> Response:
        run, kind, before = asks.path_params["run"], asks.query_params.get("kind", ""), number(asks, "before")

        def some(engine: Engine) -> tuple[list[Entry], int]:
            head = engine.log.head(run)
            end = min(before - 1, head) if before else head
            first = max(0, end - _EVENTS) if not kind else 0
            found = [one for one in record.trail(engine, run, first) if one.seq <= end and kind in ("", *one.kinds)]
            return found[-_EVENTS:], head

        frame, (found, head) = await service.do(lambda engine: (around(engine, run), some(engine)))
        older = found[0].seq if found and found[0].seq > 1 and len(found) == _EVENTS else 0
        return drawn(asks, "runs/events.html", frame, "events", entries=found[::-1], kind=kind, older=older, head=head)

    async def queue(asks: Request) -> Response:
        rows = await service.do(lambda engine: run_queue.in_order(engine.log))
        return page(asks, "runs/queue.html", rows=rows, tags=TAGS)

    async def move(asks: Request) -> Response:
        said = str((await asks.form()).get("position", ""))
        position = int(said) if said.isascii() and said.isdecimal() and 0 < len(said) < 7 else -1
        await run_acts.move_in_queue(service, caller_of(asks), asks.path_params["run"], position)
        return RedirectResponse("/queue", 303)

    async def drop(asks: Request) -> Response:
        await run_acts.drop_from_queue(service, caller_of(asks), asks.path_params["run"])
        return RedirectResponse("/queue", 303)

    return [
        Route("/runs/{run}/talk", talk),
        Route("/runs/{run}/ledger", ledger),
        Route("/runs/{run}/ledger/{remark}", rule_on, methods=["POST"]),
        Route("/runs/{run}/gaps", gaps),
        Route("/runs/{run}/gaps", edit_gaps, methods=["POST"]),
        Route("/runs/{run}/comments", comments),
        Route("/runs/{run}/events", events),
        Route("/queue", queue),
        Route("/queue/{run}/move", move, methods=["POST"]),
        Route("/queue/{run}/drop", drop, methods=["POST"]),
    ]
