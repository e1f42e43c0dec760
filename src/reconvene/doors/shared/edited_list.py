"""An edit of the list of gaps, at any door: which option of the open stop takes it, and whether every line fits.

An edit is about the list as it is now, and every line names what it changes: it needs no version of the stop. Where one
line does not fit, nothing is done. Records nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from reconvene.app import kit_views, queries
from reconvene.errors import Refused, UserError

if TYPE_CHECKING:
    from reconvene.app.engine import Engine
    from reconvene.app.views.read_model import Checkpoint

FIELD = "list"  # the field that a workflow lets the list be edited with


class Edit(NamedTuple):
    """The decision that makes it: its option, and the lines for the field."""

    point: Checkpoint
    option: str
    lines: str

    @property
    def fields(self) -> dict[str, object]:
        return {FIELD: self.lines}


def edit_of(engine: Engine, run: str, lines: Sequence[str]) -> Edit:
    from reconvene.kits.gaps.editing import FORMS, unfit

    held = kit_views.tracked(engine, run, "gaps")
    said = "\n".join(line.strip() for line in lines if line.strip())
    forms = "write one of: " + "; ".join(FORMS.values())
    if not said:
        raise UserError("the edit says nothing", hint=forms)
    point, option = _taker(engine, run)
    if wrong := unfit(held.value, said):
        raise UserError("nothing was changed. " + " ".join(wrong), hint=forms)
    return Edit(point, option, said)


def may_edit(point: Checkpoint | None) -> bool:
    return point is not None and _option(point) is not None


def _taker(engine: Engine, run: str) -> tuple[Checkpoint, str]:
    summary = queries.standing(engine, run)
    point = summary.checkpoint
    if point is None:
        later = "reopen it first" if summary.status in ("completed", "failed", "aborted") else "wait for its next stop"
        raise Refused(
            f"{run} is {summary.status}: the list is edited where a run stops", hint=f"{later}: reconvene show {run}"
        )
    option = _option(point)
    if option is None:
        raise Refused(f"this stop of {run} takes no edit of the list", hint=f"decide it first: reconvene show {run}")
    return point, option


def _option(point: Checkpoint) -> str | None:
    fitting = (one for one in point.options if one.available and any(field.id == FIELD for field in one.fields))
    return next((one.label for one in fitting), None)
