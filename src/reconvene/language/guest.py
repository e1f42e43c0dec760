"""Who does the work that might never end. Pure: the seam only; a process stands behind it (`adapters/guest`).

A workflow's expressions and schemas are somebody else's program. What is not cheap for certain is handed to a guest,
which answers within its limit or says that it did not. Without one, in tests of the core, it is done here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from reconvene.language.javascript.machine import Ask


class OutOfTime(Exception):
    """The work was stopped at its limit, or broke down: its outcome is not known."""


class Guest(Protocol):
    def evaluate(self, ask: Ask) -> str:
        """What `language.javascript.machine.Machines.answer` gives. Raises OutOfTime."""

    def validate(self, schema: bytes, value: bytes, seconds: float) -> bytes:
        """What is wrong with `value`, as a JSON list of sentences; all of them JSON. Raises OutOfTime."""


_lodged: list[Guest] = []


def lodge(guest: Guest | None) -> None:
    """From now on this process has this guest; None = none."""
    _lodged[:] = [guest] if guest is not None else []


def here() -> Guest | None:
    return _lodged[0] if _lodged else None
