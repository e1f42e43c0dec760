"""What waits, as the inbox tells it: from index rows alone, a page at a time, whatever number of runs there is."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from msgspec import Struct
from msgspec.structs import replace

from reconvene.app import index
from reconvene.app.session import book_for
from reconvene.core.facts.named_people import is_among
from reconvene.core.person.rulings import EACH
from reconvene.doors.shared.harmless import one_line
from reconvene.doors.web.worded import plural
from reconvene.errors import ReconveneError, UserError
from reconvene.language.late_patterns import late
from reconvene.ports import IndexRow

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.desk_ports import Snooze
    from reconvene.doors.http.callers import Caller

PAGE = 20
_CHUNK = 250  # rows that a search reads at once
_SCANNED = 2_000  # and that it looks at for one page
_LONGEST_FACT = 150
_SENTENCE = 6  # words from which what is set bold is no heading
_PROGRESS = late(r"\bround \d+\b", re.IGNORECASE)  # in a short line: where the run is, which the row tells anyway
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
    for_you: bool = True  # this person may decide, whether or not they have chosen already
    chose: str = ""  # where several must choose: who has, and whether they differ


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
    """A row is decoded once, and only where it may be shown: most of those that a search looks at are not."""
    words = wanted.words.casefold().split()
    found: list[Waiting] = []
    after, looked = _cursor(engine, wanted.after), 0
    while looked < _SCANNED:
        rows = engine.log.index(status="waiting", after=after, limit=_CHUNK if words else PAGE + 1)
        for row in rows:
            if len(found) == PAGE:
                return _sorted(found, after)
            after = row.run
            if all(word in row.doc.casefold() for word in words):
                one, put_off = _line(engine, row, caller), _put_off(engine, row.run, snoozed, now)
                if _fits(one, words, wanted.show, put_off=bool(put_off)):
                    found.append(replace(one, until=put_off) if put_off else one)
        looked += len(rows)
        if len(rows) < (_CHUNK if words else PAGE + 1):
            return _sorted(found, "")
    return _sorted(found, after)


def _cursor(engine: Engine, after: str) -> str:
    if after and engine.log.index_row(after) is None:
        raise UserError(f"{after!r} is no cursor of this list", hint="begin with the first page")
    return after


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


def _fits(one: Waiting, words: list[str], show: str, *, put_off: bool) -> bool:
    if put_off != (show == "snoozed"):
        return False
    if (show == "me" and not one.yours) or (show == "due" and not one.deadline):
        return False
    if show not in ("", "snoozed", "me", "due") and one.kind != show:
        return False
    text = f"{one.run} {one.workflow} {one.question} {one.fact} {one.where}".casefold() if words else ""
    return all(word in text for word in words)


def _line(engine: Engine, row: IndexRow, caller: Caller) -> Waiting:
    doc = index.document(row)
    if doc is None:  # it is made anew from the log
        row = IndexRow(*index.read(engine.log, row)[:6])
        doc = index.document(row) or {}
    point: dict[str, Any] = doc.get("checkpoint") or {}
    awaits: dict[str, Any] = doc.get("provider") or {}
    kind, tag = _kind(point)
    asks = point.get("question") or point.get("prompt") or awaits.get("why", "")
    fact, quoted = _fact(point, asks)
    who, children = tuple(point.get("who", ())), len(doc.get("children", ()))
    chose, differ = index.chosen(point)
    for_you = bool(point) and (not who or is_among(caller.name, caller.teams, who))
    return Waiting(
        row.run,
        one_line(asks, 140),
        fact,
        quoted,
        tag,
        kind,
        _phase(engine, row.run, doc) + (f", round {doc['round']}" if doc.get("round") else ""),
        row.workflow,
        point.get("opened") or awaits.get("since") or row.updated,
        f"{plural(children, 'run')} came of it" if children else "",
        for_you and (differ or caller.name not in chose),
        ", ".join(one.removeprefix("team:") for one in who),
        point.get("deadline", ""),
        bool(point.get("late")),
        _then(point),
        for_you=for_you,
        chose=_chose(chose, differ=differ),
    )


def _chose(chose: Sequence[str], *, differ: bool) -> str:
    names = one_line(", ".join(chose), 40)
    return f"{names} chose differently" if differ else f"{names} chose, others must, too" if chose else ""


def _phase(engine: Engine, run: str, doc: dict[str, Any]) -> str:
    """As the workflow calls it. Workflows are read once, whatever number of runs they have."""
    phase, pinned = str(doc.get("phase") or ""), str(doc.get("pinned") or "")
    try:
        node = book_for(engine.log, pinned, run).nodes.get(phase) if phase and pinned else None
    except ReconveneError:  # the row is shown all the same
        node = None
    return one_line((node.phase.title if node is not None else "") or phase.replace("_", " "), 60)


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
    if any(option["label"] == EACH for option in point.get("options", [])):
        each = [one["id"] for option in point.get("options", []) for one in option.get("fields", [])]
        return "calls", plural(sum(id.startswith("call") and "_" not in id for id in each), "tool call")
    if point.get("attention"):
        return "attention", "needs attention"
    return ("fields", plural(len(fields), "question")) if fields else ("", "")


def _fact(point: dict[str, Any], question: str) -> tuple[str, bool]:
    """The first line of the prompt that says something else than the question, of what agents wrote before what the
    workflow says; and whether agents may have written it. Headings, and what only leads on, say nothing."""
    filled = point.get("filled")
    theirs = [(each["first"], each["end"]) for each in filled.get("prompt", ())] if isinstance(filled, dict) else None
    asked = " ".join(question.split())
    found: dict[bool, str] = {}
    for at, line in enumerate(str(point.get("prompt", ""))[:4_000].split("\n")):
        if point.get("attention") and not line.startswith("- "):  # then the engine's own first line says nothing of it
            continue
        plain = one_line(line.strip(" *_#>|-"), _LONGEST_FACT)
        if plain != asked and _says_something(line, plain):
            quoted = theirs is None or any(first <= at < end for first, end in theirs)
            found.setdefault(quoted, plain)
    return (found[True], True) if True in found else (found.get(False, ""), False)


def _says_something(line: str, plain: str) -> bool:
    told = line.strip()
    if len(plain) <= 12 or plain.startswith("---") or plain.endswith(":") or told.startswith(("#", "|")):
        return False
    bold = told.startswith(("**", "__")) and told.rstrip(":").endswith(("**", "__"))
    return not (bold and len(plain.split()) < _SENTENCE) and not (len(plain) < 60 and _PROGRESS.search(plain))
