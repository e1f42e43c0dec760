"""What a value may look like, as data: one description serves the loader and the editors' JSON Schema.

Knows no key of the workflow language.
"""

from __future__ import annotations

from collections.abc import Mapping as Dict
from dataclasses import dataclass
from typing import assert_never

from reconvene.wire.problems import shown
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, Sequence


@dataclass(frozen=True, slots=True)
class Text:
    """Any text that is not empty."""


@dataclass(frozen=True, slots=True)
class Expression:
    """JavaScript source. `true`, `false` and numbers are expressions too."""


@dataclass(frozen=True, slots=True)
class Word:
    """One of these words."""

    words: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Integer:
    least: int = 0


@dataclass(frozen=True, slots=True)
class Number:
    pass


@dataclass(frozen=True, slots=True)
class Flag:
    pass


@dataclass(frozen=True, slots=True)
class Nothing:
    """The key stands there without a value."""


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


Shape = Text | Expression | Word | Integer | Number | Flag | Nothing | Anything | ListOf | MapOf | Table | OneOf | Later


@dataclass(frozen=True, slots=True)
class Key:
    shape: Shape
    about: str = ""
    required: bool = False


Tables = Dict[str, Dict[str, Key]]


def one_of(*shapes: Shape) -> OneOf:
    return OneOf(shapes)


def choose(node: Node, shape: Shape) -> Shape | None:
    """The alternative this value can only mean."""
    if not isinstance(shape, OneOf):
        return shape if _admits(node, shape) else None
    return next((each for each in shape.shapes if _admits(node, each)), None)


def _admits(node: Node, shape: Shape) -> bool:
    match shape:
        case Anything() | Later():
            return True
        case ListOf():
            return isinstance(node, Sequence)
        case MapOf() | Table():
            return isinstance(node, Mapping)
        case OneOf(shapes=shapes):
            return any(_admits(node, each) for each in shapes)
        case Text() | Word() | Expression() | Integer() | Number() | Flag() | Nothing():
            return isinstance(node, Scalar) and _admits_scalar(node.value, shape)
        case _:
            assert_never(shape)


def _admits_scalar(value: object, shape: Text | Word | Expression | Integer | Number | Flag | Nothing) -> bool:
    match shape:
        case Text() | Word():
            return isinstance(value, str)
        case Expression():
            return value is not None
        case Integer():
            return isinstance(value, int) and not isinstance(value, bool)
        case Number():
            return isinstance(value, int | float) and not isinstance(value, bool)
        case Flag():
            return isinstance(value, bool)
        case Nothing():
            return value is None
        case _:
            assert_never(shape)


def wants_text(shape: Shape) -> bool:
    if isinstance(shape, OneOf):
        return any(wants_text(each) for each in shape.shapes)
    return isinstance(shape, Text | Word)


def table_name(shape: Shape) -> str:
    """What an entry of this shape is called, if it is (or may be) a mapping with known keys."""
    match shape:
        case Table(name=name):
            return name
        case OneOf(shapes=shapes):
            return next((name for name in map(table_name, shapes) if name), "")
        case _:
            return ""


def describe(shape: Shape, tables: Tables) -> str:
    match shape:
        case Text():
            return "text"
        case Expression():
            return "an expression"
        case Word(words=words):
            return " or ".join(words)
        case Integer():
            return "a whole number"
        case Number():
            return "a number"
        case Flag():
            return "true or false"
        case Nothing():
            return "nothing"
        case Anything() | Later():
            return "any value"
        case ListOf():
            return "a list"
        case MapOf():
            return "a mapping"
        case Table(name=name):
            some = [key for key, each in tables[name].items() if not isinstance(each.shape, Later)][:3]
            return "a mapping ({" + ", ".join(some) + ", …})"
        case OneOf(shapes=shapes):
            return " or ".join(describe(each, tables) for each in shapes if not isinstance(each, Nothing))
        case _:
            assert_never(shape)


def kind(node: Node) -> str:
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
        case _:
            assert_never(node)
