"""The chain over the appends of a run: each has a value that follows from all before it. Read for ever.

    link  = SHA-256(mark, value before, length of the id, seq, whether packed, id of the run, bytes as they are stored)
    value = the first 16 bytes of the link, or of SHA-256(link, seal) where an append carries a seal (`wire/seals.py`)

`seq` is that of the append's last event. Before the first append the value is 16 zero bytes. Values are as long as the
digests of contents: an append names those, so more would add nothing. Whoever changes, removes or swaps an append must
write every later value anew. A log from before the chain has no values for its first appends: they
are worked out in the same way when the next one is made, so that it covers them too. It must not know what is stored.
"""

from __future__ import annotations

from hashlib import sha256

SIZE = 16
BEGINNING = bytes(SIZE)
_MARK = b"reconvene chain 1\n"


def link(before: bytes, run: str, seq: int, packed: bool, stored: bytes) -> bytes:
    """What a seal is put on: it stands for this append and for everything before it."""
    name = run.encode("utf-8", "surrogatepass")
    numbers = f"{len(name)} {seq} {packed:d}\n".encode()
    return sha256(b"".join((_MARK, before, numbers, name, stored))).digest()


def value_after(linked: bytes, seal: bytes) -> bytes:
    return (sha256(linked + seal).digest() if seal else linked)[:SIZE]
