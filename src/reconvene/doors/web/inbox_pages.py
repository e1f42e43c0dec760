"""The inbox: what waits, searched, filtered and put off. It decides nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote

from starlette.responses import RedirectResponse
from starlette.routing import Route

from reconvene.desk_ports import Snooze
from reconvene.doors.http import acts, moments, run_acts
from reconvene.doors.shared.handing_over import offered
from reconvene.doors.web.drawing import page
from reconvene.doors.web.entering import own_path
from reconvene.doors.web.waiting_runs import SHOWN, Inbox, Wanted, inbox
from reconvene.language.times import later

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

    from reconvene.app.engine import Engine
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service

HOURS = {"1h": 1, "1d": 24, "1w": 168}


def routes(service: Service) -> list[Route]:
    async def show(asks: Request) -> Response:
        caller: Caller = asks.scope["caller"]
        asked = asks.query_params
        wanted = Wanted(asked.get("q", "")[:200], asked.get("show", ""), asked.get("after", ""))
        wanted = wanted if wanted.show in SHOWN else Wanted(wanted.words)
        now = moments.now()
        last, snoozed = service.desk.last_here(caller.name), service.desk.snoozed(caller.name, now)

        def read(engine: Engine) -> tuple[Inbox, tuple[str, ...]]:
            return inbox(engine, caller, wanted, snoozed, now), offered(service.home) if caller.may("decider") else ()

        found, others = await service.do(read)
        return page(
            asks, "inbox.html", inbox=found, wanted=wanted, shown=SHOWN, last=last, snoozed=len(snoozed), hand_to=others
        )  # fmt: skip

    async def snooze(asks: Request) -> Response:
        """Until a time, or until something happens to the run."""
        caller: Caller = asks.scope["caller"]
        form = await asks.form()
        run, chosen = asks.path_params["run"], str(form.get("for", ""))

        def head(engine: Engine) -> int:
            return engine.log.head(acts.require_run(engine, run))

        seq = await service.do(head)
        if chosen == "wake":
            service.desk.wake(caller.name, run)
        elif chosen in HOURS:
            until = later(moments.now(), HOURS[chosen] * 3600)
            service.desk.snooze(caller.name, run, Snooze(until, seq))
        else:
            service.desk.snooze(caller.name, run, Snooze("", seq))
        return RedirectResponse("/", 303)

    async def hand_over(asks: Request) -> Response:
        """The open checkpoint is for somebody else."""
        caller: Caller = asks.scope["caller"]
        form = await asks.form()
        run = asks.path_params["run"]
        names = [one.strip() for one in str(form.get("who", ""))[:1_000].split(",") if one.strip()]
        await run_acts.assign(service, caller, run, names)
        return RedirectResponse(own_path(str(form.get("back", f"/runs/{quote(run)}/decide"))), 303)

    return [
        Route("/", show),
        Route("/runs/{run}/snooze", snooze, methods=["POST"]),
        Route("/runs/{run}/hand-over", hand_over, methods=["POST"]),
    ]
