"""What a model is told beyond its prompt: the shape of the answer, and how to hand over several files. Pure.

What it may read, what people said and what to write is in the prompt already: `prompts.context` decides that.
"""

from __future__ import annotations

import json

from reconvene.adapters.shared.file_names import only_literal
from reconvene.ports import Assignment
from reconvene.prompts.compact_schema import compact
from reconvene.prompts.marks import within


def compose(assignment: Assignment, *, with_schema: bool) -> str:
    """The prompt as sent, without the system message. `with_schema`: the contract is spelled out (where the provider
    does not tell the model)."""
    prompt = assignment.prompt
    if assignment.schema is not None and with_schema:
        prompt = within(prompt, "form", assignment.mark, _schema(assignment))
    if _needs_blocks(assignment) and "<file path=" not in assignment.prompt:
        prompt = within(prompt, "form", assignment.mark, _blocks(assignment))
    return prompt.rstrip() + "\n"


def whole(assignment: Assignment) -> Assignment:
    """For who takes one text: the standing rules at its head, the contract in its form."""
    prompt = assignment.whole
    if assignment.schema is not None:
        prompt = within(prompt, "form", assignment.mark, _schema(assignment))
    return assignment._replace(prompt=prompt, system="")


def in_words(assignment: Assignment) -> Assignment:
    """For a program in a model's place: one text, and in it whatever a model would be asked for."""
    composed = assignment._replace(prompt=compose(assignment, with_schema=True))
    return composed._replace(prompt=composed.whole, system="")


def _schema(assignment: Assignment) -> str:
    answer = "Beside the files, answer" if assignment.writes else "Answer"
    asked = f"{answer} with JSON only, no prose and no code fence, valid against this JSON Schema:\n\n"
    return asked + json.dumps(compact(assignment.schema), ensure_ascii=False, separators=(",", ":"))


def _needs_blocks(assignment: Assignment) -> bool:
    """One file named in full needs none: the whole reply is its content."""
    return bool(assignment.writes) and only_literal(assignment.writes) is None


def _blocks(assignment: Assignment) -> str:
    return (
        f"Write these files: {', '.join(assignment.writes)}. Hand each one over whole, in your answer, as\n\n"
        '<file path="name">\ncontent\n</file>\n\nwith the closing tag on a line of its own. Everything outside such '
        "blocks is your answer itself."
    )
