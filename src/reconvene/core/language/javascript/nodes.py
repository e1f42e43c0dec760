"""The nodes of a JavaScript tree. They say what stands there, in the order in which it stands there, and no more."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Name:
    text: str


@dataclass(frozen=True, slots=True)
class Literal:
    """A constant; None also stands for null, and for a text or a regular expression that is not read further."""

    value: str | int | float | bool | None = None
    plain: bool = True  # False: some value that is not looked at any further


@dataclass(frozen=True, slots=True)
class Member:
    of: Node
    name: str


@dataclass(frozen=True, slots=True)
class Index:
    of: Node
    at: Node


@dataclass(frozen=True, slots=True)
class Call:
    of: Node
    arguments: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Function:
    parameters: tuple[Pattern, ...]
    body: Node


@dataclass(frozen=True, slots=True)
class Object:
    """Key None: a key that is computed, or all members of the value (`...value`)."""

    members: tuple[tuple[str | None, Node], ...]


@dataclass(frozen=True, slots=True)
class Array:
    items: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Spread:
    of: Node


@dataclass(frozen=True, slots=True)
class Choice:
    test: Node
    then: Node
    other: Node


@dataclass(frozen=True, slots=True)
class Operation:
    """An operator and what it works on. Sign "`" = a template literal, "=" = any assignment, "" = several in turn."""

    sign: str
    parts: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Declaration:
    pattern: Pattern
    value: Node


@dataclass(frozen=True, slots=True)
class Loop:
    """`for (pattern of value) body`; keys: `in` instead of `of`."""

    pattern: Pattern
    value: Node
    body: Node
    keys: bool


@dataclass(frozen=True, slots=True)
class Return:
    value: Node


@dataclass(frozen=True, slots=True)
class Block:
    statements: tuple[Node, ...]


Node = (
    Name
    | Literal
    | Member
    | Index
    | Call
    | Function
    | Object
    | Array
    | Spread
    | Choice
    | Operation
    | Declaration
    | Loop
    | Return
    | Block
)


@dataclass(frozen=True, slots=True)
class Bound:
    """A name, or with `parts` what is taken apart: by key (texts), or by position (None)."""

    name: str = ""
    default: Node | None = None
    parts: tuple[tuple[str | None, Bound], ...] = ()
    rest: bool = False
    by_key: bool = False


Pattern = Bound
