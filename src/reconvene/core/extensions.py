"""The ports of kits: what a kit may bring to the engine. Nothing here implements any of it.

A kit is what one kind of process needs: a value that is followed through the rounds, a way to read what people say,
rules for outputs. Kits are pure. `evolve` and `plan` never call one; `handle` does, and what the kit said is in the
event, so a log can be read without its kits. A run without its kit is listed and shown, and cannot go on. What a kit
gives (`array_like`) may also be a plain tuple of the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Literal, Protocol

from msgspec import Struct

if TYPE_CHECKING:
    from reconvene.core.facts.book import Book
    from reconvene.core.facts.commands import RemarkIn
    from reconvene.core.facts.state import RunState
    from reconvene.language.entries import Entries


class Objection(Struct, frozen=True, array_like=True):
    """What is wrong with an output: a code for scripts, and a sentence for the agent."""

    code: str
    why: str

    @property
    def said(self) -> str:
        """Both, as people and agents read them."""
        return f"{self.code}: {self.why}".rstrip()


# --- a tracker: a value of the run, worked out from each round ---


class Seen(Struct, frozen=True):
    """What a tracker is shown of a round so far. Keys are those of the workflow's `track`."""

    round: int
    given: Mapping[str, object]  # what the expressions give; of a document its text, None = there is no such file
    outputs: Mapping[str, str | None]  # of the outputs that are named: their text; None = not there yet
    files: Mapping[str, str]  # the one file that an output is, where it is one
    closed: bool  # the round is over


class Tracker(Protocol):
    """Follows something through the rounds. All it knows is in its value, so that an undone round takes it along.

    It may also have `documents`, a tuple: the keys of `track` that name files, whose texts it is given.
    """

    @property
    def expressions(self) -> Mapping[str, str]:
        """The keys of `track` that are expressions, with what they are where nothing is said ("" = nothing)."""

    @property
    def outputs(self) -> tuple[str, ...]:
        """The keys of `track` that name outputs of the phase's steps."""

    def schema(self) -> object:
        """A JSON schema of the value: its names are checked in expressions and templates."""

    def track(self, before: object, seen: Seen) -> object:
        """The value after what there is of the round. `before`: at the round's start; None at first."""

    def objection(self, before: object, role: str, text: str, seen: Seen) -> Objection | None:
        """What is wrong with an output that `track` names under the key `role`."""

    def facts(self, value: object, round: int) -> Mapping[str, object]:
        """What a round did to the value, in a few lists and words, for comparing its tries."""

    def settle(self, value: object, round: int, by: str, at: str) -> object:
        """The value after a person's decision has written into it what is to be done: done."""


# --- a reader: what a remark means ---


class Reading(Struct, frozen=True, array_like=True):
    """What the rules make of a remark: figures that it corrects, how much it weighs, and why."""

    was: str
    now: str
    level: str  # minor, major
    reason: str


class Understood(Struct, frozen=True, array_like=True):
    """One remark out of a free text. `rule` says why it was understood so, in words for the person."""

    remark: RemarkIn
    rule: str


class RemarkLike(Protocol):
    """A remark as given or as recorded. `id` and `path` are used where there are any."""

    @property
    def text(self) -> str: ...
    @property
    def target(self) -> str: ...


class AgentProfile(Struct, frozen=True):
    name: str
    remit: str = ""
    last_output: str = ""


class Concerned(Struct, frozen=True, array_like=True):
    """An agent that remarks concern: by which rule, and why in words."""

    agent: str
    rule: str
    why: str


class Stated(Protocol):
    """A text that is asked whether it states values."""

    def holds(self, value: str) -> bool: ...


