"""The read model: what every door shows, as frozen structs.

Their names and types are promises to scripts: fields are added, never taken away. What a struct has nothing to say of
is left out of its JSON; what has no default is always there. `projections` and `app.queries` make them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from reconvene.app.views.checkpoint_model import Approval as Approval
from reconvene.app.views.checkpoint_model import Change as Change
from reconvene.app.views.checkpoint_model import Checkpoint as Checkpoint
from reconvene.app.views.checkpoint_model import Field as Field
from reconvene.app.views.checkpoint_model import Option as Option
from reconvene.app.views.checkpoint_model import Shown as Shown
from reconvene.app.views.checkpoint_model import Takes as Takes
from reconvene.app.views.checkpoint_model import Written as Written
from reconvene.app.views.mendings import Bound, Reopened, Upgraded
from reconvene.core.facts.commands import Answers

LATEST = "--latest"  # the source of a decision on whatever was open, seen or not


class PassedOver(Shown, frozen=True):
    """A checkpoint that was not asked because its condition failed."""

    phase: str
    round: int
    at: str
    why: str
    text: str


class Unasked(Shown, frozen=True):
    """An output that stands though a gate could not ask its model about it."""

    agent: str
    phase: str
    round: int
    at: str
    why: str
    text: str


class LeftOut(Shown, frozen=True):
    """A document that did not fit into a prompt: so many of its characters are in it, of so many."""

    name: str
    shown: int
    of: int
    summary: bool = False  # they are its summary, and not its beginning


class Unshown(Shown, frozen=True):
    """Agents of a round that were not shown all documents."""

    agents: tuple[str, ...]
    phase: str
    round: int
    at: str
    documents: tuple[LeftOut, ...]
    text: str


class Provider(Shown, frozen=True):
    """A provider for which a run waits: nobody has to decide, and nobody tries before its time."""

    model: str
    outcome: str
    why: str
    since: str
    not_before: str
    agents: tuple[str, ...] = ()


class Project(Shown, frozen=True):
    """What the run changed in a project of the person's."""

    path: str
    branch: str
    commit: str
    merge: str  # the command that takes it over; in lists by the name of the branch, which others can move
    changed: tuple[str, ...] = ()  # names of files, the first ones; lists do not look
    files: int = 0  # how many in all
    tip: str = ""  # where the branch stands now
    added: int = 0  # commits on it that are not the run's


class Child(Shown, frozen=True):
    """A run that another one started. Lists name it only; `status` "unmade": its log is still to be made."""

    run: str
    title: str
    piece: str = ""
    workflow: str = ""
    status: str = ""
    phase: str = ""
    outcome: str = ""


class Item(Shown, frozen=True):
    """The item of a list that a phase is at."""

    phase: str
    key: str
    title: str
    number: int  # the first is 1
    of: int


class Run(Shown, frozen=True):
    """A run, as lists show it. Its row in the index holds exactly this."""

    run: str
    status: str  # queued, running, waiting, paused, completed, failed, aborted
    phase: str | None
    round: int | None
    checkpoint: Checkpoint | None
    workflow: str
    started: str
    updated: str
    outcome: str = ""
    why: str = ""
    reason: str = ""  # of waiting: "provider"; "" = the checkpoint
    provider: Provider | None = None
    passed_over: tuple[PassedOver, ...] = ()  # since the last checkpoint that the person could see
    unasked: tuple[Unasked, ...] = ()  # likewise
    unshown: tuple[Unshown, ...] = ()  # likewise
    found: tuple[str, ...] = ()  # files changed in the workspace while agents worked, by nobody who said so
    project: Project | None = None
    parent: str = ""
    piece: str = ""
    title: str = ""
    place: str = ""  # in the queue
    children: tuple[Child, ...] = ()
    unmade: int = 0  # of the children, those without a log
    pinned: str = ""  # digest of the workflow that it goes on with
    imported: bool = False  # its log came from elsewhere, in a file
    driven: bool | None = None  # while running: whether a process is at work on it
    error: str = ""  # why it could not be driven on just now
    left: bool = False  # paused by a process that had to end, and by no person: it is due again; where it was looked up
    items: tuple[Item, ...] = ()  # at which the run is, the outermost first; where they were looked up


