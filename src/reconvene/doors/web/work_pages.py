"""What agents did: every round with its attempts, and of each attempt the prompt as sent, the reply as received and
what was taken as its output; and the tools that they used."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from reconvene.app import as_sent, queries
from reconvene.app.views import tool_calls
from reconvene.app.views.all_rounds import rounds
from reconvene.app.views.written import Attempt, first_lines
from reconvene.core.facts.ids import task_id
from reconvene.doors.http.refusals import Missing
from reconvene.doors.shared.wire_text import reply_text, request_text
from reconvene.doors.web.file_pages import as_plain_text
from reconvene.doors.web.run_drawing import Text, around, bounded, drawn, number
from reconvene.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from reconvene.app.engine import Engine
    from reconvene.app.views.all_rounds import Round
    from reconvene.app.views.tool_calls import Call
    from reconvene.doors.http.service import Service

PARTS = ("prompt", "reply", "output")
_A_PAGE = 20  # rounds
_CALLS = 100


class Row(Struct, frozen=True):
    """An attempt in a list."""

    attempt: Attempt
    cost: float
    says: str


class Shown(Struct, frozen=True):
    """Of an attempt: what was sent, what came back, what was taken; each as people read it, and whole as it was."""

    attempt: Attempt
    prompt: Text
    reply: Text
    output: Text


def routes(service: Service) -> list[Route]:
    async def work(asks: Request) -> Response:
        run, agent = asks.path_params["run"], asks.query_params.get("agent", "")
        which, before = asks.query_params.get("round", ""), number(asks, "before")

        def find(engine: Engine) -> tuple[Sequence[Round], dict[int, list[Row]]]:
            every = rounds(event for _, event in engine.log.read(run))
            some = [one for one in every if which in ("", f"R{one.serial}") and (not before or one.serial < before)]
            return some[::-1][:_A_PAGE], _rows(engine, run, some[-_A_PAGE:], agent)

        frame, (some, rows) = await service.do(lambda engine: (around(engine, run), find(engine)))
        older = some[-1].serial if len(some) == _A_PAGE and some[-1].serial > 1 else 0
        return drawn(
            asks, "runs/work.html", frame, "work", rounds=some, rows=rows, agent=agent, which=which, older=older
        )

    async def attempt(asks: Request) -> Response:
        run, task, which = asks.path_params["run"], asks.query_params.get("task", ""), number(asks, "attempt")
        frame, shown = await service.do(lambda engine: (around(engine, run), _shown(engine, run, task, which)))
        return drawn(asks, "runs/attempt.html", frame, "work", shown=shown, task=task)

    async def sent(asks: Request) -> Response:
        run, task, which = asks.path_params["run"], asks.query_params.get("task", ""), number(asks, "attempt")
        part = asks.query_params.get("part", "")
        if part not in PARTS:
            raise Missing(f"There is no {part!r} of an attempt.", hint=f"There is: {', '.join(PARTS)}")
        data = await service.do(
            lambda engine: (around(engine, run), _content(engine, _attempt(engine, run, task, which), part))[1]
        )
        return as_plain_text(data)

    async def calls(asks: Request) -> Response:
        run, agent, before = asks.path_params["run"], asks.query_params.get("agent", ""), number(asks, "before")

        def find(engine: Engine) -> list[Call]:
            events = (event for _, event in engine.log.read(run))
            return tool_calls.calls(events, engine.log.artefact, agent)

        frame, every = await service.do(lambda engine: (around(engine, run), find(engine)))
        end = before if 0 < before < len(every) else len(every)
        some = [(at, every[at], bounded(_pretty(every[at].arguments), 4000), bounded(every[at].result, 4000))
                for at in range(max(0, end - _CALLS), end)]  # fmt: skip
        older = max(0, end - _CALLS)
        return drawn(
            asks, "runs/calls.html", frame, "calls", calls=some[::-1], count=len(every), older=older, agent=agent
        )

    return [
        Route("/runs/{run}/work", work),
        Route("/runs/{run}/attempt", attempt),
        Route("/runs/{run}/sent", sent),
        Route("/runs/{run}/calls", calls),
    ]


def _rows(engine: Engine, run: str, some: Sequence[Round], agent: str) -> dict[int, list[Row]]:
    cost = {(one.serial, at.step, at.agent, at.attempt): at.cost for one in some for at in one.tried}
    found: dict[int, list[Row]] = {one.serial: [] for one in some}
    for one in queries.attempts(engine, run):
        if one.serial in found and agent in ("", one.agent):
            text = _content(engine, one, "output").decode("utf-8", "replace")
            spent = cost.get((one.serial, one.step, one.agent, one.attempt), 0.0)
            found[one.serial].append(Row(one, spent, " ".join(first_lines(text)) if text else ""))
    return found


def _attempt(engine: Engine, run: str, task: str, which: int) -> Attempt:
    found = [one for one in queries.attempts(engine, run) if task_id(one.serial, one.step, one.agent) == task]
    some = [one for one in found if which in (0, one.attempt)]
    if not some:
        raise Missing(f"{run} has no attempt {which or 1} of {task!r}.", hint=f"See what there is: /runs/{run}/work")
    return some[-1]


def _shown(engine: Engine, run: str, task: str, which: int) -> Shown:
    one = _attempt(engine, run, task, which)
    prompt, reply, output = (_content(engine, one, part).decode("utf-8", "replace") for part in PARTS)
    return Shown(one, bounded(request_text(prompt)), bounded(reply_text(reply)), bounded(output))


def _content(engine: Engine, one: Attempt, part: str) -> bytes:
    read = engine.log.artefact
    try:
        if part == "prompt":
            return as_sent.whole(one, read)
        digest = one.reply if part == "reply" else one.output
        return read(digest) if digest else b""
    except StoreError as error:
        return f"(not in the store any more: {error.message})".encode()


def _pretty(arguments: str) -> str:
    try:
        return json.dumps(json.loads(arguments), indent=2, ensure_ascii=False)
    except (ValueError, RecursionError):
        return arguments
