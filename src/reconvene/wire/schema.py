"""The JSON Schema of workflow files, for editors: the grammar's own table and the other spellings, in its notation."""

from __future__ import annotations

from collections.abc import Mapping

from reconvene.wire.grammar import TABLES
from reconvene.wire.shapes import Anything, Key, Later, ListOf, MapOf, OneOf, Plain, Shape, Table, available
from reconvene.wire.spellings import SPELLINGS

JsonObject = dict[str, object]


def json_schema() -> JsonObject:
    """A draft 2020-12 schema with a definition for each part of the language."""
    names = dict.fromkeys((*TABLES, *SPELLINGS))
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Reconvene workflow",
        "$ref": "#/$defs/workflow",
        "$defs": {name: _table({**TABLES.get(name, {}), **SPELLINGS.get(name, {})}) for name in names},
    }


def _table(keys: Mapping[str, Key]) -> JsonObject:
    known = available(keys)
    schema: JsonObject = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: {"description": key.about, **_shape(key.shape)} for name, key in known.items()},
    }
    if required := [name for name, key in known.items() if key.required]:
        schema["required"] = required
    return schema


def _shape(shape: Shape) -> JsonObject:
    match shape:
        case Plain(schema=schema):
            return dict(schema)
        case Anything() | Later():
            return {}
        case ListOf(item=item, least=least):
            return {"type": "array", "items": _shape(item), **({"minItems": least} if least else {})}
        case MapOf(value=value):
            return {"type": "object", "additionalProperties": _shape(value)}
        case Table(name=name):
            return {"$ref": f"#/$defs/{name}"}
        case OneOf(shapes=shapes):
            return {"anyOf": [_shape(each) for each in shapes]}
