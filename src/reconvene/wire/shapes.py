"""What a value may look like, as data, and the comparison of a tree with it: one description serves the loader and the
editors' JSON Schema.

Whatever does not belong there is reported, and the rest is returned. So later checks see only well-formed parts and
still find their own problems in the same pass. Knows no key of the workflow language.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dict
from dataclasses import dataclass
from types import MappingProxyType, NoneType
from typing import NamedTuple

from reconvene.wire.problems import Problems, shown
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class Plain:
    """A value without parts: its name in messages, its types, its JSON Schema, and which values of these types."""

    name: str
    types: tuple[type, ...]
    schema: Dict[str, object]
    words: tuple[str, ...] = ()  # only these; none = any that is not empty
    least: int | None = None


@dataclass(frozen=True, slots=True)
class Anything:
    pass


@dataclass(frozen=True, slots=True)
class ListOf:
    item: Shape
    least: int = 0


@dataclass(frozen=True, slots=True)
class MapOf:
    """Names of the author's choice → values of one shape."""

    value: Shape


@dataclass(frozen=True, slots=True)
class Table:
    """A mapping with known keys: the name of a table."""

    name: str


@dataclass(frozen=True, slots=True)
class OneOf:
    """Alternatives. Each is a different kind of YAML value, so the value itself says which one is meant."""

    shapes: tuple[Shape, ...]


@dataclass(frozen=True, slots=True)
class Later:
    """A key of the language that this release does not carry out."""


Shape = Plain | Anything | ListOf | MapOf | Table | OneOf | Later

TEXT = Plain("text", (str,), {"type": "string", "minLength": 1})
EXPRESSION = Plain("an expression", (str, bool, int, float), {"type": ["string", "boolean", "number"]})
NUMBER = Plain("a number", (int, float), {"type": "number"})
FLAG = Plain("true or false", (bool,), {"type": "boolean"})
NOTHING = Plain("nothing", (NoneType,), {"type": "null"})  # the key stands there without a value


def word(*words: str) -> Plain:
    return Plain(" or ".join(words), (str,), {"enum": list(words)}, words=words)


def integer(least: int) -> Plain:
    return Plain("a whole number", (int,), {"type": "integer", "minimum": least}, least=least)


def one_of(*shapes: Shape) -> OneOf:
    return OneOf(shapes)


@dataclass(frozen=True, slots=True)
class Key:
    shape: Shape
    about: str = ""
    required: bool = False


Tables = Dict[str, Dict[str, Key]]


class Grammar(NamedTuple):
    """The tables, and what else may stand in a file: other spellings, rewritten before a table is looked at, and keys
    that were taken out, with what to write instead."""

    tables: Tables
    spellings: Tables = MappingProxyType({})
    rewritten: Callable[[str, Mapping, Problems], Mapping] = lambda table, node, problems: node
    removed: Dict[str, Dict[str, str]] = MappingProxyType({})


def fit(node: Node, shape: Shape, what: str, grammar: Grammar, problems: Problems) -> Node | None:
    """The part of `node` that has this shape, or None. `what` names the value in messages."""
    return _Fitting(grammar, problems).fit(node, shape, what)


