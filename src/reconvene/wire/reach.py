"""Who may come to work in a run: agents, and the scripts of checks. Phases that its settings rule out are left out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from msgspec import Struct

from reconvene.core.definition.workflow import Again, Option, Phase, Workflow
from reconvene.language.expressions import ExpressionError, truth
from reconvene.language.expressions import compile as compile_expression

_FIXED = frozenset({"settings", "inputs"})  # what a run has from its start to its end


class Reach(Struct, frozen=True):
    agents: tuple[str, ...]  # in the order in which they are declared
    scripts: dict[str, tuple[str, ...]]  # id of a phase → the script of its check


def reachable(workflow: Workflow, fixed: Mapping[str, object] | None = None) -> Reach:
    """`fixed`: the run's `settings` and `inputs`; None = not known yet, so that no phase is ruled out."""
    phases = list(_phases(workflow.phases, fixed))
    named = {agent for phase in phases for agent in _agents(phase, workflow, fixed)}
    scripts = {phase.id: phase.check.script for phase in phases if phase.check is not None and phase.check.script}
    return Reach(tuple(name for name in workflow.agents if name in named), scripts)


def _phases(phases: tuple[Phase, ...], fixed: Mapping[str, object] | None) -> Iterator[Phase]:
    for phase in phases:
        if not _ruled_out(phase.when, fixed):
            yield phase
            yield from _phases(phase.phases, fixed)


def _agents(phase: Phase, workflow: Workflow, fixed: Mapping[str, object] | None) -> Iterator[str]:
    for step in phase.steps:
        if not _ruled_out(step.when, fixed):
            yield from workflow.agents if step.agents_expr else step.agents
    rules = phase.check.rules if phase.check is not None else ()
    moves = [*(option.then for option in _options(phase)), *(rule.then for rule in rules)]
    for move in moves:
        if isinstance(move, Again):
            yield from move.agents


def _options(phase: Phase) -> tuple[Option, ...]:
    return phase.checkpoint.options if phase.checkpoint is not None else ()


def _ruled_out(when: str, fixed: Mapping[str, object] | None) -> bool:
    """Whether this can never be true in the run. A goto may lead into a phase all the same: then an agent that cannot
    work is met there."""
    if not when or fixed is None or not compile_expression(when).roots <= _FIXED:
        return False
    try:
        return not truth(when, fixed)
    except ExpressionError:
        return False
