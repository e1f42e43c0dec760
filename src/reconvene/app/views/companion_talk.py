"""The conversation with the companion as the log has it, and what its model used."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal

from msgspec import Struct

from reconvene.core.facts.events import AnyEvent, CompanionSaid, Usage
from reconvene.core.facts.state import RunState


class Used(Struct, frozen=True, omit_defaults=True):
    """A tool that the companion used."""

    tool: str
    arguments: str
    result: str = ""
    failed: bool = False


class Proposed(Struct, frozen=True, omit_defaults=True):
    """Of an edit, `before` is the digest of the file that was looked at, `after` its new text."""

    kind: Literal["remark", "edit"]
    text: str
    path: str = ""
    lines: str = ""
    before: str = ""
    after: str = ""


class Said(Struct, frozen=True, omit_defaults=True):
    """An entry of the conversation. `event`: its number in the log, 0 = it is in none yet."""

    role: Literal["person", "companion"]
    text: str
    number: int = 0
    at: str = ""
    by: str = ""
    door: str = ""
    stage: str = ""
    answers: int = 0
    cites: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # what it cites and is not there
    tools: tuple[Used, ...] = ()
    proposals: tuple[Proposed, ...] = ()
    usage: Usage = Usage()
    fault: str = ""
    event: int = 0


class Spent(Struct, frozen=True):
    """What the conversation took: no part of what the agents cost."""

    said: int
    input_tokens: int
    output_tokens: int
    cost: float


def entries(events: Iterable[tuple[int, AnyEvent]], read: Callable[[str], bytes]) -> list[Said]:
    return [said(seq, event, read) for seq, event in events if isinstance(event, CompanionSaid)]


def said(seq: int, event: CompanionSaid, read: Callable[[str], bytes]) -> Said:
    def text(digest: str) -> str:
        return read(digest).decode("utf-8", "replace") if digest else ""

    return Said(
        event.role,
        text(event.text.digest),
        event.number,
        event.said or event.at,
        event.by,
        event.door,
        event.stage,
        event.answers,
        event.cites,
        event.unknown,
        tuple(Used(one.tool, text(one.arguments), text(one.result), one.failed) for one in event.tools),
        tuple(
            Proposed(one.kind, text(one.text), one.path, one.lines, one.before, text(one.after))
            for one in event.proposals
        ),
        event.usage,
        event.fault,
        seq,
    )


def spent(state: RunState) -> Spent | None:
    """None where nobody has talked with it."""
    found = state.record.companion
    used = Spent(found.said, found.input_tokens, found.output_tokens, round(found.cost, 6))
    return used if found.said else None
