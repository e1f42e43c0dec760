"""`--model` and `--agent`: who carries agents out, as it was typed and as settings files say, checked and on record."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import DOOR, Call
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reconvene.app.engine import Engine
    from reconvene.core.definition.bindings import Binding
    from reconvene.core.definition.workflow import Workflow
    from reconvene.core.facts.commands import Answers

_FOR = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=(.*)", re.DOTALL)


def typed(call: Call) -> tuple[Binding, ...]:
    """What the command line says."""
    from reconvene.core.definition.bindings import EVERYONE, Binding, runs

    found = []
    for text in call.models:
        match = _FOR.fullmatch(text)
        name, model = (match[1], match[2].strip()) if match else (EVERYONE, text.strip())
        if not model:
            raise UserError(f"--model {clean(text)!r} names no model", hint="write --model provider:name")
        found.append(Binding(name, model=model))
    for text in call.agents:
        if not (match := _FOR.fullmatch(text)):
            raise UserError(f"--agent {clean(text)!r} does not say for whom", hint="write --agent 'NAME=command line'")
        found.append(runs(match[2], match[1]))
    return tuple(found)


def for_new(call: Call, workflow: Workflow) -> tuple[Binding, ...]:
    """With what the settings files say, where the command line says nothing. What they start is accepted first."""
    from reconvene.core.definition.bindings import combined, expanded, fitting
    from reconvene.settings_file import in_force

    held: dict[str, Binding] = {}
    for settings in in_force():
        used = fitting(workflow, settings.bindings)
        if any(not one.model for one in used):
            from reconvene.doors.cli.accepting import permit_settings

            permit_settings(call, settings)
        held = combined(held, used)
    held = combined(held, expanded(workflow, typed(call)))
    check(workflow, held)
    return tuple(sorted(held.values(), key=lambda one: one.agent))


def check(workflow: Workflow, held: Mapping[str, Binding]) -> None:
    """Refuse a model that nobody could ask, before anything is on record."""
    from reconvene.core.definition.bindings import bound
    from reconvene.wiring import require_models

    agents = bound(workflow, held.values()).agents
    require_models([agent for name, agent in agents.items() if agent != workflow.agents[name]])


def check_said(engine: Engine, run: str, fields: Answers) -> None:
    """The same for what a person answered to "Try again with another model"."""
    from reconvene.core.definition.bindings import EVERYONE, either
    from reconvene.core.person.attention import WHO

    said = str(fields.get(WHO) or "").strip()
    if not said:
        raise UserError("nobody was named", hint="a model as provider:name, or a command line")
    state, book = engine.load(run), engine.session(run).book
    names = {agent for trouble in state.world.trouble for agent in trouble.agents}
    check(book.workflow, {name: either(said, name) for name in names if name != EVERYONE})


def bind(call: Call, engine: Engine, run: str) -> None:
    """What was typed, on record for a run that is there."""
    wanted = typed(call)
    if not wanted:
        return
    from reconvene.core.definition.bindings import combined, expanded
    from reconvene.core.facts.commands import BindAgents

    session = engine.session(run)
    held = {name: at.binding for name, at in session.state.record.bindings.items()}
    workflow = session.book.workflow
    check(workflow, combined(held, expanded(workflow, wanted)))
    engine.submit(run, BindAgents(wanted, call.by, DOOR))
    _accept_own_words(call, engine, run)


def _accept_own_words(call: Call, engine: Engine, run: str) -> None:
    """In a home of somebody else: what the person typed just now is not asked about the next time."""
    from reconvene.trust import accept, is_foreign
    from reconvene.wiring import is_imported, offer_of_run

    if is_foreign(call.place) or is_imported(engine.log, run):
        accept(offer_of_run(engine.log, call.home, run))
