"""The book as the JSON value that expressions, templates and checkpoints read.

One job: names and counts over what is known. Its keys are an interface: they are only added. It must not change a gap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from reconvene.kits.gaps.endings import blocking, both_empty, decide, waiting, why_not_accept
from reconvene.kits.gaps.markdown import clip
from reconvene.kits.gaps.records import Book, Gap, Row, plain
from reconvene.kits.gaps.vocabulary import ORDER, STATES

_ASKED = 3  # gaps that one re-asking names


def value_of(book: Book, this_round: Row | None = None) -> dict[str, object]:
    still = book.open()
    blocked = waiting(book)
    barring = blocking(book)
    all_blocked = bool(still) and len(blocked) == len(still)
    approved = book.verdict == "APPROVE"
    refusal = why_not_accept(book)
    states = Counter(gap.state for gap in book.gaps.values())
    focus = focus_of(book)
    return {
        "list": [plain(gap) for gap in book.gaps.values()],
        "open": len(still),
        "open_ids": [gap.id for gap in still],
        "open_list": _items(_by_weight(still)),
        "by_severity": {name: sum(gap.severity == name for gap in still) for name in ORDER},
        "counts": {name: states.get(name, 0) for name in STATES},
        "total": len(book.gaps),
        "critical": _items(gap for gap in still if gap.severity == "CRITICAL"),
        "highs": _items(gap for gap in still if gap.severity == "HIGH"),
        "blocking_open": _items(barring),
        "deferred": _items(gap for gap in book.gaps.values() if gap.state == "deferred"),
        "accepted": _items(gap for gap in book.gaps.values() if gap.state == "accepted"),
        "resolved_total": states.get("resolved", 0),
        "known": [_known(gap) for gap in book.gaps.values() if gap.state in ("accepted", "deferred")],
        "issues": plain(list(book.issues.values())),
        "conflicts": plain(list(book.conflicts.values())),
        "questions": [{"id": gap.id, "text": f"{gap.id}: {gap.question}"} for gap in still if gap.question],
        "decisions": plain(book.decisions),
        "due": plain([decision for decision in book.decisions if decision.due]),
        "rounds": plain(book.rounds),
        "this_round": plain(this_round),
        "state": book.state,
        "stalled": book.stalled,
        "warning": book.warning,
        "verdict": book.verdict,
        "checks": plain(book.checks),
        "complete": not still and approved,
        "blocked": _items(blocked),
        "all_blocked": all_blocked,
        "must_decide": all_blocked,
        "next": book.outcome or decide(len(still), approved, all_blocked, False),
        "engineer_empty": book.empty[0],
        "reviewer_empty": book.empty[1],
        "both_empty": both_empty(len(still), all_blocked) if all(book.empty) else "",
        "may_accept": not refusal,
        "why_not_accept": refusal,
        "scope": book.scope,
        "focus": focus,
        "assign": assign(book, focus),
        "similar": plain(_alike(book)),
        "merges": plain(book.merges),
        "errors": plain(book.errors),
        "outcome": book.outcome,
        "adjustments": plain(book.adjustments),
        "redos": plain(book.redos),
        "read": book.read,
        "orders": {},
    }


def _items(gaps: Iterable[Gap]) -> list[dict[str, object]]:
    return [
        {"id": gap.id, "text": text_of(gap), "title": gap.title, "severity": gap.severity, "blocking": gap.blocking}
        | {"state": gap.state, "note": gap.note}
        for gap in gaps
    ]


def text_of(gap: Gap) -> str:
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
