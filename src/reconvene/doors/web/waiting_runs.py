"""What waits, as the inbox tells it: from index rows alone, a page at a time, whatever number of runs there is."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from msgspec import Struct

from reconvene.app import index
from reconvene.doors.shared.harmless import one_line
from reconvene.doors.web.worded import plural

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.index import Listed
    from reconvene.desk_ports import Snooze
    from reconvene.doors.http.callers import Caller

PAGE = 20
_SCANNED = 2_000  # rows that are looked at for one page of a search
_LONGEST_FACT = 150
URGENT = ("attention", "calls")
SHOWN = {
    "": "All",
    "me": "For me",
    "due": "Due",
    "attention": "Needs attention",
    "calls": "Tool calls",
    "fields": "Questions",
    "snoozed": "Snoozed",
}


class Waiting(Struct, frozen=True):
    """A line of the inbox. `fact`: what matters, in the words of the checkpoint; `quoted` where an agent wrote it."""

    run: str
    question: str
    fact: str
    quoted: bool
    tag: str
    kind: str  # attention, calls, fields, provider, "" = nothing special
    where: str
    workflow: str
    since: str
    behind: str
    yours: bool = True  # this person may decide, and has not yet
    who: str = ""  # for whom it waits
    deadline: str = ""
    late: bool = False
    then: str = ""  # what follows when the deadline passes
    until: str = ""  # what is snoozed


class Inbox(Struct, frozen=True):
    first: list[Waiting]  # where agents stand still, something went wrong, or a time is set
    rest: list[Waiting]
    others: list[Waiting]  # what waits for somebody else
    next: str  # the cursor of the next page, "" where there is none

    @property
    def count(self) -> int:
        return len(self.first) + len(self.rest) + len(self.others)


class Wanted(Struct, frozen=True):
    words: str = ""
    show: str = ""
    after: str = ""


def inbox(engine: Engine, caller: Caller, wanted: Wanted, snoozed: Mapping[str, Snooze], now: str) -> Inbox:
    words = wanted.words.casefold().split()
    found: list[Waiting] = []
    after, looked = wanted.after, 0
    while len(found) < PAGE and looked < _SCANNED:
        page = index.page(engine.log, "waiting", after, PAGE)
        for at, row in enumerate(page.rows):
            one = _line(row, caller)
            put_off = _put_off(engine, row.run, snoozed, now)
            if _fits(one, row, words, wanted.show, put_off=bool(put_off)):
                found.append(_with(one, put_off))
            if len(found) == PAGE and at + 1 < len(page.rows):
                return _sorted(found, row.run)
        looked, after = looked + len(page.rows), page.next
        if not after:
            break
    return _sorted(found, after)


def _sorted(found: list[Waiting], after: str) -> Inbox:
    own = [one for one in found if one.yours]
    first = sorted((one for one in own if _presses(one)), key=lambda one: (not one.late, one.deadline or "~"))
    rest = [one for one in own if not _presses(one)]
    return Inbox(first, rest, [one for one in found if not one.yours], after)


def _presses(one: Waiting) -> bool:
    return one.kind in URGENT or bool(one.deadline)


def _put_off(engine: Engine, run: str, snoozed: Mapping[str, Snooze], now: str) -> str:
    found = snoozed.get(run)
    return found.until or "something happens" if found and found.holds(now, engine.log.head(run)) else ""


def _with(one: Waiting, put_off: str) -> Waiting:
    from msgspec.structs import replace

    return replace(one, until=put_off) if put_off else one


def _fits(one: Waiting, row: Listed, words: list[str], show: str, *, put_off: bool) -> bool:
    if put_off != (show == "snoozed"):
        return False
    if (show == "me" and not one.yours) or (show == "due" and not one.deadline):
        return False
    if show not in ("", "snoozed", "me", "due") and one.kind != show:
        return False
    if not words:
        return True
    text = f"{row.run} {row.workflow} {one.question} {one.fact} {one.where} {row.title}".casefold()
    return all(word in text for word in words)


def _line(row: Listed, caller: Caller) -> Waiting:
    doc = index.document(_row_of(row)) or {}
    point: dict[str, Any] = doc.get("checkpoint") or {}
    kind, tag = _kind(point)
    fact, quoted = _fact(point, row.asks)
    count = f", round {doc['round']}" if doc.get("round") else ""
    queued = plural(row.children, "run") + " came of it" if row.children else ""
    return Waiting(
        row.run,
        one_line(row.asks, 140),
        fact,
        quoted,
        tag,
        kind,
        f"{row.phase}{count}" if row.phase else "",
        row.workflow,
        point.get("opened") or row.since or row.updated,
        queued,
        row.waits_for(caller.name, caller.teams),
        ", ".join(one.removeprefix("team:") for one in row.who),
        row.deadline,
        row.late,
        _then(point),
    )


def _then(point: dict[str, Any]) -> str:
    if point.get("late_option"):
        return f"then “{one_line(point['late_option'], 40)}” is taken"
    who = ", ".join(str(one).removeprefix("team:") for one in point.get("late_who", ()))
    return f"then {one_line(who, 40)} may decide, too" if who else ""


def _kind(point: dict[str, Any]) -> tuple[str, str]:
    """What sort of line it is, and what its tag says."""
    fields = [one["id"] for one in point.get("fields", [])]
    if not point:
        return "provider", "waits for a provider"
    if point.get("attention") and str(point.get("question", "")).startswith("Shall th"):
        each = [one["id"] for option in point.get("options", []) for one in option.get("fields", [])]
        return "calls", plural(sum(id.startswith("call") and "_" not in id for id in each), "tool call")
    if point.get("attention"):
        return "attention", "needs attention"
    return ("fields", plural(len(fields), "question")) if fields else ("", "")


def _row_of(row: Listed) -> Any:
    from reconvene.ports import IndexRow

    return IndexRow(*row[:6])


def _fact(point: dict[str, Any], question: str) -> tuple[str, bool]:
    """The first line of the prompt that says something else than the question; and whether agents may have written
    it."""
    filled = point.get("filled")
    theirs = [(each["first"], each["end"]) for each in filled.get("prompt", ())] if isinstance(filled, dict) else None
    asked = " ".join(question.split())
    for at, line in enumerate(str(point.get("prompt", ""))[:4_000].split("\n")):
        plain = one_line(line.strip(" *_#>|-"), _LONGEST_FACT)
        if len(plain) > 12 and plain != asked and not plain.startswith("---"):
            return plain, theirs is None or any(first <= at < end for first, end in theirs)
    return "", False
