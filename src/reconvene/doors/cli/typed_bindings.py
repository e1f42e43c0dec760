"""`--model` and `--agent`: who carries agents out, as it was typed and as settings files say, checked and on record."""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import DOOR, Call
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from reconvene.app.engine import Engine
    from reconvene.core.definition.bindings import Binding
    from reconvene.core.definition.workflow import Workflow
    from reconvene.core.facts.commands import Answers
    from reconvene.core.facts.state import RunState

_FOR = re.compile(r"\s*([A-Za-z_][\w-]*)\s*=(.*)", re.DOTALL)


def typed(call: Call, *folders: str) -> tuple[Binding, ...]:
    """What the command line says. Python modules are looked for in these folders first."""
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
        found.append(_located(runs(match[2], match[1]), folders))
    return tuple(found)


def _located(binding: Binding, folders: Iterable[str]) -> Binding:
    """With the folder in which its Python module lies, if that is one of these. A person who types the name of a
    module means the one beside the workflow."""
    top = binding.python.partition(":")[0].partition(".")[0]
    files = (f"{top}.py", os.path.join(top, "__init__.py")) if top else ()
    there = [one for one in folders if any(os.path.isfile(os.path.join(one, file)) for file in files)]
    if not there:
        return binding
    from msgspec.structs import replace

    return replace(binding, beside=os.path.realpath(there[0]))


def _folders(state: RunState, workflow: Workflow) -> Iterator[str]:
    """Where the file of a run's workflow may lie: where modules of its agents do, and the current folder, if a file of
    that name is in it. A run does not keep where its file was."""
    yield from (agent.beside for agent in workflow.agents.values() if agent.beside)
    yield from (at.binding.beside for at in state.record.bindings.values() if at.binding.beside)
    if workflow.file and os.path.isfile(workflow.file):
        yield os.getcwd()


def for_new(call: Call, workflow: Workflow, folder: str) -> tuple[Binding, ...]:
    """With what the settings files say, where the command line says nothing. What they start is accepted first.

    `folder`: of the workflow's file."""
    found = for_a_look(call, workflow, folder, to_start=True)
    check(workflow, {one.agent: one for one in found})
    return found


def for_a_look(call: Call, workflow: Workflow, folder: str, *, to_start: bool) -> tuple[Binding, ...]:
    """The same, unchecked. Without `to_start` nothing of it is started, so nobody is asked about it."""
    from reconvene.core.definition.bindings import combined, expanded, fitting
    from reconvene.settings_file import in_force

    held: dict[str, Binding] = {}
    for settings in in_force():
        used = fitting(workflow, settings.bindings)
        if to_start and any(not one.model for one in used):
            from reconvene.doors.cli.accepting import permit_settings

            permit_settings(call, settings)
        held = combined(held, used)
    held = combined(held, expanded(workflow, typed(call, folder)))
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
    from shutil import which

    if not re.search(r"[\s/:]", said) and which(said) is None:
        raise UserError(
            f"there is no program {clean(said)!r}, and a model is written provider:name",
            hint=f"for example openai:{clean(said)} or ollama:{clean(said)}",
        )
    state, book = engine.load(run), engine.session(run).book
    names = {agent for trouble in state.world.trouble for agent in trouble.agents}
    check(book.workflow, {name: either(said, name) for name in names if name != EVERYONE})


def wanted(call: Call, engine: Engine, run: str) -> tuple[Binding, ...]:
    """What was typed for a run that is there, checked."""
    from reconvene.core.definition.bindings import combined, expanded

    if not call.models and not call.agents:
        return ()
    session = engine.session(run)
    state, workflow = session.state, session.book.workflow
    found = typed(call, *_folders(state, workflow))
    held = {name: at.binding for name, at in state.record.bindings.items()}
    check(workflow, combined(held, expanded(workflow, found)))
    return found


def bind(call: Call, engine: Engine, run: str) -> None:
    """The same, on record."""
    if found := wanted(call, engine, run):
        from reconvene.core.facts.commands import BindAgents

        engine.submit(run, BindAgents(found, call.by, DOOR))
        accept_own_words(call, engine, run)


def accept_own_words(call: Call, engine: Engine, run: str) -> None:
    """In a home of somebody else: what the person typed just now is not asked about the next time."""
    from reconvene.app.index import is_imported
    from reconvene.trust import accept, is_foreign
    from reconvene.wiring import offer_of_run

    if is_foreign(call.place) or is_imported(engine.log, run):
        accept(offer_of_run(engine.log, call.home, run))
