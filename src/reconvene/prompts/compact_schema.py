"""A JSON Schema as a model needs it: no titles, no comments, nothing that says what is so anyway."""

from __future__ import annotations

_SAID_ELSEWHERE = ("$schema", "$id", "$comment", "title", "examples")
_MAPS = ("properties", "patternProperties", "$defs", "definitions", "dependentSchemas")  # of names, not of keywords
_AS_GIVEN = ("const", "default", "enum", "required")


def compact(schema: object) -> object:
    if isinstance(schema, list):
        return [compact(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: _of_map(value) if key in _MAPS else value if key in _AS_GIVEN else compact(value)
        for key, value in schema.items()
        if key not in _SAID_ELSEWHERE and value != []
    }


def _of_map(named: object) -> object:
    return {name: compact(each) for name, each in named.items()} if isinstance(named, dict) else named


def worked_example(schema: object) -> object:
    """The first of the schema's own examples, None where it has none."""
    examples = schema.get("examples") if isinstance(schema, dict) else None
    return examples[0] if isinstance(examples, list) and examples else None
