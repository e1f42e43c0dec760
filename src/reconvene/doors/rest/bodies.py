"""What the API gives beside the read model, and what it takes: lists with their cursor, bodies, queries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from msgspec import Meta, Struct, field

from reconvene.app.file_versions import Version
from reconvene.app.views.all_rounds import RoundShown
from reconvene.app.views.comment_rows import Comment
from reconvene.app.views.companion_talk import Said as CompanionSaid
from reconvene.app.views.companion_talk import Spent
from reconvene.app.views.read_model import File, Remark, Run, RunInFull, Said
from reconvene.app.views.tool_calls import Allowed, Call
from reconvene.doors.rest.operations import Body, Query

Limit = Annotated[int, Meta(ge=1, le=200, description="At most so many.")]
Cursor = Annotated[str, Meta(max_length=300, description="The `next` of the page before.")]
Text = Annotated[str, Meta(min_length=1, max_length=200_000)]
Short = Annotated[str, Meta(max_length=2_000)]
Status = Literal["queued", "running", "waiting", "paused", "completed", "failed", "aborted"]


# --- what is asked for in an address ---
class Page(Query, frozen=True):
    after: Cursor = ""
    limit: Limit = 50


class Runs(Page, frozen=True):
    status: Status | None = None


class Inbox(Page, frozen=True):
    mine: Annotated[bool, Meta(description="Only what waits for you.")] = False


class EventsAfter(Query, frozen=True):
    after: Annotated[int, Meta(ge=0, le=2**53, description="Only events after this number.")] = 0
    limit: Annotated[int, Meta(ge=1, le=1000)] = 200


class StreamAfter(Query, frozen=True):
    after: Annotated[int, Meta(ge=0, le=2**53, description="As Last-Event-ID, which counts before it.")] = 0


class LedgerPage(Query, frozen=True):
    open: Annotated[bool, Meta(description="Only what nobody has answered.")] = False
    after: Annotated[str, Meta(max_length=300, description="Only remarks after this one.")] = ""
    limit: Limit = 200


class Between(Query, frozen=True):
    old: Annotated[str, Meta(max_length=20)] = ""
    new: Annotated[str, Meta(max_length=20)] = ""


class OfFile(Query, frozen=True):
    path: Short = ""


class WithOther(Query, frozen=True):
    other: Annotated[Short, Meta(description="A run; else what this one was forked from.")] = ""


class OneVersion(Query, frozen=True):
    version: Annotated[str, Meta(max_length=200, description="A digest; else the file as it is now.")] = ""


class OfAgent(Query, frozen=True):
    agent: Short = ""


# --- bodies ---
class Lines(Struct, frozen=True, forbid_unknown_fields=True):
    """Lines of a file, in the version that was shown."""

    path: Short
    version: Short  # the file's digest
    first: Annotated[int, Meta(ge=1, le=2**31)]
    last: Annotated[int, Meta(ge=0, le=2**31)] = 0


class RemarkBody(Body, frozen=True):
    """kind "": as the text says itself ("correction: …"), else a comment."""

    text: Text
    kind: Short = ""
    target: Short = ""
    was: Short = ""
    now: Short = ""
    on: Lines | None = None
    replaces: Annotated[Short, Meta(description="The id of a remark in whose place it stands.")] = ""


class RemarksBody(Body, frozen=True):
    remarks: Annotated[tuple[RemarkBody, ...], Meta(min_length=1, max_length=100)]
    understand: Annotated[bool, Meta(description="Free text: split it and find out what each part is.")] = False


class ReadingBody(Body, frozen=True):
    """How a remark is read from now on; what is left out stays."""

    kind: Short | None = None
    target: Short | None = None
    was: Short | None = None
    now: Short | None = None
    level: Literal["minor", "major"] | None = None


Words = Annotated[tuple[RemarkBody, ...], Meta(max_length=100)]


class DecisionBody(Body, frozen=True):
    """`anyway`: the `version` of a refusal that told what others said since; it is on record with the decision."""

    option: Annotated[str, Meta(min_length=1, max_length=2_000)]
    fields: dict[str, Any] = field(default_factory=dict)
    remarks: Words = ()
    anyway: Short = ""


class Ruling(Struct, frozen=True, forbid_unknown_fields=True):
    ruling: Literal["approve", "refuse", "change", "answer", "always", "always like", "later"]
    words: Annotated[str, Meta(max_length=200_000)] = ""


class RulingsBody(Body, frozen=True):
    """By the name of each call that waits (call1, call2 …): what is decided, and the words that go with it."""

    calls: Annotated[dict[str, Ruling], Meta(min_length=1, max_length=200)]


class AssignBody(Body, frozen=True):
    """Names, and teams as team:NAME."""

    who: Annotated[tuple[Annotated[str, Meta(min_length=1, max_length=200)], ...], Meta(min_length=1, max_length=50)]


class LimitsBody(Body, frozen=True):  # in USD, 0 = as the workflow says; and which tools ask a person first
    cost: Annotated[float, Meta(ge=0, le=1e9)] = 0.0
    ask: Annotated[tuple[Short, ...], Meta(max_length=50)] = ()


class AnswersBody(Body, frozen=True):
    """Answers so far, by field; null takes one back."""

    fields: dict[str, Any]
    checkpoint: Short = ""


class SaidBody(Body, frozen=True):
    remarks: Words = ()


class AgainBody(SaidBody, frozen=True):
    """`run_again`: agents that act on the world may act again."""

    run_again: bool = False


class RollbackBody(AgainBody, frozen=True):
    anyway: Short = ""


class ReopenBody(AgainBody, frozen=True):
    phase: Short = ""
    rerun: bool = False
    grants: dict[str, float] = field(default_factory=dict)


class PauseBody(Body, frozen=True):
    now: bool = False


class NothingBody(Body, frozen=True):
    """Nothing has to be said."""


class ForkBody(Body, frozen=True):
    at: Annotated[int, Meta(ge=1, le=2**53)]


class PositionBody(Body, frozen=True):
    """Counted from 1; -1 is the last."""

    position: Annotated[int, Meta(ge=-1, le=2**31)]


class StartBody(Body, frozen=True):
    """Inputs by name. Files are uploads, {"upload": "DIGEST"}, or texts, {"name": "brief.md", "text": "…"}; sources
    and projects are the names that the server's settings give them. No path of the server's disk is ever read."""

    workflow: Annotated[str, Meta(min_length=1, max_length=200)]
    inputs: dict[str, Any] = field(default_factory=dict)
    settings: dict[str, Any] = field(default_factory=dict)
    models: Annotated[
        dict[str, Annotated[str, Meta(max_length=300)]], Meta(description='Agent or group → provider:name; "" = all.')
    ] = field(default_factory=dict)
    recorded: Annotated[bool, Meta(description="Play the recording that comes with the workflow.")] = False


class QuestionBody(Body, frozen=True):
    text: Text


# --- what is given ---
class RunPage(Struct, frozen=True):
    runs: tuple[Run, ...]
    next: str = ""  # the cursor of the rest, "" = there is no more


class RunShown(RunInFull, frozen=True, kw_only=True):
    review: dict[str, Any] = field(default_factory=dict)  # of an open checkpoint: what remarks weigh, what is open
    companion: Spent | None = None


class Me(Struct, frozen=True):
    name: str
    role: str
    teams: tuple[str, ...] = ()


class Health(Struct, frozen=True):
    """`busy`: for how many seconds the engine has been at one piece of work; what is asked meanwhile waits for it."""

    status: str
    busy: float = 0.0


class Events(Struct, frozen=True):
    """Each event has `seq`, `type`, `at`, and what its type says. `next`: the number with which the rest begins."""

    run: str
    events: tuple[dict[str, Any], ...]
    next: int = 0


class LastShown(Struct, frozen=True):
    """`version` "": none was."""

    run: str
    version: str


class Files(Struct, frozen=True):
    run: str
    files: tuple[File, ...]


class Versions(Struct, frozen=True):
    run: str
    versions: tuple[Version, ...]


class Diff(Struct, frozen=True):
    run: str
    diff: str


class Rounds(Struct, frozen=True):
    run: str
    rounds: tuple[RoundShown, ...]


class Talk(Struct, frozen=True):
    run: str
    talk: tuple[Said, ...]


class Calls(Struct, frozen=True):
    run: str
    calls: tuple[Call, ...]


class AllowedCalls(Struct, frozen=True):
    run: str
    allowed: tuple[Allowed, ...]


class Comments(Struct, frozen=True):
    run: str
    comments: tuple[Comment, ...]


class Remarks(Struct, frozen=True):
    run: str
    remarks: tuple[Remark, ...]


class RunWithRemarks(Run, frozen=True, kw_only=True):
    """The run, and what was recorded just now."""

    remarks: tuple[Remark, ...] = ()


class ViewOffered(Struct, frozen=True):
    name: str
    kit: str
    help: str = ""


class Views(Struct, frozen=True):
    run: str
    views: tuple[ViewOffered, ...]


class ViewRows(Struct, frozen=True):
    run: str
    kit: str
    view: str
    rows: tuple[Any, ...]


class Queued(Struct, frozen=True):
    position: int
    run: str
    parent: str
    title: str
    workflow: str
    since: str


class Queue(Struct, frozen=True):
    queue: tuple[Queued, ...]


class Position(Struct, frozen=True):
    run: str
    position: int


class InputShown(Struct, frozen=True):
    name: str
    type: str
    required: bool
    description: str = ""
    default: Any = None


class WorkflowShown(Struct, frozen=True):
    name: str
    description: str
    inputs: tuple[InputShown, ...]
    settings: Mapping[str, Any]
    agents: tuple[str, ...]
    recorded: bool = False  # it can be played without a model
    sources: tuple[str, ...] = ()  # the names that an input of the type sources takes


class Workflows(Struct, frozen=True):
    workflows: tuple[WorkflowShown, ...]


class Conversation(Struct, frozen=True):
    run: str
    said: tuple[CompanionSaid, ...]


class Answered(Struct, frozen=True):
    run: str
    asked: CompanionSaid
    said: CompanionSaid
    understood: str = ""
    facts: dict[str, Any] = field(default_factory=dict)
    hint: str = ""


class UploadShown(Struct, frozen=True):
    digest: str
    name: str
    size: int
    at: str
    run: str = ""  # that was given it


class UploadList(Struct, frozen=True):
    uploads: tuple[UploadShown, ...]


class Problem(Struct, frozen=True, omit_defaults=True):
    """RFC 9457. `field`: what does not fit. `changes`, `version`: of a decision on what is not there any more."""

    type: str
    title: str
    status: int
    detail: str
    hint: str = ""
    field: str = ""
    changes: tuple[str, ...] = ()
    version: str = ""
