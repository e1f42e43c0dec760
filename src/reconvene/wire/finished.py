"""What an agent finished, as a file: the attempt's end and the contents that it names, until the log has them.

The first line is the digest of the rest, so a torn file is never taken for a whole one. The next process reads it,
perhaps of another release: what does not fit is no output, and is said.
"""

from __future__ import annotations

import msgspec
from msgspec import Struct

from reconvene.core.facts.commands import RecordAttempt
from reconvene.core.facts.ids import digest_of

_VERSION = 1


class _Document(Struct, frozen=True):
    version: int
    run: str
    attempt: RecordAttempt
    contents: tuple[bytes, ...]


class Finished(Struct, frozen=True):
    attempt: RecordAttempt
    contents: dict[str, bytes]


def encode(run: str, attempt: RecordAttempt, contents: dict[str, bytes]) -> bytes:
    body = msgspec.msgpack.encode(_Document(_VERSION, run, attempt, tuple(contents.values())))
    return digest_of(body).encode() + b"\n" + body


def decode(run: str, data: bytes) -> Finished | str:
    """Or why it cannot be used."""
    digest, _, body = data.partition(b"\n")
    if digest_of(body).encode() != digest:
        return "it is damaged: its content is not what its digest says"
    try:
        found = msgspec.msgpack.decode(body, type=_Document)
    except msgspec.DecodeError as error:
        return f"another release wrote it ({error})"
    if found.version != _VERSION:
        return f"another release wrote it (version {found.version})"
    if found.run != run:
        return f"it is of run {found.run}"
    return Finished(found.attempt, {digest_of(one): one for one in found.contents})
