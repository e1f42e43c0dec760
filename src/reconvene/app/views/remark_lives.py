"""The life of every remark as it is told, to scripts and to people. How it follows from the log is in `ledger`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Literal, overload

from msgspec import Struct, field
from msgspec.structs import replace

from reconvene.app.views.who import told
from reconvene.core.facts.events import Anchor, ClaimJudged, Passage
from reconvene.core.facts.ids import parse_task
from reconvene.errors import UserError

Status = Literal["captured", "delivered", "claimed", "declined", "addressed", "reflected"]
How = Literal["addressed", "declined", "claimed", "silent"]
OPEN: tuple[Status, ...] = ("captured", "delivered", "claimed")


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
    """What one output says about a remark, and what it proves. `undone`: its round was taken back since.

    claimed: it says that it took the remark up, and that cannot be seen; silent: it says nothing. `why`: what is
    missing. `evidence`: what changed; `against`: where what the remark contests still stands.
    """

    task: str
    agent: str
    how: How
    reason: str
    line: int  # 0: the output as a whole is its reply
    at: str
    undone: bool = False
    why: str = ""
    evidence: tuple[Passage, ...] = ()
    against: tuple[Passage, ...] = ()
    rule: str = ""  # that judged it, and its version; "" = a release that kept no verdicts


class Reflection(Struct, frozen=True):
    """by: edit (the person's own lines still stand) | changed (an agent that was shown the remark changed these lines)
    | cites, value (of a release that kept no verdicts)."""

    path: str
    by: Literal["cites", "value", "edit", "changed"]
    line: int = 0
    agent: str = ""  # who changed the lines
    was: str = ""
    now: str = field(name="is", default="")


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
    open: bool = True  # nothing proves that it was answered, and nobody declined it
    settled: str = ""  # the person who said that it is answered
    user: str = ""  # for whom the system vouches
    proved: bool = False  # `by` is that name; else it is only claimed
    lines: str = ""  # of a comment: plan.md:3-5
    anchor: Anchor | None = None

    @property
    def standing(self) -> dict[str, Answer]:
        """Agent → its latest answer that still counts."""
        return {answer.agent: answer for answer in self.answers if not answer.undone}


def answer_of(verdict: ClaimJudged, undone: set[int]) -> Answer:
    serial, _, agent = parse_task(verdict.task)
    how: How = "addressed" if verdict.verdict == "seen" else "declined"
    if verdict.verdict == "unseen":
        how = "claimed" if verdict.said else "silent"
    return Answer(
        task=verdict.task,
        agent=agent,
        how=how,
        reason=verdict.reason,
        line=verdict.line,
        at=verdict.at,
        undone=serial in undone,
        why=verdict.why,
        evidence=verdict.evidence,
        against=verdict.against,
        rule=f"{verdict.by or verdict.rule} {verdict.version}",
    )


def judged(entry: Entry) -> Entry:
    """With where the remark stands."""
    status = _status(entry)
    return replace(entry, status=status, open=status in OPEN)


def _status(entry: Entry) -> Status:
    """It is answered where somebody proved it and nobody's text still says what it contests; the person's word counts
    whatever the texts say."""
    answers = list(entry.standing.values())
    how = {answer.how for answer in answers}
    contested = any(answer.against for answer in answers)
    if not contested and entry.reflected:
        return "reflected"
    if entry.settled or (not contested and "addressed" in how):
        return "addressed"
    if "claimed" in how or "addressed" in how:
        return "claimed"
    if "declined" in how and not contested:
        return "declined"
    if any(answer.evidence for answer in answers):
        return "claimed"
    return "delivered" if entry.delivered else "captured"


class Withdrawn(Struct, frozen=True):
    """A remark that was taken back, or that another one replaces."""

    id: str
    kind: str
    text: str
    at: str
    said_by: str
    by: str  # who took it back
    when: str
    status: Literal["replaced", "withdrawn"] = "withdrawn"
    replaced_by: str = ""  # the remark in its place


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

    def lines(self, *, details: bool = False) -> list[str]:
        return list(_lines(self, details))


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

_SIGNS: dict[Status, str] = {
    "captured": "○", "delivered": "○", "claimed": "◐", "declined": "✗", "addressed": "✓", "reflected": "✓"
}  # fmt: skip
_TEXT = 70  # characters
_MOST_SHOWN = 4  # passages


def _lines(book: Ledger, details: bool) -> Iterator[str]:
    if not book.entries:
        yield "No remarks stand." if book.withdrawn else "No remarks yet."
    for entry in book.entries:
        yield _line(entry)
        if details:
            yield from _details(entry)
    for gone in book.withdrawn:
        by = f" by {gone.by}" if gone.by else ""
        what = f"replaced by {gone.replaced_by}" if gone.replaced_by else f"withdrawn{by}"
        yield f"{gone.id} – {what} · {gone.kind}: {_cut(gone.text)}"
    for item in book.unknown:
        yield f"? {item.id} is cited by {item.where} (line {item.line}), but there is no such remark."
    left = book.open_remarks()
    if left:
        yield f"Open: {', '.join(entry.id for entry in left)}"


def _line(entry: Entry) -> str:
    """`FB-003 ✓ reflected in strategies.md:41 “…£150M…” · correction: Revenue is £150M`"""
    state = f"{entry.status}, open" if entry.open and entry.status != "claimed" else entry.status
    on = f" on {entry.lines}" if entry.lines else ""
    return f"{entry.id} {_SIGNS[entry.status]} {state}{fate(entry)} · {entry.kind}{on}: {_cut(entry.text)}"


def fate(entry: Entry) -> str:
    """What proves it, or what is missing, behind the state: ` in strategies.md:41 “…£150M…”`."""
    answers = list(entry.standing.values())
    match entry.status:
        case "reflected":
            place = entry.reflected[0]
            more = f" and {len(entry.reflected) - 1} more" if len(entry.reflected) > 1 else ""
            return f" in {_where(place.path, place.line)}{_quoted(place.now)}{more}"
        case "addressed":
            proved = [one for one in answers if one.how == "addressed"]
            if entry.settled and (not proved or any(one.against for one in answers)):
                return f", says {entry.settled}"
            spot = proved[0].evidence[0] if proved[0].evidence else None
            at = f" at {_where(spot.path or proved[0].task, spot.line)}{_quoted(spot.now)}" if spot else ""
            return f" by {', '.join(one.agent for one in proved[:3])}{at}"
        case "declined":
            one = next(one for one in answers if one.how == "declined")
            return f" by {one.agent}: {_cut(one.reason)}"
        case "claimed":
            one = missing(entry)
            still = ""
            if one.against:
                stands = one.against[0]
                still = f"“{_cut(stands.now, 50)}” still stands, {_where(stands.path or one.task, stands.line)}"
            said = f"by {one.agent}" if one.how == "claimed" else f"by nobody, {one.agent} changed its text"
            return f" {said}, open: {still or one.why}"
    return ""


def missing(entry: Entry) -> Answer:
    """The answer that keeps a claimed remark open: first one whose text still says what the remark contests."""
    answers = list(entry.standing.values())
    order = {"claimed": 0, "silent": 1, "addressed": 2, "declined": 3}
    return min(answers, key=lambda one: (not one.against, order[one.how], not one.evidence))


def _details(entry: Entry) -> Iterator[str]:
    where = f"{entry.phase} round {entry.n}" if entry.n else entry.phase or "the start"
    who = f" by {told(entry.by, entry.user)}" if entry.by else ""
    who += f", from a file, {entry.source}" if entry.source else ""
    yield f"    captured {entry.at[:16].replace('T', ' ')} at {where}{who}"
    if entry.delivered:
        tasks = entry.delivered.tasks
        yield f"    delivered to {', '.join(entry.delivered.agents)} ({tasks} task{'s' * (tasks != 1)})"
    for answer in entry.answers:
        yield from _answer_lines(answer)
    for place in entry.reflected:
        who = f" by {place.agent}" if place.agent else ""
        yield f"    reflected in {_where(place.path, place.line)}{_HOW[place.by]}{who}"
        yield from _was_is(place.was, place.now)
    if entry.settled:
        yield f"    called answered by {entry.settled}"


def _answer_lines(answer: Answer) -> Iterator[str]:
    past = " (undone since)" if answer.undone else ""
    reason = f": {_cut(answer.reason, 100)}" if answer.reason else ""
    line = f" line {answer.line}" if answer.line else ""
    how = "nothing said" if answer.how == "silent" else answer.how
    yield f"    {how} by {answer.agent} in {answer.task}{line}{past}{reason}"
    if answer.why:
        yield f"      {answer.why}"
    for spot in answer.against[:_MOST_SHOWN]:
        yield f"      still stands, {_where(spot.path or 'its output', spot.line)}: {_cut(spot.now, 100)}"
    for spot in answer.evidence[:_MOST_SHOWN]:
        yield f"      changed, {_where(spot.path or 'its output', spot.line)}"
        yield from _was_is(spot.was, spot.now)
    more = len(answer.evidence) - _MOST_SHOWN
    if more > 0:
        yield f"      and {more} more"


def _was_is(was: str, now: str) -> Iterator[str]:
    if was or now:
        yield f"        was: {_cut(was, 160) or '(nothing)'}"
        yield f"        is:  {_cut(now, 160) or '(taken out)'}"


def _where(path: str, line: int) -> str:
    return f"{path}:{line}" if line else path


def _quoted(text: str) -> str:
    return f" “{_cut(text, 60)}”" if text else ""


def _cut(text: str, most: int = _TEXT) -> str:
    plain = " ".join(text.split())
    return plain if len(plain) <= most else plain[: most - 1] + "…"


_HOW = {"cites": "", "value": " (states the new value)", "edit": " (the edit stands)", "changed": ", changed"}


def edit_stands(diff: str, text: str) -> bool:
    """Do the lines a person added still stand, and those they removed stay away?"""
    rows = [row for row in diff.splitlines() if not row.startswith(("+++", "---", "@@"))]
    added = {row[1:].strip() for row in rows if row.startswith("+")} - {""}
    removed = {row[1:].strip() for row in rows if row.startswith("-")} - {""}
    now = {line.strip() for line in text.splitlines()}
    return bool(added or removed) and added <= now and not (removed - added) & now
