"""What the loop of a model over its tools records: each turn, each call, where it stops, and what was shortened."""

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


LoopCommand = RecordTurn | StartCall | EndCall | DeferCalls | CompactMessages
