"""What a run is given at its start, checked against its workflow and completed with defaults; and the agents whose
commands its settings name. Pure: no shell and no process is involved."""

from __future__ import annotations

import shlex
from collections.abc import Mapping

import msgspec
from msgspec.structs import replace

from reconvene.core.definition.workflow import Agent, Setting, Workflow
from reconvene.errors import ReconveneError, UserError
from reconvene.language import templates
from reconvene.language.closest import closest
from reconvene.language.expressions import compile as compile_expression
from reconvene.language.expressions import evaluate

Values = dict[str, object]  # of inputs or settings, by name

ALWAYS = "feature"  # the one input that a workflow need not declare


def complete_inputs(workflow: Workflow, given: Mapping[str, object]) -> Values:
    """Checked and completed with defaults. One that the workflow does not name is refused, except `feature`."""
    for name in given:
        if name not in workflow.inputs and name != ALWAYS:
            near = closest(name, workflow.inputs)
            known = ", ".join(workflow.inputs) or "none"
            raise UserError(
                f"{workflow.name} has no input {name!r} (inputs: {known}).",
                hint=f"Did you mean {near[0]!r}?" if near else "",
            )
    missing = [
        name for name, spec in workflow.inputs.items() if spec.required and given.get(name, spec.default) is None
    ]
    if missing:
        raise UserError(f"{workflow.name} needs the input {', '.join(missing)}.", hint=f"Add --input {missing[0]}=…")
    complete: Values = {name: given.get(name, spec.default) for name, spec in workflow.inputs.items()}
    for name, spec in workflow.inputs.items():
        if complete[name] is None and spec.type in ("files", "documents", "sources"):
            complete[name] = []
    return {**complete, **{name: value for name, value in given.items() if name not in complete}}


_NO_MACHINE: Mapping[str, object] = {"model": False, "git": False, "coder": ""}


def complete_settings(
    workflow: Workflow,
    given: Mapping[str, object],
    inputs: Mapping[str, object],
    variables: Mapping[str, str] | None = None,
    machine: Mapping[str, object] | None = None,
) -> Values:
    """What is given, else the environment's (`variables`), else the default; an expression sees those before it."""
    for name in given:
        if name not in workflow.settings:
            near = closest(name, workflow.settings)
            raise UserError(
                f"{workflow.name} has no setting {name!r} (settings: {', '.join(workflow.settings) or 'none'}).",
                hint=f"Did you mean {near[0]!r}?" if near else "",
            )
    chosen: Values = {}
    for name, spec in workflow.settings.items():
        if name in given:
            chosen[name] = given[name]
        elif spec.env and variables and variables.get(spec.env):
            chosen[name] = _typed(name, spec, variables[spec.env])
        elif spec.expr:
            seen = {"inputs": inputs, "settings": nested(chosen), "machine": machine or _NO_MACHINE}
            chosen[name] = evaluate(spec.expr, seen)
        else:
            chosen[name] = spec.default
    return chosen


def nested(settings: Mapping[str, object]) -> Values:
    """As expressions and templates see them: `planning.interactive` is a part of `planning`."""
    found: Values = {}
    for name, value in settings.items():
        group, dot, own = name.partition(".")
        if dot:
            before = found.get(group)
            found[group] = {**(before if isinstance(before, dict) else {}), own: value}
        else:
            found[name] = value
    return found


def asks_machine(workflow: Workflow) -> bool:
    """Whether a setting asks what the machine has: looking takes a moment."""
    return any("machine" in compile_expression(spec.expr).roots for spec in workflow.settings.values() if spec.expr)


def _typed(name: str, spec: Setting, text: str) -> object:
    """The value of an environment variable in the setting's type."""
    if spec.type == "text":
        return text
    try:
        value: object = msgspec.json.decode(text)
    except msgspec.DecodeError:
        value = text
    number = isinstance(value, int | float) and not isinstance(value, bool)
    fits = {"bool": isinstance(value, bool), "number": number}
    if not fits.get(spec.type, True):
        problem = f"{spec.env} is {text!r}, and the setting {name!r} takes a {spec.type}."
        raise UserError(problem, hint=f"unset {spec.env}")
    return value


def settled(agent: Agent, settings: Mapping[str, object], inputs: Mapping[str, object]) -> Agent:
    """The agent with its command filled in; as a model where that is empty and the workflow says so."""
    if not agent.command_line:
        return agent
    try:
        words = shlex.split(templates.render(agent.command_line, {"settings": nested(settings), "inputs": inputs}))
    except (ReconveneError, ValueError) as error:
        raise UserError(f"the command of {agent.name}, `{agent.command_line}`, is no command line: {error}") from None
    if words:
        return replace(agent, command=tuple(words))
    if agent.or_model:
        return replace(agent, kind="model")
    raise UserError(
        f"{agent.name} has no command: `{agent.command_line}` is empty in this run",
        hint="start a new run and name one with --set",
    )
