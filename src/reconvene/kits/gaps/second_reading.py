"""The second reading of the rounds: is it planned work, or churn? It changes no state and no warning, only advice.

Planned work closes gaps for good, round after round, also where it finds others on the way. Churn works on the same
gaps again: they come back, or each closed one brings more than one. It must not know how outputs are written.
"""

from __future__ import annotations

from collections.abc import Sequence

from msgspec import Struct

from reconvene.kits.gaps.records import Book, Row

_RECENT = 3  # rounds that tell how fast it goes


class Outlook(Struct, frozen=True):
    reading: str  # "planned work", "churn", "too early"
    original: int  # gaps that there were at the start
    original_open: int
    new_per_closed: float  # over the recent rounds
    came_back: tuple[str, ...]  # in this round: reopened, sent back again, or unchanged under criticism
    left_low: int | None  # expected rounds left; None = at this rate it does not end
    left_high: int | None
    recommend: str  # "go on", "stop and look"
    why: str  # in a sentence
    text: str  # all of it, in a line


def outlook_of(book: Book, row: Row | None) -> Outlook | None:
    rows = (
        [*book.rounds[:-1], row]
        if row is not None and book.rounds and book.rounds[-1].round == row.round
        else book.rounds
    )
    if row is not None and (not rows or rows[-1].round != row.round):
        rows = [*book.rounds, row]
    if not rows:
        return None
    now, recent = rows[-1], rows[-_RECENT:]
    first = {gap.id for gap in book.gaps.values() if gap.raised_in == 0}
    still = [gap.id for gap in book.open()]
    closed, found = sum(one.resolved for one in recent), sum(one.new for one in recent)
    ratio = round(found / closed, 2) if closed else float(found)
    back = tuple(dict.fromkeys((*now.reopened_ids, *now.stuck_ids)))
    low, high = _left(len(still), recent)
    reading, why = _reading(now, back, closed, found, len(recent))
    span = (
        "none"
        if not still
        else "no end in sight"
        if low is None
        else f"{low}"
        if low == high
        else f"{low} to {high or 'many'}"
    )
    told = f"{reading}: {why} Original gaps still open: {len(first & set(still))} of {len(first)}; "
    told += f"{ratio:g} new for each closed over {len(recent)} round{'s' * (len(recent) > 1)}; "
    told += f"expected rounds left: {span}."
    return Outlook(
        reading=reading,
        original=len(first),
        original_open=len(first & set(still)),
        new_per_closed=ratio,
        came_back=back,
        left_low=low,
        left_high=high,
        recommend="stop and look" if reading == "churn" else "go on",
        why=why,
        text=told[0].upper() + told[1:],
    )


def _reading(now: Row, back: tuple[str, ...], closed: int, found: int, rounds: int) -> tuple[str, str]:
    fresh = [name for name in now.closed_ids if name not in back]
    if back and len(back) >= max(1, len(fresh)):
        return "churn", f"{', '.join(back)} came back, and no more than {len(fresh)} closed."
    if closed == 0 and rounds >= 2:
        return "churn", f"nothing was closed in {rounds} rounds."
    if now.bred_ids and len(now.bred_ids) > now.resolved and found > closed:
        return "churn", f"solutions of this round brought up {len(now.bred_ids)} gaps and closed {now.resolved}."
    if not now.resolved and now.new > 2:
        return "churn", f"nothing was closed, and {now.new} gaps came up."
    if not closed:
        return "too early", "nothing has been closed yet."
    came = f", though {', '.join(back)} came back" if back else ", and none of them came back"
    return "planned work", f"{closed} closed over {rounds} round{'s' * (rounds > 1)}{came}."


def _left(still: int, recent: Sequence[Row]) -> tuple[int | None, int | None]:
    """At the best and at the worst recent rate."""
    if not still:
        return 0, 0
    nets = sorted((one.resolved - one.new for one in recent), reverse=True)
    mean = sum(nets) / len(nets)
    if nets[0] <= 0:
        return None, None
    low = -(-still // nets[0])
    slow = min(mean, nets[-1]) if nets[-1] > 0 else mean
    return low, max(low, int(-(-still // slow))) if slow > 0 else None
