"""What the application needs from the outside, as Protocols. Adapters implement these; nothing here does anything."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, NamedTuple, Protocol, runtime_checkable

from reconvene.chain_ports import ChainedLog, Stored
from reconvene.message_ports import Message, Outbox
from reconvene.sandbox_ports import Ground
from reconvene.shelf_ports import Takes

if TYPE_CHECKING:
    from reconvene.core.definition.workflow import Agent
    from reconvene.core.facts.events import AnyEvent, LeftOut, Usage
    from reconvene.material_ports import Document, SourceAt
    from reconvene.tool_ports import ToolInfo, Turns


class IndexRow(NamedTuple):
    """One run in the inbox and the run list, written in the same transaction as its events."""

    run: str
    workflow: str
    status: str  # queued | running | waiting | paused | completed | failed | aborted
    started: str
    updated: str
    doc: str  # the JSON object that `runs --json` prints: {"run", "status", "phase", "round", "checkpoint", …}


REQUESTS_KEPT = 2 * 86_400  # seconds for which is known which append carried a request out


class Request(NamedTuple):
    """What somebody asked for, by a key of theirs: an append may carry it out, once."""

    mark: str  # made from who asked, their key and what they asked: hexadecimal
    at: str


class Append(NamedTuple):
    """What one append writes, all of it or nothing: events of a run, and whatever must be there as soon as they are.

    A store that keeps something more for them gets it as one more field here.
    """

    events: Sequence[AnyEvent]
    artefacts: Mapping[str, bytes] = MappingProxyType({})  # digest → bytes
    row: IndexRow | None = None  # in the index; None = the run's row stays as it is
    seal: Callable[[bytes], bytes] | None = None  # given the append's link in the chain: what to keep beside it
    due: str | None = None  # when the run is to be taken up though nobody does anything; "" = never, None = as it was
    messages: Sequence[Message] = ()  # that tell of these events: into the outbox
    followers: tuple[str, ...] | None = None  # destinations that are told of this run; None = as it was
    request: Request | None = None  # that is carried out by this; Repeated where another append has done it


class EventLog(ChainedLog, Outbox, Protocol):
    """Append-only logs, artefacts by digest, index rows, snapshots, leases, an outbox: see
    reconvene.testing.conformance."""

    def append(self, run: str, expected_seq: int, append: Append) -> int:
        """One durable transaction. Events get seq expected_seq+1 …; returns the new head. Conflict if head moved."""

    def head(self, run: str) -> int:
        """The last seq, 0 where there is no such run."""

    def heads(self) -> dict[str, int]:
        """The same for every run."""

    def moment(self) -> object:
        """Another value once anybody has appended to any run, in whichever process. Quick: it is asked all the time."""

    def read(self, run: str, after: int = 0, limit: int = 0) -> list[tuple[int, AnyEvent]]:
        """The events after this one, in order; at most `limit`, 0 = all."""

    def artefact(self, digest: str) -> bytes:
        """StoreError where it is not there, or its bytes are not what the digest says."""

    def carried_out(self, mark: str) -> tuple[str, int] | None:
        """The run and the seq up to which it was written by the append that carried this request out; None = none did,
        or it is long ago."""

    def adopt(self, run: str, rows: Sequence[Stored], unchained: int, append: Append) -> int:
        """A log that was made elsewhere, byte for byte, and one more append on it: all of it or nothing. Conflict where
        there is or was such a run. `unchained`: of its first events, those from before there was a chain."""

    def index(self, *, status: str | None = None, after: str = "", limit: int = 0) -> list[IndexRow]:
        """The run that was started last first; never folds a log. `after`: what is listed after this run, "" = from the
        first on. At most `limit` rows, 0 = all."""

    def index_row(self, run: str) -> IndexRow | None: ...

    def due(self, now: str, limit: int = 0) -> list[tuple[str, str]]:
        """Runs that are to be taken up by now, each after its time, the earliest first; at most `limit`, 0 = all."""

    def save_snapshot(self, run: str, seq: int, key: str, data: bytes) -> None:
        """Keeps one per run."""

    def snapshot(self, run: str, key: str) -> tuple[int, bytes] | None:
        """The kept one if its key matches."""

    def acquire(self, run: str, holder: str) -> bool:
        """Take the run's lease. False while another live holder has it; a dead process's is taken over at once."""

    def release(self, run: str, holder: str) -> None: ...

    def driven(self) -> frozenset[str]:
        """Runs whose lease a live process holds. Only looks, and quickly: lists of runs ask it."""

    def close(self) -> None: ...


class ProjectWork(NamedTuple):
    """The person's project as one attempt finds it. branch "" = the run has none yet; base and head are commits."""

    path: str
    branch: str = ""
    base: str = ""
    head: str = ""  # all accepted work; "" = base
    since: tuple[str, ...] = ()  # the commits at which the items under way began, "" = base
    place: str = ""  # project, project.read, or "" where the agent only looks
    title: str = ""  # of the commit
    words: str = ""  # for a survey: what it should look for, or is told


