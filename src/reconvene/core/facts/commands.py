"""What may be asked of a run. `handle` turns each into events, or refuses it with a reason."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from msgspec import Struct, field

from reconvene.core.definition.bindings import Binding
from reconvene.core.definition.workflow import Workflow
from reconvene.core.facts.call_commands import CompactMessages as CompactMessages
from reconvene.core.facts.call_commands import DeferCalls as DeferCalls
from reconvene.core.facts.call_commands import DisallowTool as DisallowTool
from reconvene.core.facts.call_commands import EndCall as EndCall
from reconvene.core.facts.call_commands import RecordToolPages as RecordToolPages
from reconvene.core.facts.call_commands import RecordTurn as RecordTurn
from reconvene.core.facts.call_commands import StartCall as StartCall
from reconvene.core.facts.edit_commands import ChangedFigures as ChangedFigures
from reconvene.core.facts.edit_commands import EditIn as EditIn
from reconvene.core.facts.edit_commands import RecordEdits as RecordEdits
from reconvene.core.facts.events import CompanionSaid, DiffSince, FileOut, LeftOut, Ref, RemarkAdded, Usage
from reconvene.core.facts.remark_commands import AddRemark as AddRemark
from reconvene.core.facts.remark_commands import JudgeClaim as JudgeClaim
from reconvene.core.facts.remark_commands import ReadRemark as ReadRemark
from reconvene.core.facts.remark_commands import RemarkIn as RemarkIn
from reconvene.core.facts.remark_commands import SettleRemark as SettleRemark
from reconvene.core.facts.remark_commands import WithdrawRemark as WithdrawRemark

Answers = dict[str, object]  # by id of a field


class StartRun(Struct, frozen=True):
    run: str
    workflow: str
    name: str
    inputs: str = ""
    settings: str = ""
    workspace: str = ""
    by: str = ""
    door: str = ""
    parent: str = ""
    piece: str = ""
    title: str = ""
    place: str = ""  # in the queue; "" = begin at once
    remarks: tuple[RemarkAdded, ...] = ()  # the parent's, to be inherited
    bindings: tuple[Binding, ...] = ()
    draft: str = ""


class Pinned(Struct, frozen=True):
    """A workflow, and the digest of the form in which it is stored with its runs."""

    digest: str
    workflow: Workflow


class AnswerCheckpoint(Struct, frozen=True):
    checkpoint: str  # "" = whichever is open
    option: str
    fields: Answers = field(default_factory=dict)
    remarks: tuple[RemarkIn, ...] = ()
    digest: str = ""  # of what was shown; "" = decided on what is there now
    by: str = ""
    door: str = ""
    workflows: dict[str, Pinned] = field(default_factory=dict)  # by name: other workflows that the option may start
    bindings: tuple[Binding, ...] = ()
    source: str = ""  # a file of answers and its line, or --latest; "" = decided by somebody who saw it
    current: str = ""  # of what is there now, where only the person's own remarks and edits (`since`) make it differ
    since: tuple[str, ...] = ()
    anyway: str = ""  # the version of which they were told what others said and changed since: it goes with it, too
    barred: tuple[str, ...] = ()  # of those who chose before, who may not decide any more
    limits: SetLimits | None = None  # on record with the decision, or not at all


class RecordCompanion(Struct, frozen=True):
    """An entry of the conversation with the companion, but for its number and its time. Possible at any time."""

    said: CompanionSaid


class SaveDraft(Struct, frozen=True):
    """Answers so far, by field; null takes one back."""

    checkpoint: str
    fields: Answers
    by: str = ""


class Opened(Struct, frozen=True):
    """The branch that this attempt found or began in the person's project."""

    path: str
    branch: str
    base: str
    uncommitted: int = 0


class RecordAttempt(Struct, frozen=True):
    """What came of one attempt: an output, or a failure (`why`)."""

    task: str
    attempt: int
    failed: bool = False
    cancelled: bool = False
    begun: bool = False  # failed or cancelled: it may have acted
    retryable: bool = True
    output: Ref | None = None
    value: Ref | None = None
    files: tuple[FileOut, ...] = ()
    ignored: tuple[str, ...] = ()
    why: str = ""
    told: str = ""  # what the next attempt may know of a failure; "" = `why`
    usage: Usage = field(default_factory=Usage)
    prompt: str = ""
    asked: str = ""
    rules: str = ""
    reply: str = ""
    recorded: bool = False
    opened: Opened | None = None  # for an attempt at work in the person's project, with the five below
    commit: str = ""
    diff: Ref | None = None
    diffs: tuple[DiffSince, ...] = ()
    changed: tuple[str, ...] = ()  # paths, for the gates
    objections: tuple[str, ...] = ()  # a model's, to what the gates ask
    unasked: tuple[str, ...] = ()  # of what the gates ask, what could not be asked, and why
    sandbox: str = ""
    left_out: tuple[LeftOut, ...] = ()  # what did not fit into the prompt


class RecordFault(Struct, frozen=True):
    """The provider failed an attempt, which goes on: after `wait` seconds, or not before somebody resumes the run."""

    task: str
    attempt: int
    model: str
    outcome: str
    why: str
    times: int = 1
    wait: float = 0.0
    not_before: str = ""
    answer: str = ""
    reply: str = ""
    usage: Usage = field(default_factory=Usage)


