"""Runs that are prepared in a conversation, and started by a person: once, whatever happened in between."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from reconvene.authority import require_person
from reconvene.doors.cli.common import Call, note
from reconvene.doors.cli.named_workflow import file_of, load
from reconvene.doors.cli.text import clean
from reconvene.errors import UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.companion.drafting import Draft
    from reconvene.core.definition.run_inputs import Values
    from reconvene.core.definition.workflow import Workflow

_PATHS = ("file", "files", "folder", "documents", "sources", "project")  # inputs that are given as paths


def what_to_run(call: Call, workflow: str | None, draft: str, recorded: bool) -> str:
    """The workflow that is named, or that of a draft."""
    if draft and (workflow or recorded):
        what = "--recorded" if recorded else "WORKFLOW"
        raise UserError(f"--draft says what is run: leave out {what}", hint=f"reconvene run --draft {clean(draft)}")
    if draft:
        from reconvene.companion_wiring import drafts_of

        return drafts_of(call.home).load(draft).workflow
    if not workflow:
        context = click.get_current_context()
        param = next(one for one in context.command.params if one.name == "workflow")
        raise click.MissingParameter(ctx=context, param=param)
    return workflow


def workflow_named(named: str) -> str:
    """As a draft keeps it: it may be started from another folder."""
    from reconvene.wire.packaged import packaged

    return named if named in packaged() or not os.path.exists(named) else str(file_of(named).resolve())


def inputs_named(workflow: Workflow, pairs: tuple[str, ...]) -> tuple[str, ...]:
    """As a draft keeps them: with paths that hold from everywhere. UserError where one could not be taken."""
    from reconvene.doors.cli.typed_values import read_inputs, split_pair

    kept = []
    for pair in pairs:
        name, text = split_pair(pair, "--input")
        spec = workflow.inputs.get(name)
        path = text.removeprefix("@")
        at = "@" if text.startswith("@") else ""
        if (at or (spec is not None and spec.type in _PATHS)) and os.path.exists(path):
            text = f"{at}{os.path.abspath(path)}"
        kept.append(f"{name}={text}")
    read_inputs(workflow, kept)
    return tuple(kept)


def instructions_of(draft: Draft, workflow: Workflow) -> Values:
    """The instructions as the input that takes them; never read as the name of a file."""
    from reconvene.companion.drafting import instructed_input

    name = instructed_input(workflow)
    return {name: draft.instructions} if name and draft.instructions else {}


def start(
    call: Call,
    name: str,
    inputs: tuple[str, ...],
    settings: tuple[str, ...],
    *,
    ask: bool,
    anyway: bool,
    driving: bool = False,
) -> tuple[Engine, str]:
    """A run of this draft on record, with the conversation about it."""
    from reconvene.companion_wiring import drafts_of
    from reconvene.doors.cli.starting import started

    require_person("to start a run")
    with drafts_of(call.home).starting(name) as starting:
        draft = starting.draft
        if draft.starting and (run := _began(call.home, draft)):
            starting.started(run)
            raise UserError(f"{name} was started already, as the run {run}", hint=call.command("resume", run))
        given = instructions_of(draft, load(draft.workflow))
        given = {key: value for key, value in given.items() if not any(one.startswith(f"{key}=") for one in inputs)}
        every = (*(one for one in draft.inputs if one.partition("=")[0] not in given), *inputs)
        engine, run = started(
            call, draft.workflow, every, settings, ask, None, anyway, given=given, prepared=starting.prepared,
            driving=driving,
        )  # fmt: skip
        starting.started(run)
    if not call.as_json:
        note(f"{name} is the run {run} now; go on talking: {call.command('chat', run)}")
    return engine, run


def _began(home: str, draft: Draft) -> str:
    from reconvene.companion.drafting import begun_as
    from reconvene.wiring import open_log

    log = open_log(home)
    try:
        return begun_as(log, draft)
    finally:
        log.close()