class ProjectDone(NamedTuple):
    """What came of it. `since` pairs each beginning with the diff from there."""

    path: str
    branch: str
    base: str
    uncommitted: int = 0
    commit: str = ""
    diff: str = ""
    since: tuple[tuple[str, str], ...] = ()
    changed: tuple[str, ...] = ()


class Assignment(NamedTuple):
    """Everything an agent gets for one attempt."""

    run: str
    task: str
    attempt: int
    agent: Agent
    prompt: str  # what is asked in this attempt; `system` goes before it
    files: Mapping[str, bytes]  # what it may read: its private copy holds these and nothing else
    writes: tuple[str, ...]  # patterns it is expected to write; () = anything
    schema: object  # JSON Schema of the output, or None for text
    round: int = 1  # n, for recordings
    phase: str = ""
    remarks: tuple[Mapping[str, str], ...] = ()  # as delivered: id, kind, text, target (recordings react to them)
    project: ProjectWork | None = None
    folder: str = ""  # where it works; "" = a private folder with copies of `files`
    system: str = ""  # standing rules, the same for every agent; "" = they stand in the prompt
    mark: str = ""  # of the prompt's sections
    latest: str = ""  # what the person said since it last worked, as a section: to be said last
    left_out: tuple[LeftOut, ...] = ()  # of its documents, what does not fit
    shared: int = 0  # so many characters of the prompt, from its first, all agents of the step get; 0 = it is alone
    bound: bool = False  # a person named who carries it out, in another's place
    ground: Ground = Ground()
    turns: Turns | None = None  # of who uses tools: what is on record of this attempt
    documents: tuple[Document, ...] = ()  # of the run, for who uses tools
    sources: tuple[SourceAt, ...] = ()
    looks_into: ProjectWork | None = None  # the person's project, for who looks at it with tools
    again: str = ""  # why the last attempt does not count, for who goes on where it ended
    since: str = ""  # what the person said since its last turn, for who goes on in the middle
    takes: Takes = Takes()

    @property
    def whole(self) -> str:
        """All of it as one text, for who takes only one."""
        return f"{self.system}\n\n{self.prompt}" if self.system else self.prompt


class Answer(NamedTuple):
    """What an agent gave back."""

    text: str
    value: object  # parsed JSON where a schema was asked for, else None
    has_value: bool
    files: Mapping[str, bytes]
    ignored: tuple[str, ...]  # files it wrote that were not taken, with the reason
    usage: Usage
    request: bytes  # the full request as sent, secrets redacted
    reply: bytes  # the raw reply
    recorded: bool = False
    project: ProjectDone | None = None
    sandbox: str = ""  # what kept the agent in; see AttemptEnded
    held: Mapping[str, bytes] = MappingProxyType(
        {}
    )  # files it wrote that hold a secret or start programs: not taken, kept aside


class Progress(NamedTuple):
    """What happens while agents work; shown, never stored.

    `done` and `sent back` are told when they are on record. `output` is a line to look at, `text` a piece of what the
    agent writes, as it comes."""

    run: str
    task: str
    agent: str
    # started | output | text | tokens | retry | waiting | countdown | note | warning | done | sent back | late | failed
    what: str
    detail: str = ""
    tokens: int = 0


Listener = Callable[[Progress], None]


class AgentRunner(Protocol):
    """Runs one attempt. Raises AgentError, whose outcome says how it failed, and whether the provider did.

    Tries nothing again by itself. On cancellation it ends everything it started before it returns. One whose programs
    may outlive this process has `leftovers`, which are `Leftovers`.
    """

    async def run(self, assignment: Assignment, listener: Listener) -> Answer: ...

    async def window(self, agent: Agent) -> int:
        """How many tokens this agent can take, prompt and reply together; 0 = not known."""
        ...

    async def close(self) -> None: ...


@runtime_checkable
class ListsTools(Protocol):
    """Whoever runs agents may also say what tools they have."""

    async def tools(self, assignment: Assignment) -> tuple[ToolInfo, ...]:
        """Of its agent, with what the run was given. AgentError where they cannot be had."""


class ProjectLook(NamedTuple):
    """`tip`: the commit at which the branch stands, "" where there is none; `added`: how many on it the run's own
    commit does not lead to."""

    changed: tuple[str, ...]
    tip: str
    added: int


