"""What an agent was sent, on record: the rules once for all, a short text in the event, a long one by its digest."""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Protocol

from msgspec import Struct

from reconvene.core.facts.ids import digest_of

_SHORT = 1024  # bytes: a content of its own costs a step more than these in its event


class OnRecord(Protocol):
    """Of the event of an attempt, and of its view."""

    @property
    def rules(self) -> str: ...
    @property
    def asked(self) -> str: ...
    @property
    def prompt(self) -> str: ...


class Sent(Struct, frozen=True):
    rules: str
    asked: str
    prompt: str
    contents: dict[str, bytes]  # by digest


def kept(rules: str, request: bytes) -> Sent:
    """`request`: as really sent, secrets redacted. It may begin with the rules."""
    head, of_rules = _head(rules)
    if not rules or not request.startswith(head):
        digest = digest_of(request)
        return Sent("", "", digest, {digest: request})
    rest = request[len(head) :]
    try:
        short = rest.decode() if len(rest) <= _SHORT else None
    except UnicodeDecodeError:  # as a text it would not be the same bytes
        short = None
    if short is not None:
        return Sent(of_rules, short, "", {of_rules: head})
    digest = digest_of(rest)
    return Sent(of_rules, "", digest, {of_rules: head, digest: rest})


@lru_cache(maxsize=4)
def _head(rules: str) -> tuple[bytes, str]:
    data = f"{rules}\n\n".encode()
    return data, digest_of(data)


def whole(event: OnRecord, read: Callable[[str], bytes]) -> bytes:
    """The request again; b"" where there was none."""
    head, text = (read(digest) if digest else b"" for digest in (event.rules, event.prompt))
    return head + (text or event.asked.encode())
