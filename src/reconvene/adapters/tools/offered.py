"""One tool and what carries it out, and how its arguments are described. Knows no tool."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple, Protocol, TypeVar

from reconvene.tool_ports import ToolInfo, ToolResult

Arguments = Mapping[str, object]
_Any = TypeVar("_Any")


class Entry(Protocol):
    """An entry of an agent's `tools:`."""

    @property
    def name(self) -> str: ...

    @property
    def options(self) -> Mapping[str, object]: ...


class Offered(NamedTuple):
    info: ToolInfo
    carry_out: Callable[[Arguments], Awaitable[ToolResult]]  # its arguments fit the schema


class ToolFailed(Exception):
    """A call that cannot be carried out. The message is for the model. `unknown`: it may have had its effect."""

    def __init__(self, message: str, *, unknown: bool = False) -> None:
        super().__init__(message)
        self.unknown = unknown


class Brought(NamedTuple):
    """What an entry of `tools:` brings. `left_out`: names of tools that it would bring elsewhere → why not here. A name
    that ends in `*` stands for all that begin so. `expected`: of these the person need not be told."""

    tools: tuple[Offered, ...] = ()
    left_out: Mapping[str, str] = {}
    expected: bool = False


async def in_thread(function: Callable[..., _Any], *given: object) -> _Any:
    """What is cancelled meanwhile is over all the same when this returns: a thread cannot be ended, only waited for."""
    work = asyncio.ensure_future(asyncio.to_thread(function, *given))
    try:
        return await asyncio.shield(work)
    except asyncio.CancelledError:
        await asyncio.wait([work])
        raise


def takes(*required: str, **properties: dict[str, object]) -> dict[str, object]:
    """The schema of arguments."""
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def text(about: str, example: str, *, least: int = 0, most: int = 0) -> dict[str, object]:
    found: dict[str, object] = {"type": "string", "description": about, "examples": [example]}
    return found | ({"minLength": least} if least else {}) | ({"maxLength": most} if most else {})


def whole(about: str, example: int, *, least: int = 1, most: int = 0) -> dict[str, object]:
    found: dict[str, object] = {"type": "integer", "description": about, "examples": [example], "minimum": least}
    return found | ({"maximum": most} if most else {})


def flag(about: str) -> dict[str, object]:
    return {"type": "boolean", "description": about, "examples": [True]}


def number(arguments: Arguments, name: str, usual: int) -> int:
    found = arguments.get(name, usual)
    return int(found) if isinstance(found, int | float) else usual  # 5.0 is a whole number to a schema


def word(arguments: Arguments, name: str) -> str:
    return str(arguments.get(name, ""))
