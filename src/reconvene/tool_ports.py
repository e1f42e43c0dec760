"""Tools that a model uses while it works: what they are, how one is called, and how each turn gets on record."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct, field

if TYPE_CHECKING:
    from reconvene.core.facts.events import Usage

Outcome = Literal["done", "failed", "refused", "answered"]


class ToolInfo(Struct, frozen=True):
    """One tool as a model is told of it."""

    name: str  # letters, digits, _ and -: what the model calls
    of: str  # the entry of `tools:` that brought it: files, documents, sql, graph, project, shell, or mcp:NAME
    description: str
    schema: dict[str, object]  # of its arguments, an object
    effects: bool = False  # what it does outside the attempt's folder cannot be taken back, or done twice unnoticed
    writes: bool = False  # it changes files of the attempt's folder
    by_source: Mapping[str, str] = field(default_factory=dict)  # of several entries: which one brought which source

    def entry(self, arguments: Mapping[str, object]) -> str:
        """The entry of `tools:` whose rules hold for a call."""
        return self.by_source.get(str(arguments.get("source")), self.of)


class ToolResult(Struct, frozen=True):
    """What a call gave. `text` goes to the model; what was cut off is said in it."""

    text: str
    failed: bool = False
    files: Mapping[str, bytes] = field(default_factory=dict)  # what it changed in the attempt's folder; b"" may be one
    removed: tuple[str, ...] = ()
    counts: Mapping[str, int] = field(default_factory=dict)  # what a database said that it changed
    sandbox: str = ""  # what kept a program in, where one was started
    unknown: bool = False  # of one that failed: it may have had its effect


class Toolbox(Protocol):
    """The tools of one attempt, and the folder in which it works."""

    def tools(self) -> tuple[ToolInfo, ...]: ...

    async def call(self, name: str, arguments: Mapping[str, object]) -> ToolResult:
        """One of them, with arguments that fit its schema. Whatever goes wrong in a tool is a failed result in words
        that a model can use. AgentError only where no call can help any more."""

    def read(self, path: str) -> bytes | None:
        """A file of the attempt's folder as it is now; None where there is none."""

    def files(self) -> Mapping[str, bytes]:
        """What the attempt changed or made in its folder so far."""

    def ignored(self) -> tuple[str, ...]:
        """What it left there and is not taken, with the reason."""


class Wanted(Struct, frozen=True):
    """A call that a model asks for. `id`: the turn and its place there, as in "3.1"."""

    id: str
    tool: str
    arguments: str  # a JSON object in its one spelling, or whatever the model wrote instead
    effects: bool = False
    of: str = ""  # the entry of `tools:`
    schema: str = ""  # of its arguments, as JSON


class Known(Struct, frozen=True):
    """A call as it is on record."""

    id: str
    tool: str
    arguments: str  # as they are to be carried out: a person may have changed them
    state: Literal["due", "waits", "over"]  # waits: a person has to say
    outcome: Outcome = "done"
    result: str = ""  # what the model is told, once it is over
    changed: bool = False  # by a person, against what the model wrote
    ruling: Literal["", "approve", "change", "refuse", "answer"] = ""  # of a person who was asked
    words: str = ""  # and what they said with it


class Recorded(Struct, frozen=True):
    """Where an attempt's loop stands. `messages`: one part for each turn, as they were given to `turned`."""

    turn: int = 0
    messages: tuple[bytes, ...] = ()
    calls: tuple[Known, ...] = ()  # of the last turn
    usage: Usage | None = None  # of this attempt
    fresh: bool = True  # nothing of this attempt is on record yet
    before: int = 0  # turns of earlier attempts
    untold: bool = False  # the person said something since the last turn
    files: Mapping[str, bytes | None] = field(default_factory=dict)


class CallsWait(Exception):
    """The attempt cannot go on before a person has decided on its calls."""


class Turns(Protocol):
    """The record of one attempt's loop. Every method returns when what it was told is on disk."""

    def so_far(self) -> Recorded: ...

    async def turned(
        self,
        turn: int,
        messages: bytes,
        calls: tuple[Wanted, ...],
        usage: Usage,
        request: bytes,
        reply: bytes,
        said: str = "",
    ) -> tuple[Known, ...]:
        """A model answered. `messages`: what was sent to it in this turn, and its answer. `said`: what it wrote beside
        its calls. Which of them may be made at once, and which wait for a person, is what is given back."""

    async def started(self, call: str) -> None:
        """Before a call with effects is made."""

    async def ended(self, call: str, outcome: Outcome, result: ToolResult, seconds: float) -> str:
        """What the model is told of it: its text, secrets blanked."""

    async def compacted(self, turn: int, messages: bytes, why: str) -> None:
        """`messages` stand for all that were recorded so far."""