class Reader(Protocol):
    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of remark that it knows."""

    def typed(self, text: str) -> RemarkIn:
        """A remark typed as "kind: text", or as text alone. UserError where there is none."""

    def split(self, text: str, agents: tuple[str, ...] = ()) -> tuple[Understood, ...]:
        """The remarks in a free text, in its own order and words; none in one that only says "go on"."""

    def order(self, text: str) -> str:
        """What a text tells the engine to do: "another round", "skip", "proceed", "pause"; "" if nothing."""

    def refuses_round(self, text: str) -> bool:
        """Of a text that orders to proceed: whether it refuses another round, whatever the workflow plans."""

    def read(self, remark: RemarkIn, outputs: Mapping[str, str]) -> Reading:
        """`outputs`: by agent, the text that the person speaks about."""

    def concerned(
        self, remarks: Sequence[RemarkLike], agents: Mapping[str, AgentProfile], always: tuple[str, ...]
    ) -> tuple[Concerned, ...]:
        """Whom these remarks concern, in the order of `agents`. Never empty while there are agents."""

    def words(self, text: str) -> dict[str, str]:
        """Stem → word as first written, of every word that carries meaning of its own."""

    def tokens(self, text: str) -> list[tuple[str, str, bool]]:
        """Every word, its stem, and whether it is too common to mean anything."""

    def asserted(self, text: str) -> str:
        """The text without the figures that it denies."""

    def stated(self, text: str) -> Stated: ...


# --- a judge: whether an output answers a remark ---


class Citation(Struct, frozen=True, array_like=True):
    """Where an output speaks of a remark, and what it says became of it."""

    id: str
    how: Literal["addressed", "declined"]
    reason: str  # the words around it, without ids and markup
    line: int  # counted from 1


Judge = Callable[[str], Sequence[Citation]]


# --- an examiner: whether what an output claims can be seen in it ---


class Asked(Struct, frozen=True):
    """A remark that an agent was shown, and what the reader makes of it."""

    id: str
    text: str
    kind: str = "comment"
    was: str = ""
    now: str = ""


class Compared(Struct, frozen=True):
    """A text of the agent before it was shown the remarks, and now. path "" = its output."""

    path: str
    before: str
    after: str


class Examined(Struct, frozen=True):
    """What one output is judged by. All `remarks` were shown to the agent, and are for it."""

    agent: str
    others: tuple[str, ...]  # agents beside it
    remarks: tuple[Asked, ...]
    texts: tuple[Compared, ...]
    cited: tuple[Citation, ...] = ()
    revised: bool = True  # the texts are versions of one piece of work; else those before are from another step
    demanded: tuple[str, ...] = ()  # what the workflow has agents write, whatever they were told


class Spot(Struct, frozen=True, array_like=True):
    """A place in a text: what stood there before, and what stands there now."""

    path: str
    line: int
    was: str
    now: str


class Finding(Struct, frozen=True, array_like=True):
    """What an output proves of one remark. `why`: what is missing, in words. `against`: where what the remark contests
    still stands."""

    id: str
    verdict: Literal["seen", "unseen", "declined"]
    said: Literal["taken up", "declined", ""]
    why: str
    reason: str
    line: int
    evidence: tuple[Spot, ...]
    against: tuple[Spot, ...]


class Examiner(Struct, frozen=True):
    """`version` is raised whenever the same texts may get another verdict; it is on record with each of them."""

    version: int
    examine: Callable[[Examined], Sequence[Finding]]


# --- gates, reads, fields, views ---


class Judged(Struct, frozen=True):
    """What a gate of a kit is shown. `documents`: texts of the files and inputs that the workflow names for it."""

    text: str
    value: object
    files: tuple[str, ...]
    documents: tuple[str, ...]
    about: tuple[str, ...]  # how these are called
    first: bool  # no output of this task has been sent back before
    options: Mapping[str, object]  # what the workflow says besides
    written: Mapping[str, str] = {}  # path → text of the files that came with it
    remarks: tuple[Asked, ...] = ()  # all that people said and did not take back, oldest first


Gate = Callable[[Judged], Objection | None]
Pick = Callable[[str, Mapping[str, str]], Sequence[str]]  # (own last text, others' by agent) → whose are shown
Field = Callable[["RunState", "Book"], object]


class View(Struct, frozen=True):
    """Rows about a run that doors offer under a name. `rows` gives structs or plain data."""

    help: str
    rows: Callable[[RunState, Book], Sequence[object]]


class ListFile(Struct, frozen=True):
    """A file with a list that later lists replace. `kept`: where earlier ones are, as a pattern of paths."""

    path: str
    kept: str
    entries: Entries


class Kit(Struct, frozen=True):
    name: str
    tracker: Tracker | None = None
    reader: Reader | None = None
    judge: Judge | None = None
    examiner: Examiner | None = None
    gates: Mapping[str, Gate] = {}
    reads: Mapping[str, Pick] = {}
    fields: Mapping[str, Field] = {}
    views: Mapping[str, View] = {}
    workflows: str = ""  # a folder of workflows that come with it
    asks: Mapping[str, str] = {}  # gate → what it asks, told to agents: "if it names nothing of {about};"
    list: ListFile | None = None  # comments on its entries follow these
