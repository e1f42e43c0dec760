"""The state of a run: what `evolve` folds the log into.

The rules, before the table:

- State = world + record. The WORLD rewinds when a round is undone: cursor, values, files, skip list, visits, counters.
  The RECORD only grows: remarks, decisions, drafts, spend, serials. `marks` holds the world before each open round.
- One cursor: a stack of frames, outermost first. The first frame is the run itself. Only the top frame moves.
- A frame's `stage` says what its phase is doing; TRANSITIONS lists every stage change there is. An event that finds no
  entry for the stage it meets is a bug, not a new behaviour. Events that concern no stage (remarks, edits, files,
  claims) are not in the table.
- A round's tasks run in steps. A step ends when none of its tasks is open: that is the barrier, the only point where a
  checkpoint may open. There is at most one open checkpoint.

Maps are persistent (immutables.Map): keeping an old world costs nothing, and one more event costs the same after five
thousand as after ten.
"""

# No `from __future__ import annotations` here: annotations would be texts, which msgspec must evaluate at each start.

from typing import Literal

from immutables import Map
from msgspec import Struct

from reconvene.core.definition.workflow import Again
from reconvene.core.facts.events import (
    CheckpointOpened,
    DecisionRecorded,
    FieldAsked,
    KeyIntroduced,
    ProviderAwaited,
    Ref,
    RemarkAdded,
    RemarkRead,
    RunReopened,
    ToolAllowed,
    Trouble,
    WorkflowUpgraded,
)
from reconvene.core.facts.round import OutputAt, RoundAt, Unasked, Unshown
from reconvene.core.facts.rows import (
    BoundAt,
    ChildAt,
    ClaimAt,
    CompanionAt,
    Failed,
    FoundAt,
    GapCheck,
    Note,
    PassedOver,
    PendingAt,
    ProjectAt,
    Spent,
    Undone,
)

# Part of every snapshot's key, as the version of the events is; raised whenever evolve or this module changes what it
# means. Then, for the test that finds changed fields: python -m tests.wire.frozen, and delete the golden file of the
# version before.
EVOLVE_VERSION = 10

Stage = Literal["enter", "item", "begin", "round", "closed", "asking", "reopen", "decided", "dropped"]

# (stage of the top frame, event) → its stage afterwards. "push" and "pop": the event adds or removes a frame.
# Where an event puts an earlier cursor back, the frame that is on top then moves on from the stage it had: a dropped
# round's from the stage before the round, a visited checkpoint's from `asking`. `WorkflowUpgraded` and `RunReopened`
# move a frame only where they open its checkpoint anew.
TRANSITIONS: dict[tuple[str, str], str] = {
    ("round", "PhaseEntered"): "push",  # a group's round walks its phases; the run itself is such a round
    ("round", "PhaseSkipped"): "round",
    ("enter", "ItemStarted"): "begin",
    ("item", "ItemStarted"): "begin",
    ("enter", "RoundStarted"): "round",
    ("begin", "RoundStarted"): "round",
    ("closed", "RoundStarted"): "round",
    ("decided", "RoundStarted"): "round",
    ("dropped", "RoundStarted"): "round",
    ("round", "StepSkipped"): "round",
    ("round", "StepStarted"): "round",
    ("round", "StepClosed"): "round",
    ("round", "ProviderAwaited"): "round",  # the run waits, in the middle of a step
    ("round", "RoundClosed"): "closed",
    ("closed", "CheckPassed"): "closed",
    ("closed", "GapFound"): "closed",
    ("closed", "AgainOrdered"): "begin",
    ("closed", "CheckpointOpened"): "asking",
    ("reopen", "CheckpointOpened"): "asking",
    ("closed", "CheckpointSkipped"): "decided",
    ("asking", "DecisionRecorded"): "decided",
    ("decided", "AgainOrdered"): "begin",
    ("decided", "WentOn"): "decided",
    ("asking", "WentOn"): "reopen",
    ("asking", "WentBack"): "reopen",
    ("asking", "WorkflowUpgraded"): "reopen",
    ("asking", "RunReopened"): "reopen",
    ("enter", "RoundUndone"): "dropped",
    ("begin", "RoundUndone"): "dropped",
    ("closed", "RoundUndone"): "dropped",
    ("decided", "RoundUndone"): "dropped",
    ("dropped", "RoundUndone"): "dropped",
    ("enter", "ItemDone"): "item",
    ("begin", "ItemDone"): "item",  # a limit left no room for a round
    ("closed", "ItemDone"): "item",
    ("decided", "ItemDone"): "item",
    ("dropped", "ItemDone"): "item",
    ("enter", "PhaseClosed"): "pop",
    ("item", "PhaseClosed"): "pop",
    ("begin", "PhaseClosed"): "pop",
    ("closed", "PhaseClosed"): "pop",
    ("decided", "PhaseClosed"): "pop",
    ("dropped", "PhaseClosed"): "pop",
}


class FileVersion(Struct, frozen=True):
    digest: str
    size: int
    by: str
    phase: str
    at: str
    person: bool = False
    rendered: bool = False


