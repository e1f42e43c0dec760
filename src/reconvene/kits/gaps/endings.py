"""When it is done: the decision tree, what empty outputs mean, what waits for a person, when accepting is allowed."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from typing import Literal

from reconvene.kits.gaps.records import Book, Gap

Ending = Literal["COMPLETE", "USER_APPROVED", "present decisions", "continue"]
Emptiness = Literal["complete", "waiting", "escalate"]


def decide(open: int, approved: bool, all_blocked: bool, user_approved: bool) -> Ending:
    """The decision tree, after each round."""
    if open == 0:
        return "COMPLETE" if approved else "continue"
    if all_blocked:
        return "present decisions"
    return "USER_APPROVED" if user_approved else "continue"


def both_empty(open: int, all_blocked: bool) -> Emptiness:
    """Neither role had anything to say."""
    if open == 0:
        return "complete"
    return "waiting" if all_blocked else "escalate"


def waiting(book: Book) -> list[Gap]:
    """Open gaps that only a person can move: by a question, by a conflict, or behind such a gap."""
    behind: dict[str, list[str]] = defaultdict(list)
    for gap in book.open():
        for one in gap.blocked_by:
            behind[one].append(gap.id)
    stuck = {gap.id for gap in book.open() if gap.question} | {one.gap for one in book.conflicts.values()}
    return _reached(book, stuck, behind)


def blocking(book: Book) -> list[Gap]:
    """Open blocking gaps, and the open gaps that those wait for."""
    waits = {gap.id: list(gap.blocked_by) for gap in book.open()}
    return _reached(book, {gap.id for gap in book.open() if gap.blocking}, waits)


def _reached(book: Book, starts: set[str], edges: Mapping[str, list[str]]) -> list[Gap]:
    """The open gaps that these lead to, step by step, themselves among them."""
    found, pending = set(starts), list(starts)
    while pending:
        fresh = [name for name in edges.get(pending.pop(), ()) if name not in found]
        found.update(fresh)
        pending += fresh
    return [gap for gap in book.open() if gap.id in found]


def in_circles(book: Book) -> list[str]:
    """Open gaps that wait for each other, so that none can go first."""
    waits = {gap.id: {one for one in gap.blocked_by if one in book.gaps} for gap in book.open()}
    held = _peeled({name: {one for one in ones if one in waits} for name, ones in waits.items()})
    # What is left are circles and what waits behind them; turned round, the latter peels off too.
    wanted: dict[str, set[str]] = {name: set() for name in held}
    for name in held:
        for one in waits[name] & held:
            wanted[one].add(name)
    return sorted(_peeled(wanted))


def _peeled(edges: dict[str, set[str]]) -> set[str]:
    """The nodes that remain when those without edges are taken away, again and again."""
    left = {name: len(ones) for name, ones in edges.items()}
    back: dict[str, list[str]] = defaultdict(list)
    for name, ones in edges.items():
        for one in ones:
            back[one].append(name)
    pending = [name for name, count in left.items() if count == 0]
    while pending:
        done = pending.pop()
        del left[done]
        for name in back[done]:
            left[name] -= 1
            if left[name] == 0:
                pending.append(name)
    return set(left)


def why_not_accept(book: Book) -> str:
    """Why "accept as complete" is refused, with what to do; "" when it is allowed (each HIGH by name)."""
    critical = [gap.id for gap in book.open() if gap.severity == "CRITICAL"]
    barring = [gap.id for gap in blocking(book) if gap.id not in critical]
    parts = [f"CRITICAL gaps are open: {', '.join(critical)}"] if critical else []
    parts += [f"blocking gaps are open: {', '.join(barring)}"] if barring else []
    if not parts:
        return ""
    return f"{'; '.join(parts)}. Go on until they are resolved, or force completion with them as known gaps."
