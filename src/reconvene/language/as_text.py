"""Values as templates meet them: null, maps that fill up, methods, and how a value looks in a document, with a bound on
how much text it makes. It must not know templates, scopes or Jinja: most templates are filled in without it.
"""

from __future__ import annotations

import json
from collections.abc import Collection, Iterable, Iterator, Mapping

CAP = 5_000_000
# What a template may call on a value of each kind.
METHODS: dict[str, frozenset[str]] = {
    "record": frozenset(("items", "keys", "values", "get")),
    "list": frozenset(("index", "count")),
    "text": frozenset(
        ("upper", "lower", "title", "capitalize", "strip", "lstrip", "rstrip", "split", "rsplit", "splitlines", "find",
         "startswith", "endswith", "removeprefix", "removesuffix", "count", "isdigit", "isalpha", "isspace")
    ),
}  # fmt: skip


class TemplateLimit(Exception):
    """Something would grow beyond its bound."""


class Null:
    """Null as templates meet it: empty, equal to null, in no order with anything. A value that is not written yet is
    null, and so are its parts."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True if is_null(other) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return False if is_null(other) else NotImplemented

    def __hash__(self) -> int:
        return hash(None)

    def __len__(self) -> int:
        return 0

    def __iter__(self) -> Iterator[object]:
        return iter(())

    def __lt__(self, other: object) -> bool:
        return False

    __gt__ = __le__ = __ge__ = __lt__


NULL = Null()


def is_null(value: object) -> bool:
    return value is None or isinstance(value, Null)


class Growing(dict[str, object]):
    """A map that fills up while the run goes on: what is not in it yet is null. Of every other map a name that is
    missing is an error; the names of these were checked when the workflow was loaded.

    `coming`: the names that may come; None = any."""

    def __init__(self, values: Mapping[str, object] | None = None, coming: Collection[str] | None = None) -> None:
        super().__init__(values or {})
        self.coming = coming

    def is_to_come(self, name: object) -> bool:
        return name not in self and (self.coming is None or str(name) in self.coming)


def shown(value: object) -> str:
    """A value as a reader meets it: nothing for null, true/false, JSON for lists and objects."""
    match value:
        case str():
            return str(value)
        case None | Null():
            return ""
        case bool():
            return "true" if value else "false"
        case Mapping() | list() | tuple():
            return as_json(value)
        case int() | float():
            return str(value)
    if type(value).__module__ == "builtins" and isinstance(value, Iterable):  # what a filter gives bit by bit
        return as_json(list(value))
    if not str(value):  # what an `if` without `else` gives; a missing name says so here
        return ""
    raise ValueError(f"a {type(value).__name__} cannot be shown; only values can")


def as_json(value: object, indent: int | None = None) -> str:
    measure(value, "json")
    return json.dumps(value, ensure_ascii=False, indent=indent if indent is None else min(indent, 8), default=_plain)


def measure(value: object, name: str) -> None:
    """A list that holds another one twice, which holds a third one twice, is short, and its text is not."""
    size = 0
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, str):
            size += len(each)
        elif isinstance(each, Mapping):
            size += 4 * len(each)
            waiting += each.values()
        elif isinstance(each, list | tuple):
            size += 2 * len(each)
            waiting += each
        bound(size, name)


def _plain(value: object) -> object:
    if isinstance(value, Null):
        return None
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, Iterable):
        return list(value)
    raise TypeError(f"a {type(value).__name__} cannot be shown")


def bound(size: int, name: str) -> None:
    if size > CAP:
        raise TemplateLimit(f"'{name}' would make more than {CAP // 1_000_000} MB of text")
