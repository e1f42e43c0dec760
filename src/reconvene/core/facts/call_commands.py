"""What is asked of a run where agents use tools. `commands` has these with all others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from reconvene.core.facts.events import CallAsked, FileOut, Ref, Usage


class RecordTurn(Struct, frozen=True):
    """A model answered within an attempt. Whom its calls need is settled by `handle`: their `why` is not read."""

    task: str
    attempt: int
    turn: int
    messages: str
    calls: tuple[CallAsked, ...] = ()
    of: Mapping[str, str] = field(default_factory=dict)  # call → the entry of `tools` that brought its tool
    usage: Usage = field(default_factory=Usage)
    request: str = ""
    reply: str = ""
    said: str = ""


class StartCall(Struct, frozen=True):
    task: str
    attempt: int
    call: str


class EndCall(Struct, frozen=True):
    task: str
    attempt: int
    call: str
    outcome: Literal["done", "failed", "refused", "answered"]
    result: Ref
    files: tuple[FileOut, ...] = ()
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)
    sandbox: str = ""
    doubt: bool = False


class DeferCalls(Struct, frozen=True):
    """The attempt stops here: all its calls that do not wait for a person are made."""

    task: str
    attempt: int


class CompactMessages(Struct, frozen=True):
    task: str
    attempt: int
    turn: int
    messages: str
    why: str


class DisallowTool(Struct, frozen=True):
    """Ask again about calls that were allowed for good."""

    id: str
    by: str = ""
    door: str = ""


class RecordToolPages(Struct, frozen=True):
    """A page for each tool that agents of the run have (`each: tools`)."""

    files: tuple[FileOut, ...]