class Remark(Shown, frozen=True):
    """Something that a person said."""

    id: str
    kind: str
    text: str
    target: str
    by: str
    phase: str
    round: str
    at: str
    path: str
    lines: str
    was: str
    now: str
    level: str
    reason: str
    opinion: str
    because: str
    read_by: str
    checkpoint: str
    origin: str
    user: str = ""  # for whom the system vouches
    proved: bool = False  # `by` is that name; else it is only claimed
    quote: str = ""  # of a comment: the lines that it is about, as they were
    withdrawn: str | None = None  # by whom it was taken back, "" = by somebody; None = it stands


class Decision(Shown, frozen=True, kw_only=True):
    phase: str
    decision: str
    target: str = ""
    skipped: tuple[str, ...] = ()
    feedback: str = ""
    option: str
    by: str
    timestamp: str
    item: str = ""  # its key, where the phase goes through a list
    user: str = ""  # as of a remark
    proved: bool = False
    version: str = ""  # of the checkpoint: what was shown
    source: str = ""  # what decided instead of somebody who saw it: a file of answers and its line, or --latest
    since: tuple[str, ...] = ()  # the person's own remarks and edits after that was shown
    approved: tuple[str, ...] = ()  # everybody who chose it, where it needed several
    answers: Answers = field(default_factory=dict)  # by field
    deadline: bool = False  # nobody decided in time: the deadline took it


class Said(Shown, frozen=True):
    """An entry of the talk between agents and the person. kind: output, remark, answer, decision, back, undone."""

    kind: str
    who: str
    round: int
    at: str
    text: str
    id: str = ""  # these three of a remark
    remark: str = ""
    checkpoint: str | None = None
    user: str = ""  # of a person, as of a remark
    proved: bool = False
    source: str = ""  # of a decision: a file of answers and its line, or --latest


class Task(Shown, frozen=True):
    """One agent's work in the step that is open."""

    agent: str
    status: str
    attempt: int
    why: str = ""
    not_before: str = ""  # it waits for its provider until then


class File(Shown, frozen=True):
    path: str
    size: int
    by: str
    at: str
    phase: str


class Late(Shown, frozen=True):
    """An answer that came when nothing waited for it any more: kept, its cost counted, without effect."""

    task: str
    attempt: int
    at: str
    cost: float
    text: str


class Budget(Shown, frozen=True):
    """What was spent, in USD as far as known, of what is allowed. unpriced: its calls without a known price."""

    name: str  # cost, or cost.NAME of an agent or a group, as the limit is called
    cost: float
    allowed: float  # 0 = there is no limit
    calls: int
    unpriced: int
    tokens: int  # of those without a price


class Usage(Shown, frozen=True):
    calls: int
    rounds: int
    input_tokens: int
    output_tokens: int
    cost: float
    budgets: tuple[Budget, ...] = ()  # the whole run's first, then those with a limit of their own


class Todo(Shown, frozen=True):
    """A line of the list of where a run stands."""

    what: str
    done: bool


class RunInFull(Run, frozen=True, kw_only=True):
    """A run with everything that there is to say about it."""

    passed_over: tuple[PassedOver, ...]  # the latest few of all
    context: object  # what the workflow's expressions see
    workspace: str
    files: tuple[File, ...]
    remarks: tuple[Remark, ...]
    decisions: tuple[Decision, ...]
    tasks: tuple[Task, ...]
    usage: Usage
    failures: tuple[str, ...]
    errors: tuple[str, ...]
    todo: tuple[Todo, ...]
    judged_by: str = ""  # the model that is asked what gates ask
    unjudged: tuple[str, ...] = ()  # agents whose gates ask a model, while none is set: they pass
    talk: tuple[Said, ...] = ()
    late: tuple[Late, ...] = ()
    not_taken: tuple[str, ...] = ()  # files that agents wrote and that were not taken: by whom, and why
    bindings: tuple[Bound, ...] = ()
    settled: tuple[Decision, ...] = ()  # what was decided where something needed attention
    upgrades: tuple[Upgraded, ...] = ()
    reopened: tuple[Reopened, ...] = ()
    withdrawn: tuple[Remark, ...] = ()  # what was said and taken back


class Event(Struct, frozen=True):
    """An event of the log. Its JSON is flat: `facts`, what this kind of event says, stand beside the others."""

    seq: int
    type: str
    at: str
    facts: Mapping[str, object]
