"""The operations that look: everything that the command line shows of runs, as the same JSON."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

import msgspec
from msgspec.structs import replace
from starlette.responses import Response

from reconvene.app import as_sent, index, kit_views, measures, queries, round_tries, run_queue
from reconvene.app import kept_aside as aside
from reconvene.app.compared_runs import compared, forked_from
from reconvene.app.file_comments import comments as every_comment
from reconvene.app.file_versions import version_of, versions
from reconvene.app.outlook import with_outlook
from reconvene.app.since import since as since_then
from reconvene.app.views import companion_talk, tool_calls
from reconvene.app.views.projections import remarks
from reconvene.app.views.remark_lives import ledger_of, page_of
from reconvene.doors.http.acts import last_shown, note_shown, require_run
from reconvene.doors.http.refusals import Missing, WrongField
from reconvene.doors.rest import bodies
from reconvene.doors.rest.record_bodies import AttemptsShown, KeptAside, Outputs
from reconvene.errors import StoreError, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.written import Attempt
    from reconvene.doors.rest.operations import Asked

T = TypeVar("T")
_CHUNK = 500  # rows that are looked through at once
_PARTS = ("prompt", "reply", "output")
_LONG_PAGE = 4_000_000  # characters after which a page ends


async def of_run(asked: Asked, look: Callable[[Engine, str], T]) -> T:
    run = asked.run
    return await asked.service.do(lambda engine: look(engine, require_run(engine, run)))


# --- lists ---


async def me(asked: Asked) -> object:
    return bodies.Me(asked.caller.name, asked.caller.role, asked.caller.teams)


async def inbox(asked: Asked) -> object:
    query, caller = asked.query(bodies.Inbox), asked.caller
    if not query.mine:
        return await asked.service.do(lambda engine: _page(engine, "waiting", query))

    def mine(engine: Engine) -> object:
        found: list[index.Listed] = []
        after, more = query.after, caller.may("decider")
        while more and len(found) <= query.limit:
            page = index.page(engine.log, "waiting", after, _CHUNK)
            found += [row for row in page.rows if row.waits_for(caller.name, caller.teams)]
            after, more = page.next, bool(page.next)
        shown = found[: query.limit]
        return _as_page([row.doc for row in shown], shown[-1].run if len(found) > len(shown) else "")

    return await asked.service.do(mine)


async def runs(asked: Asked) -> object:
    query = asked.query(bodies.Runs)
    return await asked.service.do(lambda engine: _page(engine, query.status, query))


def _page(engine: Engine, status: str | None, query: bodies.Page) -> Response:
    """Rows are shown as they are kept: encoded runs."""
    found = index.page(engine.log, status, query.after, query.limit)
    driven = engine.log.driven() if any(row.status == "running" for row in found.rows) else frozenset()
    rows = [
        f'{row.doc.rstrip()[:-1]},"driven":{str(row.run in driven).lower()}}}' if row.status == "running" else row.doc
        for row in found.rows
    ]
    return _as_page(rows, found.next)


def _as_page(rows: Sequence[str], after: str) -> Response:
    text = f'{{"runs":[{",".join(rows)}],"next":{msgspec.json.encode(after).decode()}}}'
    return Response(text, media_type="application/json")


async def queue(asked: Asked) -> object:
    def look(engine: Engine) -> object:
        rows = enumerate(run_queue.in_order(engine.log), 1)
        return bodies.Queue(
            tuple(bodies.Queued(at, one.run, one.parent, one.title, one.workflow, one.started) for at, one in rows)
        )

    return await asked.service.do(look)


async def all_stats(asked: Asked) -> object:
    def look(engine: Engine) -> object:
        measured, unread = measures.stats_of_all(engine)
        left_out = [{"run": name, "why": why} for name, why in unread.items()]
        return _with(measured.shown(), left_out=left_out)

    return await asked.service.do(look)


def _with(value: object, **more: object) -> dict[str, Any]:
    from reconvene.app.views.encoding import plain

    found = plain(value)
    assert isinstance(found, dict)
    return {**found, **more}


# --- one run ---


async def show(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        shown, beside = queries.show(engine, run), measures.review(engine, run)
        if (point := shown.checkpoint) is not None:
            shown = replace(shown, checkpoint=with_outlook(engine, run, point, beside))
            note_shown(asked.service, asked.caller, run, point)
        talked = companion_talk.spent(engine.load(run))
        return _with(shown, review=beside or {}, **({"companion": talked} if talked else {}))

    return await of_run(asked, look)


async def checkpoint(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        standing = queries.standing(engine, run)
        if standing.checkpoint is None:
            raise Missing(f"{run} is {standing.status}: no checkpoint of it is open.")
        note_shown(asked.service, asked.caller, run, standing.checkpoint)
        return with_outlook(engine, run, standing.checkpoint, measures.review(engine, run))

    return await of_run(asked, look)


async def since(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        name = asked.caller.name
        return since_then(engine, run, name, asked.service.desk.mark(name, run).read)

    return await of_run(asked, look)


async def shown(asked: Asked) -> object:
    return await of_run(asked, lambda engine, run: bodies.LastShown(run, last_shown(asked.service, asked.caller, run)))


async def kept_aside(asked: Asked) -> object:
    return await of_run(asked, lambda engine, run: KeptAside(run, tuple(aside.paths(engine, run))))


async def events(asked: Asked) -> object:
    query = asked.query(bodies.EventsAfter)

    def look(engine: Engine, run: str) -> object:
        found = queries.events(engine, run, query.after, query.limit)
        more = found and found[-1].seq < engine.log.head(run)
        rows = tuple(_with(one) for one in found)
        return bodies.Events(run, rows, found[-1].seq if more else 0)

    return await of_run(asked, look)


async def files(asked: Asked) -> object:
    return await of_run(asked, lambda engine, run: bodies.Files(run, queries.files(engine, run)))


async def file(asked: Asked) -> object:
    """As bytes that no browser takes for a page."""
    query, path = asked.query(bodies.OneVersion), asked.path("path")

    def look(engine: Engine, run: str) -> bytes:
        version = query.version
        if not version:
            now = engine.load(run).world.files.get(path)
            version = now.digest if now is not None else ""
        if not version or version_of(engine, run, path, version) is None:
            raise Missing(
                f"{run} has no such version of {path!r}.", hint=f"GET /api/v1/runs/{run}/versions lists them."
            )
        return engine.log.artefact(version)

    return raw(await of_run(asked, look))


def raw(data: bytes) -> Response:
    """What agents wrote, as a text or as bytes; never as anything that acts."""
    try:
        data.decode("utf-8")
        media = "text/plain; charset=utf-8"
    except UnicodeDecodeError:
        media = "application/octet-stream"
    headers = {
        "content-type": media,
        "content-disposition": "attachment",
        "content-security-policy": "default-src 'none'; sandbox",
        "etag": f'"{hashlib.sha256(data).hexdigest()[:32]}"',
    }
    return Response(data, headers=headers)


async def file_versions(asked: Asked) -> object:
    query = asked.query(bodies.OfFile)
    return await of_run(asked, lambda engine, run: bodies.Versions(run, tuple(versions(engine, run, query.path))))


async def diff(asked: Asked) -> object:
    query = asked.query(bodies.Between)
    return await of_run(asked, lambda engine, run: bodies.Diff(run, queries.diff(engine, run, query.old, query.new)))


async def compare(asked: Asked) -> object:
    other = asked.query(bodies.WithOther).other

    def look(engine: Engine, run: str) -> object:
        found = other or forked_from(engine, run)
        if found in ("", run):
            raise WrongField("other", f"{run} was not forked: name the run to compare it with" if not found else
                             f"{run} would be compared with itself")  # fmt: skip
        return compared(engine, run, require_run(engine, found))

    return await of_run(asked, look)


async def outputs(asked: Asked) -> object:
    query = asked.query(Outputs)

    def look(engine: Engine, run: str) -> object:
        if not query.agent and not query.round and not queries.attempts(engine, run):
            return AttemptsShown(run, ())
        rows = queries.wrote(engine, run, query.agent, query.round)
        found, size = list[dict[str, Any]](), 0
        for row in rows[query.after : query.after + query.limit]:
            found.append(_attempt(engine, row))
            size += sum(len(found[-1][part]) for part in _PARTS)
            if size > _LONG_PAGE:
                break
        after = query.after + len(found)
        return AttemptsShown(run, tuple(found), after if after < len(rows) else 0)

    return await of_run(asked, look)


def _attempt(engine: Engine, row: Attempt) -> dict[str, Any]:
    facts: dict[str, Any] = msgspec.to_builtins(row)
    del facts["rules"], facts["asked"]  # they are in the prompt
    return {**facts, **{part: _content(engine, row, part) for part in _PARTS}}


def _content(engine: Engine, row: Attempt, part: str) -> str:
    read, digest = engine.log.artefact, getattr(row, part)
    try:
        content = as_sent.whole(row, read) if part == "prompt" else read(digest) if digest else b""
    except StoreError as error:
        raise UserError(f"what {row.agent} wrote is no longer in the store: {error.message}") from None
    return content.decode("utf-8", errors="replace")


async def ledger(asked: Asked) -> object:
    query = asked.query(bodies.LedgerPage)

    def look(engine: Engine, run: str) -> object:
        book = measures.ledger(engine, run)
        shown = ledger_of(book.open_remarks()) if query.open else book
        return _with(page_of(shown, query.after, query.limit), run=run, closure=book.closure)

    return await of_run(asked, look)


async def gaps(asked: Asked) -> object:
    """Where the workflow follows none, that is said: 404."""

    def look(engine: Engine, run: str) -> object:
        from reconvene.kits.gaps.lives import Choice, bars, chosen
        from reconvene.kits.gaps.records import opened, plain
        from reconvene.kits.gaps.view import value_of

        try:
            held = kit_views.tracked(engine, run, "gaps")
        except UserError as error:
            raise Missing(error.message) from None
        book = opened(held.value)
        value = value_of(book)
        listed = [plain(gap) for gap in chosen(book, Choice())]
        return {**value, "gaps": listed, "chart": [plain(bar) for bar in bars(book)], "run": run, "place": held.where}

    return await of_run(asked, look)


async def views(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        found = kit_views.views(engine, run).offered
        return bodies.Views(run, tuple(bodies.ViewOffered(one.name, one.kit, one.view.help) for one in found))

    return await of_run(asked, look)


async def view(asked: Asked) -> object:
    name = asked.path("view")

    def look(engine: Engine, run: str) -> object:
        try:
            offered = kit_views.find(engine, run, name)
        except UserError as error:
            raise Missing(error.message, hint=error.hint) from None
        return bodies.ViewRows(run, offered.kit, offered.name, tuple(kit_views.rows(engine, run, offered)))

    return await of_run(asked, look)


async def talk(asked: Asked) -> object:
    return await of_run(asked, lambda engine, run: bodies.Talk(run, queries.talk(engine, run)))


async def rounds(asked: Asked) -> object:
    return await of_run(
        asked, lambda engine, run: bodies.Rounds(run, tuple(one.shown() for one in round_tries.rounds(engine, run)))
    )


async def calls(asked: Asked) -> object:
    query = asked.query(bodies.OfAgent)

    def look(engine: Engine, run: str) -> object:
        events = (event for _, event in engine.log.read(run))
        return bodies.Calls(run, tuple(tool_calls.calls(events, engine.log.artefact, query.agent)))

    return await of_run(asked, look)


async def allowed(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        return bodies.AllowedCalls(run, tuple(tool_calls.allowed(engine.load(run).record.allowed.values())))

    return await of_run(asked, look)


async def comments(asked: Asked) -> object:
    query = asked.query(bodies.OfFile)
    return await of_run(asked, lambda engine, run: bodies.Comments(run, every_comment(engine, run, query.path)))


async def all_remarks(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        state = engine.load(run)
        return bodies.Remarks(run, remarks(state, state.record.remarks.values()))

    return await of_run(asked, look)


async def stats(asked: Asked) -> object:
    return await of_run(asked, lambda engine, run: measures.stats(engine, run).shown())


async def conversation(asked: Asked) -> object:
    def look(engine: Engine, run: str) -> object:
        found = companion_talk.entries(engine.log.read(run), engine.log.artefact)
        return bodies.Conversation(run, tuple(found))

    return await of_run(asked, look)
