"""The talk between agents and the person, in lines."""

from __future__ import annotations

from collections.abc import Sequence

from reconvene.app.views.read_model import Said
from reconvene.doors.shared.harmless import one_line

_LONGEST = 400  # characters of one entry; the log has them all


def talk_line(row: Said) -> str:
    """`ann: question 2 makes no sense`, `brainstormer presented: 4 items`, `ann chose “Discuss”`"""
    text = one_line("; ".join(row.text.split("\n")) if row.kind == "answer" else row.text, _LONGEST)
    who = one_line(row.who or "the person")
    match row.kind:
        case "remark":
            return f"{who}: {text} [{row.id}]"
        case "output":
            return f"{who} presented: {text}"
        case "answer" if who == "reconvene":
            return f"set aside: {text}"
        case "answer":
            return f"{who} answered: {text}"
        case "decision":
            return f"{who} chose “{text}”"
    return f"{who} {text}"


def talk_lines(rows: Sequence[Said]) -> list[str]:
    """The talk in lines. That somebody who spoke then chose to discuss goes without saying."""
    spoken = [row for row, before in zip(rows, [None, *rows]) if not (before and _goes_without_saying(row, before))]
    return [talk_line(row) for row in spoken]


def _goes_without_saying(row: Said, before: Said) -> bool:
    return (row.who, row.round) == (before.who, before.round) and (before.kind, row.kind) == ("remark", "decision")


def talk_before(rows: Sequence[Said]) -> Sequence[Said]:
    """What was said before what is presented now: that is shown anyway, and what was said about it beside it."""
    last = max((at for at, row in enumerate(rows) if row.kind == "output"), default=0)
    return rows[:last]
