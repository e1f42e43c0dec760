"""The companion of a run: the conversation, a question, and what it proposed, which only a person's click carries out.

With JavaScript a question is asked beside any page of the run, and what the companion looks at is told while it works.
"""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from msgspec import Struct
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response
from starlette.routing import Route

from reconvene.companion.open_cites import open_cite
from reconvene.companion.tool_scope import Scope
from reconvene.doors.http import companion_asked
from reconvene.doors.http.refusals import Missing, WrongField
from reconvene.doors.shared.carried_out import about, shown
from reconvene.doors.web.drawing import drawn_text
from reconvene.doors.web.rendered import markdown
from reconvene.doors.web.run_drawing import around, bounded, caller_of, drawn
from reconvene.doors.web.told_live import streamed, wants_stream

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.companion_talk import Proposed, Said
    from reconvene.doors.http.service import Service

_LONGEST = 20_000  # characters of a question
_LATEST = 40  # entries that are shown


class Offer(Struct, frozen=True):
    """Something proposed, by its number in the conversation."""

    number: int
    one: Proposed
    about: str
    shown: str


def routes(service: Service) -> list[Route]:
    async def talked(asks: Request) -> Response:
        run = asks.path_params["run"]
        frame = await service.do(lambda engine: around(engine, run))
        entries, offers, left = await _conversation(service, run)
        said = asks.query_params.get("done", "")
        return drawn(
            asks, "runs/companion.html", frame, "companion", entries=entries, offers=offers, left=left, done=said[:200],
            prose=markdown,
        )  # fmt: skip

    async def fragment(asks: Request) -> Response:
        """The conversation alone, for beside a page."""
        entries, offers, _ = await _conversation(service, asks.path_params["run"])
        return Response(_fragment(asks.path_params["run"], entries, offers), media_type="text/html")

    async def ask(asks: Request) -> Response:
        run, text = asks.path_params["run"], str((await asks.form()).get("question", "")).strip()[:_LONGEST]
        if not text:
            raise WrongField("question", "the question is empty")
        caller = caller_of(asks)
        if not wants_stream(asks):
            await companion_asked.ask(service, caller, run, text)
            return RedirectResponse(f"/runs/{quote(run, safe='')}/companion#last", 303)

        async def answer(_: object) -> object:
            entries, offers, _left = await _conversation(service, run)
            return {"html": _fragment(run, entries, offers)}

        return streamed(lambda listener: companion_asked.ask(service, caller, run, text, listener), answer)

    async def carry_out(asks: Request) -> Response:
        run, form = asks.path_params["run"], await asks.form()
        said = str(form.get("number", ""))
        number = int(said) if said.isascii() and said.isdecimal() and len(said) < 7 else 0
        done = await companion_asked.carry_out(
            service, caller_of(asks), run, number, str(form.get("words", "")).strip()
        )
        return RedirectResponse(f"/runs/{quote(run, safe='')}/companion?done={quote(done)}#last", 303)

    async def cite(asks: Request) -> Response:
        """What an answer rests on."""
        run, name = asks.path_params["run"], asks.query_params.get("of", "")[:500]

        def opened(engine: Engine) -> str:
            found = open_cite(Scope(engine, run), name)
            if found.failed:
                raise Missing(f"{name} is not found: {found.text}")
            return found.text

        frame, text = await service.do(lambda engine: (around(engine, run), opened(engine)))
        return drawn(asks, "runs/cite.html", frame, "companion", cite=name, text=bounded(text))

    return [
        Route("/runs/{run}/companion", talked),
        Route("/runs/{run}/companion", ask, methods=["POST"]),
        Route("/runs/{run}/companion/conversation", fragment),
        Route("/runs/{run}/companion/carry-out", carry_out, methods=["POST"]),
        Route("/runs/{run}/cite", cite),
    ]


async def _conversation(service: Service, run: str) -> tuple[list[Said], dict[int, list[Offer]], int]:
    """The latest entries, what each proposes, and how many are left out."""
    every = await companion_asked.conversation(service, run)

    def offers(engine: Engine) -> dict[int, list[Offer]]:
        made: dict[int, list[Offer]] = {}
        number = 0
        for said in every:
            for one in said.proposals:
                number += 1
                text = bounded(shown(engine, run, one), 8000).text
                made.setdefault(said.number, []).append(Offer(number, one, about(one), text))
        return made

    return every[-_LATEST:], await service.do(offers), max(0, len(every) - _LATEST)


def _fragment(run: str, entries: list[Said], offers: dict[int, list[Offer]]) -> str:
    return drawn_text("runs/conversation.html", run=run, entries=entries, offers=offers, prose=markdown)
