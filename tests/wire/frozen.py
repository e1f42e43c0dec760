"""The stored formats, written down: every struct with its fields, types and defaults, and a sample that sets them all.

`python -m tests.wire.frozen` adds those of the current versions to tests/golden/wire/. It never changes a file that is
there: what a release has written is read for ever. While no release has a version, its file may be deleted and made
again.
"""

from __future__ import annotations

import json
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Literal, NamedTuple, Union, get_args, get_origin

import msgspec
from immutables import Map
from msgspec import NODEFAULT, Struct
from msgspec.structs import FieldInfo, fields

from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.events import AnyEvent
from reconvene.core.facts.state import EVOLVE_VERSION, RunState
from reconvene.kits.gaps.records import Book
from reconvene.wire import event_json as events
from reconvene.wire import pins

FOLDER = Path(__file__).parents[1] / "golden" / "wire"
COMMAND = "python -m tests.wire.frozen"


class Format(NamedTuple):
    """`sample` gives one value with every field set; None = only the shape is kept."""

    name: str
    version: int
    root: object
    sample: Callable[[], object] | None
    how: str  # where the steps are written down
    may_grow: bool = False  # a new field with a default is no change: its reader passes over what it does not know

    elsewhere: object = None  # what this format shares with another one, under whose version it is kept

    @property
    def shape(self) -> dict[str, dict[str, str]]:
        known = {cls.__name__ for cls in structs(self.elsewhere)}
        return {name: found for name, found in shape(self.root).items() if name not in known}

    @property
    def file(self) -> Path:
        return FOLDER / f"{self.name}.v{self.version}.json"


FORMATS = (
    Format("pins", pins.VERSION, Workflow, lambda: full(Workflow), "the head of wire/pins.py"),
    Format("events", events.VERSION, AnyEvent, lambda: every_event(), "the head of wire/event_json.py"),
    # The value in which a run keeps its gaps. It has no version of its own: workflows read it as they read any value.
    Format("gaps", 2, Book, None, "let `opened` in kits/gaps/records.py read the old form too", may_grow=True),
    # A snapshot's key holds the version of the events, too: what the state keeps of them has no version of its own.
    Format("state", EVOLVE_VERSION, RunState, None, "beside EVOLVE_VERSION in core/facts/state.py", elsewhere=AnyEvent),
)


def frozen(format: Format) -> dict[str, object]:
    found: dict[str, object] = {"structs": format.shape}
    if format.sample is not None:
        found["sample"] = as_json(format.sample())
    return found


def as_json(value: object) -> object:
    return msgspec.json.decode(msgspec.json.encode(value))


# --- the shape ---


def structs(kind: object) -> list[type[Struct]]:
    """Every struct that a value of this type may hold, each once, in the order in which they are met."""
    found: dict[type[Struct], None] = {}

    def walk(kind: object) -> None:
        if isinstance(kind, type) and issubclass(kind, Struct) and kind not in found:
            found[kind] = None
            for field in fields(kind):
                walk(field.type)
        for inner in get_args(kind):
            walk(inner)

    walk(kind)
    return list(found)


def shape(kind: object) -> dict[str, dict[str, str]]:
    """Struct → encoded field name → type and default, as text."""
    found: dict[str, dict[str, str]] = {}
    for cls in structs(kind):
        config = cls.__struct_config__
        assert cls.__name__ not in found, f"two structs are called {cls.__name__}"
        found[cls.__name__] = {"(tag)": f"{config.tag_field} = {config.tag}"} if config.tag is not None else {}
        found[cls.__name__] |= {field.encode_name: spelled(field.type) + _default(field) for field in fields(cls)}
    return found


def spelled(kind: object) -> str:
    """A type in words that do not depend on where it was imported from."""
    inner, origin = get_args(kind), get_origin(kind)
    if origin is Literal:
        return "one of " + ", ".join(sorted(map(repr, inner)))
    if _is_union(kind):
        return " | ".join(spelled(one) for one in inner)
    if origin is not None:
        name = "Map" if origin is Map else origin.__name__
        return f"{name}[{', '.join('...' if one is Ellipsis else spelled(one) for one in inner)}]"
    return "None" if kind is type(None) else kind.__name__ if isinstance(kind, type) else str(kind)


