"""The rows that the record of a run keeps: bindings, child runs, attempts not accepted, rounds taken back, and more."""

# No `from __future__ import annotations` here: annotations would be texts, which msgspec must evaluate at each start.

from msgspec import Struct

from reconvene.core.definition.bindings import Binding
from reconvene.core.facts.events import ApprovalRecorded, Child, FileOut, Ref
from reconvene.core.facts.round import OutputAt


class GapCheck(Struct, frozen=True):
    phase: str
    action: str
    say: str
    count: int
    at: str
    agents: tuple[str, ...] = ()


class Failed(Struct, frozen=True):
    """An expression, or a template, that failed where the run could go on."""

    where: str  # where the expression stands, or the path of the file
    message: str

    @property
    def said(self) -> str:
        return f"{self.where}: {self.message}"


class PassedOver(Struct, frozen=True):
    """A checkpoint that was not asked because its condition failed. before: checkpoints that had opened until then."""

    phase: str
    n: int
    at: str
    why: str
    before: int


class PendingAt(Struct, frozen=True):
    """What came of the last checkpoint so far: who may decide it, who has chosen what, what its deadline did."""

    checkpoint: str = ""
    who: tuple[str, ...] = ()  # () = whoever may decide anything
    assigned: bool = False  # `who` was said by a person, not by the workflow
    deadline: str = ""
    reminder: str = ""
    reminded: bool = False
    passed: bool = False  # the deadline, and what follows from it is on record
    escalated: tuple[str, ...] = ()  # who may decide as well since then
    approvals: tuple[ApprovalRecorded, ...] = ()  # the last of each person
    notes: tuple[str, ...] = ()  # remarks that came with approvals


class FoundAt(Struct, frozen=True):
    digest: str
    agents: tuple[str, ...]  # at work when it was found


class ProjectAt(Struct, frozen=True):
    """The person's project, and the branch that is this run's. branch "" = a fork that has none of its own yet."""

    path: str
    branch: str
    base: str
    uncommitted: int = 0


class ChildAt(Struct, frozen=True):
    """A run that a decision started. run "" = its log is still to be made."""

    child: Child
    number: int
    serial: int  # the round that was decided on
    remarks: int  # so many of this run's remarks are inherited
    run: str = ""


class Note(Struct, frozen=True):
    """An attempt that was not accepted at once, or was after others had not been."""

    at: str
    task: str
    phase: str
    scope: str
    n: int
    attempt: int
    verdict: str
    then: str
    why: str = ""
    code: str = ""
    output: Ref | None = None
    value: Ref | None = None
    files: tuple[FileOut, ...] = ()
    failures: int = 0


class Undone(Struct, frozen=True):
    """A round that was taken back, and what its tasks had brought."""

    at: str
    serial: int
    phase: str
    scope: str
    n: int
    dropped: bool
    by: str
    why: str
    checkpoint: str
    folder: str
    outputs: tuple[OutputAt, ...] = ()


class ClaimAt(Struct, frozen=True):
    """What became of a claim, and what the next output on it is compared with: the text from before the claim."""

    verdict: str
    before: tuple[FileOut, ...] = ()
    task: str = ""
    contested: bool = False  # what the claim denies still stood
    was: str = ""  # the first passage that proves it: as it stood before the claim, and as it stands
    now: str = ""
    why: str = ""  # it is not seen, in words
    reason: str = ""  # the agent's own words


class CompanionAt(Struct, frozen=True, omit_defaults=True):
    """The conversation with the companion: how many entries it has, and what its model used."""

    said: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0


class BoundAt(Struct, frozen=True):
    """A binding that holds, and who said so."""

    binding: Binding
    by: str
    at: str
    user: str = ""


class Spent(Struct, frozen=True, omit_defaults=True):
    """What the attempts of one agent used. unpriced: of its calls, those whose price is not known; tokens: theirs."""

    calls: int = 0
    cost: float = 0.0  # USD, as far as known
    unpriced: int = 0
    tokens: int = 0

    def plus(self, more: "Spent") -> "Spent":
        calls, cost = self.calls + more.calls, self.cost + more.cost
        return Spent(calls, cost, self.unpriced + more.unpriced, self.tokens + more.tokens)
