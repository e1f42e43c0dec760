"""One round as `evolve` folds it: its tasks, the step that is open, and what came of those before it."""

# No `from __future__ import annotations` here: annotations would be texts, which msgspec must evaluate at each start.

from typing import Literal

from immutables import Map
from msgspec import Struct

from reconvene.core.facts.events import AttemptEnded, FileOut, LeftOut, ProviderFailed, Read, Ref, Usage


class CallAt(Struct, frozen=True):
    """A call of the last turn. due: it may be made; waits: a person has to say; begun: with effects, and not ended."""

    id: str
    tool: str
    arguments: str  # digest: as it is to be made
    effects: bool = False
    state: Literal["due", "waits", "begun", "over"] = "due"
    why: str = ""  # a person is asked
    doubt: bool = False  # it may have been made already
    changed: bool = False  # its arguments, by a person
    ruling: str = ""
    words: str = ""  # digest of what the person said with it
    outcome: str = ""
    result: str = ""  # digest
    schema: str = ""  # digest


class LoopAt(Struct, frozen=True):
    """An attempt at work with tools. It outlives the process, and an output that is sent back."""

    turn: int = 0
    attempt: int = 0  # in which the last one was taken
    messages: tuple[str, ...] = ()  # digests, a part for each turn
    calls: tuple[CallAt, ...] = ()  # of the last turn
    files: Map[str, str] = Map()  # path → digest, "" = removed: what calls made of the attempt's folder
    usage: Usage = Usage()  # of this attempt, as far as it is on record
    refused: Map[str, str] = Map()  # tool and arguments → digest of what the person said who refused them
    before: int = 0  # turns of earlier attempts
    doubted: Map[str, str] = Map()  # tool and arguments → the call that failed, and may have happened
    said: str = ""  # digest: what the model wrote beside the calls of the last turn
    untold: bool = False  # the person said something since that turn, which the next one is shown


class TaskAt(Struct, frozen=True):
    """One agent's work in the open step. ask = in doubt or unjudged, waiting for the person; held = a limit of cost is
    reached; suspended = its calls wait for the person."""

    agent: str
    status: Literal["open", "done", "missing", "ask", "held", "suspended"] = "open"
    attempt: int = 1
    tries: int = 0  # attempts that count against `retries`
    claim: str = ""
    own: tuple[Read, ...] = ()
    seen_before: int = 0  # remarks this agent had been shown when the step began
    output: Ref | None = None
    value: Ref | None = None
    files: tuple[FileOut, ...] = ()
    ignored: tuple[str, ...] = ()  # files that it wrote and that were not taken, and why
    why: str = ""
    reason: str = ""  # why a gate last sent an output back
    told: str = ""  # of a failure after that, what the agent may know
    rejected: Ref | None = None  # the last output a gate sent back
    rejected_diff: Ref | None = None  # and what it had changed in the project
    example: str = ""  # digest of one that would pass
    running: str = ""  # what still worked at it when it was found in doubt, in words
    unjudged: AttemptEnded | None = None  # its output waits: a kit failed, or it is no good and the agent has acted
    since: str = ""  # when its provider first failed this attempt
    parked: ProviderFailed | None = None  # nobody tries by itself any more
    answer: str = ""  # digest of what the agent gave in this attempt; only a gate is still to be asked
    loop: LoopAt | None = None


class StepAt(Struct, frozen=True):
    index: int
    order: tuple[str, ...]
    tasks: Map[str, TaskAt]
    open: int  # how many are not ended
    reads: tuple[Read, ...] = ()
    remarks: int = 0
    missing: tuple[str, ...] = ()  # unfunded
    settled: tuple[str, ...] = ()  # kinds of trouble the person has ruled on
    use: Map[str, str] = Map()  # path → agent whose version the person chose
    talk: tuple[int, ...] = ()  # which entries of the talk are shown
    untold: int = 0  # how many older ones were left out


class OutputAt(Struct, frozen=True):
    agent: str
    output: Ref
    value: Ref | None = None
    step: int = 0
    files: tuple[FileOut, ...] = ()
    ignored: tuple[str, ...] = ()


class RoundAt(Struct, frozen=True):
    serial: int
    n: int
    name: str
    extra: bool
    agents: tuple[str, ...]
    step: int = 0
    open: StepAt | None = None
    outputs: tuple[OutputAt, ...] = ()
    last: bool = False
    ended_by: str = ""
    missing: tuple[str, ...] = ()


class Unasked(Struct, frozen=True):
    """An output that stands though a gate could not ask its model. before: checkpoints that had opened until then."""

    agent: str
    phase: str
    n: int
    at: str
    why: str
    before: int


class Unshown(Struct, frozen=True):
    """An output whose agent was not shown all documents. before: checkpoints that had opened until then."""

    agent: str
    phase: str
    n: int
    at: str
    documents: tuple[LeftOut, ...]
    before: int
