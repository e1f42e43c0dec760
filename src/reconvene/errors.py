"""One hierarchy of errors, split by who must act.

Every message says what happened, where (run, phase, file, line), and what to type next. `hint` is that next step; doors
print it on its own line. Nothing here knows a door, a store or an agent.
"""

from __future__ import annotations


class ReconveneError(Exception):
    """Base of everything this package raises on purpose."""

    exit_code = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint


class UserError(ReconveneError):
    """The person must act: wrong usage, a bad workflow, an option that is not there."""

    exit_code = 64


class Problem:
    """One thing wrong in a file: where, what, and the nearest valid spelling."""

    __slots__ = ("column", "file", "hint", "line", "message")

    def __init__(self, file: str, line: int, message: str, hint: str = "", column: int = 0) -> None:
        self.file = file
        self.line = line
        self.message = message
        self.hint = hint
        self.column = column

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}" if self.line else self.file
        return f"{place}: {self.message}" + (f" ({self.hint})" if self.hint else "")

    def __repr__(self) -> str:
        return f"Problem({self!s})"


class WorkflowError(UserError):
    """A workflow that cannot be loaded, with every problem found at once."""

    def __init__(self, problems: list[Problem], *, hint: str = "") -> None:
        self.problems = problems
        super().__init__("\n".join(str(problem) for problem in problems), hint=hint)


class Refused(UserError):
    """A command that the run's state does not allow (unknown option, wrong moment, limit reached)."""


class StaleDecision(Refused):
    """The run moved on, or what was shown changed. `changes` says what is different now."""

    def __init__(self, message: str, *, changes: tuple[str, ...] = (), hint: str = "") -> None:
        super().__init__(message, hint=hint)
        self.changes = changes


class Busy(UserError):
    """Another process has the run in hand, or was faster to take it. Nothing to mend: take another, or wait."""


class AgentError(ReconveneError):
    """An agent failed. `retryable` says whether another attempt can help; `wait` is the provider's own advice in s.

    `said` is what it answered, where it answered and the answer cannot be used: the person may want to read it.
    """

    def __init__(
        self, message: str, *, hint: str = "", retryable: bool = True, wait: float = 0.0, said: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.retryable = retryable
        self.wait = wait
        self.said = said


class StoreError(ReconveneError):
    """The store cannot serve: disk full, locked, corrupt. The operator must act; nothing acknowledged is lost."""


class Conflict(StoreError):
    """Somebody else appended first (compare-and-swap lost). Reload and try again."""


class Bug(ReconveneError):
    """A promise of this package is broken. Please report it."""
