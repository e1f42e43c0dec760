"""Remarks that are larger than the windows of those who will read them: told when they are made. Changes nothing."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from reconvene.doors.cli.common import note

if TYPE_CHECKING:
    from reconvene.app.engine import Engine

_SMALL = 1_000  # characters: no window is so small


def say_what_is_too_large(engine: Engine, run: str, texts: Iterable[str]) -> None:
    """What a person said is never cut, so a prompt with it may not fit. `texts`: what is said just now."""
    said = "\n".join(texts)
    if len(said) < _SMALL:
        return
    from reconvene.adapters.agents.windows import window_of
    from reconvene.app.sizes import Size
    from reconvene.core.definition.bindings import bound
    from reconvene.core.definition.workflow import every_phase
    from reconvene.prompts.documents import tokens

    session = engine.session(run)
    held = [at.binding for at in session.state.record.bindings.values()]
    workflow = bound(session.book.workflow, held)
    steps = [step for phase in every_phase(workflow) for step in phase.steps]
    names = {name for step in steps for name in (workflow.agents if step.agents_expr else step.agents)}
    sizes = [
        Size("", agent.name, tokens(said), 0, window_of(agent), agent.model)
        for agent in workflow.agents.values()
        if agent.name in names and agent.kind == "model"
    ]
    for one in (one for one in sizes if not one.fits):
        takes = f"{one.model} ({one.agent}) takes {one.window:,}, of which {one.window - one.room:,} are for the reply"
        note(f"! what you say is about {one.expected:,} tokens, and {takes}. It is never cut, so {one.agent} may fail.")
        note(f"  Say it shorter, or choose another model: --model {one.agent}=PROVIDER:NAME")
