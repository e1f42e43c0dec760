"""Walks a tree against a shape: reports whatever does not belong there and returns the rest.

So later checks see only well-formed parts and still find their own problems in the same pass. Knows no key of the
workflow language.
"""

from __future__ import annotations

from collections.abc import Callable
from collections.abc import Mapping as Dict
from types import MappingProxyType
from typing import NamedTuple

from reconvene.wire.problems import Problems, shown
from reconvene.wire.shapes import (
    Expression,
    Integer,
    Later,
    ListOf,
    MapOf,
    Shape,
    Table,
    Tables,
    Text,
    Word,
    choose,
    describe,
    kind,
    table_name,
    wants_text,
)
from reconvene.wire.yaml_reader import Mapping, Node, Scalar, Sequence


def _as_written(table: str, node: Mapping, problems: Problems) -> Mapping:
    return node


class Grammar(NamedTuple):
    """The tables, and what else may stand in a file: other spellings, rewritten before a table is looked at, and keys
    that were taken out, with what to write instead."""

    tables: Tables
    spellings: Tables = MappingProxyType({})
    rewritten: Callable[[str, Mapping, Problems], Mapping] = _as_written
    removed: Dict[str, Dict[str, str]] = MappingProxyType({})


def fit(node: Node, shape: Shape, what: str, grammar: Grammar, problems: Problems) -> Node | None:
    """The part of `node` that has this shape, or None. `what` names the place in messages."""
    return _Fitting(grammar, problems).fit(node, shape, what)


class _Fitting:
    def __init__(self, grammar: Grammar, problems: Problems) -> None:
        self._grammar = grammar
        self._tables = grammar.tables
        self._problems = problems

    def fit(self, node: Node, shape: Shape, what: str) -> Node | None:
        chosen = choose(node, shape)
        match chosen:
            case None:
                self._wrong(node, shape, what)
                return None
            case Later():
                self._problems.add(node.line, f"{what} is not available in this release", "remove it")
                return None
            case ListOf() if isinstance(node, Sequence):
                return self._list(node, chosen, what)
            case MapOf() if isinstance(node, Mapping):
                return self._map(node, chosen, what)
            case Table() if isinstance(node, Mapping):
                return self._table(node, chosen, what)
            case Word() if isinstance(node, Scalar):
                return self._word(node, chosen, shape, what)
            case Integer() if isinstance(node, Scalar) and isinstance(node.value, int) and node.value < chosen.least:
                self._problems.add(node.line, f"{what} must be at least {chosen.least}, not {node.value}")
                return None
            case Text() | Expression() if isinstance(node, Scalar) and not str(node.value).strip():
                self._problems.add(node.line, f"{what} is empty")
                return None
            case _:
                return node

    def _wrong(self, node: Node, shape: Shape, what: str) -> None:
        message = f"{what} must be {describe(shape, self._tables)}, not {kind(node)}"
        hint = ""
        if isinstance(node, Scalar) and wants_text(shape) and isinstance(node.value, int | float):
            hint = "put it in quotes"
        self._problems.add(node.line, message, hint, column=node.column)

    def _word(self, node: Scalar, word: Word, shape: Shape, what: str) -> Node | None:
        if node.value in word.words:
            return node
        message = f"{what} must be {describe(shape, self._tables)}, not '{shown(node.value)}'"
        self._problems.add_unknown(node.line, message, str(node.value), word.words, column=node.column)
        return None

    def _list(self, node: Sequence, shape: ListOf, what: str) -> Node | None:
        if len(node.items) < shape.least:
            self._problems.add(node.line, f"{what} is empty", "give at least one, or remove the key")
            return None
        noun = table_name(shape.item)
        entry = _with_article(noun) if noun else f"an entry of {what}"
        fitted = (self.fit(item, shape.item, entry) for item in node.items)
        return Sequence(tuple(item for item in fitted if item is not None), node.line, node.column)

    def _map(self, node: Mapping, shape: MapOf, what: str) -> Node:
        noun = table_name(shape.value)
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
        known = [name for name, each in self._tables[table].items() if not isinstance(each.shape, Later)]
        known += self._grammar.spellings.get(table, {})
        self._problems.add_unknown(node.line_of(key), f"unknown key '{shown(key)}' in {what}", key, known)


def _with_article(noun: str) -> str:
    return ("an " if noun[0] in "aeiou" else "a ") + noun


def _kept(node: Mapping, fitted: dict[str, Node | None]) -> Mapping:
    entries = {key: value for key, value in fitted.items() if value is not None}
    return Mapping(entries, node.line, node.column, node.key_lines, node.words)
