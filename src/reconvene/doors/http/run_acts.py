"""What a person does to a run beside deciding: pause, resume, abort, plan anew, reopen, fork; its place in the
queue, its list of gaps.

As in `acts`: each says which role it takes, and nothing is parsed or drawn here.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reconvene.app import kept_aside, queries, reopening, run_queue
from reconvene.core.facts import commands as c
from reconvene.doors.http.acts import Said, all_said, require_run, require_told
from reconvene.doors.http.refusals import Missing, WrongField
from reconvene.doors.http.service import recorded
from reconvene.doors.shared.edited_list import edit_of
from reconvene.doors.shared.handing_over import require_deciders
from reconvene.errors import Refused, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Run
    from reconvene.core.facts.state import RunState
    from reconvene.doors.http.callers import Caller
    from reconvene.doors.http.service import Service


async def _submitted(service: Service, caller: Caller, run: str, command: c.Command) -> Run:
    def work(engine: Engine) -> Run:
        require_run(engine, run)
        recorded(engine, caller, run, command)
        return queries.summary(engine, run)

    return await service.change(run, work)


async def pause(service: Service, caller: Caller, run: str, *, now: bool = False) -> Run:
    """`now`: agents at work are cancelled instead of letting them finish."""
    caller.require("decider", "to pause a run")
    return await _submitted(service, caller, run, c.Pause(caller.name, caller.door, now))


async def resume(service: Service, caller: Caller, run: str) -> Run:
    """One that is paused, or waits for a provider, is taken up by whoever drives."""
    caller.require("decider", "to resume a run")
    return await _submitted(service, caller, run, c.Resume(caller.name, caller.door))


async def set_limits(service: Service, caller: Caller, run: str, cost: float, ask: Sequence[str]) -> Run:
    """What it may cost in all, in USD (0 = as the workflow says), and which tools ask first."""
    caller.require("decider", "to set what a run may cost and which tools ask")
    return await _submitted(service, caller, run, c.SetLimits(cost, tuple(ask), caller.name, caller.door))


async def take_aside(service: Service, caller: Caller, run: str, path: str) -> Run:
    """A file that an agent wrote and that was kept aside, such as one that holds a secret: as this person's edit."""
    caller.require("decider", "to take what was kept aside")

    def work(engine: Engine) -> Run:
        require_run(engine, run)
        if path not in kept_aside.paths(engine, run):
            raise Missing(f"No file {path!r} of {run} is kept aside.")
        kept_aside.take(engine, run, path, by=caller.name, door=caller.door, actor=caller.actor)
        return queries.summary(engine, run)

    return await service.change(run, work)


async def abort(service: Service, caller: Caller, run: str, remarks: Sequence[Said] = ()) -> Run:
    caller.require("decider", "to end a run")

    def work(engine: Engine) -> Run:
        require_run(engine, run)
        recorded(engine, caller, run, c.Abort(caller.name, caller.door, all_said(engine, run, remarks)))
        return queries.summary(engine, run)

    return await service.change(run, work)


async def replan(
    service: Service, caller: Caller, run: str, remarks: Sequence[Said] = (), *, run_again: bool = False
) -> Run:
    caller.require("decider", "to have a run planned anew")

    def work(engine: Engine) -> Run:
        from reconvene.core.person.replanning import where
        from reconvene.core.working.acting import again

        require_run(engine, run)
        session = engine.session(run)
        state, book = session.state, session.book
        told = require_told(again(state, book, where(state, book)), given=run_again)
        at = state.world.open.id if state.world.open is not None else ""
        said = all_said(engine, run, remarks)
        recorded(engine, caller, run, c.Replan(at, caller.name, caller.door, said, told))
        return queries.summary(engine, run)

    return await service.change(run, work)


async def reopen(
    service: Service,
    caller: Caller,
    run: str,
    *,
    phase: str = "",
    rerun: bool = False,
    grants: Mapping[str, float] | None = None,
    remarks: Sequence[Said] = (),
    run_again: bool = False,
) -> Run:
    """Take a run up again after its end."""
    caller.require("decider", "to reopen a run")

    def work(engine: Engine) -> Run:
        require_run(engine, run)
        told = require_told(reopening.acting_again(engine, run, phase, rerun=rerun), given=run_again)
        said = all_said(engine, run, remarks)
        reopening.reopen(
            engine,
            run,
            phase,
            rerun=rerun,
            grants=grants,
            remarks=said,
            by=caller.name,
            door=caller.door,
            told=told,
            actor=caller.actor,
            request=caller.request,
        )
        return queries.summary(engine, run)

    return await service.change(run, work)


async def fork(service: Service, caller: Caller, run: str, at: int) -> Run:
    """A new run that shares this one's history up to an event; it is parked until somebody resumes it."""
    caller.require("decider", "to fork a run")

    def work(engine: Engine) -> Run:
        require_run(engine, run)
        if not 1 <= at <= engine.log.head(run):
            raise WrongField("at", f"{run} has no event {at}: it has {engine.log.head(run)}")
        made = engine.fork(run, at=at, by=caller.name, door=caller.door, actor=caller.actor, request=caller.request)
        return queries.summary(engine, made)

    return await service.change(run, work)


async def assign(service: Service, caller: Caller, run: str, who: Sequence[str]) -> Run:
    """Hand the open checkpoint over: names, and teams as team:NAME."""
    caller.require("decider", "to hand a decision over")
    try:
        require_deciders(service.home, who, caller.name)
    except UserError as error:
        raise WrongField("who", error.message, hint=error.hint) from None
    return await _submitted(service, caller, run, c.Assign("", tuple(who), caller.name, caller.door))


async def move_in_queue(service: Service, caller: Caller, run: str, position: int) -> int:
    """Counted from 1; -1 = the last. The position that it has then."""
    caller.require("decider", "to change the queue")

    def work(engine: Engine) -> int:
        require_run(engine, run)
        return run_queue.move(engine, run, position, by=caller.name, door=caller.door, actor=caller.actor)

    return await service.change(run, work)


async def drop_from_queue(service: Service, caller: Caller, run: str) -> Run:
    caller.require("decider", "to change the queue")
    return await _submitted(service, caller, run, c.DropQueued(caller.name, caller.door))


async def take_allowance_back(service: Service, caller: Caller, run: str, id: str) -> Run:
    """A call of a tool is asked about again."""
    caller.require("decider", "to change what is asked about")
    return await _submitted(service, caller, run, c.DisallowTool(id, caller.name, caller.door))


async def edit_list(service: Service, caller: Caller, run: str, lines: Sequence[str]) -> RunState:
    """The list of gaps, changed as it is now; nothing is where one line does not fit."""
    caller.require("decider", "to change the list of gaps")

    def work(engine: Engine) -> RunState:
        require_run(engine, run)
        try:
            edit = edit_of(engine, run, lines)
        except Refused:
            raise
        except UserError as error:
            raise WrongField("edit", error.message, hint=error.hint) from None
        point = edit.point
        command = c.AnswerCheckpoint(point.id, edit.option, edit.fields, (), point.digest, caller.name, caller.door)
        return recorded(engine, caller, run, command, once=True)

    return await service.change(run, work)
