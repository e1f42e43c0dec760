"""What is asked of whoever keeps which version of a checkpoint was shown to whom. Nothing here does anything."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Viewer(NamedTuple):
    """To whom a door shows something: the account of the system, the name that they claim ("" = none), the door."""

    user: str
    name: str
    door: str


class Showing(NamedTuple):
    """A version of a checkpoint, shown whole."""

    version: str  # the digest that the checkpoint carries
    to: Viewer
    after_decide: bool = False  # a script's `decide` printed it, as the next stop: nobody need have read it


class Showings(Protocol):
    """Which versions of checkpoints doors showed to whom. Kept beside the log: a memory, and no proof. Where it
    is lost, whoever decides names the version."""

    def note(self, run: str, showing: Showing) -> None:
        """Where it cannot be kept, it counts as not shown."""

    def of(self, run: str) -> list[Showing]:
        """Oldest first. The same version shown again to the same viewer, and nothing between, is one."""

    def drop(self, run: str) -> None:
        """The run was deleted."""
