"""The operations that change something: what was sent, handed to the acts that all doors over HTTP share."""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import asdict

from reconvene.app import queries
from reconvene.doors.http import acts, run_acts
from reconvene.doors.http.acts import Said, Told
from reconvene.doors.rest import bodies, record_bodies
from reconvene.errors import Repeated

if TYPE_CHECKING:
    from collections.abc import Awaitable, Iterable

    from reconvene.core.facts.state import RunState
    from reconvene.doors.rest.operations import Asked, Done


def said(remarks: Iterable[bodies.RemarkBody]) -> list[Said]:
    return [
        Said(one.text, one.kind, one.target, one.was, one.now, *_lines(one.on), replaces=one.replaces.upper())
        for one in remarks
    ]


def _lines(on: bodies.Lines | None) -> tuple[str, str, int, int]:
    return (on.path, on.version, on.first, on.last) if on is not None else ("", "", 0, 0)


# --- at a checkpoint ---


async def decide(asked: Asked) -> object:
    body = await asked.body(bodies.DecisionBody)
    return await _decided(
        asked,
        acts.decide(
            asked.service,
            asked.caller,
            asked.run,
            body.option,
            version=asked.version,
            fields=body.fields,
            remarks=said(body.remarks),
            anyway=body.anyway,
        ),
    )


async def decide_calls(asked: Asked) -> object:
    body = await asked.body(bodies.RulingsBody)
    rulings = {name: (one.ruling, one.words) for name, one in body.calls.items()}
    return await _decided(
        asked, acts.decide_calls(asked.service, asked.caller, asked.run, rulings, version=asked.version)
    )


async def _decided(asked: Asked, work: Awaitable[RunState]) -> object:
    """The same decision again did nothing, and is no error: what is there is answered."""
    more: dict[str, object] = {}
    try:
        await work
    except Repeated as error:
        more = {"nothing_to_do": True, "note": error.message}
    return await _standing(asked, **more)


async def edit_list(asked: Asked) -> object:
    body = await asked.body(record_bodies.ListEditBody)
    return await _decided(asked, run_acts.edit_list(asked.service, asked.caller, asked.run, body.edit))


async def roll_back(asked: Asked) -> object:
    body = await asked.body(bodies.RollbackBody)
    await acts.roll_back(
        asked.service,
        asked.caller,
        asked.run,
        version=asked.version,
        remarks=said(body.remarks),
        run_again=body.run_again,
        anyway=body.anyway,
    )
    return await _standing(asked)


async def answers(asked: Asked) -> object:
    body = await asked.body(bodies.AnswersBody)
    await acts.save_answers(asked.service, asked.caller, asked.run, body.checkpoint, body.fields)
    return await _standing(asked)


async def done_before(asked: Asked, done: Done) -> object:
    """A request that was carried out before: how the run stands that it changed or made."""
    return await asked.service.do(lambda engine: queries.summary(engine, done.run))


async def said_before(asked: Asked, done: Done) -> object:
    return _told(await acts.said_by(asked.service, done.run, done.seq))


async def _standing(asked: Asked, **more: object) -> object:
    from reconvene.app.views.encoding import plain

    found = await asked.service.do(lambda engine: plain(queries.summary(engine, asked.run)))
    assert isinstance(found, dict)
    return {**found, **more}


async def assign(asked: Asked) -> object:
    body = await asked.body(bodies.AssignBody)
    return await run_acts.assign(asked.service, asked.caller, asked.run, body.who)


async def set_limits(asked: Asked) -> object:
    body = await asked.body(bodies.LimitsBody)
    return await run_acts.set_limits(asked.service, asked.caller, asked.run, body.cost, body.ask)


# --- remarks ---


async def remark(asked: Asked) -> object:
    body = await asked.body(bodies.RemarksBody)
    told = await acts.remark(asked.service, asked.caller, asked.run, said(body.remarks), understand=body.understand)
    return _told(told)


async def read_remark(asked: Asked) -> object:
    body = await asked.body(bodies.ReadingBody)
    return _told(await acts.read_remark(asked.service, asked.caller, asked.run, asked.path("id"), asdict(body)))


async def withdraw(asked: Asked) -> object:
    return _told(await acts.withdraw(asked.service, asked.caller, asked.run, asked.path("id")))


async def settle(asked: Asked) -> object:
    return _told(await acts.settle(asked.service, asked.caller, asked.run, asked.path("id")))


def _told(told: Told) -> object:
    from reconvene.app.views.encoding import plain

    found = plain(told.run)
    assert isinstance(found, dict)
    known = {"nothing_to_do": not told.remarks, "note": told.note} if told.note else {}
    return {**found, "remarks": told.remarks, **known}


# --- the run itself ---


async def pause(asked: Asked) -> object:
    body = await asked.body(bodies.PauseBody)
    return await run_acts.pause(asked.service, asked.caller, asked.run, now=body.now)


async def resume(asked: Asked) -> object:
    await asked.body(bodies.NothingBody)
    return await run_acts.resume(asked.service, asked.caller, asked.run)


async def abort(asked: Asked) -> object:
    body = await asked.body(bodies.SaidBody)
    return await run_acts.abort(asked.service, asked.caller, asked.run, said(body.remarks))


async def replan(asked: Asked) -> object:
    body = await asked.body(bodies.AgainBody)
    return await run_acts.replan(asked.service, asked.caller, asked.run, said(body.remarks), run_again=body.run_again)


async def reopen(asked: Asked) -> object:
    body = await asked.body(bodies.ReopenBody)
    return await run_acts.reopen(
        asked.service,
        asked.caller,
        asked.run,
        phase=body.phase,
        rerun=body.rerun,
        grants=body.grants,
        remarks=said(body.remarks),
        run_again=body.run_again,
    )


async def fork(asked: Asked) -> object:
    body = await asked.body(bodies.ForkBody)
    return await run_acts.fork(asked.service, asked.caller, asked.run, body.at)


async def take_aside(asked: Asked) -> object:
    body = await asked.body(record_bodies.TakeBody)
    return await run_acts.take_aside(asked.service, asked.caller, asked.run, body.path)


async def disallow(asked: Asked) -> object:
    return await run_acts.take_allowance_back(asked.service, asked.caller, asked.run, asked.path("id"))


async def move_in_queue(asked: Asked) -> object:
    body = await asked.body(bodies.PositionBody)
    position = await run_acts.move_in_queue(asked.service, asked.caller, asked.run, body.position)
    return bodies.Position(asked.run, position)


async def drop_from_queue(asked: Asked) -> object:
    return await run_acts.drop_from_queue(asked.service, asked.caller, asked.run)
