"""What is known about gaps, issues, conflicts, decisions and rounds: the records, from JSON and back.

Reading forgives: what does not fit is dropped and said so, never raised. It must not know how the records come about.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Literal, TypeVar, get_args, get_origin

import msgspec
from msgspec import Struct
from msgspec.structs import fields, replace

from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.vocabulary import OPEN, ORDER, Severity, State, Verdict

TEXT = 600  # characters kept of what somebody wrote
TITLE = 200


class Moved(Struct, frozen=True):
    round: int
    state: State
    by: str
    why: str = ""


class Proposal(Struct, frozen=True):
    """The latest section in which the engineer dealt with a gap."""

    round: int
    digest: str
    where: str
    quote: str
    marks: tuple[str, ...] = ()  # names and figures of the solution
    words: tuple[str, ...] = ()  # its words of substance
    earlier: tuple[str, ...] = ()  # names, figures and words of those before it: "as in round 2, and …"


class Worked(Struct, frozen=True):
    """Where the specification holds a gap's solution, and what it was found by."""

    lines: str
    marks: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class Gap(Struct, frozen=True):
    id: str
    title: str
    severity: Severity = "MEDIUM"
    blocking: bool = False
    state: State = "open"
    blocked_by: tuple[str, ...] = ()
    raised_by: str = ""
    raised_in: int = 0
    lines: str = ""  # of the text it was raised in
    where: str = ""  # that text and its lines
    spec_lines: str = ""  # of the specification, where it was named
    parent: str = ""  # the gap this is a part of, after a split
    source: str = ""  # the gap whose solution brought this one up
    children: tuple[str, ...] = ()
    confidence: str = ""
    rejections: int = 0
    note: str = ""
    detail: str = ""
    question: str = ""  # what only a person can decide before this can be closed
    merged: tuple[str, ...] = ()
    into: str = ""
    proposal: Proposal | None = None
    worked: Worked | None = None  # None = it is not in the specification
    history: tuple[Moved, ...] = ()


IssueState = Literal["open", "answered", "disputed", "decided", "waived", "false alarm", "closed"]


class Issue(Struct, frozen=True):
    id: str
    gap: str
    severity: Severity
    title: str
    text: str
    where: str
    round: int
    state: IssueState = "open"
    answer: str = ""
    digest: str = ""  # of the section it criticises


class Said(Struct, frozen=True):
    quote: str
    where: str


class Choice(Struct, frozen=True):
    option: str
    supporter: str
    tradeoff: str


Kind = Literal["explicit", "silence", "unchanged", "deflection", "disobeyed"]


class Conflict(Struct, frozen=True):
    id: str
    kind: Kind
    gap: str
    issue: str
    title: str
    text: str
    severity: Severity
    round: int
    reviewer: Said
    engineer: Said
    options: tuple[str, ...]
    table: tuple[Choice, ...]
    reading: Literal["oversight", "disagreement"]
    evidence: str
    other: bool = True  # a ruling in the person's own words is taken, too


class Reading(Struct, frozen=True):
    """A verdict that can be read otherwise: "I read it so". The person corrects it."""

    id: str
    gap: str
    text: str
    read: Verdict
    doubt: str
    where: str
    quote: str
    options: tuple[str, ...] = ("approved", "needs revision", "rejected", "no verdict")
    recommended: str = ""


class Decision(Struct, frozen=True):
    round: int
    id: str
    title: str
    decision: str
    by: str
    at: str
    gap: str = ""
    issue: str = ""
    conflict: str = ""
    rationale: str = ""
    due: bool = False  # the next engineer output must take it up
    obeyed: bool | None = None
    followed: bool | None = None  # what the reviewer says of the proposal; None = nothing yet
    worked: str = ""  # lines of the specification that hold it


class Row(Struct, frozen=True):
    """One round. end = start − resolved + new; what a person put aside or brought back happened before `start`."""

    round: int
    start: int
    resolved: int
    new: int
    end: int
    net: int
    state: str
    weight_start: int
    weight_resolved: int
    weight_new: int
    weight_net: int
    closed_ids: tuple[str, ...] = ()
    new_ids: tuple[str, ...] = ()
    reopened_ids: tuple[str, ...] = ()  # counted as new
    stuck_ids: tuple[str, ...] = ()
    bred_ids: tuple[str, ...] = ()  # new ones that a solution of this round brought up
    set_aside_ids: tuple[str, ...] = ()  # raised in this round, outside the narrowed scope: not counted as new
    between: int = 0  # start − end of the row before
    by_severity: dict[Severity, int] = {}


class Merge(Struct, frozen=True):
    round: int
    id: str
    into: str
    title: str
    why: str
    by: str


class Similar(Struct, frozen=True):
    id: str
    of: str
    why: str
    text: str
    options: tuple[str, ...] = ("merge", "keep apart")


class Noticed(Struct, frozen=True):
    round: int
    code: str
    text: str
    gap: str = ""


class Check(Struct, frozen=True):
    text: str
    done: bool


class Redo(Struct, frozen=True):
    reason: str
    adjust: str
    focus: tuple[str, ...]
    by: str
    at: str
    round: int | None = None  # the round that was run with it, once it has closed


