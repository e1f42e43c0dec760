"""JSON Schema → kinds.

A schema is open by itself: it says what is wrong with the parts it names, and nothing about others. Here a schema that
names `properties` is read as closed, because a name that the contract does not know is a misspelling in practice.
`additionalProperties: true` says otherwise. Where a schema says nothing that can be read here, anything may be.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from reconvene.wire.names.kinds import (
    ANYTHING,
    FLAG,
    NOTHING,
    NUMBER,
    TEXT,
    Kind,
    Later,
    ListOf,
    Record,
    constant,
    either,
    either_of,
)

_PLAIN: dict[str, Kind] = {"string": TEXT, "number": NUMBER, "integer": NUMBER, "boolean": FLAG, "null": NOTHING}
_BRANCHES = 200  # alternatives of one value that are told apart


def kind_of(schema: object) -> Kind:
    return _Contract(schema).kind(schema)


@dataclass(slots=True)
class _Facts:
    """What schemas that hold at the same time say about one value."""

    types: set[str] | None = None
    parts: dict[str, list[object]] = field(default_factory=dict)
    others: list[object] = field(default_factory=list)
    items: list[object] = field(default_factory=list)
    groups: list[list[object]] = field(default_factory=list)  # of each, one holds
    values: list[object] | None = None  # enum, const
    named: bool = False  # `properties`, or that there are no others
    open: bool = False  # others are welcome
    unread: bool = False  # something that cannot be read here


class _Contract:
    def __init__(self, root: object) -> None:
        self._root = root

    def kind(self, schema: object) -> Kind:
        return Later(lambda: self._worked_out([schema], frozenset(), [_BRANCHES]))

    def _all(self, schemas: list[object]) -> Kind:
        """Of a part that several schemas speak about."""
        return Later(lambda: self._worked_out(schemas, frozenset(), [_BRANCHES]))

    def _worked_out(self, schemas: list[object], seen: frozenset[int], left: list[int]) -> Kind:
        facts = _Facts()
        met = set(seen)
        for schema in schemas:
            self._gather(schema, facts, met)
        branches = [branch for group in facts.groups for branch in group]
        left[0] -= len(branches)
        if facts.unread or left[0] < 0:
            return ANYTHING
        if not branches:
            return self._kind(facts)
        base = [schema for schema in schemas if isinstance(schema, dict)]
        stripped = [_without_groups(schema) for schema in self._flat(base)]
        return either_of(self._worked_out([*stripped, branch], frozenset(met), left) for branch in branches)

    def _flat(self, schemas: list[dict[str, object]]) -> list[dict[str, object]]:
        """The schemas and all that they refer to and include, each on its own."""
        found: list[dict[str, object]] = []
        waiting: list[object] = list(schemas)
        seen: set[int] = set()
        while waiting:
            schema = waiting.pop(0)
            if not isinstance(schema, dict) or id(schema) in seen:
                continue
            seen.add(id(schema))
            found.append(schema)
            waiting += _list(schema.get("allOf"))
            if isinstance(schema.get("$ref"), str):
                waiting.append(self._referred(schema["$ref"]))
        return found

    def _gather(self, schema: object, facts: _Facts, met: set[int]) -> None:
        if not isinstance(schema, dict) or id(schema) in met:
            return
        met.add(id(schema))
        if "$ref" in schema:
            target = self._referred(schema["$ref"])
            facts.unread = facts.unread or target is None
            self._gather(target, facts, met)
        if "$dynamicRef" in schema:
            facts.unread = True
        for each in _list(schema.get("allOf")):
            self._gather(each, facts, met)
        self._gather_groups(schema, facts)
        _gather_values(schema, facts)
        _gather_parts(schema, facts)
        _gather_items(schema, facts)

    def _gather_groups(self, schema: Mapping[str, object], facts: _Facts) -> None:
        for key in ("anyOf", "oneOf"):
            if group := _list(schema.get(key)):
                facts.groups.append(group)
        if "then" in schema or "else" in schema:
            facts.groups.append([schema.get("then", True), schema.get("else", True)])
        dependent = schema.get("dependentSchemas")
        if isinstance(dependent, dict) and dependent:
            facts.groups.append([True, *dependent.values()])

    def _kind(self, facts: _Facts) -> Kind:
        if facts.values is not None:
            return either_of(constant(value) for value in facts.values)
        types = facts.types
        if types is None:
            types = ({"object"} if facts.named or facts.parts or facts.others or facts.open else set()) | (
                {"array"} if facts.items else set()
            )
            if not types:
                return ANYTHING
        return either_of(self._typed(each, facts) for each in sorted(types))

    def _typed(self, name: str, facts: _Facts) -> Kind:
        match name:
            case "object":
                return self._record(facts)
            case "array":
                return ListOf(either_of(self.kind(each) for each in facts.items) if facts.items else ANYTHING)
            case _:
                return _PLAIN.get(name, ANYTHING)

    def _record(self, facts: _Facts) -> Kind:
        parts = {name: self._all(schemas) if schemas else ANYTHING for name, schemas in facts.parts.items()}
        if facts.open or not facts.named:
            others: Kind | None = ANYTHING
        else:
            others = None
        if facts.others and not facts.open:
            others = either(*(self.kind(each) for each in facts.others))
        return Record(parts, others, contract=True)

    def _referred(self, reference: object) -> object:
        """What `#/$defs/x` names; None where it is not in this schema."""
        if not isinstance(reference, str) or not reference.startswith("#"):
            return None
        found = self._root
        for word in unquote(reference[1:]).split("/")[1:]:
            key = word.replace("~1", "/").replace("~0", "~")
            if isinstance(found, dict) and key in found:
                found = found[key]
            elif isinstance(found, list) and key.isdecimal() and int(key) < len(found):
                found = found[int(key)]
            else:
                return None
        return found if reference == "#" or reference.startswith("#/") else None


def _gather_values(schema: Mapping[str, object], facts: _Facts) -> None:
    if "type" in schema:
        given = schema["type"]
        types = {str(each) for each in given} if isinstance(given, list) else {str(given)}
        facts.types = types if facts.types is None else facts.types & types or types
    if "const" in schema:
        facts.values = [schema["const"]]
    elif isinstance(schema.get("enum"), list):
        facts.values = _list(schema["enum"])


def _gather_parts(schema: Mapping[str, object], facts: _Facts) -> None:
    properties = schema.get("properties")
    if isinstance(properties, dict):
        facts.named = True
        for name, each in properties.items():
            facts.parts.setdefault(name, []).append(each)
    for name in _list(schema.get("required")):
        if isinstance(name, str):
            facts.parts.setdefault(name, [])
    if schema.get("patternProperties"):
        facts.open = True
    for key in ("additionalProperties", "unevaluatedProperties"):
        match schema.get(key):
            case True:
                facts.open = True
            case False:
                facts.named = True
            case dict() as others:
                facts.others.append(others)


def _gather_items(schema: Mapping[str, object], facts: _Facts) -> None:
    first = _list(schema.get("prefixItems"))
    facts.items += first
    rest = schema.get("items")
    if isinstance(rest, dict):
        facts.items.append(rest)
    elif first and rest is not False:
        facts.items.append(True)


def _without_groups(schema: Mapping[str, object]) -> dict[str, object]:
    gone = ("anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "allOf", "$ref")
    return {key: value for key, value in schema.items() if key not in gone}


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
