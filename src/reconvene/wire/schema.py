"""The JSON Schema of workflow files, for editors: the grammar's own table and the other spellings, in its notation."""

from __future__ import annotations

from typing import assert_never

from reconvene.wire.grammar import TABLES
from reconvene.wire.shapes import (
    Anything,
    Expression,
    Flag,
    Integer,
    Key,
    Later,
    ListOf,
    MapOf,
    Nothing,
    Number,
    OneOf,
    Shape,
    Table,
    Text,
    Word,
)
from reconvene.wire.spellings import SPELLINGS

JsonObject = dict[str, object]


def json_schema() -> JsonObject:
    """A draft 2020-12 schema with a definition for each part of the language."""
    names = dict.fromkeys((*TABLES, *SPELLINGS))
    definitions = {name: _table({**TABLES.get(name, {}), **SPELLINGS.get(name, {})}) for name in names}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "Reconvene workflow",
        "$ref": "#/$defs/workflow",
        "$defs": definitions,
    }


def _table(keys: dict[str, Key]) -> JsonObject:
    known = {name: key for name, key in keys.items() if not isinstance(key.shape, Later)}
    schema: JsonObject = {
        "type": "object",
        "additionalProperties": False,
        "properties": {name: _key(key) for name, key in known.items()},
    }
    if required := [name for name, key in known.items() if key.required]:
        schema["required"] = required
    return schema


def _key(key: Key) -> JsonObject:
    return {"description": key.about, **_shape(key.shape)} if key.about else _shape(key.shape)


def _shape(shape: Shape) -> JsonObject:
    match shape:
        case Text():
            return {"type": "string", "minLength": 1}
        case Expression():
            return {"type": ["string", "boolean", "number"]}
        case Word(words=words):
            return {"enum": list(words)}
        case Integer(least=least):
            return {"type": "integer", "minimum": least}
        case Number():
            return {"type": "number"}
        case Flag():
            return {"type": "boolean"}
        case Nothing():
            return {"type": "null"}
        case Anything():
            return {}
        case ListOf(item=item, least=least):
            return {"type": "array", "items": _shape(item), **({"minItems": least} if least else {})}
        case MapOf(value=value):
            return {"type": "object", "additionalProperties": _shape(value)}
        case Table(name=name):
            return {"$ref": f"#/$defs/{name}"}
        case OneOf(shapes=shapes):
            return {"anyOf": [_shape(each) for each in shapes]}
        case Later():
            return {"not": {}}
        case _:
            assert_never(shape)
