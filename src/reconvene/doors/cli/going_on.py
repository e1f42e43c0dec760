"""Whether the agents whose turn it is can work on this machine: looked at before they are asked. Starts nothing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reconvene.doors.cli.common import note
from reconvene.doors.cli.text import command_line
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine


def require_ready_to_go_on(engine: Engine, run: str) -> None:
    """Nobody begins where an agent whose turn it is cannot work here: the run stays as it is."""
    from reconvene.core.definition.bindings import bound
    from reconvene.core.facts.ids import parse_task
    from reconvene.core.run.plan import RunTask, work
    from reconvene.wiring import preflight, require_ready

    session = engine.session(run)
    state, book = session.ahead(), session.book
    agents = {effect.agent for effect in work(state, book) if isinstance(effect, RunTask)}
    agents |= {parse_task(task)[2] for task in (state.awaits.tasks if state.awaits is not None else ())}
    if agents:
        workflow = bound(book.workflow, [at.binding for at in state.record.bindings.values()])
        found = preflight(workflow, book.object(state.inputs), book.object(state.settings), agents=agents)
        require_ready(workflow, found, check=f"go on all the same: {command_line('resume', run)} --anyway")


def say_what_does_not_fit(engine: Engine, run: str) -> None:
    """What is not expected to fit into which window, as it was said when the run was started."""
    from reconvene.core.definition.bindings import bound
    from reconvene.wiring import preflight

    session = engine.session(run)
    state, book = session.state, session.book
    if state.ended or all(agent.kind == "recorded" for agent in book.workflow.agents.values()):
        return
    workflow = bound(book.workflow, [at.binding for at in state.record.bindings.values()])
    found = preflight(workflow, book.object(state.inputs), book.object(state.settings))
    for lack in found.tight:
        note(f"{lack.problem} ({lack.whom}); {lack.hint}")


def ready_after_decision(engine: Engine, run: str) -> bool:
    """The same once a decision is on record. False: what is missing was said, and nobody drives the run."""
    try:
        require_ready_to_go_on(engine, run)
    except UserError as error:
        engine.let_go(run)
        note(f"what you decided is recorded, and no agent was asked yet:\n{error.message}\nhint: {error.hint}")
        return False
    return True
