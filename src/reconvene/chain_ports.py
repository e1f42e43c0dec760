"""What is asked of a store so that its logs can be verified, carried elsewhere and deleted. A part of `ports.EventLog`;
nothing here does anything."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from typing import NamedTuple, Protocol


class Stored(NamedTuple):
    """One append as it lies in the store, byte for byte, and its value in the chain (`wire/chain.py`)."""

    seq: int  # of its last event
    packed: bool
    data: bytes
    chain: bytes  # b"" = it was made before there was a chain
    seal: bytes = b""


class Deleted(NamedTuple):
    """What stays of a run that was deleted."""

    run: str
    head: int
    chain: bytes  # the value after its last event
    doc: str  # a JSON object: by, user, door, at, name
    seal: bytes = b""  # on the link of `doc`, as if it were one more append


class Unneeded(NamedTuple):
    """Digests: the contents that a run names and no other does, and all that others name."""

    gone: Collection[str]
    kept: Collection[str]


class Fault(NamedTuple):
    """Something in the store that is not as it must be. `run` "" = it belongs to no one run."""

    where: str
    expected: str
    found: str
    run: str = ""


class ChainedLog(Protocol):
    """Logs with a chain over their appends (`wire/chain.py`). See reconvene.testing.chain_conformance."""

    def runs(self) -> list[str]:
        """Every run that has a log, also one that the index lacks, in the order in which they were made."""

    def chain(self, run: str, after: int = 0) -> list[tuple[int, bytes]]:
        """Of the appends that end after this event: the seq of the last event, and the value of the chain."""

    def stored(self, run: str) -> list[Stored]:
        """Every append, byte for byte, in order."""

    def unchained(self, run: str) -> int:
        """The last event from before there was a chain, 0 = there is none."""

    def delete(self, left: Deleted, unneeded: Callable[[], Unneeded]) -> None:
        """Take the run out, in one durable transaction, in which `unneeded` is asked. Conflict if its head moved. Its
        id stays taken: `head` is as before, `read` gives nothing, an append is refused."""

    def deleted(self) -> list[Deleted]:
        """In the order in which they were deleted."""

    def audit(self) -> Iterator[Fault]:
        """What is wrong with the store beside the logs: its structure, and contents that are not what their digest
        says. Reads everything."""
