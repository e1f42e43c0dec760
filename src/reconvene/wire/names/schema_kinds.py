"""JSON Schema → kinds.

A schema is open by itself: it says what is wrong with the parts it names, and nothing about others. Here a schema that
names `properties` is read as closed, because a name that the contract does not know is a misspelling in practice.
`additionalProperties: true` says otherwise. Where a schema says nothing that can be read here, anything may be.

What a schema describes, agents wrote. A text is theirs unless the schema leaves them no room: by `enum`, by `const`, by
a `pattern` without blanks, or by `readOnly`, which a kit says of its own words.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from urllib.parse import unquote

from reconvene.wire.names.kinds import (
    FLAG,
    NOTHING,
    NUMBER,
    TEXT,
    WORDS,
    WRITTEN,
    Kind,
    Later,
    ListOf,
    Record,
    constant,
    either,
)

_PLAIN: dict[str, Kind] = {"string": WORDS, "number": NUMBER, "integer": NUMBER, "boolean": FLAG, "null": NOTHING}
_GROUPS = ("anyOf", "oneOf", "if", "then", "else", "dependentSchemas", "allOf", "$ref")
_ROOM = re.compile(r"(?<!\\)\.|\s|\\[sSWDnrtfv]|\[\^|\|")  # in a pattern: what may stand for a blank, or says otherwise
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
    bounded: bool = False  # a text in which nothing can be said
    named: bool = False  # `properties`, or that there are no others
    open: bool = False  # others are welcome
    unread: bool = False  # something that cannot be read here


class _Contract:
    def __init__(self, root: object) -> None:
        self._root = root

    def kind(self, *schemas: object) -> Kind:
        """Of a value that all of these schemas speak about."""
        return Later(lambda: self._worked_out(schemas, frozenset(), [_BRANCHES]))

    def _worked_out(self, schemas: Iterable[object], seen: frozenset[int], left: list[int]) -> Kind:
        met = set(seen)
        every = [each for schema in schemas for each in self._flat(schema, met)]
        facts = _Facts()
        for schema in every:
            self._gather(schema, facts)
        branches = [branch for group in facts.groups for branch in group]
        left[0] -= len(branches)
        if facts.unread or left[0] < 0:
            return WRITTEN
        if not branches:
            return self._kind(facts)
        base = [{key: value for key, value in schema.items() if key not in _GROUPS} for schema in every]
        return either(*[self._worked_out([*base, branch], frozenset(met), left) for branch in branches])

    def _flat(self, schema: object, met: set[int]) -> Iterator[dict[str, object]]:
        """The schema after all that it refers to and includes, each once."""
        if not isinstance(schema, dict) or id(schema) in met:
            return
        met.add(id(schema))
        for each in (self._referred(schema.get("$ref")), *_list(schema.get("allOf"))):
            yield from self._flat(each, met)
        yield schema

    def _gather(self, schema: Mapping[str, object], facts: _Facts) -> None:
        if "$dynamicRef" in schema or ("$ref" in schema and self._referred(schema["$ref"]) is None):
            facts.unread = True
        for key in ("anyOf", "oneOf"):
            if group := _list(schema.get(key)):
                facts.groups.append(group)
        if "then" in schema or "else" in schema:
            facts.groups.append([schema.get("then", True), schema.get("else", True)])
        dependent = schema.get("dependentSchemas")
        if isinstance(dependent, dict) and dependent:
            facts.groups.append([True, *dependent.values()])
        _gather_values(schema, facts)
        _gather_parts(schema, facts)
        _gather_items(schema, facts)

    def _kind(self, facts: _Facts) -> Kind:
        if facts.values is not None:
            return either(*map(constant, facts.values))
        types = facts.types
        if types is None:
            named = facts.named or facts.parts or facts.others or facts.open
            types = {name for name, said in (("object", named), ("array", facts.items)) if said}
        return either(*[self._typed(each, facts) for each in sorted(types)]) if types else WRITTEN

    def _typed(self, name: str, facts: _Facts) -> Kind:
        match name:
            case "object":
                return self._record(facts)
            case "array":
                return ListOf(either(*map(self.kind, facts.items)) if facts.items else WRITTEN)
            case "string" if facts.bounded:
                return TEXT
            case _:
                return _PLAIN.get(name, WRITTEN)

    def _record(self, facts: _Facts) -> Kind:
        parts = {name: self.kind(*schemas) if schemas else WRITTEN for name, schemas in facts.parts.items()}
        others: Kind | None = WRITTEN if facts.open or not facts.named else None
        if facts.others and not facts.open:
            others = either(*map(self.kind, facts.others))
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
    if schema.get("readOnly") is True or _spaceless(schema.get("pattern")):
        facts.bounded = True
    if "const" in schema:
        facts.values = [schema["const"]]
    elif isinstance(schema.get("enum"), list):
        facts.values = _list(schema["enum"])


def _spaceless(pattern: object) -> bool:
    """Whether a text that fits is one word."""
    if not (isinstance(pattern, str) and pattern.startswith("^") and pattern.endswith("$")):
        return False
    return not _ROOM.search(pattern)


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


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