class Book(Struct):
    """All of it, while one call works on it."""

    gaps: dict[str, Gap] = {}
    issues: dict[str, Issue] = {}
    conflicts: dict[str, Conflict] = {}
    decisions: list[Decision] = []
    rounds: list[Row] = []
    merges: list[Merge] = []
    similar: list[Similar] = []
    errors: list[Noticed] = []
    checks: list[Check] = []
    redos: list[Redo] = []
    readings: list[Reading] = []  # of this round's review
    read: list[str] = []  # digests of the lists of gaps already taken in
    state: str = "CONVERGING"
    stalled: int = 0
    verdict: str = "NONE"
    scope: str = "all"
    outcome: str = ""
    warning: dict[str, object] | None = None
    spec: dict[str, object] | None = None  # the last look at the whole specification
    looked: str = ""  # digest of a text that a person has looked at, and takes as it is
    adjustments: Redo | None = None
    empty: tuple[bool, bool] = (False, False)  # the engineer's, the reviewer's part of this round
    orders: dict[str, object] = {}
    noticed: set[Noticed] = set()  # what `errors` holds

    def notice(self, round: int, code: str, text: str, gap: str = "") -> None:
        if len(self.noticed) < len(self.errors):
            self.noticed = set(self.errors)
        one = Noticed(round, code, text, gap)
        if one not in self.noticed:
            self.noticed.add(one)
            self.errors.append(one)

    def open(self) -> list[Gap]:
        return [gap for gap in self.gaps.values() if is_open(gap)]


def is_open(gap: Gap) -> bool:
    return gap.state in OPEN


def by_severity(gaps: Collection[Gap]) -> dict[Severity, int]:
    return {name: sum(gap.severity == name for gap in gaps) for name in ORDER}


T = TypeVar("T")


def opened(value: object) -> Book:
    """The book that a value holds; an empty one for None."""
    source: Mapping[object, object] = value if isinstance(value, Mapping) else {}
    book = Book()
    _take_in(book, _items(source.get("list"), Gap, book))
    book.issues = {issue.id: issue for issue in _items(source.get("issues"), Issue, book)}
    book.conflicts = {one.id: one for one in _items(source.get("conflicts"), Conflict, book)}
    book.empty = (source.get("engineer_empty") is True, source.get("reviewer_empty") is True)
    for name, kind in STORED.items():
        if get_origin(kind) is list:
            items = _items(source.get(name), get_args(kind)[0], book)
            setattr(book, name, items + getattr(book, name))  # what was noticed so far comes after the stored errors
        else:
            setattr(book, name, _one(source.get(name), kind, getattr(book, name)))
    return book


_OTHERWISE = ("gaps", "issues", "conflicts", "empty", "noticed")
# The parts of a book that stand in the value under their own names.
STORED = {one.name: one.type for one in fields(Book) if one.name not in _OTHERWISE}


def _items(value: object, kind: type[T], book: Book) -> list[T]:
    if not isinstance(value, (list, tuple)):
        return []
    found: list[T] = []
    for item in value:
        try:
            found.append(msgspec.convert(item, kind))
        except (msgspec.ValidationError, RecursionError):
            book.notice(0, "MALFORMED", f"a {kind.__name__.lower()} of the stored value could not be read and was left")
    return found


def _one(value: object, kind: type[T], otherwise: T) -> T:
    try:
        return otherwise if value is None else msgspec.convert(value, kind)
    except (msgspec.ValidationError, RecursionError):
        return otherwise


_Names = dict[str, dict[str, None]]  # a gap → those that name it, in order


def _take_in(book: Book, gaps: list[Gap]) -> None:
    """Each gap under its id. What the rest of the tracker takes for granted is put right, and said so: a gap has an id
    of its own and a history that ends in its state; a merged one names the gap that it lives on in, a split one its
    parts, and both sides agree.
    """
    for gap in gaps:
        if not gap.id.strip() or gap.id in book.gaps:
            what = f"twice under the id {clip(gap.id, 40)}" if gap.id.strip() else "without an id"
            book.notice(0, "MALFORMED", f"a gap of the stored value was there {what} and was left out")
        else:
            book.gaps[gap.id] = gap
    parts: _Names = {}
    twins: _Names = {}
    for gap in book.gaps.values():
        if gap.parent:
            parts.setdefault(gap.parent, {})[gap.id] = None
        if gap.state == "merged" and _lives_on(gap, book.gaps):
            twins.setdefault(gap.into, {})[gap.id] = None
    for gap in list(book.gaps.values()):
        whole = _whole(gap, parts, twins)
        if whole != gap:
            book.gaps[gap.id] = whole
            told = f"{clip(gap.id, 40)} of the stored value did not hold together and was put right"
            book.notice(0, "MALFORMED", told, gap.id)


def _whole(gap: Gap, parts: _Names, twins: _Names) -> Gap:
    into = gap.into if gap.id in twins.get(gap.into, {}) else ""
    children = tuple(name for name in dict.fromkeys(gap.children) if name in parts.get(gap.id, {}))
    mine = twins.get(gap.id, {})
    merged = tuple(dict.fromkeys((*(name for name in gap.merged if name in mine), *mine)))
    alone = (gap.state == "merged" and not into) or (gap.state == "split" and not children)
    state: State = "open" if alone else gap.state
    history = gap.history
    if not history or history[-1].state != state:
        history = (*history, Moved(gap.raised_in, state, "the tracker", "put right when the stored value was read"))
    return replace(gap, into=into, children=children, merged=merged, state=state, history=history)


def _lives_on(gap: Gap, known: Mapping[str, Gap]) -> bool:
    """Whether the gaps that it was merged into end in one that was not merged."""
    seen = {gap.id}
    at = known.get(gap.into)
    while at is not None and at.state == "merged":
        if at.id in seen:
            return False
        seen.add(at.id)
        at = known.get(at.into)
    return at is not None


def plain(value: object) -> object:
    """As JSON has it: no tuples, so that a value equals itself after a journey through a log."""
    return msgspec.json.decode(msgspec.json.encode(value))
