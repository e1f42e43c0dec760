"""What the engine needs of who keeps what agents made outside of the log: what they finished, until the log has it, and
files that hold a secret; and how much is taken of them."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Shelf(Protocol):
    """What agents finished and the log does not have yet, one file each, outside of the store."""

    def put(self, run: str, name: str, data: bytes, *, durable: bool) -> None:
        """The whole file or none. StoreError where it cannot be written. `durable`: also for a power cut."""

    def of(self, run: str) -> list[tuple[str, bytes]]:
        """Name and content, by name."""

    def drop(self, run: str, name: str = "") -> None:
        """One of them, or all of the run."""

    def set_aside(self, run: str, name: str) -> str:
        """What cannot be used stays, under a name that `of` does not give: its path."""

    def place(self, run: str) -> str:
        """The folder, for messages."""


class Aside(Protocol):
    """Files of agents that hold a secret, outside of the log. The newest of a path counts."""

    def keep(self, run: str, path: str, data: bytes) -> None: ...

    def read(self, run: str, path: str) -> bytes | None: ...

    def paths(self, run: str) -> list[str]: ...

    def drop(self, run: str, path: str = "") -> None:
        """One of them, or all that are kept of the run."""


class Takes(NamedTuple):
    """How much is taken of what an agent leaves in its folder; the rest is named. `file`: bytes of one."""

    file: int = 10 * 1024 * 1024
    files: int = 1000