class Projects(Protocol):
    """Worktrees of the person's project: the agents' place of work, never the checkout that the person has open."""

    async def run(self, runner: AgentRunner, assignment: Assignment, listener: Listener) -> Answer:
        """One attempt of an assignment with a `project`: on a clean worktree, and what it changed as a commit."""

    def unfit(self, path: str) -> str:
        """Why no agent could work in this folder, and what would help; "" where one could."""

    def files(self, work: ProjectWork, names: Sequence[str]) -> str:
        """These files as they are at the run's commit, for a prompt."""

    def publish(self, run: str, path: str, branch: str, commit: str, *, create: bool = True) -> str:
        """Let the branch in the person's repository stand at this commit. "" or the reason why it was left alone.

        create False: only if it is there.
        """

    def look(self, path: str, branch: str, base: str, commit: str) -> ProjectLook:
        """What differs between two commits there, and where the branch stands."""

    def compare(self, path: str, old: str, new: str) -> str:
        """The difference of two commits there, as a unified diff."""

    def close(self, run: str) -> None:
        """Take the run's worktrees away; its branch stays."""


class Change(NamedTuple):
    """A difference between what the log says and what is on disk. data None = gone."""

    path: str
    data: bytes | None


class Look(NamedTuple):
    """What one look at the folder found, against path → digest as the log says.

    settled: the folder is as the log says, and that is noted; there is nothing to write.
    """

    changes: list[Change]  # a person's; what the engine has not written out yet is none
    stale: list[str]  # paths that a crash left unwritten (or unremoved): not as the log says, and not a person's change
    settled: bool
    ignored: tuple[str, ...] = ()  # what lies there and is taken no notice of, each with the reason


class Workspace(Protocol):
    """The folder that people open. The log is the truth; this is its projection, plus what a person changed."""

    root: str

    def occupied(self) -> bool:
        """Whether something lies there already: files, or anything that is not a folder."""

    def look(self, known: Mapping[str, str]) -> Look:
        """For who records the changes: they count as seen, and may be overwritten from then on."""

    def stale(self, known: Mapping[str, str]) -> list[str]:
        """Only these; changes stay unseen."""

    def write(self, files: Mapping[str, bytes | None], known: Mapping[str, str]) -> None:
        """Bring these to disk (None = remove) and remember them as written. `known`: path → digest after this write."""

    def read(self, path: str) -> bytes | None: ...

    def ignored(self, known: Mapping[str, str]) -> tuple[str, ...]:
        """What lies there and is taken no notice of, each with the reason: too large, a link, unreadable."""

    def leave(self) -> None:
        """Nothing is written here any more: forget what was, and the folder where it is empty."""


class Commit(NamedTuple):
    """One commit of a run's history, wholly determined by the log. `marks`: what it can be found by beside its branch,
    each as a kind and names, such as ("items", "work#1", "load"); the newest commit with a mark has it."""

    seq: int
    files: Mapping[str, str]  # the whole tree: path → digest
    subject: str
    body: str
    trailers: tuple[tuple[str, str], ...]
    author: str
    at: str
    marks: tuple[tuple[str, ...], ...] = ()


class Witness(Protocol):
    """Where logs ended when they were last looked at, out of reach of whoever can change the home."""

    place: str  # where that is noted

    def note(self, run: str, seq: int, value: str) -> None:
        """The log's last event, and the value of the chain after it."""

    def noted(self, run: str) -> tuple[int, str]:
        """(0, "") where nothing is noted."""

    def every(self) -> dict[str, tuple[int, str]]:
        """Of every run."""


class History(Protocol):
    """The git history of workspaces: one bare repository, a branch per run, and a ref for each mark."""

    witness: Witness | None

    def last_seq(self, run: str) -> int:
        """Seq of the newest commit on the run's branch, 0 for none."""

    def commit(self, run: str, commits: Iterable[Commit], blob: Callable[[str], bytes]) -> None: ...

    def runs(self) -> list[str]:
        """Those with a branch, by the name that their last commit gives them."""

    def note_head(self, run: str, seq: int, value: str) -> None:
        """Beside the branch: the log's last event, committed or not, and the value of the chain after it."""

    def noted_head(self, run: str) -> tuple[int, str]:
        """(0, "") where nothing is noted."""

    def forget(self, run: str) -> None:
        """Remove the run's branch and refs, and whatever no other branch needs."""

    def unsound(self, run: str) -> str:
        """What is wrong with the run's branch, its refs and all that they are made of; "" also where it has none."""

    def diff(self, run: str, old: str, new: str, path: str = "") -> str:
        """Unified diff between two commits (ids), "" as old = the empty tree."""

    def commits(self, run: str) -> list[tuple[str, Commit]]:
        """(commit id, commit with files left empty), oldest first."""


class Surroundings(Protocol):
    """What a run finds around it at its start; fixed in its settings from then on."""

    def variable(self, name: str) -> str:
        """An environment variable, "" where it is not set."""

    def machine(self) -> Mapping[str, object]:
        """model: whether `model: auto` finds something; git: whether there is git; coder: an installed coding CLI."""


class Clock(Protocol):
    def now(self) -> str:
        """ISO 8601 UTC with milliseconds and Z."""
