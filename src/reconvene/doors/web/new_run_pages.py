"""New run: which workflow, what it is given, whether everything is there, and then its start.

The form is made from the inputs that the workflow declares. Files are uploads; nothing of the server's disk can be
named. What was typed and uploaded stays, whatever is wrong.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct
from msgspec.structs import replace
from starlette.datastructures import FormData, UploadFile
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.companion.drafting import instructed_input
from reconvene.desk_ports import MOST_UPLOAD
from reconvene.doors.http import begun_runs
from reconvene.doors.http.begun_runs import OF_FILES, known_workflows, require_starts, require_workflow
from reconvene.doors.http.companion_asked import ask_about_draft
from reconvene.doors.http.refusals import Missing, TooLarge, WrongField
from reconvene.doors.web.drawing import drawn_text, page
from reconvene.doors.web.rendered import markdown
from reconvene.doors.web.run_drawing import caller_of
from reconvene.doors.web.told_live import streamed, wants_stream
from reconvene.errors import UserError
from reconvene.surroundings import SystemClock

if TYPE_CHECKING:
    from starlette.types import Message

    from reconvene.app.engine import Engine
    from reconvene.companion.drafting import Draft
    from reconvene.core.definition.workflow import Workflow
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service
    from reconvene.ports import Listener

_PLAIN = ("text", "number", "bool", "json")
_MOST_FILES, _MOST_FIELDS, _LONGEST = 200, 1000, 4 * 1024 * 1024  # of one form
MOST_FORM = 4 * MOST_UPLOAD  # bytes
_WORDS = 20_000  # characters of a question


Say = Callable[[str], str]  # name → what was typed there


class Kept(Struct, frozen=True):
    """A file that is uploaded already."""

    digest: str
    name: str
    size: int


class Typed(Struct, frozen=True):
    """What a person has typed and given so far."""

    workflow: str
    inputs: dict[str, str] = {}
    files: dict[str, tuple[Kept, ...]] = {}
    several: dict[str, tuple[str, ...]] = {}  # sources, by name
    settings: dict[str, str] = {}
    models: dict[str, str] = {}
    recorded: bool = False
    draft: str = ""


def routes(service: Service) -> list[Route]:
    async def new(asks: Request) -> Response:
        starts = require_starts(service)
        name, draft = asks.query_params.get("workflow", ""), asks.query_params.get("draft", "")
        if draft:
            drafted = await service.do(lambda engine: _draft(engine, draft))
            name = drafted.workflow
        if name:
            return await form(asks, Typed(name, draft=draft))

        found = await known_workflows(service, starts)
        return page(asks, "runs/choose.html", workflows=sorted(found.items()))

    async def form(
        asks: Request, typed: Typed, *, status: int = 200, error: UserError | None = None, ready: bool = False
    ) -> Response:
        starts, caller = require_starts(service), caller_of(asks)
        found = await service.do(lambda engine: require_workflow(starts, typed.workflow))
        draft = await service.do(lambda engine: _draft(engine, typed.draft)) if typed.draft else None
        typed = _with_instructions(typed, found, draft)
        return page(
            asks, "runs/new.html", status=status, workflow=found, typed=typed, error=error, ready=ready, draft=draft,
            field=error.field if isinstance(error, WrongField) else "", sources=sorted(starts.sources()),
            projects=sorted(starts.projects()), has_recording=starts.has_recording(typed.workflow),
            may=caller.may("decider"), of_files=OF_FILES, prose=markdown,
        )  # fmt: skip

    async def check(asks: Request) -> Response:
        """Or start, or ask: whichever button was pressed. What was typed is the same."""
        caller = caller_of(asks)
        caller.require("decider", "to start a run")
        typed, said = await _read(service, caller, asks)
        starts = require_starts(service)
        found = await service.do(lambda engine: require_workflow(starts, typed.workflow))
        settings = {name: text for name, text in typed.settings.items() if text.strip()}
        models = {name: text.strip() for name, text in typed.models.items() if text.strip()}
        try:
            if said("act") == "ask":
                return await ask(asks, typed, found, said("question"))
            given = _given(found, typed)
            if said("act") == "start":
                run = await begun_runs.start(
                    service, caller, typed.workflow, given, settings=settings, models=models, recorded=typed.recorded,
                    draft=typed.draft,
                )  # fmt: skip
                return RedirectResponse(f"/runs/{quote(run.run, safe='')}", 303)
            await begun_runs.look(
                service, caller, typed.workflow, given, settings=settings, models=models, recorded=typed.recorded
            )
        except UserError as error:
            return await form(asks, typed, status=422, error=error)
        return await form(asks, typed, ready=True)

    async def ask(asks: Request, typed: Typed, found: Workflow, question: str) -> Response:
        """About what is not started yet. The conversation goes on in the run."""
        if not question.strip():
            raise WrongField("question", "the question is empty")
        caller, noted = caller_of(asks), _noted(found, typed)

        def about(listener: Listener | None) -> Awaitable[str]:
            return ask_about_draft(
                service, caller, found, typed.workflow, typed.draft, question[:_WORDS], noted, listener
            )

        async def answer(draft: str) -> object:
            made = await service.do(lambda engine: _draft(engine, draft))
            shown = drawn_text("runs/conversation.html", entries=made.said, prose=markdown)
            return {"html": shown, "draft": draft, "input": instructed_input(found), "instructions": made.instructions}

        if wants_stream(asks):
            return streamed(about, answer)
        return await form(asks, replace(typed, draft=await about(None)))

    return [Route("/new", new), Route("/new", check, methods=["POST"])]


def _draft(engine: Engine, name: str) -> Draft:
    from reconvene.companion_wiring import drafts_of

    drafts = drafts_of(engine.home)
    if name not in drafts.names():
        raise Missing(f"There is no draft {name!r}.", hint="Begin anew: /new")
    return drafts.load(name)


def _with_instructions(typed: Typed, workflow: Workflow, draft: Draft | None) -> Typed:
    """What the companion wrote as instructions stands where the person would type them, unless they did."""
    name = instructed_input(workflow)
    if draft is None or not draft.instructions or not name or workflow.inputs[name].type != "text":
        return typed
    if typed.inputs.get(name, "").strip():
        return typed
    return replace(typed, inputs={**typed.inputs, name: draft.instructions})


def _noted(workflow: Workflow, typed: Typed) -> tuple[str, ...]:
    """What the companion is told of the form: plain values. What begins with @ would name a file to the terminal."""
    plain = {name for name, spec in workflow.inputs.items() if spec.type in _PLAIN}
    return tuple(
        f"{name}={text}" for name, text in typed.inputs.items()
        if name in plain and text.strip() and not text.startswith("@")
    )  # fmt: skip


def _given(workflow: Workflow, typed: Typed) -> dict[str, object]:
    """As whoever starts a run takes it. What was left empty is not given."""
    given: dict[str, object] = {}
    for name, spec in workflow.inputs.items():
        if spec.type in OF_FILES:
            files: list[object] = [{"upload": one.digest, "name": one.name} for one in typed.files.get(name, ())]
            if text := typed.inputs.get(name, ""):
                files.append({"text": text, "name": "typed.md"})
            if files:
                given[name] = files[0] if spec.type == "file" else files
        elif spec.type == "sources":
            if chosen := typed.several.get(name):
                given[name] = list(chosen)
        elif (text := typed.inputs.get(name, "")).strip():
            given[name] = _json(name, text) if spec.type == "json" else text
    return given


def _json(name: str, text: str) -> object:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:
        raise WrongField(f"inputs.{name}", f"it is not JSON: {error}") from None


# --- what was sent ---


async def _read(service: Service, caller: Caller, asks: Request) -> tuple[Typed, Say]:
    size = 0

    async def counted() -> Message:
        nonlocal size
        message = await asks.receive()
        size += len(message.get("body", b""))
        if size > MOST_FORM:
            raise TooLarge(f"A form may have {MOST_FORM // 2**20} MB.")
        return message

    read = Request(asks.scope, counted)
    async with read.form(max_files=_MOST_FILES, max_fields=_MOST_FIELDS, max_part_size=_LONGEST) as form:
        files: dict[str, list[Kept]] = {}
        for key, value in form.multi_items():
            kind, _, name = key.partition(".")
            if kind == "kept" and isinstance(value, str):
                found = await asyncio.to_thread(service.desk.upload, caller.name, value)
                if found is not None:
                    files.setdefault(name, []).append(Kept(found.digest, found.name, found.size))
            elif kind == "file" and isinstance(value, UploadFile) and value.filename:
                made = await asyncio.to_thread(
                    service.desk.keep_upload, caller.name, value.filename, value.file, SystemClock().now()
                )
                files.setdefault(name, []).append(Kept(made.digest, made.name, made.size))
        typed = Typed(
            _one(form, "workflow"),
            _named(form, "input"),
            {name: tuple({one.digest: one for one in some}.values()) for name, some in files.items()},
            {name: tuple(_all(form, f"sources.{name}")) for name in _named(form, "sources")},
            _named(form, "setting"),
            _named(form, "model"),
            _one(form, "recorded") == "1",
            _one(form, "draft"),
        )
        said = {key: _one(form, key) for key in ("act", "question")}
    return typed, lambda key: said.get(key, "")


def _named(form: FormData, kind: str) -> dict[str, str]:
    """`input.name` → name and what was typed there."""
    found: dict[str, str] = {}
    for key, value in form.multi_items():
        if key.startswith(f"{kind}.") and isinstance(value, str):
            found[key.partition(".")[2]] = value.replace("\r\n", "\n")
    return found


def _all(form: FormData, key: str) -> list[str]:
    return [value for value in form.getlist(key) if isinstance(value, str)]


def _one(form: FormData, key: str) -> str:
    value = form.get(key, "")
    return value if isinstance(value, str) else ""
