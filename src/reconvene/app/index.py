"""Reads index rows. They are made from the logs: one that cannot be read is made anew from its log.

Imports nothing heavy: lists of runs are read with this. Only a damaged row costs a fold.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from reconvene.errors import ReconveneError
from reconvene.ports import IndexRow

if TYPE_CHECKING:
    from typing import Any

    from reconvene.ports import EventLog

_BEGINNING = '{"run":'  # of every document that was written here
_TEXTS = ("parent", "piece", "title", "place", "outcome", "why", "workflow")


class Listed(NamedTuple):
    """A run of the index, and what its document says."""

    row: IndexRow
    doc: dict[str, Any]


def listed(log: EventLog, status: str | None = None, *, having: str = "") -> list[Listed]:
    """Runs, newest first; with `having` only those whose document has this key. Never folds the log of a sound row."""
    return read_all(log, log.index(status=status), having=having)


def read_all(log: EventLog, rows: Iterable[IndexRow], *, having: str = "") -> list[Listed]:
    key = f'"{having}"'
    # Most rows lack the key. They need not be decoded to see that.
    rows = [row for row in rows if not having or key in row.doc or not row.doc.startswith(_BEGINNING)]
    found = [read(log, row) for row in rows]
    return [one for one in found if not having or one.doc.get(having)]


def one(log: EventLog, run: str) -> Listed | None:
    """None where there is no such run."""
    row = log.index_row(run)
    if row is None and not log.head(run):
        return None
    return read(log, row or IndexRow(run, "", "", "", "", ""))


def read(log: EventLog, row: IndexRow) -> Listed:
    doc = document(row)
    return Listed(row, doc) if doc is not None else _made_anew(log, row)


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
        and (doc["checkpoint"] is not None or row.status != "waiting")
        and isinstance(doc.get("phase"), str | None)
        and all(isinstance(doc.get(key, ""), str) for key in _TEXTS)
        and _are_named(doc.get("children", []), "run")
        and all(isinstance(text, str) for text in row)
    )


def _is_checkpoint(found: object) -> bool:
    return (
        isinstance(found, dict)
        and all(isinstance(found.get(key), str) for key in ("id", "prompt", "digest"))
        and _are_named(found.get("options"), "label")
        and all("available" in option for option in found["options"])
        and _are_named(found.get("fields", []), "id")
    )


def _are_named(found: object, key: str) -> bool:
    return isinstance(found, list) and all(isinstance(each, dict) and isinstance(each.get(key), str) for each in found)


def _made_anew(log: EventLog, row: IndexRow) -> Listed:
    """From the log; where that cannot be read either, what the columns say, and why there is no more."""
    from reconvene.app.session import index_row, state_of

    try:
        fresh = index_row(state_of(log, row.run))
        return Listed(fresh, json.loads(fresh.doc))
    except ReconveneError as error:
        nothing = {"phase": None, "round": None, "checkpoint": None}
        columns = {"workflow": row.workflow, "started": row.started, "updated": row.updated}
        doc = {"run": row.run, "status": row.status, **nothing, **columns, "why": error.message}
        return Listed(row._replace(doc=json.dumps(doc)), doc)
