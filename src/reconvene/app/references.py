"""Which contents a log names. A content that no event names belongs to no run."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import cache
from typing import Literal, get_args, get_type_hints

from msgspec import Struct

from reconvene.core.facts import events as e

# Fields that are a digest as plain text. Those of `Ref` and `FileOut` are found by their type.
_DIGESTS: dict[type[Struct], tuple[str, ...]] = {
    e.Ref: ("digest",),
    e.FileOut: ("digest",),
    e.RunStarted: ("workflow", "inputs", "settings"),
    e.WorkflowUpgraded: ("before", "workflow", "inputs", "settings"),
    e.AttemptEnded: ("prompt", "rules", "reply", "example"),
    e.ProviderFailed: ("answer", "reply"),
    e.ModelTurned: ("messages", "request", "reply"),
    e.CallAsked: ("arguments", "schema", "refused"),
    e.CallEnded: ("arguments",),
    e.CallRuled: ("arguments", "words"),
    e.MessagesCompacted: ("messages",),
    e.RemarkAdded: ("diff",),
    e.Anchor: ("version",),
    e.DraftSaved: ("fields",),
    e.DecisionRecorded: ("fields",),
    e.ApprovalRecorded: ("fields",),
    e.Child: ("workflow", "inputs", "settings"),
}


def named_in(event: e.AnyEvent) -> Iterator[str]:
    """The digests of the contents that this event names."""
    return _named(event)


def named_by(events: Iterable[e.AnyEvent]) -> set[str]:
    return {digest for event in events for digest in _named(event)}


def sizes_in(events: Iterable[e.AnyEvent]) -> Iterator[tuple[str, int]]:
    """Of contents whose size an event says: the digest and that."""
    todo: list[object] = list(events)
    while todo:
        value = todo.pop()
        if isinstance(value, e.Ref | e.FileOut):
            if value.digest and value.size:
                yield value.digest, value.size
        elif isinstance(value, tuple):
            todo += value
        elif isinstance(value, Struct):
            todo += (getattr(value, name) for name in _with_structs(type(value)))


def _named(value: object) -> Iterator[str]:
    if isinstance(value, tuple):
        for each in value:
            yield from _named(each)
    elif isinstance(value, Struct):
        for name in _DIGESTS.get(type(value), ()):
            if digest := getattr(value, name):
                yield digest
        for name in _with_structs(type(value)):
            yield from _named(getattr(value, name))


@cache
def _with_structs(kind: type[Struct]) -> tuple[str, ...]:
    """The fields whose values may hold structs."""
    hints = get_type_hints(kind)
    return tuple(name for name in kind.__struct_fields__ if _any(hints[name], lambda one: issubclass(one, Struct)))


def _any(hint: object, test: Callable[[type], bool]) -> bool:
    if isinstance(hint, type) and not get_args(hint):
        return test(hint)
    return any(_any(each, test) for each in get_args(hint) if each not in (..., None) and hint is not Literal)
