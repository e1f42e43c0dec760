"""The life of every remark as it is told, to scripts and to people. How it follows from the log is in `ledger`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, overload

from msgspec import Struct, field
from msgspec.structs import replace

from reconvene.app.views.who import told
from reconvene.core.facts.events import Anchor
from reconvene.errors import UserError

Status = Literal["captured", "delivered", "declined", "addressed", "reflected"]


class Delivery(Struct, frozen=True):
    task: str
    agent: str
    phase: str
    n: int  # the round, as people count
    at: str


class Deliveries(Sequence[Delivery]):
    """To whom a remark was delivered: every task from one on. All remarks of a run have the list of tasks in common, so
    that a ledger does not grow with the tasks times the remarks."""

    def __init__(
        self, tasks: Sequence[Delivery] = (), first: int = 0, agents: tuple[str, ...] = (), times: int = 0
    ) -> None:
        self._tasks = tasks
        self._first = first
        self.agents = agents  # each once
        self.tasks = times  # each once: what is tried again is shown more later

    def __len__(self) -> int:
        return len(self._tasks) - self._first

    @overload
    def __getitem__(self, at: int) -> Delivery: ...
    @overload
    def __getitem__(self, at: slice) -> Sequence[Delivery]: ...
    def __getitem__(self, at: int | slice) -> Delivery | Sequence[Delivery]:
        if isinstance(at, slice):
            return [self[index] for index in range(*at.indices(len(self)))]
        if not -len(self) <= at < len(self):
            raise IndexError(at)
        return self._tasks[self._first + at % len(self)]


class Answer(Struct, frozen=True):
    """What one output says about a remark. `undone`: its round was taken back since."""

    task: str
    agent: str
    how: Literal["addressed", "declined"]
    reason: str
    line: int  # 0: the output as a whole is its reply
    at: str
    undone: bool = False


class Reflection(Struct, frozen=True):
    """by: cites | value | edit (the person's own lines still stand) | changed (an agent that was shown the comment
    changed the lines that it is about)."""

    path: str
    by: Literal["cites", "value", "edit", "changed"]
    line: int = 0
    agent: str = ""  # who changed the lines


class Unknown(Struct, frozen=True):
    """A citation of a remark that does not exist."""

    id: str
    where: str  # a task or a file
    line: int


class Entry(Struct, frozen=True):
    id: str
    number: int
    kind: str
    text: str
    at: str
    by: str = ""
    target: str = ""
    phase: str = ""
    n: int = 0
    checkpoint: str = ""
    path: str = ""
    source: str = ""  # the file of answers that said it, and its line
    delivered: Deliveries = field(default_factory=Deliveries)
    answers: tuple[Answer, ...] = ()
    reflected: tuple[Reflection, ...] = ()

    status: Status = "captured"
    open: bool = True  # nobody has answered it and no deliverable shows it
    user: str = ""  # for whom the system vouches
    proved: bool = False  # `by` is that name; else it is only claimed
    lines: str = ""  # of a comment: plan.md:3-5
    anchor: Anchor | None = None

    @property
    def standing(self) -> dict[str, Answer]:
        """Agent → its latest answer that still counts."""
        return {answer.agent: answer for answer in self.answers if not answer.undone}


def judged(entry: Entry) -> Entry:
    """With where the remark stands."""
    said = {answer.how for answer in entry.standing.values()}
    status: Status = "delivered" if entry.delivered else "captured"
    if entry.reflected or said:
        status = "reflected" if entry.reflected else "addressed" if "addressed" in said else "declined"
    return replace(entry, status=status, open=status in ("captured", "delivered"))


class Withdrawn(Struct, frozen=True):
    """A remark that was taken back before any agent was shown it."""

    id: str
    kind: str
    text: str
    at: str
    said_by: str
    by: str  # who took it back
    when: str


class Ledger(Struct, frozen=True):
    entries: tuple[Entry, ...] = field(default=(), name="remarks")
    unknown: tuple[Unknown, ...] = ()
    open: tuple[str, ...] = ()  # ids
    closure: float | None = None  # the share of remarks that are not open; None without remarks
    withdrawn: tuple[Withdrawn, ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def open_remarks(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.open)

    def lines(self) -> list[str]:
        return list(_lines(self))


def ledger_of(
    entries: tuple[Entry, ...], unknown: tuple[Unknown, ...] = (), withdrawn: tuple[Withdrawn, ...] = ()
) -> Ledger:
    left = tuple(entry.id for entry in entries if entry.open)
    return Ledger(entries, unknown, left, 1 - len(left) / len(entries) if entries else None, withdrawn)


def page_of(ledger: Ledger, after: str, limit: int) -> Ledger:
    """At most so many remarks (0 = all) after the one with this id; "" = from the first."""
    ids = [entry.id for entry in ledger]
    if after and after not in ids:
        raise UserError(f"there is no remark {after!r} here", hint=f"there is: {', '.join(ids[:8])}" if ids else "")
    first = ids.index(after) + 1 if after else 0
    return ledger_of(ledger.entries[first : first + limit if limit else None], ledger.unknown, ledger.withdrawn)


# --- for a terminal ---

_SIGNS: dict[Status, str] = {"captured": "○", "delivered": "○", "declined": "✗", "addressed": "✓", "reflected": "✓"}


def _lines(book: Ledger) -> Iterator[str]:
    if not book.entries:
        yield "No remarks stand." if book.withdrawn else "No remarks yet."
    for entry in book.entries:
        yield from _entry_lines(entry)
    for gone in book.withdrawn:
        text = " ".join(gone.text.split())
        whose = f"{gone.said_by}: " if gone.said_by else ""
        by = f" by {gone.by}" if gone.by else ""
        yield f"– {gone.id} {gone.kind}: {whose}{text[:100]}{'…' if len(text) > 100 else ''} (taken back{by})"
    for item in book.unknown:
        yield f"? {item.id} is cited by {item.where} (line {item.line}), but there is no such remark."
    left = book.open_remarks()
    if left:
        yield f"Open: {', '.join(entry.id for entry in left)}"


def _entry_lines(entry: Entry) -> Iterator[str]:
    text = " ".join(entry.text.split())
    state = f"{entry.status}, open" if entry.open else entry.status
    on = f" on {entry.lines}" if entry.lines else ""
    yield f"{_SIGNS[entry.status]} {entry.id} {entry.kind}{on}: {text[:100]}{'…' if len(text) > 100 else ''} ({state})"
    where = f"{entry.phase} round {entry.n}" if entry.n else entry.phase or "the start"
    who = f" by {told(entry.by, entry.user)}" if entry.by else ""
    who += f", from a file, {entry.source}" if entry.source else ""
    yield f"    captured {entry.at[:16].replace('T', ' ')} at {where}{who}"
    if entry.delivered:
        tasks = entry.delivered.tasks
        yield f"    delivered to {', '.join(entry.delivered.agents)} ({tasks} task{'s' * (tasks != 1)})"
    for answer in entry.answers:
        past = " (undone since)" if answer.undone else ""
        reason = f": {answer.reason[:100]}" if answer.reason else ""
        line = f" line {answer.line}" if answer.line else ""
        yield f"    {answer.how} by {answer.agent} in {answer.task}{line}{past}{reason}"
    for place in entry.reflected:
        who = f" by {place.agent}" if place.agent else ""
        yield f"    reflected in {place.path}" + (f" line {place.line}" if place.line else "") + _HOW[place.by] + who


_HOW = {"cites": "", "value": " (states the new value)", "edit": " (the edit stands)", "changed": ", changed"}