class HoldTask(Struct, frozen=True):
    """This attempt does not begin: a limit of cost is reached."""

    task: str
    attempt: int


class RecordCheck(Struct, frozen=True):
    """What a check script said. action "" = no gap; error set = the script itself failed."""

    serial: int
    action: Literal["", "retry", "spawn_additional", "escalate", "abort"] = ""
    agents: tuple[str, ...] = ()
    say: str = ""
    error: str = ""


class Claim(Struct, frozen=True):
    """A driver takes the run up, out of the queue too. Tasks claimed by anybody else are in doubt from here on.

    running: task → what still works at it, in words."""

    by: str = ""
    door: str = ""
    running: Mapping[str, str] = field(default_factory=dict)


class RecordChild(Struct, frozen=True):
    """A child that this run started now has a log of its own."""

    key: str
    run: str


class MoveInQueue(Struct, frozen=True):
    place: str
    by: str = ""
    door: str = ""


class DropQueued(Struct, frozen=True):
    """End a run that has not begun. One that was taken up meanwhile is not touched."""

    by: str = ""
    door: str = ""


class Pause(Struct, frozen=True):
    by: str = ""
    door: str = ""
    now: bool = False
    left: bool = False  # see e.Paused


class Resume(Struct, frozen=True):
    by: str = ""
    door: str = ""


class SetLimits(Struct, frozen=True):
    """What the run may cost in all, in USD (0 = as the workflow says), and which tools ask a person first."""

    cost: float = 0.0
    ask: tuple[str, ...] = ()
    by: str = ""
    door: str = ""


class BindAgents(Struct, frozen=True):
    """Who carries agents out from the next attempt on; each for an agent, a group, or every agent of a model."""

    bindings: tuple[Binding, ...]
    by: str = ""
    door: str = ""


class Upgrade(Struct, frozen=True):
    """Go on with another workflow, which was compared with the run at this checkpoint ("" = at its end) and fits."""

    before: str  # digest of the workflow that it was compared with
    checkpoint: str
    pinned: Pinned
    inputs: str
    settings: str
    moved: dict[str, tuple[int, ...]] = field(default_factory=dict)
    unbound: tuple[str, ...] = ()
    by: str = ""
    door: str = ""
    dropped: tuple[str, ...] = ()


class Reopen(Struct, frozen=True):
    """Take a run up again that has ended. Where was settled when it had been reopened so many times."""

    before: int
    phase: str = ""
    visit: int = -1  # the checkpoint that opens anew
    rerun: bool = False  # the phase is done anew
    grants: dict[str, float] = field(default_factory=dict)
    remarks: tuple[RemarkIn, ...] = ()
    by: str = ""
    door: str = ""
    told: tuple[str, ...] = ()  # as in Rollback


class Abort(Struct, frozen=True):
    by: str = ""
    door: str = ""
    remarks: tuple[RemarkIn, ...] = ()


class Rollback(Struct, frozen=True):
    """Undo the round in front of the person, and run it again."""

    checkpoint: str = ""  # the one the person looked at; "" = whichever is open
    by: str = ""
    door: str = ""
    remarks: tuple[RemarkIn, ...] = ()
    digest: str = ""  # this and what follows: as in AnswerCheckpoint
    source: str = ""
    current: str = ""
    since: tuple[str, ...] = ()
    anyway: str = ""
    told: tuple[str, ...] = ()  # agents with effects of which the person was told that they act again


class Replan(Struct, frozen=True):
    """Have the run planned anew: it goes back to the phase that the workflow names for that."""

    checkpoint: str = ""  # the one that was open when the person said so; "" = none was
    by: str = ""
    door: str = ""
    remarks: tuple[RemarkIn, ...] = ()
    told: tuple[str, ...] = ()  # as in Rollback


class PruneArchives(Struct, frozen=True):
    """Remove what is kept of undone rounds from the workspace, but for the newest `keep` and the paths to `spare`."""

    keep: int = 0
    spare: tuple[str, ...] = ()
    by: str = ""
    door: str = ""


class Assign(Struct, frozen=True):
    """Hand the open checkpoint over: these decide it, names and teams as team:NAME."""

    checkpoint: str  # "" = whichever is open
    who: tuple[str, ...]
    by: str = ""
    door: str = ""


class Lapse(Struct, frozen=True):
    """The deadline or the reminder of the open checkpoint may be due. Nobody gives it: time does."""


class GoOn(Struct, frozen=True):
    """Nothing of its own: what follows from a decision that is on record."""


Command = (
    StartRun
    | AnswerCheckpoint
    | AddRemark
    | ReadRemark
    | WithdrawRemark
    | SettleRemark
    | JudgeClaim
    | RecordCompanion
    | SaveDraft
    | RecordEdits
    | RecordAttempt
    | RecordTurn
    | StartCall
    | EndCall
    | DeferCalls
    | CompactMessages
    | DisallowTool
    | RecordToolPages
    | RecordFault
    | RecordCheck
    | HoldTask
    | Claim
    | RecordChild
    | MoveInQueue
    | DropQueued
    | Pause
    | Resume
    | BindAgents
    | SetLimits
    | Upgrade
    | Reopen
    | Abort
    | Rollback
    | Replan
    | PruneArchives
    | Assign
    | Lapse
    | GoOn
)

# What files of the run show at once, beside what follows from it.
IN_FILES = (RecordEdits, AddRemark, ReadRemark, WithdrawRemark)
