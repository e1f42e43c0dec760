"""What a run is given at its start, checked against its workflow and completed with defaults."""

from __future__ import annotations

import difflib
from collections.abc import Mapping

from reconvene.core.expressions import evaluate
from reconvene.core.workflow import Workflow
from reconvene.errors import UserError

ALWAYS = "feature"  # the one input that a workflow need not declare


def complete_inputs(workflow: Workflow, given: Mapping[str, object]) -> dict[str, object]:
    """Checked and completed with defaults. One that the workflow does not name is refused, except `feature`."""
    for name in given:
        if name not in workflow.inputs and name != ALWAYS:
            near = difflib.get_close_matches(name, workflow.inputs, n=1)
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
    complete: dict[str, object] = {name: given.get(name, spec.default) for name, spec in workflow.inputs.items()}
    for name, spec in workflow.inputs.items():
        if complete[name] is None and spec.type == "files":
            complete[name] = []
    return {**complete, **{name: value for name, value in given.items() if name not in complete}}


def complete_settings(
    workflow: Workflow, given: Mapping[str, object], inputs: Mapping[str, object]
) -> dict[str, object]:
    for name in given:
        if name not in workflow.settings:
            near = difflib.get_close_matches(name, workflow.settings, n=1)
            raise UserError(
                f"{workflow.name} has no setting {name!r} (settings: {', '.join(workflow.settings) or 'none'}).",
                hint=f"Did you mean {near[0]!r}?" if near else "",
            )
    chosen: dict[str, object] = {}
    for name, spec in workflow.settings.items():
        if name in given:
            chosen[name] = given[name]
        elif spec.expr:
            chosen[name] = evaluate(spec.expr, {"inputs": inputs})
        else:
            chosen[name] = spec.default
    return chosen