def _default(field: FieldInfo) -> str:
    factory = field.default_factory
    value = field.default if factory is NODEFAULT else factory()
    return "" if value is NODEFAULT else f" = {_plain(value)}"


def _plain(value: object) -> str:
    """A struct by its name and what in it is not at its own default, anything else as JSON."""
    if isinstance(value, Struct):
        own = [(field, f" = {_plain(getattr(value, field.name))}") for field in fields(value)]
        other = [field.encode_name + now for field, now in own if now != _default(field)]
        return f"{type(value).__name__}({', '.join(other)})"
    return json.dumps(dict(value.items()) if isinstance(value, Map) else msgspec.to_builtins(value))


# --- a sample ---


def full(kind: object, name: str = "it", default: object = NODEFAULT, variant: int = 0, above: int = 0) -> object:
    """A value of this type in which every field differs from its default."""
    inner, origin = get_args(kind), get_origin(kind)
    if isinstance(kind, type) and issubclass(kind, Struct):
        return kind(**{field.name: _filled(kind, field, variant, above) for field in fields(kind)})
    if origin is Literal:
        return next(one for one in reversed(inner) if one != default)
    if _is_union(kind):
        members = [one for one in inner if one is not type(None)]
        return full(members[variant % len(members)], name, default, variant, above)
    if origin is tuple:
        return tuple(full(inner[0], name, variant=at, above=above) for at in range(_variants(inner[0])))
    if origin is dict:
        return {f"{name} {at}": full(inner[1], name, variant=at, above=above) for at in range(_variants(inner[1]))}
    samples: dict[object, object] = {str: f"some {name}", int: 7, float: 7.5, object: {name: [1, "two", None]}}
    return not default if kind is bool else samples[kind]


def every_event() -> list[object]:
    return [full(cls, variant=at) for cls in events.EVENT_TYPES for at in range(_variants(cls))]


def _filled(kind: type[Struct], field: FieldInfo, variant: int, above: int) -> object:
    recursive = kind in structs(field.type)
    if recursive and above:
        return field.default  # phases inside phases: one level says it all
    return full(field.type, field.name, field.default, variant, above + recursive)


def _variants(kind: object) -> int:
    """How many are needed to show every member of a union in it."""
    unions = [field.type for field in fields(kind) if _is_union(field.type)] if kind in structs(kind) else []
    return max([len([one for one in get_args(union) if one is not type(None)]) for union in unions], default=1)


def _is_union(kind: object) -> bool:
    return get_origin(kind) in (Union, types.UnionType)


# --- where structs are in encoded data ---


def objects(kind: object, data: object) -> Iterator[tuple[type[Struct], dict[str, object]]]:
    """Every JSON object inside `data` that is a struct: not those that a workflow's author fills as they like."""
    inner, origin = get_args(kind), get_origin(kind)
    if isinstance(kind, type) and issubclass(kind, Struct) and isinstance(data, dict):
        yield kind, data
        for field in fields(kind):
            yield from objects(field.type, data.get(field.encode_name))
    elif _is_union(kind):
        yield from objects(_member(inner, data), data)
    elif origin in (tuple, list) and isinstance(data, list):
        for item in data:
            yield from objects(inner[0], item)
    elif origin is dict and isinstance(data, dict):
        for item in data.values():
            yield from objects(inner[1], item)


def _member(members: tuple[object, ...], data: object) -> object:
    """Of a tagged union the one with the tag; else the only one that is not None."""
    tagged = [one for one in members if isinstance(one, type) and issubclass(one, Struct) and one.__struct_config__.tag]
    if isinstance(data, dict) and tagged:
        return next(one for one in tagged if data[one.__struct_config__.tag_field] == one.__struct_config__.tag)
    return next((one for one in members if one is not type(None)), None) if data is not None else None


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for format in FORMATS:
        if format.file.exists():
            print(f"there already: {format.file.name}")
        else:
            format.file.write_text(json.dumps(frozen(format), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
            print(f"added: {format.file.name}")


if __name__ == "__main__":
    main()