class _Fitting:
    def __init__(self, grammar: Grammar, problems: Problems) -> None:
        self._grammar = grammar
        self._tables = grammar.tables
        self._problems = problems

    def fit(self, node: Node, shape: Shape, what: str) -> Node | None:
        chosen = next((each for each in _alternatives(shape) if _admits(node, each)), None)
        match chosen, node:
            case None, _:
                self._wrong(node, shape, what)
                return None
            case Later(), _:
                self._problems.add(node.line, f"{what} is not available in this release", "remove it")
                return None
            case ListOf(), Sequence():
                return self._list(node, chosen, what)
            case MapOf(), Mapping():
                return self._map(node, chosen, what)
            case Table(), Mapping():
                return self._table(node, chosen, what)
            case Plain(), Scalar():
                return self._plain(node, chosen, shape, what)
            case _:
                return node

    def _wrong(self, node: Node, shape: Shape, what: str) -> None:
        message = f"{what} must be {self._described(shape)}, not {_kind(node)}"
        number = isinstance(node, Scalar) and isinstance(node.value, int | float)
        text = any(isinstance(each, Plain) and str in each.types for each in _alternatives(shape))
        self._problems.add(node.line, message, "put it in quotes" if number and text else "", column=node.column)

    def _plain(self, node: Scalar, chosen: Plain, shape: Shape, what: str) -> Node | None:
        if chosen.words:
            if node.value in chosen.words:
                return node
            message = f"{what} must be {self._described(shape)}, not '{shown(node.value)}'"
            self._problems.add_unknown(node.line, message, str(node.value), chosen.words, column=node.column)
        elif chosen.least is not None and isinstance(node.value, int) and node.value < chosen.least:
            self._problems.add(node.line, f"{what} must be at least {chosen.least}, not {node.value}")
        elif not str(node.value).strip():
            self._problems.add(node.line, f"{what} is empty")
        else:
            return node
        return None

    def _list(self, node: Sequence, shape: ListOf, what: str) -> Node | None:
        if len(node.items) < shape.least:
            self._problems.add(node.line, f"{what} is empty", "give at least one, or remove the key")
            return None
        noun = _table_name(shape.item)
        entry = ("an " if noun[0] in "aeiou" else "a ") + noun if noun else f"an entry of {what}"
        fitted = (self.fit(item, shape.item, entry) for item in node.items)
        return Sequence(tuple(item for item in fitted if item is not None), node.line, node.column)

    def _map(self, node: Mapping, shape: MapOf, what: str) -> Node:
        noun = _table_name(shape.value)
        fitted: dict[str, Node | None] = {}
        for key, value in node.entries.items():
            entry = f"{noun} '{shown(key)}'" if noun else f"'{shown(key)}' in {what}"
            fitted[key] = self.fit(value, shape.value, entry)
        return _kept(node, fitted)

    def _table(self, node: Mapping, shape: Table, what: str) -> Node:
        keys = self._tables[shape.name]
        node = self._grammar.rewritten(shape.name, node, self._problems)
        fitted: dict[str, Node | None] = {}
        for key, value in node.entries.items():
            if key in keys:
                at = Scalar(None, node.line_of(key)) if isinstance(keys[key].shape, Later) else value
                fitted[key] = self.fit(at, keys[key].shape, f"'{node.word(key)}'")
            else:
                self._unknown(node, key, shape.name, what)
        for key, each in keys.items():
            if each.required and key not in node.entries:
                self._problems.add(node.line, f"{what} needs '{key}'", each.about)
        return _kept(node, fitted)

    def _unknown(self, node: Mapping, key: str, table: str, what: str) -> None:
        if instead := self._grammar.removed.get(table, {}).get(key):
            self._problems.add(node.line_of(key), f"'{key}' is no longer a key of {what}", instead)
            return
        known = [*available(self._tables[table]), *self._grammar.spellings.get(table, {})]
        others = [name for name, keys in self._tables.items() if key in keys]
        elsewhere = f"it is a key of: {', '.join(others)}" if others else ""
        message = f"unknown key '{shown(key)}' in {what}"
        self._problems.add_unknown(node.line_of(key), message, key, known, else_=elsewhere)

    def _described(self, shape: Shape) -> str:
        match shape:
            case Plain(name=name):
                return name
            case Anything() | Later():
                return "any value"
            case ListOf():
                return "a list"
            case MapOf():
                return "a mapping"
            case Table(name=name):
                return "a mapping ({" + ", ".join([*available(self._tables[name])][:3]) + ", …})"
            case OneOf(shapes=shapes):
                return " or ".join(self._described(each) for each in shapes if each != NOTHING)


def available(table: Dict[str, Key]) -> dict[str, Key]:
    """The keys of a table that this release carries out."""
    return {name: key for name, key in table.items() if not isinstance(key.shape, Later)}


def _alternatives(shape: Shape) -> tuple[Shape, ...]:
    return shape.shapes if isinstance(shape, OneOf) else (shape,)


def _admits(node: Node, shape: Shape) -> bool:
    match shape:
        case Plain(types=types):
            return isinstance(node, Scalar) and type(node.value) in types
        case ListOf():
            return isinstance(node, Sequence)
        case MapOf() | Table():
            return isinstance(node, Mapping)
        case _:
            return True


def _table_name(shape: Shape) -> str:
    """What an entry of this shape is called, if it is (or may be) a mapping with known keys."""
    return next((each.name for each in _alternatives(shape) if isinstance(each, Table)), "")


def _kind(node: Node) -> str:
    match node:
        case Sequence():
            return "a list"
        case Mapping():
            return "a mapping"
        case Scalar(value=None):
            return "nothing"
        case Scalar(value=bool() as value):
            return str(value).lower()
        case Scalar(value=int() | float() as value):
            return f"the number {value}"
        case Scalar(value=value):
            return f"the text '{shown(value)}'"


def _kept(node: Mapping, fitted: dict[str, Node | None]) -> Mapping:
    entries = {key: value for key, value in fitted.items() if value is not None}
    return Mapping(entries, node.line, node.column, node.key_lines, node.words)
