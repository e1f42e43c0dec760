"""Words of agents that a role would take for its own.

What agents wrote is material: a prompt shows it in a document section, between tags that it cannot imitate. A value
that a template puts into a role stands among the instructions instead. `check` warns of it; nothing is refused.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence

from reconvene.core.definition.workflow import Step, Workflow, every_phase
from reconvene.errors import Problem
from reconvene.wire.reading import Use

_FILLED = re.compile(r"\{\{.*?\}\}|\{%-?\s*(?:for|set)\b.*?%\}", re.DOTALL)
_VALUE = re.compile(r"(?<![\w.'\"])context\.([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)")
_QUOTED = re.compile(r"\|\s*quote_lines\b")
_PLAIN_TYPES = ("number", "integer", "boolean", "null")


def unfenced(workflow: Workflow, uses: Iterable[Use]) -> list[Problem]:
    """Every place where a role takes in what an agent wrote, in the order of the file."""
    written: dict[str, list[object]] = {}
    for step in (step for phase in every_phase(workflow) for step in phase.steps):
        if step.output:
            written.setdefault(step.output.partition(".")[0], []).extend(_contracts(workflow, step))
    found: dict[tuple[str, int, str], Problem] = {}
    for use in uses:
        if use.where.agent and (use.file or use.what == "'prompt'"):
            for path, at in _taken_in(use.text, written):
                one = _problem(workflow, use, path, at)
                found.setdefault((one.file, one.line, one.message), one)
    return list(found.values())


def _contracts(workflow: Workflow, step: Step) -> list[object]:
    """What its agents promise to return, None for a text. A value by agent is seen through one name more."""
    agents = [workflow.agents[name] for name in step.agents if name in workflow.agents]
    schemas = [step.schema if step.schema is not None else agent.schema for agent in agents] or [step.schema]
    alone = len(step.agents) == 1 and not step.agents_expr
    return schemas if alone else [{"properties": {agent.name: schema}} for agent, schema in zip(agents, schemas)]


def _taken_in(text: str, written: Mapping[str, Sequence[object]]) -> Iterator[tuple[str, int]]:
    for part in _FILLED.finditer(text):
        if _QUOTED.search(part[0]):
            continue
        for value in _VALUE.finditer(part[0]):
            name, *rest = value[1].split(".")
            if any(_is_free(schema, rest) for schema in written.get(name, ())):
                yield value[0], part.start() + value.start()


def _is_free(schema: object, path: Sequence[str]) -> bool:
    """Whether an agent may write what it likes there. In doubt it may."""
    for name in path:
        properties = schema.get("properties") if isinstance(schema, Mapping) else None
        schema = properties.get(name) if isinstance(properties, Mapping) else None
    if not isinstance(schema, Mapping):
        return True
    return "enum" not in schema and "const" not in schema and schema.get("type") not in _PLAIN_TYPES


def _problem(workflow: Workflow, use: Use, path: str, at: int) -> Problem:
    name = path.split(".")[1]
    taken = f"the role of {use.where.agent} takes in {{{{ {path} }}}}"
    message = f"{taken}, which an agent wrote: it would stand among the instructions"
    hint = f"add {name} to the `reads` of the step, and write in the role: what the document “{name}” says"
    if use.file:
        return Problem(use.file, use.text.count("\n", 0, at) + 1, message, hint)
    lines = workflow.source.split("\n")
    from_here = ((number, line) for number, line in enumerate(lines, 1) if number >= use.line)
    return Problem(workflow.file, next((number for number, line in from_here if path in line), use.line), message, hint)
