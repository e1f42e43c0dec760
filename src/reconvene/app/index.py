"""Reads index rows. They are made from the logs: one that cannot be read is made anew from its log.

Imports nothing heavy: lists of runs are read with this. Only a damaged row costs a fold.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, NamedTuple

from reconvene.core.facts.named_people import is_among
from reconvene.errors import ReconveneError, Refused
from reconvene.ports import IndexRow

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Any

    from reconvene.app.views.read_model import Run
    from reconvene.ports import EventLog

_BEGINNING = '{"run":'  # of every document that was written here
_TEXTS = ("parent", "piece", "title", "place", "outcome", "why", "workflow")


class Listed(NamedTuple):
    """A run as lists name it: its row, and of what the row's document says that which they tell. "" = nothing."""

    run: str
    workflow: str
    status: str
    started: str
    updated: str
    doc: str
    phase: str = ""
    parent: str = ""
    piece: str = ""
    title: str = ""
    place: str = ""
    outcome: str = ""
    children: int = 0
    unmade: int = 0
    asks: str = ""  # the question of its checkpoint
    asked_as: str = ""  # and its status
    provider: str = ""  # the model for which it waits, since when (see below), and until when nobody tries
    since: str = ""  # of a checkpoint: since when it is open
    not_before: str = ""
    who: tuple[str, ...] = ()  # of its checkpoint: who may decide, () = everybody who may decide anything
    chose: tuple[str, ...] = ()  # and who has chosen already, where others must, too
    differ: bool = False  # those chose differently: it waits for them again
    deadline: str = ""
    late: bool = False

    def waits_for(self, user: str, teams: Iterable[str]) -> bool:
        """Whether this person may decide, and has not said so already, or otherwise than somebody else."""
        may = not self.provider and (not self.who or is_among(user, teams, self.who))
        return may and (self.differ or user not in self.chose)


def listed(log: EventLog, status: str | None = None, *, having: str = "") -> list[Listed]:
    """Runs, the one started last first; with `having` only those whose document has this key.

    Never folds the log of a sound row."""
    key = f'"{having}"'
    rows = log.index(status=status)
    # Most rows lack the key. They need not be decoded to see that.
    rows = [row for row in rows if not having or key in row.doc or not row.doc.startswith(_BEGINNING)]
    found = [read(log, row) for row in rows]
    return [one for one in found if not having or getattr(one, having)]


class Page(NamedTuple):
    """Some of a list. `next`: the cursor with which the rest begins, "" where there is no more."""

    rows: list[Listed]
    next: str


def page(log: EventLog, status: str | None, after: str, limit: int) -> Page:
    """At most so many runs (0 = all), the one that was started last first, from a cursor on; "" = the first.

    A cursor is the last run that was shown. Runs change, but they stay in the order in which they were started: no page
    lacks one, and none shows one again. (Cursors of older releases have a time before it.)"""
    run = after.partition("Z/")[2] or after
    if after and log.index_row(run) is None:
        hint = "write the run that the page before ended with"
        raise Refused(f"{after!r} is no cursor of this list", hint=hint, field="after")
    rows = log.index(status=status, after=run, limit=limit + 1 if limit else 0)
    shown = rows[: limit or None]
    return Page([read(log, row) for row in shown], shown[-1].run if len(rows) > len(shown) else "")


_LOOKED = 500  # rows that are looked at before a page of what was searched for ends, found or not


def search(log: EventLog, words: str, status: str | None, after: str, limit: int) -> Page:
    """The same, of runs whose row holds all these words: in its name, its workflow, its title or its question.

    A page may be short, even empty, and still have a next one: no page looks at more than some rows."""
    wanted = words.casefold().split()
    if not wanted:
        return page(log, status, after, limit)
    looked = page(log, status, after, max(limit, _LOOKED))
    found = list[Listed]()
    for one in looked.rows:
        text = "\n".join((one.run, one.workflow, one.title, one.asks, one.phase, one.outcome)).casefold()
        if all(word in text for word in wanted):
            found.append(one)
            if len(found) == limit:
                return Page(found, one.run if one is not looked.rows[-1] or looked.next else "")
    return Page(found, looked.next)


def one(log: EventLog, run: str) -> Listed | None:
    """None where there is no such run."""
    row = log.index_row(run)
    if row is None and not log.head(run):
        return None
    return read(log, row or IndexRow(run, "", "", "", "", ""))


def read(log: EventLog, row: IndexRow) -> Listed:
    doc = document(row)
    if doc is None:
        row, doc = _made_anew(log, row)
    return listed_of(row, doc)


