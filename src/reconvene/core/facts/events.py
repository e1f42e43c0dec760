"""Every fact of a run. Past tense, JSON, carrying its time; the log is made of these and nothing else.

Old logs are read for ever: `wire/event_json.py` says what a change of a field, or a new one, needs. Contents (texts,
files) are artefacts: events name them by digest.
"""

# No `from __future__ import annotations` here: annotations would be texts, which msgspec must evaluate at each start.

from typing import Literal, get_args

from msgspec import Struct, field

from reconvene.core.definition.bindings import Binding
from reconvene.core.definition.workflow import Move


class Ref(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Content by digest. kind: text (UTF-8), json, bytes."""

    digest: str
    kind: Literal["text", "json", "bytes"] = "text"
    size: int = 0


class FileOut(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A file as somebody left it. digest "" = deleted."""

    path: str
    digest: str
    size: int = 0


class Read(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """One thing a task is shown. ref None = not produced, `note` says why.

    kind project: looked up in the person's project, at the run's commit, when the task begins.
    """

    name: str
    kind: Literal["file", "value", "output", "input", "project"]
    ref: Ref | None = None
    note: str = ""


class TaskStart(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    agent: str
    own: tuple[Read, ...] = ()  # what only this agent is shown


class Usage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    model: str = ""
    input_tokens: int = 0
    output_tokens: int = 0
    requests: int = 0
    cost: float = 0.0  # USD, 0 where unknown
    seconds: float = 0.0


class LeftOut(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A document that an agent was not shown whole: so many characters of it, of so many."""

    name: str
    shown: int
    of: int
    summary: bool = False  # they are its summary, and not its beginning


class DiffSince(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """How the project differs from what it was when the run ("") or an item (its commit then) began."""

    since: str
    ref: Ref


class FieldAsked(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    id: str
    type: str = "text"
    prompt: str = ""
    options: tuple[str, ...] = ()
    required: bool = False
    blank: object = None
    default: object = None
    into: str = ""
    titles: tuple[str, ...] = ()  # what people read instead of each option, where that differs
    recommend: str = ""  # the option that the agent recommends
    replaces: tuple[str, ...] = ()  # fields of the set before, in whose place this one is asked
    note: str = ""  # what became of an earlier answer
    other: bool = False  # of a choice: other words than the options are an answer too
    follows: str = ""  # the field that it belongs to: it is asked for some of that one's answers
    starts: dict[str, str] = field(default_factory=dict)  # those answers, each with what stands in the line at first
    under: str = ""  # what an answer belongs to: one that was given under something else is none
    worded: str = ""  # how it was asked when the answer that stands here was given, where that differs
    stands: object = None  # that answer


class OptionOffered(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    label: str
    available: bool = True
    why_not: str = ""
    recommend: bool = False
    remark: Literal["none", "optional", "required"] = "none"
    fields: tuple[FieldAsked, ...] = ()
    index: int = 0  # which option of the workflow; -1 for the reserved ones of an attention checkpoint
    offered: bool = True  # False: its `when` is false, and the workflow says no more of it
    needs: int = 1  # so many different people must choose it


class Trouble(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Something only a person can settle.

    kind: missing | expression | doubt | rejected | conflict | check | acting | limit | escalated | idle | kit. `key`
    names where, so that a ruling finds it again.
    """

    kind: str
    key: str
    message: str
    agents: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    boolean: bool = False  # for an expression: true/false is an answer


class Lines(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Lines of a file, in the version that the person saw."""

    path: str
    version: str  # digest; "" = in another run
    first: int  # the first line is 1
    last: int

    @property
    def name(self) -> str:
        """`plan.md:3-5`, `plan.md:3`"""
        return f"{self.path}:{self.first}" + (f"-{self.last}" if self.last != self.first else "")

    @property
    def key(self) -> str:
        return f"{self.name}@{self.version}"


class Anchor(Lines, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Lines that a remark is about, as they stood there. `before` and `after`: those with words around them;
    `heading`: the nearest above."""

    quote: str
    before: str = ""
    after: str = ""
    heading: str = ""


class Event(
    Struct, frozen=True, kw_only=True, omit_defaults=True, forbid_unknown_fields=True, tag_field="type", tag=True
):
    at: str  # ISO 8601 UTC with milliseconds and Z


class Act(Event, frozen=True, kw_only=True):
    """What somebody did. `user` vouches for it: the system's user, or whom a token admits; "" = nothing does. `by` is
    what they call themselves, and is proved where it is the same."""

    by: str = ""
    user: str = ""
    door: str = ""


class KeyIntroduced(Act, frozen=True, kw_only=True):
    """A key signs in this run for the first time: the public part, as in ed25519:1f0c…"""

    key: str


class RunStarted(Act, frozen=True, kw_only=True):
    run: str
    workflow: str  # digest of the pinned workflow
    name: str
    inputs: str = ""  # digest of the JSON object of inputs
    settings: str = ""  # digest of the JSON object of settings
    workspace: str = ""
    parent: str = ""
    piece: str = ""  # its key among the parent's children
    title: str = ""
    place: str = ""  # in the queue; "" = it begins at once
    draft: str = ""  # what it was prepared as


class Forked(Act, frozen=True, kw_only=True):
    """This log's events so far were copied from another run's."""

    run: str
    source: str
    source_seq: int
    source_chain: str = ""  # the value of the source's chain after the append that holds that event; "" = it has none
    workspace: str = ""


class Imported(Act, frozen=True, kw_only=True):
    """This log's events so far were made elsewhere and came in a file. `chain`: the value of the chain after them."""

    chain: str
    workspace: str


class PhaseEntered(Event, frozen=True):
    phase: str
    scope: str
    entry: int


class PhaseSkipped(Event, frozen=True):
    phase: str
    scope: str
    why: Literal["skip_list", "when"]


class ItemStarted(Event, frozen=True):
    scope: str
    key: str
    index: int
    item: Ref


class ItemDone(Event, frozen=True):
    scope: str
    key: str


class RoundStarted(Event, frozen=True):
    serial: int
    phase: str
    scope: str
    n: int
    name: str = "main"
    extra: bool = False
    agents: tuple[str, ...] = ()


class StepSkipped(Event, frozen=True):
    serial: int
    step: int


class StepStarted(Event, frozen=True):
    """Delivery and claim: who works, on what, with which remarks. claim "" = nobody has taken it up yet."""

    serial: int
    step: int
    tasks: tuple[TaskStart, ...]
    reads: tuple[Read, ...] = ()
    remarks: int = 0  # the first so many remarks of the run are delivered
    claim: str = ""
    unfunded: tuple[str, ...] = ()
    limit: str = ""  # the limit that left them unfunded
    talk: tuple[int, ...] = ()  # which entries of the talk are shown, where the step reads it
    untold: int = 0  # how many older ones were left out


class TasksClaimed(Event, frozen=True):
    tasks: tuple[str, ...]
    claim: str


class TaskHeld(Event, frozen=True):
    """A limit of cost was reached before this attempt began."""

    task: str
    attempt: int
    limit: str  # cost, or cost.NAME


class AttemptEnded(Event, frozen=True):
    """One attempt's end. then: what follows for the task (settled here, never derived later).

    In doubt is an attempt whose outcome nobody knows, and one with an output that nobody could judge: a kit failed.
    """

    task: str
    attempt: int
    verdict: Literal["accepted", "rejected", "failed", "cancelled", "doubt"]
    then: Literal["done", "retry", "missing", "ask"]
    output: Ref | None = None
    value: Ref | None = None  # the parsed output where it is JSON
    files: tuple[FileOut, ...] = ()
    ignored: tuple[str, ...] = ()
    why: str = ""
    told: str = ""  # of a failure, what the next attempt is told; "" = `why`
    code: str = ""  # of the rule that it broke; `why` begins with it
    usage: Usage = field(default_factory=Usage)
    prompt: str = (
        ""  # digest of the request as sent (secrets redacted), "" where it is short: then `asked` is all of it
    )
    asked: str = ""  # the request, where it is short
    rules: str = ""  # digest of the standing rules that were sent before it, "" where they are in it
    reply: str = ""  # digest of the raw reply
    claim: str = ""  # of the next attempt, when then = retry
    recorded: bool = False  # the answer came from a recording
    example: str = ""  # digest of an output that would pass, shown with the retry
    failures: int = 0  # how many rules it broke
    commit: str = ""  # of the project, with what the agent changed there; "" = it changed nothing
    diff: Ref | None = None  # what this attempt changed
    diffs: tuple[DiffSince, ...] = ()  # and what the items under way have changed, this attempt included
    unasked: tuple[str, ...] = ()  # what a gate wanted to ask a model, and why that could not be asked
    sandbox: str = ""  # what kept the agent in: bubblewrap, landlock, none, off, in-process; "" = nothing was started
    left_out: tuple[LeftOut, ...] = ()  # what did not fit into the prompt
    running: str = ""  # in doubt: what still worked at it when it was found, in words
    judged: int = 0  # version of the rule that judged what it claims; 0 = none did, as in logs of older releases


class CallAsked(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A call that a model asks for. `id`: the turn and its place there, as in "3.1"."""

    id: str
    tool: str
    arguments: str  # digest of the JSON object, as the model wrote it
    effects: bool = False
    why: str = ""  # a person is asked first, because of this
    refused: str = ""  # digest of what the person said who refused the very same before
    schema: str = ""  # digest: what the arguments must fit


class ModelTurned(Event, frozen=True):
    """A model answered within an attempt, and wants these calls; without any, it has given its output."""

    task: str
    attempt: int
    turn: int
    messages: str  # digest: what it was sent in this turn, and its answer
    calls: tuple[CallAsked, ...] = ()
    usage: Usage = field(default_factory=Usage)
    request: str = ""  # digest of the request as sent, secrets redacted
    reply: str = ""
    said: str = ""  # digest: what it wrote beside its calls


class CallStarted(Event, frozen=True):
    """A call with effects is about to be made. Without its end, nobody knows whether it happened."""

    task: str
    attempt: int
    call: str


class CallEnded(Event, frozen=True):
    """What came of a call. refused and answered: by a person, and it was not made."""

    task: str
    attempt: int
    call: str
    tool: str
    arguments: str  # digest: as it was made
    outcome: Literal["done", "failed", "refused", "answered"]
    result: Ref
    files: tuple[FileOut, ...] = ()  # what it changed in the attempt's folder
    seconds: float = 0.0
    counts: dict[str, int] = field(default_factory=dict)  # what a database says that it changed
    sandbox: str = ""
    doubt: bool = False  # it failed, and may have had its effect


class CallsDeferred(Event, frozen=True):
    """The attempt cannot go on before a person has said what becomes of these calls. It ends no attempt.

    doubt: they may have been made already."""

    task: str
    attempt: int
    calls: tuple[str, ...]
    doubt: bool = False


class CallRuled(Act, frozen=True, kw_only=True):
    """What a person says of a call that waits. `claim`: who goes on with the attempt."""

    task: str
    attempt: int
    call: str
    ruling: Literal["approve", "change", "refuse", "answer"]
    arguments: str = ""  # digest, where they are changed
    words: str = ""  # digest: why it is refused, or the answer in its place
    claim: str = ""


class ToolAllowed(Act, frozen=True, kw_only=True):
    """Such calls of this agent are not asked about any more. `arguments`: name → text in which * stands for anything
    but what a shell gives a meaning to."""

    id: str
    agent: str
    tool: str
    arguments: dict[str, str] = field(default_factory=dict)


class ToolDisallowed(Act, frozen=True, kw_only=True):
    """They are asked about again."""

    id: str


class MessagesCompacted(Event, frozen=True):
    """An attempt came near the window of its model: `messages` (digest) stand for all that went before."""

    task: str
    attempt: int
    turn: int
    messages: str
    why: str


class ProviderFailed(Event, frozen=True):
    """The provider failed, not the agent: the same attempt is made again, after `wait` or from `not_before` on."""

    task: str
    attempt: int
    model: str
    outcome: str  # of `errors.Outcome`
    why: str
    times: int = 1  # in a row
    wait: float = 0.0  # seconds, where the same process tries again
    not_before: str = ""  # set: the process has waited enough
    answer: str = ""  # digest of what the agent gave, where the model failed that a gate asks: it is not asked again
    reply: str = ""  # digest of what came of the reply
    usage: Usage = field(default_factory=Usage)


class ProviderAwaited(Event, frozen=True):
    """Whoever could work has a provider that fails: the run waits for it. No checkpoint, and nobody's fault."""

    tasks: tuple[str, ...]
    model: str
    outcome: str
    why: str
    since: str  # its first failure
    not_before: str  # nobody tries before


class ProjectOpened(Event, frozen=True):
    """The person's project got a branch for this run, from the commit `base` ("" = it had none yet)."""

    path: str
    branch: str
    base: str = ""
    uncommitted: int = 0  # files with changes of the person that the agents do not see


class OptionsRevised(Event, frozen=True):
    """What the person said changed what is recommended to them."""

    checkpoint: str
    options: tuple[OptionOffered, ...]


class LateOutputArchived(Event, frozen=True):
    task: str
    attempt: int
    output: Ref | None = None
    usage: Usage = field(default_factory=Usage)
    why: str = ""


class OutputForced(Event, frozen=True):
    """An earlier output of the round stands: the task failed again and the round cannot be undone once more, or a
    person takes what a gate sent back."""

    task: str
    source: str  # the task and attempt it came from
    passed: bool
    output: Ref
    value: Ref | None = None
    files: tuple[FileOut, ...] = ()


class ValueWrite(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    key: str  # "<value scope>:<name>"
    ref: Ref
    by: str
    agent: str = ""  # set: one agent's part of a map


class StepClosed(Event, frozen=True):
    serial: int
    step: int
    values: tuple[ValueWrite, ...] = ()
    files: tuple[FileOut, ...] = ()
    missing: tuple[str, ...] = ()


class TroubleMet(Event, frozen=True):
    trouble: Trouble


class TroubleSettled(Event, frozen=True):
    """How the person ruled. ruling: again | wait | take | without | true | false | raise | use"""

    key: str
    kind: str
    ruling: str
    use: str = ""  # the agent whose version stands
    agents: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    claim: str = ""
    remarks: int = 0  # so many are shown to those who try again; 0 = no more than before


class ExpressionFailed(Event, frozen=True):
    """A checkpoint condition that erred (recorded and passed over)."""

    where: str
    source: str
    message: str


class RoundClosed(Event, frozen=True):
    serial: int
    n: int
    phase: str
    scope: str
    last: bool
    ended_by: str = ""  # until | plan | limit | ""


class CheckPassed(Event, frozen=True):
    serial: int
    phase: str
    scope: str


class GapFound(Event, frozen=True):
    """A check's verdict and what it makes the run do. action in the words of the language."""

    serial: int
    phase: str
    scope: str
    action: Literal["retry", "spawn_additional", "escalate", "abort", "move"]
    say: str = ""
    agents: tuple[str, ...] = ()
    count: int = 0


class CheckpointSkipped(Event, frozen=True):
    serial: int
    phase: str


class Stretch(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Some lines of a text, counted from 0."""

    first: int
    end: int  # the line after the last


class Filled(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The lines of a checkpoint's texts that may hold words of agents. Others are the workflow's or the engine's."""

    prompt: tuple[Stretch, ...] = ()
    question: bool = False
    feedback: tuple[Stretch, ...] = ()


class CheckpointOpened(Event, frozen=True):
    id: str
    number: int
    phase: str
    scope: str
    serial: int
    prompt: str
    options: tuple[OptionOffered, ...]
    fields: tuple[FieldAsked, ...] = ()
    show_files: tuple[str, ...] = ()
    status: str = ""
    feedback: str = ""  # the question for the person's remarks
    attention: bool = False
    digest: str = ""
    reopened: bool = False
    question: str = ""  # what is to be decided, where the workflow says it apart from the prompt
    filled: Filled | None = None  # None: it is not known, as in logs of older releases
    who: tuple[str, ...] = ()  # names, and teams as team:NAME, who may decide; () = whoever may decide anything
    deadline: str = ""
    reminder: str = ""  # when people are reminded of it
    late_who: tuple[str, ...] = ()  # who may decide as well from the deadline on
    late_option: str = ""  # or what is taken then
    weighs: tuple[str, ...] = ()  # remarks made while agents worked: they count as made here


class CheckpointAssigned(Act, frozen=True, kw_only=True):
    """A checkpoint was handed over: these decide it, and nobody else. Approvals so far do not count any more."""

    checkpoint: str
    who: tuple[str, ...]


class CheckpointReminded(Event, frozen=True):
    """The deadline is near, and nobody has decided."""

    checkpoint: str
    deadline: str


class CheckpointEscalated(Event, frozen=True):
    """The deadline has passed: these may decide as well."""

    checkpoint: str
    deadline: str
    who: tuple[str, ...]


class CheckpointOverdue(Event, frozen=True):
    """The deadline has passed, and nothing follows from that. why: the option that should have been taken cannot be."""

    checkpoint: str
    deadline: str
    why: str = ""


class RemarkAdded(Act, frozen=True, kw_only=True):
    """What a person said. kind: correction, new context, clarification, strategic shift, reaction, missing factor,
    comment, edit (then path/diff are set)."""

    id: str
    number: int
    kind: str
    text: str
    target: str = ""
    phase: str = ""
    n: int = 0
    checkpoint: str = ""
    path: str = ""
    diff: str = ""  # digest
    lines: str = ""  # "plan.md:3-5", where a remark is about part of a file
    was: str = ""  # a corrected figure, before
    now: str = ""  # and after
    level: str = ""  # minor | major: the engine's recommendation, never a decision
    reason: str = ""  # why it thinks so
    opinion: str = ""  # what a model thinks, where one was asked: minor | major
    because: str = ""  # and why
    origin: str = ""  # inherited: the run it was made in, and its id there
    anchor: Anchor | None = None  # the lines that it is about; `lines` names them
    replaces: str = ""  # the remark in whose place it stands
    working: bool = False  # agents were at work: it is weighed at the next checkpoint


class RemarkRead(Act, frozen=True, kw_only=True):
    """A remark was read again: by a model, or by a person who puts the reading right. The last reading counts."""

    id: str
    number: int
    kind: str
    target: str = ""
    was: str = ""
    now: str = ""
    level: str = ""
    reason: str = ""
    reader: Literal["model", "person"] = "person"


class RemarkWithdrawn(Act, frozen=True, kw_only=True):
    """A person took a remark back. Agents that were shown it are told so."""

    id: str
    number: int


class RemarkSettled(Act, frozen=True, kw_only=True):
    """A person looked, and says that a remark is answered."""

    id: str
    number: int


class Passage(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A place in a text, and what changed there. `was` "" = nothing stood there, `now` "" = it was taken out."""

    path: str = ""  # "" = the output itself
    line: int = 0  # counted from 1, of the text as it is now; 0 = it has no lines
    was: str = ""
    now: str = field(name="is", default="")
    version: str = ""  # digest of the file


class ClaimJudged(Event, frozen=True):
    """Whether what an output claims can be seen in it. `claim`: what is claimed of `id`; "remark" = it was taken up.

    The verdict is settled here, by a rule of this version, and no later release changes it. `against`: where stands
    what the claim denies. `before`: what was compared with, the output itself under the path "".
    """

    claim: str
    id: str
    task: str
    verdict: Literal["seen", "unseen", "declined"]
    said: Literal["taken up", "declined", ""] = ""  # by the agent itself
    why: str = ""  # it is not seen, in words
    reason: str = ""  # the agent's words
    line: int = 0  # where they stand
    evidence: tuple[Passage, ...] = ()
    against: tuple[Passage, ...] = ()
    before: tuple[FileOut, ...] = ()
    rule: str = ""
    version: int = 0
    by: str = ""  # the model that judged it; "" = the rule did


class Consulted(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A tool that the companion used; what it was given and what it gave by digest."""

    tool: str
    arguments: str
    result: str = ""
    failed: bool = False


class Proposal(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """What the companion proposes, and only a person carries out: words for the agents, or an edit of a file."""

    kind: Literal["remark", "edit"]
    text: str  # digest: the remark, or why it should be edited so
    path: str = ""
    lines: str = ""  # of a remark that is about part of a file: "3-5"
    before: str = ""  # of an edit: digest of the file that was looked at
    after: str = ""  # and of the file as it would be


class CompanionSaid(Act, frozen=True, kw_only=True):
    """One entry of the conversation with the companion; `by` talks with it. No agent is shown it, and nothing that a
    person decides on changes by it."""

    number: int
    role: Literal["person", "companion"]
    text: Ref
    stage: str = ""
    answers: int = 0  # of what the companion says: the number of the entry that it answers
    cites: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()  # what it cites and is not there
    tools: tuple[Consulted, ...] = ()
    proposals: tuple[Proposal, ...] = ()
    usage: Usage = field(default_factory=Usage)
    fault: str = ""  # why no model answered, where one was to
    said: str = ""  # when, of what was said before the run started


class FilesEdited(Act, frozen=True, kw_only=True):
    """A person's edits in the workspace, found by a scan."""

    files: tuple[FileOut, ...]
    renamed: dict[str, str] = field(default_factory=dict)  # new name → the name before


class FilesFound(Event, frozen=True, kw_only=True):
    """Changed in the workspace while agents worked, by nobody who said so. It counts once a person decides."""

    files: tuple[FileOut, ...]
    agents: tuple[str, ...] = ()  # at work then


class DraftSaved(Act, frozen=True, kw_only=True):
    checkpoint: str
    place: str  # scope of the checkpoint
    fields: str  # digest of the JSON object


class DecisionRecorded(Act, frozen=True, kw_only=True):
    checkpoint: str
    number: int
    phase: str
    scope: str
    serial: int
    option: str
    decision: str  # the name in context.checkpoints
    move: Move
    fields: str = ""  # digest of the JSON object of answers
    skipped: tuple[str, ...] = ()
    target: str = ""
    feedback: str = ""
    remarks: tuple[str, ...] = ()
    digest: str = ""  # of what was shown
    key: str = ""  # digest of the answer, to recognise the same decision given twice
    n: int = 0  # the round it was about
    last: bool = False  # whether that was the phase's last round
    extra: bool = False
    attention: bool = False
    source: str = ""  # where it comes from instead of somebody who saw it: a file of answers and its line, --latest
    since: tuple[str, ...] = ()  # the person's own remarks and edits after what `digest` names was shown
    acts: tuple[str, ...] = ()  # agents with effects that act again with it, as the option said
    approved: tuple[str, ...] = ()  # whoever chose it, where it needs several; the last is who decided
    late: bool = False  # nobody decided in time: the deadline took it, and it is no person's


class ApprovalRecorded(Act, frozen=True, kw_only=True):
    """One of several people chose an option that needs more than one. It decides nothing yet. The last of a person
    counts, as long as the checkpoint has the version `version`."""

    checkpoint: str
    option: str
    choice: str  # digest of the option and the answers: who chooses the same gives the same
    version: str  # of the checkpoint, without what this person said there: that stands beside it
    was: str = ""  # the version with that, "" = the same: who approved it has approved this
    digest: str = ""  # these five as in DecisionRecorded
    fields: str = ""
    source: str = ""
    since: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()  # what this person said there, and stands beside the version from now on


class ValuesSet(Event, frozen=True):
    values: tuple[ValueWrite, ...]


class SkipsChanged(Event, frozen=True):
    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()


class RoundUndone(Act, frozen=True, kw_only=True):
    serial: int
    phase: str
    scope: str
    n: int
    dropped: bool = False  # True: the round is not run again
    why: str = ""
    checkpoint: str = ""  # where it was decided
    folder: str = ""  # where its files are kept
    archived: tuple[FileOut, ...] = ()  # under their paths there
    digest: str = ""  # this and the next two: as in DecisionRecorded
    source: str = ""
    since: tuple[str, ...] = ()
    acts: tuple[str, ...] = ()  # agents with effects that act again, as the person was told


class ArchivesPruned(Act, frozen=True, kw_only=True):
    """Files kept of undone rounds were removed from the workspace. Their bytes stay in the log."""

    paths: tuple[str, ...]


class WentBack(Event, frozen=True):
    """A plain goto: an earlier visit is reopened."""

    visit: int


class WentOn(Event, frozen=True):
    """`continue` at a reopened visit. visit >= 0: nothing changed, back to that later one; -1: later ones forgotten."""

    visit: int


class Reran(Event, frozen=True):
    """goto rerun: the cursor is cut back so that `target` is entered anew."""

    target: str
    depth: int  # frames kept
    child: int  # index of target among its siblings


class Replanned(Act, frozen=True, kw_only=True):
    """A person has the run planned anew, from wherever it stood. What was under way there is given up; what was
    accepted stays."""

    phase: str  # where it stood; "" = it had ended
    target: str  # where planning begins
    checkpoint: str = ""  # that was open, and is decided by nobody
    tasks: tuple[str, ...] = ()  # that were at work, or waited
    acts: tuple[str, ...] = ()  # agents with effects that act again, as the person was told


class AgainOrdered(Event, frozen=True):
    """One more round of the phase in front, beyond its plan."""

    agents: tuple[str, ...] = ()


class PhaseClosed(Event, frozen=True):
    phase: str
    scope: str
    ended_by: str = ""


class FilesRendered(Event, frozen=True):
    files: tuple[FileOut, ...]


class RenderFailed(Event, frozen=True):
    path: str
    message: str


class Child(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A run to be started for one piece: everything its start needs, so that making it settles nothing more."""

    key: str
    run: str
    title: str
    workflow: str  # digest
    name: str
    inputs: str = ""  # digest
    settings: str = ""  # digest
    place: str = ""  # in the queue


class ChildrenQueued(Act, frozen=True, kw_only=True):
    """A decision started these runs. They are made afterwards, in order, and inherit the first `remarks` remarks."""

    checkpoint: str
    serial: int  # the round that was decided on
    children: tuple[Child, ...]
    remarks: int = 0


class ChildStarted(Event, frozen=True):
    """The child's own log is there."""

    key: str
    run: str


class QueueMoved(Act, frozen=True, kw_only=True):
    place: str


class QueueLeft(Act, frozen=True, kw_only=True):
    """The run was taken up: it is in the queue no more."""


class Paused(Act, frozen=True, kw_only=True):
    """left: by a process that had to leave, not by a person. Whoever takes up what is due takes the run up."""

    now: bool = False
    left: bool = False


class Resumed(Act, frozen=True, kw_only=True):
    """The run goes on."""


class AgentsBound(Act, frozen=True, kw_only=True):
    """Who carries these agents out from the next attempt on. Groups are spread; what is for everyone comes first."""

    bindings: tuple[Binding, ...]


class LimitsSet(Act, frozen=True, kw_only=True):
    """What the run may cost from now on in all, and which tools ask first, whatever the workflow says of them."""

    cost: float = 0.0  # USD; 0 = as the workflow says
    ask: tuple[str, ...] = ()  # tools as the workflow calls them: shell, sql, ...


class WorkflowUpgraded(Act, frozen=True, kw_only=True):
    """The run goes on with another workflow. Its rounds so far were done with the one before."""

    before: str  # digest of the pinned workflow so far
    workflow: str  # and from now on
    name: str
    inputs: str = ""  # digests: what the run was given, completed for this workflow
    settings: str = ""
    rounds: int = 0  # so many were begun with the one before
    moved: dict[str, tuple[int, ...]] = field(default_factory=dict)  # phase → where its phases, and its end, are now
    unbound: tuple[str, ...] = ()  # agents whose bindings hold no more
    dropped: tuple[str, ...] = ()  # values on record that it has no name for, as the person wanted


EndStatus = Literal["completed", "failed", "aborted"]


class RunEnded(Act, frozen=True, kw_only=True):
    status: EndStatus
    outcome: str = ""
    why: str = ""


class RunReopened(Act, frozen=True, kw_only=True):
    """A run that had ended is taken up again: where it stood then, or at a checkpoint that it had been at."""

    status: EndStatus  # how it had ended
    outcome: str = ""
    phase: str = ""  # where it goes on; "" = at its beginning
    visit: int = -1  # the checkpoint that opens anew; -1 = none
    grants: dict[str, float] = field(default_factory=dict)  # limit → what is added to it
    acts: tuple[str, ...] = ()  # agents with effects that act again, as the person was told


AnyEvent = (
    RunStarted
    | Replanned
    | KeyIntroduced
    | Forked
    | Imported
    | PhaseEntered
    | PhaseSkipped
    | ItemStarted
    | ItemDone
    | RoundStarted
    | StepSkipped
    | StepStarted
    | TasksClaimed
    | TaskHeld
    | AttemptEnded
    | ModelTurned
    | CallStarted
    | CallEnded
    | CallsDeferred
    | CallRuled
    | ToolAllowed
    | ToolDisallowed
    | MessagesCompacted
    | ProviderFailed
    | ProviderAwaited
    | ProjectOpened
    | LateOutputArchived
    | OutputForced
    | StepClosed
    | TroubleMet
    | TroubleSettled
    | ExpressionFailed
    | OptionsRevised
    | RoundClosed
    | CheckPassed
    | GapFound
    | CheckpointSkipped
    | CheckpointOpened
    | CheckpointAssigned
    | CheckpointReminded
    | CheckpointEscalated
    | CheckpointOverdue
    | RemarkAdded
    | RemarkRead
    | RemarkWithdrawn
    | RemarkSettled
    | ClaimJudged
    | CompanionSaid
    | FilesEdited
    | FilesFound
    | DraftSaved
    | DecisionRecorded
    | ApprovalRecorded
    | ValuesSet
    | SkipsChanged
    | RoundUndone
    | ArchivesPruned
    | WentBack
    | WentOn
    | Reran
    | AgainOrdered
    | PhaseClosed
    | FilesRendered
    | RenderFailed
    | ChildrenQueued
    | ChildStarted
    | QueueMoved
    | QueueLeft
    | Paused
    | Resumed
    | AgentsBound
    | LimitsSet
    | WorkflowUpgraded
    | RunEnded
    | RunReopened
)

ACTS = frozenset[type](kind for kind in get_args(AnyEvent) if issubclass(kind, Act))  # to ask quickly whether one is
# What only people do: there is always somebody whose act it is, whether they gave a name or not.
OF_PEOPLE = frozenset[type](
    (
        DecisionRecorded, ApprovalRecorded, CheckpointAssigned, RemarkAdded, RemarkWithdrawn, RemarkSettled,
        FilesEdited, CallRuled, ToolAllowed, ToolDisallowed, RoundUndone, Replanned, WorkflowUpgraded, RunReopened,
    )
)  # fmt: skip
