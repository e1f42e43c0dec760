"""What a model is told beyond its prompt: the shape of the answer, and how to hand over several files. Pure.

What it may read, what people said and what to write is in the prompt already: `core.shown.context` decides that.
"""

from __future__ import annotations

import json

from reconvene.adapters.agents.file_names import only_literal
from reconvene.ports import Assignment


def compose(assignment: Assignment, *, with_schema: bool) -> str:
    """The prompt as sent. `with_schema`: the contract is spelled out (where the provider does not enforce it)."""
    parts = [assignment.prompt.rstrip()]
    if assignment.schema is not None and with_schema:
        parts.append(_schema(assignment))
    if _needs_blocks(assignment) and "<file path=" not in assignment.prompt:
        parts.append(_blocks(assignment))
    return "\n\n".join(parts) + "\n"


def _schema(assignment: Assignment) -> str:
    schema = json.dumps(assignment.schema, ensure_ascii=False, indent=1)
    return f"Answer with JSON only, no prose and no code fence, valid against this JSON Schema:\n\n{schema}"


def _needs_blocks(assignment: Assignment) -> bool:
    """One file named in full needs none: the whole reply is its content."""
    return bool(assignment.writes) and only_literal(assignment.writes) is None


def _blocks(assignment: Assignment) -> str:
    return (
        f"Write these files: {', '.join(assignment.writes)}. Hand each one over whole, in your answer, as\n\n"
        '<file path="name">\ncontent\n</file>\n\nwith the closing tag on a line of its own. Everything outside such '
        "blocks is your answer itself."
    )
