"""The read model: what every door shows, as frozen structs.

Their names and types are promises to scripts: fields are added, never taken away. What a struct has nothing to say of
is left out of its JSON; what has no default is always there. `projections` and `app.queries` make them.
"""

from __future__ import annotations

from collections.abc import Mapping

from msgspec import Struct, field

from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.mendings import Bound, Reopened, Upgraded
from reconvene.core.facts.commands import Answers
from reconvene.core.facts.events import Filled

LATEST = "--latest"  # the source of a decision on whatever was open, seen or not


class Shown(Struct, frozen=True, omit_defaults=True):
    """One thing that doors show."""


class Field(Shown, frozen=True):
    """A question with a typed answer."""

    id: str
    type: str  # one of core/definition/field_types.py
    prompt: str
    options: tuple[str, ...] = ()
    required: bool = False
    blank: object = None
    default: object = None
    titles: tuple[str, ...] = ()  # what people read instead of each option, where that differs
    recommend: str = ""  # the option that an agent recommends
    note: str = ""  # what became of an earlier answer
    other: bool = False  # of a choice: other words than the options are an answer too
    follows: str = ""  # the field that it belongs to: it is asked for some of that one's answers
    starts: Mapping[str, str] = field(default_factory=dict)  # those, with what stands in the line at first


class Takes(Shown, frozen=True):
    """What an option takes until the run stops again, by this run's own measurements. None = not known."""

    agents: tuple[str, ...] = ()  # who works, in this order
    calls: int = 0
    minutes: float | None = None
    tokens: int | None = None
    cost: float | None = None
    line: str = ""  # the same in words
    stop: str = ""  # where it stops again


class Option(Shown, frozen=True):
    """Something that may be decided. `offered` False: it has no place here, and people are not shown it."""

    label: str
    available: bool
    why_not: str = ""
    offered: bool = True
    recommend: bool = False
    remark: str = "none"  # none, optional, required
    fields: tuple[Field, ...] = ()
    leads: str = ""  # what follows from it, in words; "" where it was not looked up
    ends: bool = False  # it ends the run otherwise than by its last phase
    acts: tuple[str, ...] = ()  # agents with effects that act again with it
    takes: Takes | None = None  # these five: where they were looked up
    because: str = ""  # why it is recommended
    against: str = ""  # the best reason on record not to choose it
    same_as: str = ""  # another option after which exactly the same happens
    final: str = ""  # why it cannot be taken back; "" = it can
    needs: int = 1  # so many different people must choose it


class Approval(Shown, frozen=True):
    """What one of several people chose, where an option needs more than one. `counts`: nothing was changed since."""

    user: str
    by: str
    option: str
    choice: str  # the same where option and answers are the same
    at: str
    version: str  # of the checkpoint: what was shown
    counts: bool = False
    remarks: tuple[str, ...] = ()  # their ids


class Change(Struct, frozen=True):
    """What another round changed in what an agent says. `was`, `now`: "" where nothing like it was, or is, said."""

    agent: str
    was: str = ""
    now: str = field(default="", name="is")
    also: tuple[str, ...] = ()  # what else differs and is no sentence: a table, code, the order


class Written(Shown, frozen=True):
    """What an agent wrote in the round that a checkpoint is about, by its first lines of substance."""

    agent: str
    lines: tuple[str, ...]
    characters: int
    step: int = 0  # the first is 0
    not_taken: tuple[str, ...] = ()  # files that it wrote and that were not taken, each with the reason


class Checkpoint(Shown, frozen=True):
    id: str
    prompt: str
    options: tuple[Option, ...]
    show_files: tuple[str, ...]
    digest: str  # of what is shown; a decision carries it
    status: str
    attention: bool  # something went wrong that only a person can settle
    opened: str
    feedback: str = ""  # the question for remarks
    fields: tuple[Field, ...] = ()
    answers: Answers | None = None  # so far, by field; None where they were not looked up
    changed: tuple[Change, ...] = ()  # since the round before, what matters first
    since_try: bool = False  # instead: since a try that the person took back
    question: str = ""  # what is to be decided, in one sentence
    filled: Filled | None = None  # which lines may hold words of agents; None = any of them
    outputs: tuple[Written, ...] = ()  # what the agents of the round wrote
    missing: tuple[str, ...] = ()  # agents of the round that gave nothing
    comments: tuple[Comment, ...] = ()  # those that are open
    who: tuple[str, ...] = ()  # names, and teams as team:NAME, who may decide now; () = whoever may decide anything
    assigned: bool = False  # it was handed over to them
    approvals: tuple[Approval, ...] = ()
    deadline: str = ""
    reminder: str = ""  # when people are reminded of it
    reminded: bool = False
    late: bool = False  # the deadline has passed
    late_who: tuple[str, ...] = ()  # who may decide as well from the deadline on
    late_option: str = ""  # or what is taken then


# --- a run ---


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


class Event(Struct, frozen=True):
    """An event of the log. Its JSON is flat: `facts`, what this kind of event says, stand beside the others."""

    seq: int
    type: str
    at: str
    facts: Mapping[str, object]