class Value(Struct, frozen=True):
    """A scalar (`ref`) or a map merged by agent (`parts`)."""

    by: str
    ref: Ref | None = None
    parts: Map[str, Ref] | None = None


class ItemAt(Struct, frozen=True):
    key: str
    index: int
    ref: Ref
    head: str = ""  # World.head when it began


class Frame(Struct, frozen=True):
    phase: str  # "" = the run itself
    scope: str
    entry: int
    stage: Stage
    done: tuple[str, ...] = ()
    item: ItemAt | None = None
    last: ItemAt | None = None  # the item before
    n: int = 0  # rounds begun in this entry and item
    planned: int = 0  # of them, standard ones
    round: RoundAt | None = None
    child: int = 0
    pending: Again | None = None
    outputs: tuple[OutputAt, ...] = ()  # of the round before
    checked: int = 0  # serial of the round whose check is done

    @property
    def address(self) -> str:
        """The scope, with the item in hand; stays the same from round to round."""
        return f"{self.scope}[{self.item.key}]" if self.item else self.scope


class Visit(Struct, frozen=True):
    place: str  # address of the frame
    phase: str
    cursor: tuple[Frame, ...]


class World(Struct, frozen=True):
    cursor: tuple[Frame, ...]
    values: Map[str, Value] = Map()
    files: Map[str, FileVersion] = Map()
    edited: Map[str, str] = Map()  # path → digest: the person's edits since the open step began
    gone: Map[str, str] = Map()  # file that a person took away → the name that it has now, "" = none
    found: Map[str, FoundAt] = Map()  # path → what was changed in the workspace, and nobody has claimed
    skips: tuple[str, ...] = ()
    skipped: Map[str, str] = Map()  # phase → why it was last skipped
    closed: Map[str, str] = Map()  # phase → what ended it: plan | until | limit | items | left
    target: str = ""  # a goto's target: neither the skip list nor `when` keeps it out
    entries: Map[str, int] = Map()  # scope without entry → times entered
    counts: Map[str, int] = Map()  # phase → times entered (context.phases.iteration_counts)
    rounds: Map[str, int] = Map()  # phase → rounds begun
    passes: Map[str, int] = Map()  # phase within one pass of its parent → times entered
    checks: Map[str, int] = Map()  # address → gaps found by its check
    outputs: Map[str, OutputAt] = Map()  # "phase/agent" → its last output there
    visits: Map[int, Visit] = Map()
    visit: int = -1  # where the person is among the visits
    dirty: int = -1  # the earliest visit since which something changed, -1 = none
    open: CheckpointOpened | None = None
    pending: PendingAt = PendingAt()
    trouble: tuple[Trouble, ...] = ()
    rulings: Map[str, str] = Map()  # where an expression stands → true | false | without | raise
    head: str = ""  # the project's commit that holds all accepted work; "" = the one the run began with
    diffs: Map[str, Ref] = Map()  # commit at which an item under way began → what changed from there to `head`
    revisions: Map[str, tuple[str, ...]] = Map()  # file with comments → digests of its versions since the first
    claims: Map[str, Map[str, ClaimAt]] = Map()  # agent → remark → what its last output on it proved

    @property
    def top(self) -> Frame:
        return self.cursor[-1]

    @property
    def spot(self) -> str:
        return spot(self.cursor)


def spot(cursor: tuple[Frame, ...]) -> str:
    """Where in the workflow this is, items included and entries not: a phase that is entered anew is the same spot."""
    return "/".join(f"{frame.phase}[{frame.item.key}]" if frame.item else frame.phase for frame in cursor[1:])


TalkKind = Literal["output", "remark", "answer", "decision", "back", "undone"]


class TalkEntry(Struct, frozen=True, omit_defaults=True):
    """One thing said at a spot. Contents are named, not held; `before` leads to the entry said there before it."""

    kind: TalkKind
    role: str  # an agent's name, or the person's; "" = a person who gave no name
    spot: str
    phase: str
    n: int
    at: str
    before: int = 0
    ref: Ref | None = None  # of an output, or of the answers as they are now
    old: str = ""  # of answers: digest of what they were
    number: int = 0  # of a remark
    text: str = ""  # the option taken; where the person came back from


class Thread(Struct, frozen=True, omit_defaults=True):
    """What was said at one spot: its last entry, the spots around it, and what the person chose there in the end."""

    last: int
    around: str = ""
    chosen: str = ""
    left: bool = False  # the person went back from here


class Asked(Struct, frozen=True, omit_defaults=True):
    """The fields last asked at one spot, so that answers can be told with their questions."""

    place: str  # address of the frame
    fields: tuple[FieldAsked, ...]
    around: str = ""
    questions: Map[str, str] = Map()  # field id → how it was last asked, also of those not asked any more
    settled: bool = False  # left with `continue` or `end`: what has no answer is deferred


