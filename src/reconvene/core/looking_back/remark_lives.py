"""The life of every remark as it is told: what was delivered, what was answered, what shows; for scripts and people.

Shapes and words only. How they follow from the log is `ledger`'s business.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from msgspec import Struct, json

from reconvene.core.looking_back.citations import How

Status = Literal["captured", "delivered", "declined", "addressed", "reflected"]


class Delivery(Struct, frozen=True):
    task: str
    agent: str
    phase: str
    n: int  # the round, as people count
    at: str


class Answer(Struct, frozen=True):
    """What one output says about a remark. `undone`: its round was taken back since."""

    task: str
    agent: str
    how: How
    reason: str
    line: int  # 0: the output as a whole is its reply
    at: str
    undone: bool = False


class Reflection(Struct, frozen=True):
    """by: cites | value | edit (the person's own lines still stand)."""

    path: str
    by: Literal["cites", "value", "edit"]
    line: int = 0


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
    delivered: tuple[Delivery, ...] = ()
    answers: tuple[Answer, ...] = ()
    reflected: tuple[Reflection, ...] = ()

    @property
    def standing(self) -> dict[str, Answer]:
        """Agent → its latest answer that still counts."""
        return {answer.agent: answer for answer in self.answers if not answer.undone}

    @property
    def status(self) -> Status:
        if self.reflected:
            return "reflected"
        said = {answer.how for answer in self.standing.values()}
        if said:
            return "addressed" if "addressed" in said else "declined"
        return "delivered" if self.delivered else "captured"

    @property
    def open(self) -> bool:
        """Nobody has answered it and no deliverable shows it."""
        return self.status in ("captured", "delivered")


class Ledger(Struct, frozen=True):
    entries: tuple[Entry, ...] = ()
    unknown: tuple[Unknown, ...] = ()

    def __iter__(self) -> Iterator[Entry]:
        return iter(self.entries)

    def __len__(self) -> int:
        return len(self.entries)

    def open_remarks(self) -> tuple[Entry, ...]:
        return tuple(entry for entry in self.entries if entry.open)

    @property
    def closure(self) -> float | None:
        """The share of remarks that are not open; None without remarks."""
        return 1 - len(self.open_remarks()) / len(self.entries) if self.entries else None

    def lines(self) -> list[str]:
        return list(_lines(self))

    def to_json(self) -> dict[str, object]:
        rows: list[dict[str, object]] = json.decode(json.encode(self.entries))
        for row, entry in zip(rows, self.entries, strict=True):
            row |= {"status": entry.status, "open": entry.open}
        return {
            "remarks": rows,
            "open": [entry.id for entry in self.open_remarks()],
            "closure": self.closure,
            "unknown": json.decode(json.encode(self.unknown)),
        }


# --- for a terminal ---

_SIGNS: dict[Status, str] = {"captured": "○", "delivered": "○", "declined": "✗", "addressed": "✓", "reflected": "✓"}


def _lines(book: Ledger) -> Iterator[str]:
    if not book.entries:
        yield "No remarks yet."
    delivered: dict[int, str] = {}  # by the identity of the tuple, which entries have in common
    for entry in book.entries:
        if id(entry.delivered) not in delivered:
            delivered[id(entry.delivered)] = _delivered_line(entry.delivered)
        yield from _entry_lines(entry, delivered[id(entry.delivered)])
    for item in book.unknown:
        yield f"? {item.id} is cited by {item.where} (line {item.line}), but there is no such remark."
    left = book.open_remarks()
    if left:
        yield f"Open: {', '.join(entry.id for entry in left)}"


def _delivered_line(delivered: tuple[Delivery, ...]) -> str:
    agents = dict.fromkeys(delivery.agent for delivery in delivered)
    return f"    delivered to {', '.join(agents)} ({len(delivered)} tasks)" if agents else ""


def _entry_lines(entry: Entry, delivered: str) -> Iterator[str]:
    text = " ".join(entry.text.split())
    state = f"{entry.status}, open" if entry.open else entry.status
    yield f"{_SIGNS[entry.status]} {entry.id} {entry.kind}: {text[:100]}{'…' if len(text) > 100 else ''} ({state})"
    where = f"{entry.phase} round {entry.n}" if entry.n else entry.phase or "the start"
    who = f" by {entry.by}" if entry.by else ""
    yield f"    captured {entry.at[:16].replace('T', ' ')} at {where}{who}"
    if delivered:
        yield delivered
    for answer in entry.answers:
        past = " (undone since)" if answer.undone else ""
        reason = f": {answer.reason[:100]}" if answer.reason else ""
        line = f" line {answer.line}" if answer.line else ""
        yield f"    {answer.how} by {answer.agent} in {answer.task}{line}{past}{reason}"
    for place in entry.reflected:
        yield f"    reflected in {place.path}" + (f" line {place.line}" if place.line else "") + _HOW[place.by]


_HOW = {"cites": "", "value": " (states the new value)", "edit": " (the edit stands)"}
