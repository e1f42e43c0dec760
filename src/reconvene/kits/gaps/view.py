"""The book as the JSON value that expressions, templates and checkpoints read, and the schema of that value.

Names and counts over what is known. Its keys are an interface: they are only added. It must not change a gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

import msgspec
from msgspec import Struct

from reconvene.kits.gaps.applying import in_force
from reconvene.kits.gaps.convergence import Warned
from reconvene.kits.gaps.endings import blocking, both_empty, decide, waiting, why_not_accept
from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.records import (
    STORED,
    Book,
    Conflict,
    Decision,
    Gap,
    Issue,
    Redo,
    Row,
    by_severity,
    is_open,
    plain,
)
from reconvene.kits.gaps.second_reading import Outlook, outlook_of
from reconvene.kits.gaps.spec_text import Due, SpecCheck, to_take_out, to_work_in
from reconvene.kits.gaps.vocabulary import GRAVE, ORDER, STATES, Severity, State

_ASKED = 3  # gaps that one re-asking names


class Shown(Struct, frozen=True):
    """A gap in one of the short lists."""

    id: str
    text: str
    title: str
    severity: Severity
    blocking: bool
    state: State
    note: str


class Question(Struct, frozen=True):
    id: str
    text: str


_TYPES: dict[str, object] = {
    **STORED,
    "list": list[Gap], "issues": list[Issue], "conflicts": list[Conflict], "questions": list[Question],
    "to_work_in": list[Due], "to_take_out": list[Due], "spec": SpecCheck,
    "due": list[Decision], "rulings": list[Decision], "outlook": Outlook, "not_taken_up": list[Issue],
    "this_round": Row, "adjustments": Redo, "warning": Warned, "orders": dict,
    **dict.fromkeys(("open", "total", "resolved_total"), int),
    **dict.fromkeys(("complete", "all_blocked", "must_decide", "engineer_empty", "reviewer_empty", "may_accept"), bool),
    **dict.fromkeys(("next", "both_empty", "why_not_accept", "assign"), str),
    **dict.fromkeys(("open_ids", "known", "focus"), list[str]),
    **dict.fromkeys(("open_list", "critical", "highs", "blocking_open", "deferred", "accepted"), list[Shown]),
    "blocked": list[Shown],
}  # fmt: skip
# Texts in which no agent has a say: names that follow a pattern, words of the kit, what the person decided.
_OURS = frozenset(
    "id gap issue conflict parent source into of blocked_by children merged gaps open_ids focus closed_ids new_ids"
    " reopened_ids stuck_ids bred_ids set_aside_ids raised_by by at code digest lines spec_lines where state adjust"
    " next outcome both_empty verdict scope decision rationale reason rules".split()
)


def schema() -> dict[str, object]:
    """Of the value, for the check of names in expressions and templates."""
    shapes, parts = msgspec.json.schema_components(_TYPES.values())
    value = dict(zip(_TYPES, shapes)) | {"by_severity": _numbers(ORDER), "counts": _numbers(STATES)}
    for properties in (value, *(part["properties"] for part in parts.values())):
        for name in _OURS & properties.keys():
            shape = properties[name]
            shape.get("items", shape)["readOnly"] = True
    return {"type": "object", "properties": value, "$defs": parts}


def _numbers(names: Iterable[str]) -> dict[str, object]:
    return {"type": "object", "properties": {name: {"type": "number"} for name in names}}


def value_of(book: Book, this_round: Row | None = None) -> dict[str, object]:
    still = book.open()
    blocked = waiting(book)
    barring = blocking(book)
    all_blocked = bool(still) and len(blocked) == len(still)
    approved = book.verdict == "APPROVE"
    refusal = why_not_accept(book)
    states = Counter(gap.state for gap in book.gaps.values())
    focus = focus_of(book)
    return {name: plain(getattr(book, name)) for name in STORED} | {
        "list": plain(list(book.gaps.values())),
        "open": len(still),
        "open_ids": [gap.id for gap in still],
        "open_list": _shown(_by_weight(still)),
        "by_severity": by_severity(still),
        "counts": {name: states.get(name, 0) for name in STATES},
        "total": len(book.gaps),
        "critical": _shown(gap for gap in still if gap.severity == "CRITICAL"),
        "highs": _shown(gap for gap in still if gap.severity == "HIGH"),
        "blocking_open": _shown(barring),
        "deferred": _shown(gap for gap in book.gaps.values() if gap.state == "deferred"),
        "accepted": _shown(gap for gap in book.gaps.values() if gap.state == "accepted"),
        "resolved_total": states.get("resolved", 0),
        "known": [_known(gap) for gap in book.gaps.values() if gap.state in ("accepted", "deferred")],
        "issues": plain(list(book.issues.values())),
        "conflicts": plain(list(book.conflicts.values())),
        "questions": plain([Question(gap.id, f"{gap.id}: {gap.question}") for gap in still if gap.question]),
        "to_work_in": plain(to_work_in(book)),
        "to_take_out": plain(to_take_out(book)),
        "rulings": plain(in_force(book, this_round.round)) if this_round else [],
        "outlook": plain(outlook_of(book, this_round)),
        "not_taken_up": plain(_left_alone(book, this_round)),
        "due": plain([decision for decision in book.decisions if decision.due]),
        "this_round": plain(this_round),
        "complete": not still and approved,
        "blocked": _shown(blocked),
        "all_blocked": all_blocked,
        "must_decide": all_blocked,
        "next": book.outcome or decide(len(still), approved, all_blocked, False),
        "engineer_empty": book.empty[0],
        "reviewer_empty": book.empty[1],
        "both_empty": both_empty(len(still), all_blocked) if all(book.empty) else "",
        "may_accept": not refusal,
        "why_not_accept": refusal,
        "focus": focus,
        "assign": assign(book, focus),
        "similar": plain(_alike(book)),
        "orders": {},
    }


def _left_alone(book: Book, this_round: Row | None) -> list[Issue]:
    """Grave issues of earlier rounds that nobody has worked on, and that are no conflict yet."""
    now = this_round.round if this_round else 0
    waits = (one for one in book.issues.values() if one.state == "open" and one.severity in GRAVE and one.round < now)
    return [
        one for one in waits if one.id not in book.conflicts and one.gap in book.gaps and is_open(book.gaps[one.gap])
    ]


def _shown(gaps: Iterable[Gap]) -> object:
    return plain(
        [Shown(gap.id, _line(gap), gap.title, gap.severity, gap.blocking, gap.state, gap.note) for gap in gaps]
    )


def _line(gap: Gap) -> str:
    return f"{gap.id} ({gap.severity}{', blocking' if gap.blocking else ''}): {gap.title}"


def _known(gap: Gap) -> str:
    why = gap.history[-1].why if gap.history else ""
    return f"{gap.id}: {gap.title} ({gap.state}{' - ' + why if why else ''})"


def _by_weight(gaps: list[Gap]) -> list[Gap]:
    return sorted(gaps, key=lambda gap: (not gap.blocking, ORDER.index(gap.severity)))


def focus_of(book: Book) -> list[str]:
    """What the next round is to work on, the gravest first: what a redo asks for, else all that nobody waits for."""
    still = {gap.id for gap in book.open()}
    held = {gap.id for gap in waiting(book)}
    order = [gap.id for gap in _by_weight(book.open()) if gap.id not in held]
    asked = book.adjustments if book.adjustments and book.adjustments.round is None else None
    if asked and (named := [name for name in asked.focus if name in still]):
        return named
    return order[:_ASKED] if asked and asked.adjust.startswith("narrow") else order


def assign(book: Book, names: list[str]) -> str:
    """How an idle engineer is asked again, by name."""
    asked = [f"{name} ({clip(book.gaps[name].title, 100)})" for name in names[:_ASKED]]
    return f"Address {'; '.join(asked)} specifically." if asked else ""


def _alike(book: Book) -> list[object]:
    still = {gap.id for gap in book.open()}
    return [one for one in book.similar if one.id in still and one.of in book.gaps and not book.gaps[one.of].into]