class Record(Struct, frozen=True):
    rounds: int = 0  # serials given out
    tasks: int = 0
    calls: Map[str, int] = Map()  # agent → tasks started
    checkpoints: int = 0
    remarks: Map[int, RemarkAdded] = Map()  # the words as they were said, the rest as it was last read
    readings: Map[int, RemarkRead] = Map()  # number of a remark → its last reading, where the first was not the last
    withdrawn: Map[int, str] = Map()  # number of a remark that was taken back or replaced → by whom
    replaced: Map[int, str] = Map()  # of these, those with another in their place → its id
    retracted: Map[int, tuple[str, ...]] = Map()  # of those taken back or replaced → agents that had been shown them
    settled: Map[int, str] = Map()  # number of a remark that a person called answered → by whom
    unweighed: tuple[str, ...] = ()  # remarks made while agents worked, since the last checkpoint
    weighed: Map[str, str] = Map()  # such a remark → the checkpoint that weighs it
    said: Map[str, int] = Map()  # digest of a remark at a checkpoint → number, so that the same one is not taken twice
    decisions: Map[int, DecisionRecorded] = Map()
    decided: Map[str, int] = Map()  # checkpoint id → number in decisions
    drafts: Map[str, str] = Map()  # spot → digest of the JSON object of answers so far
    asked: Map[str, Asked] = Map()  # spot → the fields last asked there
    talk: Map[int, TalkEntry] = Map()  # everything said, in order
    threads: Map[str, Thread] = Map()  # spot → what was said there
    gap_checks: tuple[GapCheck, ...] = ()
    ended: Map[str, str] = Map()  # "task#attempt" → digest of what it gave, every attempt ever recorded
    seen: Map[str, int] = Map()  # agent → number of remarks it has been shown
    undone: Map[str, int] = Map()  # address/n → times undone
    undos: int = 0
    rollbacks: Map[int, Undone] = Map()  # in the order they were made, from 1
    archives: Map[str, FileVersion] = Map()  # files of undone rounds, where they are kept
    notes: Map[int, Note] = Map()  # attempts that people are told of, in order, from 1
    grants: Map[str, int] = Map()  # limit → how much a person added; of a limit of cost, how often its size
    funds: Map[str, float] = Map()  # limit of cost → USD that a person added
    ceiling: float = 0.0  # USD that the whole run may cost, as a person said; 0 = as the workflow says
    ask_first: tuple[str, ...] = ()  # tools that ask, whatever the workflow says of them
    input_tokens: int = 0
    output_tokens: int = 0
    cost: float = 0.0
    spent: Map[str, Spent] = Map()  # agent → what its attempts used
    children: Map[str, ChildAt] = Map()  # key → what a decision started
    failures: tuple[str, ...] = ()  # the latest few, for people
    errors: tuple[Failed, ...] = ()  # expressions and templates, the latest few
    project: ProjectAt | None = None
    passed_over: tuple[PassedOver, ...] = ()  # the latest few
    bindings: Map[str, BoundAt] = Map()  # agent, "" = every agent of a model → who carries it out
    unasked: tuple[Unasked, ...] = ()  # the latest few
    keys: Map[str, KeyIntroduced] = Map()  # public key → when it first signed here
    unshown: tuple[Unshown, ...] = ()  # likewise
    upgrades: tuple[WorkflowUpgraded, ...] = ()
    reopened: tuple[RunReopened, ...] = ()
    allowed: Map[str, ToolAllowed] = Map()  # calls of tools that are not asked about
    allowances: int = 0  # numbers given out for them
    companion: CompanionAt = CompanionAt()


class RunState(Struct, frozen=True):
    run: str = ""
    seq: int = 0
    name: str = ""
    workflow: str = ""
    inputs: str = ""
    settings: str = ""
    workspace: str = ""
    by: str = ""
    parent: str = ""
    piece: str = ""
    title: str = ""
    place: str = ""  # in the queue; "" = not in it
    started: str = ""
    updated: str = ""
    paused: bool = False
    pause_now: bool = False
    left: bool = False  # paused by a process that had to leave
    awaits: ProviderAwaited | None = None  # the provider for which it waits
    imported: int = 0  # the last event that was made elsewhere; 0 = none
    ended: str = ""  # completed | failed | aborted
    outcome: str = ""
    why: str = ""
    world: World = World(cursor=())
    record: Record = Record()
    marks: Map[int, World] = Map()

    def __repr__(self) -> str:
        """Short: `asyncio.run` has the result of a task written out, twice, when it puts the signal handler back."""
        return f"<RunState of {self.run or 'no run'} after {self.seq} events, {self.status}>"

    @property
    def files(self) -> Map[str, FileVersion]:
        """Everything the workspace holds: the world's files, and those kept of undone rounds."""
        return self.world.files.update(self.record.archives) if self.record.archives else self.world.files

    @property
    def status(self) -> str:
        if self.ended:
            return self.ended
        if self.world.open is not None:
            return "waiting"
        if self.place:
            return "queued"
        if self.paused:
            return "paused"
        return "waiting" if self.awaits is not None else "running"


def children_of(state: RunState) -> list[ChildAt]:
    """In the order in which they were queued."""
    return sorted(state.record.children.values(), key=lambda child: child.number)


EMPTY = RunState()
