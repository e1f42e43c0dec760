"""The nodes of a JavaScript tree. They say what stands there, in the order in which it stands there, and no more.

Where a value is bound, the pattern is what it would be as an expression: `{a, b: [c] = d, ...e}` is an object.
"""

from __future__ import annotations

from msgspec import Struct


class Node(Struct, frozen=True):
    """Any of these."""


class Name(Node, frozen=True):
    text: str


class Atom(Node, frozen=True):
    """Something that no name leads to: a regular expression, `this`, `super`, `new.target`."""

    text: str


class Literal(Node, frozen=True):
    """A constant; null is None. Not exact: any number stands for a number, a text has escapes that are not read."""

    value: str | int | bool | None = None
    exact: bool = True


class Member(Node, frozen=True):
    of: Node
    name: str


class Index(Node, frozen=True):
    of: Node
    at: Node


class Call(Node, frozen=True):
    of: Node
    arguments: tuple[Node, ...]


class Function(Node, frozen=True):
    parameters: tuple[Node, ...]
    body: Node
    arrow: bool = False


class Object(Node, frozen=True):
    """Key None: all members of the value (`...value`), or a text with escapes; a node: what computes it."""

    members: tuple[tuple[str | Node | None, Node], ...]


class Array(Node, frozen=True):
    items: tuple[Node, ...]


class Spread(Node, frozen=True):
    of: Node


class Choice(Node, frozen=True):
    test: Node
    then: Node
    other: Node


class Operation(Node, frozen=True):
    """An operator and what it works on. Sign "`" = a template literal, "=" = any assignment."""

    sign: str
    parts: tuple[Node, ...]


class Declaration(Node, frozen=True):
    pattern: Node
    value: Node


class Loop(Node, frozen=True):
    """`for (pattern of value) body`; keys: `in` instead of `of`."""

    pattern: Node
    value: Node
    body: Node
    keys: bool


class Return(Node, frozen=True):
    value: Node


class Block(Node, frozen=True):
    statements: tuple[Node, ...]
