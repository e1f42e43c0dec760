"""One hierarchy of errors, split by who must act.

Every message says what happened, where (run, phase, file, line), and what to type next. `hint` is that next step; doors
print it on its own line. Nothing here knows a door, a store or an agent.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal


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
    """A command that the run's state does not allow (unknown option, wrong moment, limit reached). `field`: what of
    that which was filled in does not fit, "" = nothing of it."""

    def __init__(self, message: str, *, hint: str = "", field: str = "") -> None:
        super().__init__(message, hint=hint)
        self.field = field


class Forbidden(Refused):
    """Somebody else may do this: a role, or the people whom a checkpoint names, keep this person from it."""


class StaleDecision(Refused):
    """The run moved on, or what was shown changed. `changes` says what is different now, up to the version `now` of the
    open checkpoint, "" where none is open. `anyway`: it is the same checkpoint, and what changed is what people said
    and did there: who knows of that may decide all the same."""

    def __init__(
        self, message: str, *, changes: tuple[str, ...] = (), hint: str = "", now: str = "", anyway: bool = False
    ) -> None:
        super().__init__(message, hint=hint)
        self.changes = changes
        self.now = now
        self.anyway = anyway


class Repeated(UserError):
    """The same person took exactly this decision before: nothing was done, and nothing is wrong."""

    exit_code = 0


class Busy(UserError):
    """Another process has the run in hand, or was faster to take it. Nothing to mend: take another, or wait."""


class KitFailed(UserError):
    """A part of a kit of somebody else raised, or gave what it must not give. Whoever made the kit must act."""

    def __init__(self, kit: str, part: str, why: str) -> None:
        super().__init__(
            f"The {part} of the kit {kit!r} failed: {why.rstrip('.')}.",
            hint="Tell whoever made the kit. The run is as it was: once the kit is mended, give the command again.",
        )
        self.kit = kit
        self.part = part
        self.file = ""  # of the run, whose text the kit cannot use: a person can mend it


Outcome = Literal[
    "transport",  # it could not be reached, was too busy, failed itself, or fell silent
    "cut",  # the reply broke off, or nothing says that it is whole
    "length",  # it reached its limit of output
    "refusal",  # the model said no
    "filter",  # a content filter stopped the prompt or the reply
    "tool_call",  # it called a tool that it was not given
    "empty",  # it replied with nothing, or only with thinking
    "form",  # the reply is not JSON, or does not fit its contract
    "authentication",  # the key was not accepted
    "quota",  # the account is used up: waiting does not help
    "not_found",  # there is no such model, or no such address
    "too_long",  # the prompt does not fit into the model's context window
    "usage",  # the request itself is wrong
    "other",
]

# Whether another attempt can help. What cannot succeed is not tried again.
RETRYABLE: Mapping[Outcome, bool] = MappingProxyType(
    {
        "transport": True,
        "cut": True,
        "length": True,  # told so, it may be shorter
        "refusal": False,
        "filter": False,
        "tool_call": True,
        "empty": True,
        "form": True,
        "authentication": False,
        "quota": False,
        "not_found": False,
        "too_long": False,
        "usage": False,
        "other": True,
    }
)

# The provider failed, not the agent: the same request may well succeed later.
_OF_PROVIDER: frozenset[Outcome] = frozenset({"transport", "cut"})


class AgentError(ReconveneError):
    """An agent failed. `outcome` says how; whether another attempt can help follows from it (`RETRYABLE`).

    `retryable` is given only where the outcome alone does not tell ("other"). `retry_after` is how long the provider
    asks to wait, in seconds, 0 where it does not say. `said` is what the agent answered, where it answered and the
    answer cannot be used: the person may want to read it. `message` is for people; `for_agents` is what a prompt may
    say about it: no address, no request id. `sandbox` is what kept it in, for the record.
    """

    sandbox = ""

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        outcome: Outcome = "other",
        retryable: bool | None = None,
        retry_after: float = 0.0,
        said: str = "",
        for_agents: str = "",
    ) -> None:
        super().__init__(message, hint=hint)
        self.outcome = outcome
        self.retryable = RETRYABLE[outcome] if retryable is None else retryable
        self.retry_after = retry_after
        self.said = said
        self.for_agents = for_agents or message

    @property
    def of_provider(self) -> bool:
        """The provider failed, and the agent did nothing wrong."""
        return self.outcome in _OF_PROVIDER

    @property
    def wait(self) -> float:
        """The same as `retry_after`."""
        return self.retry_after


class StoreError(ReconveneError):
    """The store cannot serve: disk full, locked, corrupt. The operator must act; nothing acknowledged is lost."""


class Conflict(StoreError):
    """Somebody else appended first (compare-and-swap lost). Reload and try again."""


class Bug(ReconveneError):
    """A promise of this package is broken. Please report it."""


class ExpressionError(ReconveneError):
    """An expression that cannot be evaluated: it is wrong, or wrong for this data."""


class ExpressionLimit(ExpressionError):
    """An expression that ran into the time, memory or stack limit: its value is unknown, which is not false."""
