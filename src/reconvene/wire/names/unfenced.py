"""Words of agents that a prompt would take for its own.

What agents wrote is material: a prompt shows it in a document section, between tags that it cannot imitate. A value
that a template puts into a role, a task or the sentence that sends an output back stands among the instructions
instead, unless it is quoted there. `check` warns of it; nothing is refused.
"""

from __future__ import annotations

from collections.abc import Iterable

from reconvene.core.definition.workflow import Workflow, every_phase
from reconvene.errors import Problem
from reconvene.wire.names.kinds import Taken
from reconvene.wire.names.known import Known
from reconvene.wire.reading import Use

_TOLD = ("'prompt'", "'revise'", "'retry_with'")


def unfenced(workflow: Workflow, uses: Iterable[Use]) -> list[Problem]:
    """Every place where a prompt takes in what an agent wrote, by file and line."""
    from reconvene.wire.names.in_jinja import taken_in

    known = Known(workflow)
    found: dict[tuple[str, int, str], Problem] = {}
    for use in dict.fromkeys(uses):
        if _is_told(use) and _by_a_model(workflow, use):
            for taken in taken_in(use.text, known.scope(use), workflow.templates):
                one = _problem(workflow, use, taken)
                found.setdefault((one.file, one.line, taken.path), one)
    return sorted(found.values(), key=lambda one: (one.file, one.line))


def _is_told(use: Use) -> bool:
    """Whether it becomes part of what an agent is told to do."""
    ours = bool(use.where.agent or use.where.step)
    return ours and use.template and (bool(use.file) or use.what in _TOLD)


def _by_a_model(workflow: Workflow, use: Use) -> bool:
    """A survey looks for the words that it is given, and follows none."""
    at = next((phase for phase in every_phase(workflow) if phase.id == use.where.phase), None)
    names = [use.where.agent] if use.where.agent else at.steps[int(use.where.step)].agents if at is not None else ()
    return any(workflow.agents[name].kind != "survey" for name in names if name in workflow.agents) or not names


def _problem(workflow: Workflow, use: Use, taken: Taken) -> Problem:
    path = taken.path
    message = f"{_named(use)} takes in {{{{ {path} }}}}, which an agent wrote: it would stand among the instructions"
    hint = f"quote it: {{{{ {path} | quote_lines }}}}, or on one line {{{{ {path} | quote }}}}"
    name = path.removeprefix("context.").partition(".")[0]
    if path.startswith("context."):
        hint = f"add {name} to the `reads` of the step, and write: what the document “{name}” says. Or {hint}"
    if taken.file:
        return Problem(f"templates/{taken.file}", taken.line, message, hint)
    if use.file:
        return Problem(use.file, taken.line, message, hint)
    return Problem(workflow.file, _line(workflow.source, use, taken), message, hint)


def _line(source: str, use: Use, taken: Taken) -> int:
    """Where the line stands that takes it in; of a folded text, where its value is named."""
    from_here = list(enumerate(source.split("\n"), 1))[use.line - 1 :]
    for part in (use.text.split("\n")[taken.line - 1].strip(), taken.path):
        if number := next((number for number, line in from_here if part in line), 0):
            return number
    return use.line


def _named(use: Use) -> str:
    if use.what == "'retry_with'":
        return "what sends an output back"
    return f"the role of {use.where.agent}" if use.where.agent else f"a prompt of phase {use.where.phase}"
