"""What a draft still needs before it can be started. No model is asked."""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.companion.drafting import instructed_input
from reconvene.companion.told import Told, short
from reconvene.core.definition.workflow import Workflow


def from_draft(workflow: Workflow, instructions: str, inputs: Sequence[str]) -> Told:
    given = {one.partition("=")[0] for one in inputs}
    told = instructed_input(workflow)
    if instructions and told:
        given.add(told)
    missing = [name for name, spec in workflow.inputs.items() if spec.required and name not in given]
    lines = [f"From the draft: a run of {workflow.name}. It is noted what you said."]
    if told:
        lines.append(f"Instructions ({told}): {short(instructions, 600) or 'none yet; /write TEXT sets them'}")
    for name, spec in workflow.inputs.items():
        if name != told:
            state = "given" if name in given else "missing" if spec.required else "not given"
            about = f": {short(spec.description, 120)}" if spec.description else ""
            lines.append(f"- {name} ({spec.type}), {state}{about}")
    lines.append(f"Missing: {', '.join(missing)}." if missing else "Nothing is missing: /start begins the run.")
    return Told("\n".join(lines), {"workflow": workflow.name, "missing": missing, "instructions": bool(instructions)})
