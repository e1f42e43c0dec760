"""The values of every item of every `each`, gathered: what templates and expressions see as `items`.

A value that lives in an `each` is otherwise seen only while its item is worked on. Keys come from agents: whatever they
look like, this only ever builds nested maps of them.
"""

from __future__ import annotations

import re

from reconvene.core.book import Book
from reconvene.core.growing import Growing
from reconvene.core.scope import load_value
from reconvene.core.state import RunState

_PART = re.compile(r"([\w-]+)\[(.*?)\](?:/|$)")


def items(state: RunState, book: Book) -> dict[str, object]:
    """`items.<phase>.<key>.<value>`, and `items.<phase>.<key>.<inner phase>.<key>.<value>` for loops within loops."""
    found = Growing()
    for place in sorted(state.world.values):
        path, _, name = place.rpartition(":")
        if path:
            _within(found, path)[name] = load_value(book, state.world.values[place])
    return found


def _within(whole: dict[str, object], path: str) -> dict[str, object]:
    for part in _PART.finditer(path):
        for key in part.groups():
            inner = whole.setdefault(key, Growing())
            if not isinstance(inner, dict):  # a value has the name of a phase inside its item: the phase wins
                inner = whole[key] = Growing()
            whole = inner
    return whole
