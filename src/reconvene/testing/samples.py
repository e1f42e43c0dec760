"""Events, index rows and refusals for the conformance suites."""

from __future__ import annotations

import json
from collections.abc import Callable

from reconvene.core.facts.events import Paused, RemarkAdded
from reconvene.errors import ReconveneError
from reconvene.ports import IndexRow

NOW = "2026-03-01T09:00:00.000Z"
UNICODE = "Zoë said “naïve” 漢字 🙂 \u2028 \x00 'quoted' \\ and\nnew lines"


def paused(by: str) -> Paused:
    return Paused(at=NOW, by=by)


def remark(text: str) -> RemarkAdded:
    return RemarkAdded(at=NOW, id="FB-001", number=1, kind="comment", text=text)


def row(run: str, status: str = "waiting", *, updated: str = NOW, note: str = "") -> IndexRow:
    doc = json.dumps({"run": run, "status": status, "note": note}, ensure_ascii=False)
    return IndexRow(run, "digest-of-workflow", status, NOW, updated, doc)


def refused(kind: type[ReconveneError], attempt: Callable[[], object]) -> ReconveneError:
    """The error that `attempt` ends with, which must be of that kind."""
    try:
        attempt()
    except kind as error:
        return error
    raise AssertionError(f"nothing was refused; expected {kind.__name__}")