def listed_of(row: IndexRow, doc: dict[str, Any]) -> Listed:
    """`doc`: what the row's document says."""
    point = doc["checkpoint"] or {}
    texts = [doc.get(name) or "" for name in ("phase", "parent", "piece", "title", "place", "outcome")]
    asked_as = point.get("status") or ("attention" if point.get("attention") else "")
    counts = len(doc.get("children", ())), doc.get("unmade", 0)
    awaits = doc.get("provider") or {}
    waits = awaits.get("model", ""), awaits.get("since") or point.get("opened", ""), awaits.get("not_before", "")
    asks = point.get("question") or point.get("prompt") or awaits.get("why", "")  # older rows have no question
    chose, differ = chosen(point)
    asked_of = tuple(point.get("who", ())), chose, differ, point.get("deadline", ""), point.get("late", False)
    parts = (*row, *texts, *counts, asks, asked_as, *waits, *asked_of)
    return Listed._make(parts)


def chosen(point: dict[str, Any]) -> tuple[tuple[str, ...], bool]:
    """Of the document of a checkpoint: whose choice counts, and whether these differ."""
    counts = [one for one in point.get("approvals", ()) if one.get("counts")]
    return tuple(one["user"] for one in counts), len({(one.get("option"), one.get("choice")) for one in counts}) > 1


def in_full(log: EventLog, found: Listed) -> Run:
    """All that the row says: its document is an encoded Run."""
    import msgspec

    from reconvene.app.views.read_model import Run

    try:
        return msgspec.json.decode(found.doc, type=Run)
    except msgspec.ValidationError:  # sound enough for a list; written by hand, or damaged where no list looks
        return msgspec.json.decode(_made_anew(log, IndexRow(*found[:6]))[0].doc, type=Run)


def document(row: IndexRow) -> dict[str, Any] | None:
    """What the row says, or None where it cannot be read."""
    try:
        doc = json.loads(row.doc)
    except (ValueError, RecursionError):
        return None
    return doc if isinstance(doc, dict) and _is_sound(row, doc) else None


def _is_sound(row: IndexRow, doc: dict[str, Any]) -> bool:
    return (
        (doc.get("run"), doc.get("status")) == (row.run, row.status)
        and "checkpoint" in doc
        and (doc["checkpoint"] is None or _is_checkpoint(doc["checkpoint"]))
        and _is_provider(doc.get("provider"))
        and (doc["checkpoint"] is not None or doc.get("provider") is not None or row.status != "waiting")
        and isinstance(doc.get("phase"), str | None)
        and all(isinstance(doc.get(key, ""), str) for key in _TEXTS)
        and _are_named(doc.get("children", []), "run")
        and isinstance(doc.get("unmade", 0), int)
        and all(isinstance(text, str) for text in row)
    )


def _is_checkpoint(found: object) -> bool:
    return (
        isinstance(found, dict)
        and all(isinstance(found.get(key), str) for key in ("id", "prompt", "digest"))
        and _are_named(found.get("options"), "label")
        and all("available" in option for option in found["options"])
        and isinstance(found.get("question", ""), str)
        and _are_named(found.get("fields", []), "id")
        and _are_named(found.get("approvals", []), "user")
        and isinstance(found.get("deadline", ""), str)
        and isinstance(found.get("who", []), list)
        and all(isinstance(one, str) for one in found.get("who", []))
    )


def _is_provider(found: object) -> bool:
    texts = ("model", "why", "since", "not_before")
    return found is None or (isinstance(found, dict) and all(isinstance(found.get(key), str) for key in texts))


def _are_named(found: object, key: str) -> bool:
    return isinstance(found, list) and all(isinstance(each, dict) and isinstance(each.get(key), str) for each in found)


def _made_anew(log: EventLog, row: IndexRow) -> tuple[IndexRow, dict[str, Any]]:
    """From the log; where that cannot be read either, what the columns say, and why there is no more."""
    from reconvene.app.session import index_row, state_of

    try:
        fresh = index_row(state_of(log, row.run))
        return fresh, json.loads(fresh.doc)
    except ReconveneError as error:
        nothing = {"phase": None, "round": None, "checkpoint": None}
        columns = {"workflow": row.workflow, "started": row.started, "updated": row.updated}
        doc = {"run": row.run, "status": row.status, **nothing, **columns, "why": error.message}
        return row._replace(doc=json.dumps(doc)), doc


def is_imported(log: EventLog, run: str) -> bool:
    """Whether its log, or that of the run which made it, came from elsewhere."""
    seen = set[str]()
    while run and run not in seen:
        seen.add(run)
        row = log.index_row(run)
        if row is None or '"imported":true' in row.doc:
            return row is not None
        doc = document(row) if '"parent":' in row.doc else None
        run = str(doc.get("parent", "")) if doc else ""
    return False
