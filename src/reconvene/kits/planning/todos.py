"""`todos.yaml`: a list of to-dos, each with an id and a text, in an order in which each can be done.

```yaml
- {id: load, text: Load the figures of 2024 into a table}
- {id: compare, text: Compare them with the contracts, after: [load]}
```
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache

from msgspec import Struct

from reconvene.errors import WorkflowError
from reconvene.language.entries import ListEntry
from reconvene.wire.yaml_reader import Mapping, Scalar, Sequence, plain, read_yaml

FILE = "todos.yaml"
KEPT = "todos/phase_*.yaml"  # the lists that were worked off
MOST = 200
_ID = re.compile(r"[\w][\w.-]{0,60}")


class Todo(Struct, frozen=True):
    """`after`: what has to be done before it. `done`: it was, when the list was written."""

    id: str
    text: str
    after: tuple[str, ...] = ()
    done: bool = False


class WrongList(Exception):
    """The list cannot be worked off. The message says why, with the line."""


def read(text: str) -> tuple[Todo, ...]:
    """In an order in which each comes after what it needs; otherwise as they are written."""
    if all(not line.strip() or line.lstrip().startswith("#") for line in text.splitlines()):
        return ()
    try:
        root = read_yaml(text, FILE)
    except WorkflowError as error:
        raise WrongList(str(error)) from None
    if isinstance(root, Mapping):
        found = root.get("todos")
        root = found if found is not None else root
    if isinstance(root, Scalar) and root.value is None:
        return ()
    if not isinstance(root, Sequence):
        raise WrongList(f"{FILE}, line {root.line}: it should be a list of to-dos, each {{id, text}}")
    if len(root.items) > MOST:
        many = f"{FILE}: {len(root.items)} to-dos are too many for one phase; at most {MOST}"
        raise WrongList(f"{many}. Keep the first ones, and plan the rest when these are done")
    return _in_order([_todo(item, number) for number, item in enumerate(root.items, 1)])


def lines_of(text: str, name: str) -> tuple[int, int]:
    """The lines on which the to-do with this id stands, the first line being 1. WrongList where there is none."""
    read(text)  # what cannot be worked off is said first
    there = {todo.id: lines for todo, lines in _with_lines(text)}
    if name not in there:
        raise WrongList(f"{FILE} has no to-do {name!r}; there is: {', '.join(there) or 'none'}")
    return there[name]


@lru_cache(maxsize=64)
def entries(text: str) -> tuple[ListEntry, ...]:
    """The to-dos for comments on them. A number is no id: it is another to-do's in the next list."""
    try:
        return tuple(
            ListEntry(_identity(todo), first, last, " ".join((todo.text, *sorted(todo.after))))
            for todo, (first, last) in _with_lines(text)
        )
    except (WrongList, WorkflowError):
        return ()


def _identity(todo: Todo) -> str:
    return todo.text if todo.id.isdigit() else todo.id


def _with_lines(text: str) -> Iterator[tuple[Todo, tuple[int, int]]]:
    """As they are written."""
    root = read_yaml(text, FILE) if text.strip() else None
    if isinstance(root, Mapping):
        root = root.get("todos")
    items = root.items if isinstance(root, Sequence) else ()
    lines = text.split("\n")
    for number, item in enumerate(items, 1):
        last = items[number].line - 1 if number < len(items) else len(lines)
        while last > item.line and not lines[last - 1].strip():
            last -= 1
        yield _todo(item, number), (item.line, last)


def _todo(item: Scalar | Sequence | Mapping, number: int) -> Todo:
    where = f"{FILE}, line {item.line}"
    if isinstance(item, Scalar):
        return Todo(str(number), _text(item.value, where))
    if not isinstance(item, Mapping):
        raise WrongList(f"{where}: a to-do is {{id, text}}, or a line of text")
    given = plain(item)
    assert isinstance(given, dict)
    written = given.get("id")
    name = str(number if written is None or written == "" else written)
    if not _ID.fullmatch(name):
        raise WrongList(f"{where}: {name[:60]!r} cannot be an id; use letters, digits, '-', '_' and '.'")
    after = given.get("after") or given.get("depends_on") or []
    named = tuple(str(one) for one in (after if isinstance(after, list) else [after]))
    state = str(given.get("status") or "").lower()
    done = given.get("done") is True or state in ("done", "completed")
    return Todo(name, _text(given.get("text") or given.get("title") or given.get("content"), where), named, done)


def _text(value: object, where: str) -> str:
    if not isinstance(value, str | int | float) or not str(value).strip():
        raise WrongList(f"{where}: a to-do needs a text that says what to do")
    return str(value).strip()


def _in_order(todos: list[Todo]) -> tuple[Todo, ...]:
    ids = [todo.id for todo in todos]
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise WrongList(f"{FILE}: two to-dos have the id {', '.join(twice)}")
    unknown = sorted({name for todo in todos for name in todo.after} - set(ids))
    if unknown:
        raise WrongList(f"{FILE}: 'after' names {', '.join(unknown)}, and there is no such to-do")
    ordered: list[Todo] = []
    left = list(todos)
    while left:
        there = {todo.id for todo in ordered}
        due = next((todo for todo in left if there.issuperset(todo.after)), None)
        if due is None:
            own = next((todo.id for todo in left if todo.id in todo.after), "")
            wrong = f"{own} waits for itself" if own else f"{_circle(left)} wait for each other"
            raise WrongList(f"{FILE}: {wrong}")
        ordered.append(due)
        left.remove(due)
    return tuple(ordered)


def _circle(left: list[Todo]) -> str:
    """Those that really go round, and not what only waits for them."""
    waits = {todo.id: todo.after for todo in left}
    at, seen = left[0].id, list[str]()
    while at not in seen:
        seen.append(at)
        at = next(name for name in waits[at] if name in waits)
    return ", ".join(sorted(seen[seen.index(at) :]))
