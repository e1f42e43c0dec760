"""What the engine needs of who keeps what agents finished, until the log has it."""

from __future__ import annotations

from typing import Protocol


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
