"""Which names a JSON Schema knows."""

from __future__ import annotations

import pytest

from reconvene.wire.names.kinds import Kind, Missing, element, part
from reconvene.wire.names.schema_kinds import kind_of

NONE = frozenset[str]()
WORDS = {
    "list": frozenset({"length"}),
    "text": frozenset({"trim"}),
    **dict.fromkeys(("record", "number", "flag"), NONE),
}
A = {"type": "object", "properties": {"a": {"type": "string"}}}
B = {"type": "object", "properties": {"b": {"type": "string"}}}


def known(schema: object, path: str) -> bool:
    kind: Kind = kind_of(schema)
    for name in path.split("."):
        if name == "*":
            kind = element(kind)
            continue
        found = part(kind, name, WORDS)
        if isinstance(found, Missing):
            return False
        kind = found
    return True


@pytest.mark.parametrize(
    ("schema", "right", "wrong"),
    [
        (A, "a a.trim", "b a.b"),
        ({**A, "additionalProperties": False}, "a", "b"),
        ({**A, "additionalProperties": True}, "a b b.c", "a.b"),
        ({**A, "additionalProperties": {"type": "number"}}, "a b", "b.c"),
        ({**A, "unevaluatedProperties": True}, "a b", "a.b"),
        ({**A, "patternProperties": {"^x": {}}}, "a b", "a.b"),
        ({"properties": {"a": {}}}, "a a.b.c", "b"),
        ({**A, "required": ["a", "c"]}, "a c c.d", "b"),
        ({"type": "object"}, "a b.c", ""),
        ({"type": "object", "required": ["list"]}, "list other", ""),
        ({"type": "object", "additionalProperties": False}, "", "a"),
        ({}, "a b.c", ""),
        (True, "a b.c", ""),
        ({"type": ["object", "null"], "properties": {"a": {}}}, "a", "b"),
        ({"type": "array", "items": A}, "length *.a", "a *.b"),
        ({"type": "array"}, "*.a", "a"),
        ({"type": "array", "prefixItems": [A], "items": B}, "*.a *.b", "*.c"),
        ({"type": "array", "prefixItems": [A]}, "*.a *.c", ""),
        ({"type": "string"}, "trim", "a"),
        ({"type": "number"}, "", "a"),
        ({"enum": ["x", "y"]}, "trim", "a"),
        ({"const": {"a": {"b": 1}}}, "a.b", "b a.c"),
        ({"anyOf": [A, B]}, "a b", "c"),
        ({"oneOf": [A, {"type": "string"}]}, "a trim", "c"),
        ({"anyOf": [A, {}]}, "a c", ""),
        ({"anyOf": [A, {"type": "object"}]}, "a c", ""),
        ({**A, "anyOf": [{"required": ["a"]}, {"required": ["c"]}]}, "a c", "b"),
        ({**A, "anyOf": [{"properties": {"b": A}}]}, "a b b.a", "c b.b"),
        ({"allOf": [A, B]}, "a b", "c"),
        ({"allOf": [A, {"required": ["a"]}]}, "a", "c"),
        ({"allOf": [A, {"additionalProperties": True}]}, "a c", ""),
        ({**A, "if": {"required": ["a"]}, "then": {"properties": {"b": {}}}}, "a b", "c"),
        ({**A, "dependentSchemas": {"a": B}}, "a b", "c"),
        ({"$ref": "#/$defs/x", "$defs": {"x": A}}, "a", "b"),
        ({"$ref": "#/$defs/x~1y", "$defs": {"x/y": A}}, "a", "b"),
        ({"$ref": "#/$defs/gone"}, "a", ""),
        ({"$ref": "https://example.com/x.json"}, "a", ""),
        ({"$dynamicRef": "#x"}, "a", ""),
        ({"$ref": "#"}, "a", ""),
        ({"properties": {"a": {}, "next": {"$ref": "#"}}}, "next.next.next.a", "next.next.b"),
        ({"properties": {"kids": {"type": "array", "items": {"$ref": "#"}}}}, "kids.*.kids.*.kids", "kids.*.kid"),
        ({"anyOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/b"}], "$defs": {"a": A, "b": B}}, "a b", "c"),
        ({"$defs": {"a": {"anyOf": [{"$ref": "#/$defs/a"}, A]}}, "$ref": "#/$defs/a"}, "a", ""),
    ],
)  # fmt: skip
def test_names_of_a_schema(schema: object, right: str, wrong: str) -> None:
    assert [path for path in right.split() if not known(schema, path)] == []
    assert [path for path in wrong.split() if known(schema, path)] == []


def test_a_schema_with_endless_alternatives_may_be_anything() -> None:
    defs = {f"d{n}": {"anyOf": [{"$ref": f"#/$defs/d{m}"} for m in range(12) if m != n]} for n in range(12)}
    assert known({"$ref": "#/$defs/d0", "$defs": defs}, "whatever")
