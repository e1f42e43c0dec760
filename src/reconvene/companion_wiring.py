"""The companion, put together: which model it asks, what it searches with, where drafts lie."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from reconvene.errors import UserError
from reconvene.sandboxing import sandbox_for
from reconvene.settings import COMPANION_MODEL_VARIABLE, companion_model
from reconvene.surroundings import SystemClock, from_files
from reconvene.wiring import open_index

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.companion.drafting import Drafts
    from reconvene.companion.looks_and_proposals import Tools
    from reconvene.companion.one_question import AskModel, Companion
    from reconvene.companion.tool_scope import WebSearch
    from reconvene.core.definition.workflow import Workflow
    from reconvene.ports import Answer, Assignment, Listener

_DRAFTS = "drafts"


def model_for(named: str) -> str:
    """The one that is named, else that of the settings; "" = none: the record answers. UserError where it is none."""
    from reconvene.adapters.agents import libraries
    from reconvene.adapters.agents.model_names import wrong_with

    model = named.strip() or companion_model() or from_files("companion_model")
    if not model:
        return ""
    if model == "auto":
        raise UserError("the companion needs the name of a model", hint="write --model provider:name")
    if (wrong := wrong_with(model)) is not None:
        where = "" if named.strip() else f" ({COMPANION_MODEL_VARIABLE} or companion_model)"
        raise UserError(f"{wrong.problem}{where}", hint=wrong.hint)
    if lacks := libraries.missing(model, ""):
        raise UserError(
            f"the library for {model} is not installed", hint=f"install it: {libraries.install_line(lacks)}"
        )
    return model


def drafts_of(home: str) -> Drafts:
    from reconvene.adapters.draft_files import DraftFiles
    from reconvene.companion.drafting import Drafts
    from reconvene.secrets import Secrets

    folder = os.path.join(os.path.abspath(home), _DRAFTS)
    return Drafts(DraftFiles(folder), SystemClock().now, Secrets(os.environ))


def web_search(agrees: Callable[[str], bool]) -> WebSearch | None:
    """None where the person's settings name no program for it."""
    from reconvene.settings_file import web_search as named

    if not (command := named()):
        return None
    from reconvene.adapters.web_search import CommandSearch

    return CommandSearch(command, dict(os.environ), agrees)


@contextmanager
def companion(
    engine: Engine,
    by: str,
    door: str,
    *,
    run: str = "",
    draft: str = "",
    workflow: Workflow | None = None,
    model: str = "",
    agrees: Callable[[str], bool] = lambda _: False,
) -> Iterator[Companion]:
    """For one run, or for a draft (`workflow`: what it is to be a run of). `agrees`: to a query that leaves the
    machine."""
    from reconvene.companion.drafting import OfDraft
    from reconvene.companion.kept_talk import OfRun
    from reconvene.companion.one_question import Companion
    from reconvene.companion.tool_scope import Scope

    web, asks = web_search(agrees), _asks() if model else None
    if not run:
        drafts = drafts_of(engine.home)
        scope = Scope(engine, draft=draft, drafts=drafts, web=web)
        yield Companion(
            scope,
            OfDraft(drafts, draft),
            by,
            door,
            model=model,
            ask_model=asks,
            workflow=workflow,
            inputs=lambda: drafts.load(draft).inputs,
        )
        return
    index = open_index(engine.home)
    try:
        yield Companion(Scope(engine, run, index, web=web), OfRun(engine, run), by, door, model=model, ask_model=asks)
    finally:
        index.close()


def _asks() -> AskModel:
    """One answer, with a client of its own."""
    import asyncio

    def ask(assignment: Assignment, tools: Tools, listener: Listener) -> Answer:
        from reconvene.adapters.agents import Agents

        async def once() -> Answer:
            environ = dict(os.environ)
            runner = Agents(sandbox_for(list, environ), environ, toolboxes=tools)
            try:
                return await runner.run(assignment, listener)
            finally:
                await runner.close()

        return asyncio.run(once())

    return ask
